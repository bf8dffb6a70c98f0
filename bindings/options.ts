import { FLAG_CAUSAL, FLAG_WINDOW_LEFT, FLAG_WINDOW_RIGHT } from "./abi.js";
import { type Broadcast, type Call, CONTRIBUTIONS_BIT, RESULTS, resultLength, resultShape, TRACE_BIT } from "./call.js";
import {
  checkAttached,
  checkFinite,
  checkFloat32,
  checkInteger,
  checkLength,
  checkNames,
  checkObject,
  checkPositive,
  checkProduct,
  checkShape,
  checkTensor,
  checkWord,
  type Properties,
  typedArrayName,
} from "./check.js";
import { shapeText } from "./describe.js";
import { mismatch, outOfRange, wrongType } from "./errors.js";
import { suggest } from "./suggest.js";
import type { AttentionOptions, Want } from "./types.js";

export const ATTENTION_OPTION_NAMES = [
  "want",
  "causal",
  "mask",
  "keyPadding",
  "window",
  "bias",
  "scale",
  "softcap",
  "headMask",
  "scoresStage",
  "out",
] as const;
export const FORWARD_OPTION_NAMES = [...ATTENTION_OPTION_NAMES, "key", "value", "cache"] as const;

const WANTS: readonly Want[] = [...RESULTS, "trace"];
/** What `out` may hold. */
const BUFFER_NAMES = ["output", ...RESULTS] as const;
const STAGES = ["scaled", "capped", "masked"] as const;

// Positions are 32-bit in the module: i + offset ± window has to stay below 2^31. A window of 2^30 reaches every key
// from every allowed offset, so larger ones mean the same and are cut.
const MAX_OFFSET = 2 ** 29;
const MAX_WINDOW = 2 ** 30;

/** More axes than broadcast, so that the message can show both shapes. */
const MAX_MASK_RANK = 8;

/** The options object, its names checked, or undefined. */
export function checkOptions(value: unknown, known: readonly string[]): AttentionOptions | undefined {
  if (value === undefined) return undefined;
  const options = checkObject("options", value, "an object");
  checkNames("options", options, known);
  return options as AttentionOptions;
}

/**
 * Reads the options that layers and `attention()` share into the call, whose sizes are known by then.
 *
 * @param cached keys in the cache: where the queries stand unless `causal.offset` says otherwise
 */
export function readOptions(call: Call, options: AttentionOptions | undefined, cached: number): void {
  call.offset = cached;
  if (options === undefined) return;
  const { causal, window, mask, keyPadding, bias, scale, softcap, headMask, scoresStage, want, out } = options;
  if (want !== undefined) call.wanted = readWant(want);
  if (call.outDim === 0 && call.wanted & CONTRIBUTIONS_BIT) {
    // Without an output projection a head contributes to nothing but its own columns.
    throw mismatch("config", "want", "an output projection wo for contributions", "none");
  }
  if (causal !== undefined) readCausal(call, causal);
  if (window !== undefined) readWindow(call, window);
  if (scale !== undefined) call.scale = checkFinite("scale", scale);
  if (softcap !== undefined) call.softcap = checkPositive("softcap", softcap, true);
  if (mask !== undefined) readMask(call, mask);
  if (bias !== undefined) {
    const { data, shape } = checkTensor("bias", bias, MAX_MASK_RANK);
    call.bias = { data, strides: broadcast("bias", shape, call) };
  }
  if (keyPadding !== undefined) readKeyPadding(call, keyPadding);
  if (headMask !== undefined) call.headGate = checkLength("headMask", headMask, call.numHeads, "numHeads");
  if (scoresStage !== undefined) call.scoresStage = checkWord("scoresStage", scoresStage, STAGES);
  // Last, and looked at as a whole before any of it is taken: from here on nothing of the caller's runs.
  if (out !== undefined) readOut(call, out);
}

