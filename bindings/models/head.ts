import { STATUS_OK } from "../abi.js";
import { floatArea, outOfMemory } from "../heap.js";
import { throwIfAborted } from "./abort.js";
import { normParts } from "./embed.js";
import { createLinear } from "./linear.js";
import { normalise } from "./normalise.js";
import { StoredParts } from "./stored-parts.js";
import { tensorType } from "./tensor-types.js";
import { nextTurn } from "./turn.js";
import type { Weights } from "./weights.js";

/** Stored bytes of the head that are read and multiplied at a time, and the rows of it at most. */
const CHUNK_BYTES = 4 * 2 ** 20;
const CHUNK_ROWS = 8192;

export interface HeadOptions {
  readonly numerics: number;
  readonly keep: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * The final norm and the language model's head, some rows of the vocabulary at a time: logits [rows, V] never stand in
 * memory as a whole.
 *
 * @param hidden [rows, D], as the last block left it
 * @param take told of logits [rows, count] of the tokens from `first` on; the array is used again for the next ones
 */
export async function eachLogits(
  weights: Weights,
  hidden: Float32Array,
  options: HeadOptions,
  take: (logits: Float32Array, first: number, count: number) => void,
): Promise<void> {
  const { heap, file, plan } = weights;
  const { head, finalNorm, dModel, vocabularySize } = plan;
  const { numerics, keep, signal } = options;
  if (head === undefined || finalNorm === undefined) return;
  const [weight, bias] = await weights.vectors(normParts(finalNorm), keep, signal);
  const x = hidden.slice();
  normalise(heap, plan.norm, x, weight as Float32Array, bias, plan.epsilon);

  const rows = x.length / dModel;
  const size = Math.min(CHUNK_ROWS, Math.max(64, Math.floor(CHUNK_BYTES / rowBytes(weights, head.weight))));
  for (let first = 0; first < vocabularySize; first += size) {
    const columns = Math.min(size, vocabularySize - first);
    const linear = await weights.linear(`head ${first}`, keep, async () => {
      const part = [first, first + columns] as const;
      const parts = new StoredParts();
      const matrix = parts.ask(head.weight, part);
      const headBias = head.bias === undefined ? undefined : parts.ask(head.bias, part);
      await parts.read(file, { signal });
      const values = headBias === undefined ? undefined : file.decode(parts.get(headBias));
      const chunk = { weight: head.weight, layout: "out-in", depth: dModel, columns, first, total: vocabularySize };
      return createLinear(heap, { ...chunk, layout: "out-in" }, parts.get(matrix), values);
    });
    const logits = new Float32Array(rows * columns);
    try {
      const xBytes = floatArea(x.length) * 16;
      const arena = heap.reserve("logits", xBytes + floatArea(logits.length) * 16 + 16);
      heap.write(arena, x);
      const status = heap.native.linearApply(linear.native, rows, arena, arena + xBytes, numerics);
      if (status !== STATUS_OK) throw outOfMemory("logits", "a part of them", logits.length * 4);
      heap.refresh();
      heap.read(arena + xBytes, logits);
    } finally {
      linear.done();
    }
    take(logits, first, columns);
    await nextTurn();
    throwIfAborted(file.name, signal);
    weights.checkAlive();
  }
}

function rowBytes({ file, plan }: Weights, name: string): number {
  const type = tensorType(file.tensors.get(name)?.dtype ?? "");
  return type === undefined ? plan.dModel * 4 : (plan.dModel / type.blockValues) * type.blockBytes;
}

/** ln of the sum of e^logit of each row, and the logit of each row's target, gathered chunk by chunk. */
export class RowLosses {
  readonly #targets: readonly number[];
  readonly #largest: Float64Array;
  readonly #sum: Float64Array;
  readonly #target: Float64Array;

  constructor(targets: readonly number[]) {
    this.#targets = targets;
    this.#largest = new Float64Array(targets.length).fill(Number.NEGATIVE_INFINITY);
    this.#sum = new Float64Array(targets.length);
    this.#target = new Float64Array(targets.length);
  }

  add(logits: Float32Array, first: number, count: number): void {
    this.#targets.forEach((target, row) => {
      const values = logits.subarray(row * count, (row + 1) * count);
      let largest = this.#largest[row] as number;
      let sum = this.#sum[row] as number;
      for (let i = 0; i < count; ++i) {
        const value = values[i] as number;
        if (value > largest) {
          sum *= Math.exp(largest - value);
          largest = value;
        }
        sum += Math.exp(value - largest);
      }
      this.#largest[row] = largest;
      this.#sum[row] = sum;
      if (target >= first && target < first + count) this.#target[row] = values[target - first] as number;
    });
  }

  /** −ln p of each row's target. */
  nats(): Float32Array {
    const nats = new Float32Array(this.#targets.length);
    for (let row = 0; row < nats.length; ++row) {
      nats[row] = (this.#largest[row] as number) + Math.log(this.#sum[row] as number) - (this.#target[row] as number);
    }
    return nats;
  }
}
