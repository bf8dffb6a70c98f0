import { F, STATUS_CAPACITY, STATUS_OK, STATUS_OUT_OF_MEMORY } from "./abi.js";
import { checkAttached } from "./check.js";
import { mismatch } from "./errors.js";
import { allocateLarge, byteArea, checkMemory, floatArea, type Heap, outOfMemory } from "./heap.js";
import type { AttentionResult } from "./types.js";

/** Results in the order in which they lie in the arena. Bit i of `Call.wanted` asks for the i-th. */
export const RESULTS = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions"] as const;
/** Their places in RESULTS, as numbers that bundling writes into the code. */
enum Result {
  weights,
  scores,
  q,
  k,
  v,
  heads,
  concat,
  contributions,
}
const WORDS = [F.weights, F.scores, F.q, F.k, F.v, F.heads, F.concat, F.contributions] as const;

const WEIGHTS_BIT = 1 << Result.weights;
export const TRACE_BIT = 1 << RESULTS.length;
export const CONTRIBUTIONS_BIT = 1 << Result.contributions;

/** Place of the lowest bit that is set. */
function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/**
 * Weights and scores of so many numbers leave the module block by block, while they are in the processor's caches; the
 * arena, which is never given back, need not hold them.
 */
const STREAMED_LENGTH = 2 ** 16;
const ROWS_BITS = (1 << Result.weights) | (1 << Result.scores);

const SCORES_STAGE_NUMBERS = { scaled: 0, capped: 1, masked: 2 } as const;
export type ScoresStage = keyof typeof SCORES_STAGE_NUMBERS;

/** A broadcast operand: strides of the axes B, H, T, S in elements, 0 where it repeats. */
export interface Broadcast<T> {
  readonly data: T;
  readonly strides: readonly number[];
}

/** One call, checked: numbers and arrays only, nothing of the caller's that can run code. */
export class Call {
  // Sizes. `keys` counts the cached ones, `newKeys` are those that this call brings.
  batch = 1;
  batched = false;
  queries = 0;
  newKeys = 0;
  keys = 0;
  numHeads = 0;
  numKVHeads = 0;
  headDim = 0;
  valueHeadDim = 0;
  /** Width of a contribution; 0 where there is no output projection. */
  outDim = 0;
  outputShape: number[] = [];
  outputLength = 0;

  query: Float32Array;
  key: Float32Array | undefined = undefined;
  value: Float32Array | undefined = undefined;

  scale = 1;
  softcap = 0;
  flags = 0;
  offset = 0;
  windowLeft = 0;
  windowRight = 0;
  mask: Broadcast<Uint8Array> | undefined = undefined;
  /** true: the mask says what is hidden, so it is turned over on its way. */
  blocked = false;
  bias: Broadcast<Float32Array> | undefined = undefined;
  keyMask: Uint8Array | Int32Array | undefined = undefined;
  keyLengths: Int32Array | undefined = undefined;
  headGate: Float32Array | undefined = undefined;
  scoresStage: ScoresStage = "masked";
  wanted = 1;
  /** Memory of the caller's for the output. */
  out: Float32Array | undefined = undefined;
  /** The same for other results, each at its place in RESULTS. */
  buffers: readonly (Float32Array | undefined)[] | undefined = undefined;
  /** 0: float32 throughout; 1: llama.cpp's rounding, where weights are stored as a file has them. */
  numerics = 0;
  /** For blocks: what the stream behind the block is written to, as long as `query`. */
  hidden: Float32Array | undefined = undefined;

  constructor(query: Float32Array) {
    this.query = query;
  }
}

/** Numbers in the i-th result. */
export function resultLength(call: Call, result: Result): number {
  const { batch, numHeads, numKVHeads, queries, keys } = call;
  switch (result) {
    case Result.q:
      return batch * numHeads * queries * call.headDim;
    case Result.k:
      return batch * numKVHeads * keys * call.headDim;
    case Result.v:
      return batch * numKVHeads * keys * call.valueHeadDim;
    case Result.heads:
    case Result.concat:
      return batch * numHeads * queries * call.valueHeadDim;
    case Result.contributions:
      return batch * numHeads * queries * call.outDim;
    default:
      return batch * numHeads * queries * keys;
  }
}

export function resultShape(call: Call, result: Result): number[] {
  const { numHeads, numKVHeads, queries, keys } = call;
  let shape: number[];
  switch (result) {
    case Result.q:
      shape = [numHeads, queries, call.headDim];
      break;
    case Result.k:
      shape = [numKVHeads, keys, call.headDim];
      break;
    case Result.v:
      shape = [numKVHeads, keys, call.valueHeadDim];
      break;
    case Result.heads:
      shape = [numHeads, queries, call.valueHeadDim];
      break;
    case Result.concat:
      shape = [queries, numHeads * call.valueHeadDim];
      break;
    case Result.contributions:
      shape = [numHeads, queries, call.outDim];
      break;
    default:
      shape = [numHeads, queries, keys];
  }
  if (call.batched) shape.unshift(call.batch);
  return shape;
}