/** Where results go: one array for the output, or an object of arrays by the names of the results. */
function readOut(call: Call, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    call.out = checkOutput(call, "out", value);
    return;
  }
  const given = checkObject("out", value, "a Float32Array or an object of them such as { output, weights }");
  checkNames("out", given, BUFFER_NAMES);
  const { output, weights, scores, q, k, v, heads, concat, contributions } = given;
  const values = [weights, scores, q, k, v, heads, concat, contributions]; // as RESULTS
  const buffers: (Float32Array | undefined)[] = [];
  if (output !== undefined) call.out = checkOutput(call, "out.output", output);
  for (let i = 0; i < values.length; ++i) {
    const array = values[i] === undefined ? undefined : checkResult(call, i, values[i]);
    if (array !== undefined) refuseOverlap(array, i, buffers, call.out);
    buffers.push(array);
  }
  call.buffers = buffers;
}

// Not checkLength, whose text would be made for every call.
function checkOutput(call: Call, argument: string, value: unknown): Float32Array {
  const array = checkFloat32(argument, value);
  if (array.length !== call.outputLength) {
    const expected = `${call.outputLength} numbers (output ${shapeText(call.outputShape)})`;
    throw mismatch("shape", argument, expected, String(array.length));
  }
  return array;
}

function checkResult(call: Call, i: number, value: unknown): Float32Array {
  const name = RESULTS[i] as string;
  const argument = `out.${name}`;
  if ((call.wanted & (1 << i)) === 0) throw mismatch("config", argument, `"${name}" in want`, "a want without it");
  const array = checkFloat32(argument, value);
  const length = resultLength(call, i);
  if (array.length !== length) {
    const expected = `${length} numbers (${name} ${shapeText(resultShape(call, i))})`;
    throw mismatch("shape", argument, expected, String(array.length));
  }
  return array;
}

/** Two results in the same memory: the second would be written over the first. */
function refuseOverlap(
  array: Float32Array,
  i: number,
  before: readonly (Float32Array | undefined)[],
  output: Float32Array | undefined,
): void {
  for (let j = -1; j < i; ++j) {
    const other = j < 0 ? output : before[j];
    if (other === undefined || other.buffer !== array.buffer) continue;
    const apart =
      other.byteOffset + other.byteLength <= array.byteOffset ||
      array.byteOffset + array.byteLength <= other.byteOffset;
    if (apart) continue;
    const name = `out.${BUFFER_NAMES[j + 1]}`;
    throw mismatch("config", `out.${RESULTS[i]}`, `memory apart from ${name}`, `memory that ${name} has too`);
  }
}

function readWant(want: unknown): number {
  if (!Array.isArray(want)) throw wrongType("want", 'an array of result names such as ["weights"]', want);
  let wanted = 0;
  for (let i = 0; i < want.length; ++i) {
    const name: unknown = want[i];
    const bit = WANTS.indexOf(name as Want);
    if (bit < 0) {
      const hint = typeof name === "string" ? suggest(name, WANTS) : undefined;
      throw wrongType(`want[${i}]`, `one of ${WANTS.join(", ")}`, name, hint);
    }
    wanted |= 1 << bit;
  }
  return wanted;
}

export function wantsTrace(wanted: number): boolean {
  return (wanted & TRACE_BIT) !== 0;
}

function readCausal(call: Call, causal: unknown): void {
  if (causal === false) return;
  call.flags |= FLAG_CAUSAL;
  if (causal === true) return;
  const object = checkObject("causal", causal, "a boolean or { offset }");
  checkNames("causal", object, ["offset"]);
  call.offset = checkInteger("causal.offset", object.offset, -MAX_OFFSET, MAX_OFFSET);
}

function readWindow(call: Call, window: unknown): void {
  const object = checkObject("window", window, "an object { left, right }");
  checkNames("window", object, ["left", "right"]);
  const left = readReach("window.left", object.left);
  const right = readReach("window.right", object.right);
  if (left >= 0) {
    call.flags |= FLAG_WINDOW_LEFT;
    call.windowLeft = left;
  }
  if (right >= 0) {
    call.flags |= FLAG_WINDOW_RIGHT;
    call.windowRight = right;
  }
}

/** How far a window reaches, or −1 for no limit. */
function readReach(argument: string, value: unknown): number {
  if (value === undefined) return -1;
  if (value === -1 || value === Number.POSITIVE_INFINITY) {
    throw outOfRange(argument, "a whole number from 0", value, "leave it out for no limit");
  }
  return Math.min(checkInteger(argument, value, 0, Number.MAX_SAFE_INTEGER), MAX_WINDOW);
}

