import { STATUS_OK } from "../abi.js";
import { HeadscopeError } from "../errors.js";
import { Instance } from "../headscope.js";
import { allocate, type Heap, outOfMemory } from "../heap.js";
import type { Headscope } from "../types.js";
import { ggmlTypeNumber, tensorType } from "./tensor-types.js";

/** Stored bytes of whole blocks to float32. */
export type Decode = (dtype: string, bytes: Uint8Array, elements: number) => Float32Array;

/** Types that the module decodes (src/dequantize.h). */
const NATIVE = ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"];
/** Types that need no more than JavaScript's own arrays and tables. */
const PLAIN = ["F32", "F64", "F8_E4M3", "F8_E5M2"];

export function isDecodable(dtype: string): boolean {
  return NATIVE.includes(dtype) || PLAIN.includes(dtype);
}

/** For messages. */
export const DECODABLE = /* @__PURE__ */ [...PLAIN, ...NATIVE].join(", ");

/** Values decoded at a time: 1 MiB of results, so that the heap does not grow by the size of a tensor. */
const PIECE = 2 ** 18;

/** The decoder of a running module. */
export function decoderOf(hs: Headscope): Decode {
  const heap = Instance.heapOf(hs);
  return (dtype, bytes, elements) => decodePlain(dtype, bytes, elements) ?? decodeNative(heap, dtype, bytes, elements);
}

function decodeNative(heap: Heap, dtype: string, bytes: Uint8Array, elements: number): Float32Array {
  const type = tensorType(dtype);
  const number = ggmlTypeNumber(dtype);
  if (type === undefined || number === undefined || !NATIVE.includes(dtype)) {
    throw new HeadscopeError("unsupported", `dtype: expected one of ${DECODABLE}, got ${dtype}`);
  }
  const values = allocate("read", elements);
  const piece = Math.min(PIECE, elements);
  const stored = Math.ceil(((piece / type.blockValues) * type.blockBytes) / 16) * 16;
  const from = heap.reserve("read", stored + piece * 4);
  const to = from + stored;
  for (let done = 0; done < elements; done += piece) {
    const count = Math.min(piece, elements - done);
    const begin = (done / type.blockValues) * type.blockBytes;
    heap.u8.set(bytes.subarray(begin, begin + (count / type.blockValues) * type.blockBytes), from);
    const status = heap.native.dequantize(number, from, count, to);
    if (status !== STATUS_OK) throw outOfMemory("read", `a piece of ${dtype}`, count * 4);
    heap.read(to, values.subarray(done, done + count));
  }
  return values;
}

/** What JavaScript decodes by itself; undefined for other types. */
export function decodePlain(dtype: string, bytes: Uint8Array, elements: number): Float32Array | undefined {
  if (!PLAIN.includes(dtype)) return undefined;
  const values = allocate("read", elements);
  if (dtype === "F32") {
    new Uint8Array(values.buffer).set(bytes);
  } else if (dtype === "F64") {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let i = 0; i < elements; ++i) values[i] = view.getFloat64(i * 8, true);
  } else {
    const table = dtype === "F8_E4M3" ? float8Table(3, 7, false) : float8Table(2, 15, true);
    for (let i = 0; i < elements; ++i) values[i] = table[bytes[i] as number] as number;
  }
  return values;
}

/**
 * The 256 numbers of an 8-bit float (Micikevicius et al. 2022, FP8 formats for deep learning). E5M2 has infinities as
 * IEEE does; E4M3 has none, and only its very last pattern is NaN.
 */
function float8Table(fractionBits: number, bias: number, infinities: boolean): Float32Array {
  const table = new Float32Array(256);
  const steps = 2 ** fractionBits;
  const last = 2 ** (7 - fractionBits) - 1;
  for (let bits = 0; bits < 128; ++bits) {
    const exponent = bits >> fractionBits;
    const fraction = bits % steps;
    let value = exponent === 0 ? (fraction / steps) * 2 ** (1 - bias) : (1 + fraction / steps) * 2 ** (exponent - bias);
    if (exponent === last && infinities) value = fraction === 0 ? Number.POSITIVE_INFINITY : Number.NaN;
    if (bits === 127 && !infinities) value = Number.NaN;
    table[bits] = value;
    table[bits + 128] = -value;
  }
  return table;
}