/** A result on its way: small ones get their data when they are copied out. */
interface Pending {
  data: Float32Array | undefined;
  readonly shape: number[];
}

/** Memory for the i-th result: what the caller gave, else fresh. */
function pending(call: Call, result: Result): Pending {
  const data = call.buffers?.[result] ?? allocateLarge(RESULTS[result] as string, resultLength(call, result));
  return { data, shape: resultShape(call, result) };
}

/** Copies a result out; `kind` is its place in RESULTS, or the length of that for the output. */
function finish(heap: Heap, kind: number, address: number, length: number, to: Pending): void {
  if (to.data === undefined) to.data = heap.copy(kind, address, length);
  else heap.read(address, to.data);
}

/**
 * Runs a checked call: one arena for everything, inputs copied in, one call across, results copied out. Arrays that
 * memory could lack for are made first, so that nothing has happened yet, in a cache for instance, if it does.
 *
 * @param layer the native layer, or 0 for attention alone
 * @param block whether it is a block around a layer instead
 */
export function execute(heap: Heap, call: Call, layer: number, cache: number, block = false): AttentionResult {
  const { query, key, value, mask, bias, keyMask, keyLengths, headGate, hidden, wanted } = call;
  const name = layer === 0 ? "attention" : "forward";
  if (call.out !== undefined || call.buffers !== undefined) refuseHeapViews(heap, call);
  refuseDetached(call);
  const results = wanted & ~TRACE_BIT;
  const rowNumbers = resultLength(call, Result.weights); // and those of scores
  const streamed = rowNumbers < STREAMED_LENGTH ? 0 : results & ROWS_BITS;
  const placed = results & ~streamed;
  if (streamed !== 0) checkMemory(name, "a result", rowNumbers * 4);

  // 1. Places in the arena, in units of 16 bytes.
  let end = floatArea(query.length);
  const keyAt = end;
  if (key !== undefined) end += floatArea(key.length);
  const valueAt = end;
  if (value !== undefined) end += floatArea(value.length);
  const maskAt = end;
  if (mask !== undefined) end += byteArea(mask.data.length);
  const biasAt = end;
  if (bias !== undefined) end += floatArea(bias.data.length);
  const keyMaskAt = end;
  if (keyMask !== undefined) end += byteArea(keyMask.length);
  const keyLengthsAt = end;
  if (keyLengths !== undefined) end += floatArea(keyLengths.length);
  const headGateAt = end;
  if (headGate !== undefined) end += floatArea(headGate.length);
  const outputAt = end;
  end += floatArea(call.outputLength);
  const hiddenAt = end;
  if (hidden !== undefined) end += floatArea(hidden.length);
  const resultsAt = end;
  for (let bits = placed; bits !== 0; bits &= bits - 1) end += floatArea(resultLength(call, lowest(bits)));
  // One unit more: an area may be empty, but its address has to lie inside.
  const arena = heap.reserve(name, (end + 1) * 16);

  // 2. Memory for the caller's copies. The usual pair is made at once, since adding names one by one is slow.
  const output: Pending = {
    data: call.out ?? allocateLarge("output", call.outputLength),
    shape: call.outputShape,
  };
  const result: Record<string, Pending> =
    results & WEIGHTS_BIT ? { output, weights: pending(call, Result.weights) } : { output };
  for (let bits = results & ~WEIGHTS_BIT; bits !== 0; bits &= bits - 1) {
    const i = lowest(bits);
    result[RESULTS[i] as string] = pending(call, i);
  }

  // 3. Inputs in.
  const { u32, i32, f32, words: w } = heap;
  heap.write(arena, query);
  u32[w + F.batch] = call.batch;
  u32[w + F.queries] = call.queries;
  u32[w + F.keys] = call.newKeys;
  u32[w + F.query] = arena;
  u32[w + F.key] = key === undefined ? 0 : heap.write(arena + keyAt * 16, key);
  u32[w + F.value] = value === undefined ? 0 : heap.write(arena + valueAt * 16, value);
  u32[w + F.output] = arena + outputAt * 16;
  f32[w + F.scale] = call.scale;
  f32[w + F.softcap] = call.softcap;
  u32[w + F.flags] = call.flags;
  i32[w + F.offset] = call.offset;
  i32[w + F.windowLeft] = call.windowLeft;
  i32[w + F.windowRight] = call.windowRight;
  u32[w + F.mask] = 0;
  if (mask !== undefined) {
    u32[w + F.mask] = writeMask(heap.u8, arena + maskAt * 16, mask.data, call.blocked);
    u32.set(mask.strides, w + F.maskStrideB);
  }
  u32[w + F.bias] = 0;
  if (bias !== undefined) {
    u32[w + F.bias] = heap.write(arena + biasAt * 16, bias.data);
    u32.set(bias.strides, w + F.biasStrideB);
  }
  u32[w + F.keyMask] = keyMask === undefined ? 0 : writeMask(heap.u8, arena + keyMaskAt * 16, keyMask, false);
  u32[w + F.keyLengths] = 0;
  if (keyLengths !== undefined) {
    u32[w + F.keyLengths] = arena + keyLengthsAt * 16;
    i32.set(keyLengths, (arena + keyLengthsAt * 16) >>> 2);
  }
  u32[w + F.headGate] = headGate === undefined ? 0 : heap.write(arena + headGateAt * 16, headGate);
  u32[w + F.scoresStage] = SCORES_STAGE_NUMBERS[call.scoresStage];
  u32[w + F.numerics] = call.numerics;
  u32[w + F.weights] = 0;
  u32[w + F.scores] = 0;
  u32[w + F.q] = 0;
  u32[w + F.k] = 0;
  u32[w + F.v] = 0;
  u32[w + F.heads] = 0;
  u32[w + F.concat] = 0;
  u32[w + F.contributions] = 0;
  u32[w + F.streamed] = streamed;
  for (let bits = placed, at = resultsAt; bits !== 0; bits &= bits - 1) {
    const i = lowest(bits);
    u32[w + (WORDS[i] as number)] = arena + at * 16;
    at += floatArea(resultLength(call, i));
  }
  if (layer === 0) {
    u32[w + F.numHeads] = call.numHeads;
    u32[w + F.numKVHeads] = call.numKVHeads;
    u32[w + F.headDim] = call.headDim;
    u32[w + F.valueHeadDim] = call.valueHeadDim;
  }
  if (block) u32[w + F.hidden] = hidden === undefined ? 0 : arena + hiddenAt * 16;

  // 4. The call.
  if (streamed !== 0) {
    heap.rowTargets[Result.weights] = result.weights?.data;
    heap.rowTargets[Result.scores] = result.scores?.data;
    heap.rowLength = call.keys;
  }
  const status =
    layer === 0 ? heap.attention() : block ? heap.blockForward(layer, cache) : heap.layerForward(layer, cache);
  if (streamed !== 0) heap.rowTargets.fill(undefined);
  if (status !== STATUS_OK) throw failure(name, status, end * 16);

  // 5. Results out. The memory may have grown meanwhile.
  heap.refresh();
  finish(heap, RESULTS.length, arena + outputAt * 16, call.outputLength, output);
  if (hidden !== undefined) heap.read(arena + hiddenAt * 16, hidden);
  for (let bits = placed, at = resultsAt; bits !== 0; bits &= bits - 1) {
    const i = lowest(bits);
    const length = resultLength(call, i);
    finish(heap, i, arena + at * 16, length, result[RESULTS[i] as string] as Pending);
    at += floatArea(length);
  }
  return result as unknown as AttentionResult;
}