function readMask(call: Call, value: unknown): void {
  const given = checkObject("mask", value, "a mask { data, shape } or { blocked: { data, shape } }");
  if (given.blocked === undefined) {
    checkNames("mask", given, ["data", "shape", "blocked"]);
    call.mask = readMaskTensor("mask", given, call);
  } else {
    checkNames("mask", given, ["blocked"]);
    const blocked = checkObject("mask.blocked", given.blocked, "a mask { data, shape }");
    call.mask = readMaskTensor("mask.blocked", blocked, call);
    call.blocked = true;
  }
}

function readMaskTensor(argument: string, given: Properties, call: Call): Broadcast<Uint8Array> {
  const { data: values, shape: sizes } = given;
  const data = maskBytes(`${argument}.data`, values);
  const shape = checkShape(argument, sizes, MAX_MASK_RANK);
  checkProduct(argument, data.length, shape);
  return { data, strides: broadcast(argument, shape, call) };
}

/** The mask as bytes; booleans are copied, so that an odd array cannot run code later. */
function maskBytes(argument: string, values: unknown): Uint8Array {
  const name = typedArrayName(values);
  if (name === "Uint8Array") {
    const bytes = values as Uint8Array;
    if (bytes.length === 0) checkAttached(argument, bytes);
    return bytes;
  }
  if (!Array.isArray(values)) {
    const hint = name?.startsWith("Float") ? "numbers that are added to the scores go into `bias`" : undefined;
    throw wrongType(argument, "a Uint8Array or an array of booleans", values, hint);
  }
  const bytes = new Uint8Array(values.length);
  for (let i = 0; i < values.length; ++i) {
    const value: unknown = values[i];
    if (typeof value !== "boolean") throw wrongType(`${argument}[${i}]`, "a boolean", value);
    bytes[i] = value ? 1 : 0;
  }
  return bytes;
}

/** Strides of an operand that is laid against [B, H, T, S] from the right. */
function broadcast(argument: string, shape: readonly number[], call: Call): number[] {
  const full = [call.batch, call.numHeads, call.queries, call.keys];
  const strides = [0, 0, 0, 0];
  let stride = 1;
  for (let axis = shape.length - 1, to = 3; axis >= 0; --axis, --to) {
    const size = shape[axis] as number;
    if (size !== 1 || to < 0) {
      if (size !== full[to]) throw wrongBroadcast(argument, shape, full);
      strides[to] = stride;
    }
    stride *= size;
  }
  return strides;
}

function wrongBroadcast(argument: string, shape: readonly number[], full: readonly number[]): Error {
  const expected = `a shape that broadcasts to [B, H, T, S] = ${shapeText(full)} from the right`;
  const perItem = shape.length === 3 && shape[0] === full[0];
  const hint = perItem ? `one per batch item is [${shape[0]}, 1, ${shape[1]}, ${shape[2]}]` : undefined;
  return mismatch("shape", `${argument}.shape`, expected, shapeText(shape), hint);
}

function readKeyPadding(call: Call, value: unknown): void {
  const { batch, keys } = call;
  const name = typedArrayName(value);
  if (name !== "Uint8Array" && name !== "Int32Array") {
    throw wrongType("keyPadding", "a Uint8Array or an Int32Array", value);
  }
  const array = value as Uint8Array | Int32Array;
  const { length } = array;
  if (length === 0) checkAttached("keyPadding", array);
  // Where there is one key, a length of 0 or 1 and a mask of 0 or 1 say the same, so asking for the length first is safe.
  if (name === "Int32Array" && length === batch) {
    for (let b = 0; b < length; ++b) {
      const real = array[b] as number;
      if (real < 0 || real > keys) throw outOfRange(`keyPadding[${b}]`, `a length from 0 to S = ${keys}`, real);
    }
    call.keyLengths = array as Int32Array;
  } else if (length === batch * keys) {
    call.keyMask = array;
  } else {
    const lengths = name === "Int32Array" ? ` or B = ${batch} lengths` : "";
    const hint = length === batch && lengths === "" ? "true lengths come as an Int32Array" : undefined;
    const expected = `B × S = ${batch} × ${keys} values${lengths}`;
    throw mismatch("shape", "keyPadding", expected, String(length), hint);
  }
}
