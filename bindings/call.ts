import { F, STATUS_CAPACITY, STATUS_OK, STATUS_OUT_OF_MEMORY } from "./abi.js";
import { HeadscopeError, mismatch } from "./errors.js";
import { allocate, area, type Heap, outOfMemory } from "./heap.js";
import type { AttentionResult, Tensor } from "./types.js";

/** Results in the order in which the native side learns their addresses. Bit i of `Call.wanted` asks for the i-th. */
export const RESULTS = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions"] as const;
export const TRACE_BIT = 1 << RESULTS.length;
const CONTRIBUTIONS_BIT = 1 << RESULTS.indexOf("contributions");

const WORDS = RESULTS.map((name) => F[name]);
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
  out: Float32Array | undefined = undefined;

  constructor(query: Float32Array) {
    this.query = query;
  }
}

/** A result's shape without the batch axis. */
function innerShape(call: Call, result: number): [number, number, number] | [number, number] {
  switch (RESULTS[result]) {
    case "q":
      return [call.numHeads, call.queries, call.headDim];
    case "k":
      return [call.numKVHeads, call.keys, call.headDim];
    case "v":
      return [call.numKVHeads, call.keys, call.valueHeadDim];
    case "heads":
      return [call.numHeads, call.queries, call.valueHeadDim];
    case "concat":
      return [call.queries, call.numHeads * call.valueHeadDim];
    case "contributions":
      return [call.numHeads, call.queries, call.outDim];
    default:
      return [call.numHeads, call.queries, call.keys];
  }
}

function count(shape: readonly number[]): number {
  let product = 1;
  for (let axis = 0; axis < shape.length; ++axis) product *= shape[axis] as number;
  return product;
}

/**
 * Runs a checked call: one arena for everything, inputs copied in, one call across, results copied out.
 * Results are made first, so that nothing has happened yet, in a cache for instance, if there is no memory for them.
 *
 * @param layer the native layer, or 0 for attention alone
 */
