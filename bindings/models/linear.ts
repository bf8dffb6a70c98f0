import { type Heap, outOfMemory } from "../heap.js";
import { decodePlain } from "./decode.js";
import type { LinearPlan } from "./plan.js";
import type { StoredParts } from "./stored-parts.js";
import type { StoredPart } from "./tensor-file.js";
import { ggmlTypeNumber, tensorType } from "./tensor-types.js";
import { W } from "./words.js";

const F32 = 0;

/** Type and bytes as the module's own products take them; what only JavaScript decodes becomes float32. */
interface NativeBytes {
  readonly type: number;
  readonly bytes: Uint8Array;
  readonly blockValues: number;
  readonly blockBytes: number;
}

/** Rows of whole blocks: matrices, not single values out of the middle of a block. */
function nativeBytes({ dtype, bytes, elements }: StoredPart): NativeBytes {
  const plain = dtype === "F32" ? undefined : decodePlain(dtype, bytes, elements);
  if (plain !== undefined || dtype === "F32") {
    return {
      type: F32,
      bytes: plain === undefined ? bytes : new Uint8Array(plain.buffer),
      blockValues: 1,
      blockBytes: 4,
    };
  }
  const { blockValues, blockBytes } = tensorType(dtype) as NonNullable<ReturnType<typeof tensorType>>;
  return { type: ggmlTypeNumber(dtype) as number, bytes, blockValues, blockBytes };
}

/** Asks for the stored matrix: its own rows where it has rows of its own, else all of it. */
export function askMatrix(parts: StoredParts, { weight, layout, first, columns, total }: LinearPlan): number {
  if (layout === "in-out" || columns === total) return parts.ask(weight);
  return parts.ask(weight, [first, first + columns]);
}

/**
 * Copies a stored matrix to the module, which keeps its bits in an order of its own. The caller owns the result: nothing may be
 * awaited until it is part of a block or has an owner.
 */
export function createLinear(heap: Heap, plan: LinearPlan, part: StoredPart, bias: Float32Array | undefined): number {
  const { type, bytes, blockValues, blockBytes } = nativeBytes(part);
  const outIn = plan.layout === "out-in";
  const rowBytes = ((outIn ? plan.depth : plan.total) / blockValues) * blockBytes;
  const biasAt = Math.ceil(bytes.length / 16) * 16;
  const arena = heap.reserve(plan.weight, biasAt + 16 + (bias === undefined ? 0 : bias.length * 4));
  const { u32, words: w } = heap;
  heap.u8.set(bytes, arena);
  u32[w + W.layout] = outIn ? 1 : 0;
  u32[w + W.type] = type;
  u32[w + W.data] = arena + (outIn ? 0 : plan.first * blockBytes);
  u32[w + W.rowBytes] = rowBytes;
  u32[w + W.depth] = plan.depth;
  u32[w + W.columns] = plan.columns;
  u32[w + W.bias] = bias === undefined ? 0 : heap.write(arena + biasAt, bias);
  const linear = heap.native.linearCreate() >>> 0;
  if (linear === 0) throw outOfMemory(plan.weight, "a weight matrix", bytes.length);
  return linear;
}