/** Copies a mask as bytes, 1 = may attend, and returns its address. */
function writeMask(u8: Uint8Array, address: number, data: Uint8Array | Int32Array, blocked: boolean): number {
  const { length } = data;
  const on = blocked ? 0 : 1;
  for (let i = 0; i < length; ++i) u8[address + i] = data[i] === 0 ? 1 - on : on;
  return address;
}

function failure(name: string, status: number, bytes: number): Error {
  if (status === STATUS_OUT_OF_MEMORY) return outOfMemory(name, "intermediate values", bytes);
  if (status === STATUS_CAPACITY) return mismatch("memory", "cache", "room for the new keys", "a full cache");
  return new Error(`${name}: the module refused a call that was checked (status ${status}); please report this`);
}

/** Getters of the caller's ran while options were read, and may have given away what had been looked at before. */
function refuseDetached({ query, key, value, mask, bias, keyMask, keyLengths, headGate }: Call): void {
  // Detached arrays have length 0, as empty ones have.
  if (query.length === 0) checkAttached("query", query);
  if (key?.length === 0) checkAttached("key", key);
  if (value?.length === 0) checkAttached("value", value);
  if (mask?.data.length === 0) checkAttached("mask", mask.data);
  if (bias?.data.length === 0) checkAttached("bias", bias.data);
  if (keyMask?.length === 0) checkAttached("keyPadding", keyMask);
  if (keyLengths?.length === 0) checkAttached("keyPadding", keyLengths);
  if (headGate?.length === 0) checkAttached("headMask", headGate);
}

/** Memory of the module's own: it is detached whenever the heap grows, and the module writes to it. */
function refuseHeapViews(heap: Heap, { out, buffers }: Call): void {
  heap.refresh();
  const { buffer } = heap.u8;
  let own = out?.buffer === buffer;
  if (buffers !== undefined) for (let i = 0; i < buffers.length; ++i) own ||= buffers[i]?.buffer === buffer;
  if (own) throw mismatch("config", "out", "memory of the caller's", "a view of the module's heap");
}