export function execute(heap: Heap, call: Call, layer: number, cache: number): AttentionResult {
  const { query, key, value, mask, bias, keyMask, keyLengths, headGate, wanted } = call;
  const name = layer === 0 ? "attention" : "forward";

  // 1. Places in the arena. All sizes are plain numbers, exact far beyond what passes the check at the end.
  let end = area(query.length * 4);
  const keyAt = end;
  if (key !== undefined) end += area(key.length * 4);
  const valueAt = end;
  if (value !== undefined) end += area(value.length * 4);
  const maskAt = end;
  if (mask !== undefined) end += area(mask.data.length);
  const biasAt = end;
  if (bias !== undefined) end += area(bias.data.length * 4);
  const keyMaskAt = end;
  if (keyMask !== undefined) end += area(keyMask.length);
  const keyLengthsAt = end;
  if (keyLengths !== undefined) end += area(keyLengths.length * 4);
  const headGateAt = end;
  if (headGate !== undefined) end += area(headGate.length * 4);
  const outputAt = end;
  const outputLength = count(call.outputShape);
  end += area(outputLength * 4);
  const resultsAt = end;
  for (let i = 0, bits = wanted; i < WORDS.length; ++i, bits >>>= 1) {
    if (bits & 1) end += area(count(innerShape(call, i)) * call.batch * 4);
  }

  // An area may be empty, but its address must not look like the end of the heap or like "none".
  const arena = heap.reserve(name, end + 16);

  // 2. Memory for the caller's copies.
  const output: Tensor = { data: call.out ?? allocate("output", outputLength), shape: call.outputShape };
  const result = { output } as AttentionResult & Record<string, Tensor>;
  for (let i = 0, bits = wanted; i < WORDS.length; ++i, bits >>>= 1) {
    if (bits & 1) {
      const inner = innerShape(call, i);
      const data = allocate(RESULTS[i] as string, count(inner) * call.batch);
      result[RESULTS[i] as string] = { data, shape: call.batched ? [call.batch, ...inner] : inner };
    }
  }

  // 3. Inputs in.
  heap.write(arena, query);
  if (key !== undefined) heap.write(arena + keyAt, key);
  if (value !== undefined) heap.write(arena + valueAt, value);
  if (bias !== undefined) heap.write(arena + biasAt, bias.data);
  if (headGate !== undefined) heap.write(arena + headGateAt, headGate);
  if (mask !== undefined) writeMask(heap.u8, arena + maskAt, mask.data, call.blocked);
  if (keyMask !== undefined) writeMask(heap.u8, arena + keyMaskAt, keyMask, false);
  if (keyLengths !== undefined) heap.i32.set(keyLengths, (arena + keyLengthsAt) >>> 2);

  const { u32, i32, f32, words: w } = heap;
  u32[w + F.batch] = call.batch;
  u32[w + F.queries] = call.queries;
  u32[w + F.keys] = call.newKeys;
  u32[w + F.query] = arena;
  u32[w + F.key] = key === undefined ? 0 : arena + keyAt;
  u32[w + F.value] = value === undefined ? 0 : arena + valueAt;
  u32[w + F.output] = arena + outputAt;
  f32[w + F.scale] = call.scale;
  f32[w + F.softcap] = call.softcap;
  u32[w + F.flags] = call.flags;
  i32[w + F.offset] = call.offset;
  i32[w + F.windowLeft] = call.windowLeft;
  i32[w + F.windowRight] = call.windowRight;
  u32[w + F.mask] = mask === undefined ? 0 : arena + maskAt;
  if (mask !== undefined) u32.set(mask.strides, w + F.maskStrideB);
  u32[w + F.bias] = bias === undefined ? 0 : arena + biasAt;
  if (bias !== undefined) u32.set(bias.strides, w + F.biasStrideB);
  u32[w + F.keyMask] = keyMask === undefined ? 0 : arena + keyMaskAt;
  u32[w + F.keyLengths] = keyLengths === undefined ? 0 : arena + keyLengthsAt;
  u32[w + F.headGate] = headGate === undefined ? 0 : arena + headGateAt;
  u32[w + F.scoresStage] = SCORES_STAGE_NUMBERS[call.scoresStage];
  for (let i = 0, bits = wanted, at = arena + resultsAt; i < WORDS.length; ++i, bits >>>= 1) {
    const word = w + (WORDS[i] as number);
    if (bits & 1) {
      u32[word] = at;
      at += area((result[RESULTS[i] as string] as Tensor).data.length * 4);
    } else {
      u32[word] = 0;
    }
  }
  if (layer === 0) {
    u32[w + F.numHeads] = call.numHeads;
    u32[w + F.numKVHeads] = call.numKVHeads;
    u32[w + F.headDim] = call.headDim;
    u32[w + F.valueHeadDim] = call.valueHeadDim;
  }

  // 4. The call.
  const status = layer === 0 ? heap.native.attention() : heap.native.layerForward(layer, cache);
  if (status !== STATUS_OK) throw failure(name, status, end);

  // 5. Results out. The memory may have grown meanwhile.
  heap.refresh();
  heap.read(arena + outputAt, output.data);
  for (let i = 0, bits = wanted, at = arena + resultsAt; i < WORDS.length; ++i, bits >>>= 1) {
    if (bits & 1) {
      const { data } = result[RESULTS[i] as string] as Tensor;
      heap.read(at, data);
      at += area(data.length * 4);
    }
  }
  return result;
}

/** Copies a mask as bytes, 1 = may attend. */
function writeMask(u8: Uint8Array, address: number, data: Uint8Array | Int32Array, blocked: boolean): void {
  const { length } = data;
  const on = blocked ? 0 : 1;
  for (let i = 0; i < length; ++i) u8[address + i] = data[i] === 0 ? 1 - on : on;
}

function failure(name: string, status: number, bytes: number): Error {
  if (status === STATUS_OUT_OF_MEMORY) return outOfMemory(name, "intermediate values", bytes);
  if (status === STATUS_CAPACITY) return new HeadscopeError("memory", `${name}: the cache is full`, { argument: "cache" });
  return new Error(`${name}: the module refused a call that was checked (status ${status}); please report this`);
}

/** For calls without an output projection: there a head contributes to nothing but its own columns. */
export function refuseContributions(call: Call): void {
  if (call.wanted & CONTRIBUTIONS_BIT) {
    throw mismatch("config", "want", "an output projection wo for contributions", "none");
  }
}
