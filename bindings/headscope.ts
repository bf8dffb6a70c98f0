import { Layer } from "./attention.js";
import { Call, execute } from "./call.js";
import { checkTensor } from "./check.js";
import { shapeText } from "./describe.js";
import { mismatch, wrongType } from "./errors.js";
import type { Heap } from "./heap.js";
import { ATTENTION_OPTION_NAMES, checkOptions, readOptions, wantsTrace } from "./options.js";
import { traceAttention } from "./trace.js";
import type {
  AttentionConfig,
  AttentionOptions,
  AttentionResult,
  AttentionWeights,
  Headscope,
  MultiHeadAttention,
  Tensor,
  TraceStep,
  Want,
} from "./types.js";

/** One running module. */
export class Instance implements Headscope {
  readonly version: string;
  readonly variant: "simd" | "relaxed";
  readonly #heap: Heap;

  constructor(heap: Heap, version: string, variant: "simd" | "relaxed") {
    this.#heap = heap;
    this.version = version;
    this.variant = variant;
  }

  /** For the other entries of the package, which use the same module. */
  static heapOf(hs: unknown): Heap {
    if (typeof hs === "object" && hs !== null && #heap in hs) return hs.#heap;
    throw wrongType("hs", "what load() of the same package resolved to", hs);
  }

  multiHeadAttention(config: AttentionConfig, weights: AttentionWeights): MultiHeadAttention {
    return new Layer(this.#heap, config, weights);
  }

  attention<const W extends Want = "weights">(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: AttentionOptions<W>,
  ): AttentionResult<W> {
    const given = checkOptions(options, ATTENTION_OPTION_NAMES);
    const query = checkHeads("q", q, "[B, H, T, dk]");
    const key = checkHeads("k", k, "[B, G, S, dk]");
    const value = checkHeads("v", v, "[B, G, S, dv]");
    const [batch, numHeads, queries, headDim] = sizes(query.shape);
    const [keyBatch, numKVHeads, keys, keyHeadDim] = sizes(key.shape);
    const [valueBatch, valueHeads, values, valueHeadDim] = sizes(value.shape);
    if (headDim === 0) throw mismatch("shape", "q.shape", "a head width of at least 1", shapeText(query.shape));
    if (valueHeadDim === 0) throw mismatch("shape", "v.shape", "a head width of at least 1", shapeText(value.shape));
    if (keyBatch !== batch || keyHeadDim !== headDim) {
      const expected = `batch ${batch} and head width ${headDim} as q ${shapeText(query.shape)}`;
      throw mismatch("shape", "k.shape", expected, shapeText(key.shape));
    }
    if (numKVHeads === 0 || numHeads === 0 || numHeads % numKVHeads !== 0) {
      throw mismatch("shape", "k.shape", `a number of heads that divides q's ${numHeads}`, String(numKVHeads));
    }
    if (valueBatch !== batch || valueHeads !== numKVHeads || values !== keys) {
      const expected = `batch ${batch}, ${numKVHeads} heads and ${keys} rows as k ${shapeText(key.shape)}`;
      throw mismatch("shape", "v.shape", expected, shapeText(value.shape));
    }

    const call = new Call(query.data);
    call.key = key.data;
    call.value = value.data;
    call.batched = query.shape.length === 4;
    call.batch = batch;
    call.queries = queries;
    call.newKeys = keys;
    call.keys = keys;
    call.numHeads = numHeads;
    call.numKVHeads = numKVHeads;
    call.headDim = headDim;
    call.valueHeadDim = valueHeadDim;
    call.scale = 1 / Math.sqrt(headDim);
    call.outputShape = call.batched ? [batch, numHeads, queries, valueHeadDim] : [numHeads, queries, valueHeadDim];
    call.outputLength = batch * numHeads * queries * valueHeadDim;
    readOptions(call, given, 0);
    const result = execute(this.#heap, call, 0, 0);
    if (wantsTrace(call.wanted)) (result as { trace: TraceStep[] }).trace = traceAttention(call);
    return result as AttentionResult<W>;
  }

  memory(): { heapBytes: number; liveObjects: number } {
    return { heapBytes: this.#heap.bytes, liveObjects: this.#heap.liveObjects };
  }
}

function checkHeads(argument: string, value: unknown, expected: string): Tensor {
  const tensor = checkTensor(argument, value, 4);
  if (tensor.shape.length < 3) {
    throw mismatch("shape", `${argument}.shape`, `${expected}, or without B`, shapeText(tensor.shape));
  }
  return tensor;
}

function sizes(shape: readonly number[]): [number, number, number, number] {
  const [a, b, c, d] = shape as [number, number, number, number];
  return shape.length === 4 ? [a, b, c, d] : [1, a, b, c];
}
