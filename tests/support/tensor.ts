import type { Want } from "headscope";
import { fromFloat16 } from "./float16.js";
import { product } from "./random.js";

/** A tensor in double precision: what the oracle returns and what expected values are read into. */
export interface Exact {
  readonly data: Float64Array;
  readonly shape: readonly number[];
}

/** Results that are tensors. */
export type TensorWant = Exclude<Want, "trace">;

/** As the conformance files store it: little-endian bytes in base64. */
export interface StoredTensor {
  name?: string;
  dtype: string;
  shape: number[];
  data: string;
}

const WIDTHS: Record<string, number> = { float64: 8, int64: 8, float32: 4, int32: 4, float16: 2, bool: 1, uint8: 1 };

/** Every dtype the conformance files use, widened to float64 without loss (int64 below 2^53). */
export function decodeTensor(stored: StoredTensor): Exact {
  const width = WIDTHS[stored.dtype];
  if (width === undefined) throw new Error(`unknown dtype ${stored.dtype}`);
  const bytes = Buffer.from(stored.data, "base64");
  const count = product(stored.shape);
  if (bytes.length !== count * width) {
    throw new Error(`${stored.dtype}[${stored.shape}] needs ${count * width} bytes, the file holds ${bytes.length}`);
  }
  const data = new Float64Array(count);
  for (let i = 0; i < count; ++i) data[i] = readElement(bytes, stored.dtype, i * width);
  return { data, shape: stored.shape };
}

function readElement(bytes: Buffer, dtype: string, at: number): number {
  switch (dtype) {
    case "float64":
      return bytes.readDoubleLE(at);
    case "float32":
      return bytes.readFloatLE(at);
    case "float16":
      return fromFloat16(bytes.readUInt16LE(at));
    case "int64":
      return Number(bytes.readBigInt64LE(at));
    case "int32":
      return bytes.readInt32LE(at);
    default:
      return bytes.readUInt8(at);
  }
}

export function toFloat32(exact: Exact): { data: Float32Array; shape: number[] } {
  return { data: Float32Array.from(exact.data), shape: [...exact.shape] };
}

/** float32 values in base64, little-endian whatever the machine. */
export function encodeFloat32(values: ArrayLike<number>): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (let i = 0; i < values.length; ++i) bytes.writeFloatLE(Math.fround(values[i] as number), i * 4);
  return bytes.toString("base64");
}

export function decodeFloat32(text: string): Float64Array {
  const bytes = Buffer.from(text, "base64");
  const out = new Float64Array(bytes.length / 4);
  for (let i = 0; i < out.length; ++i) out[i] = bytes.readFloatLE(i * 4);
  return out;
}

/** [B,X,H*d] to [B,H,X,d]: how 3-D inputs split into heads. */
export function splitHeads(t: Exact, heads: number): Exact {
  const [batch, rows, columns] = t.shape as [number, number, number];
  const width = columns / heads;
  const data = new Float64Array(t.data.length);
  let to = 0;
  for (let b = 0; b < batch; ++b)
    for (let h = 0; h < heads; ++h)
      for (let x = 0; x < rows; ++x)
        for (let d = 0; d < width; ++d) data[to++] = t.data[(b * rows + x) * columns + h * width + d] as number;
  return { data, shape: [batch, heads, rows, width] };
}

/** [B,H,X,d] to [B,X,H*d]. */
export function mergeHeads(t: Exact): Exact {
  const [batch, heads, rows, width] = t.shape as [number, number, number, number];
  const data = new Float64Array(t.data.length);
  let to = 0;
  for (let b = 0; b < batch; ++b)
    for (let x = 0; x < rows; ++x)
      for (let h = 0; h < heads; ++h)
        for (let d = 0; d < width; ++d) data[to++] = t.data[((b * heads + h) * rows + x) * width + d] as number;
  return { data, shape: [batch, rows, heads * width] };
}

/** Two [B,H,X,d] tensors one after the other along X: the past, then the new keys. */
export function concatRows(a: Exact, b: Exact): Exact {
  const [batch, heads, first, width] = a.shape as [number, number, number, number];
  const second = b.shape[2] as number;
  const data = new Float64Array(a.data.length + b.data.length);
  let to = 0;
  for (let n = 0; n < batch * heads; ++n) {
    data.set(a.data.subarray(n * first * width, (n + 1) * first * width), to);
    to += first * width;
    data.set(b.data.subarray(n * second * width, (n + 1) * second * width), to);
    to += second * width;
  }
  return { data, shape: [batch, heads, first + second, width] };
}

/** Columns from start to end of [B,X,C]. */
export function sliceColumns(t: Exact, start: number, end: number): Exact {
  const [batch, rows, columns] = t.shape as [number, number, number];
  const data = new Float64Array(batch * rows * (end - start));
  for (let r = 0; r < batch * rows; ++r) {
    data.set(t.data.subarray(r * columns + start, r * columns + end), r * (end - start));
  }
  return { data, shape: [batch, rows, end - start] };
}

/** Item b of the leading axis, which stays with length 1; a leading axis of 1 is kept (broadcast). */
export function batchItem(t: Exact, b: number): Exact {
  const [batch, ...rest] = t.shape as [number, ...number[]];
  const step = product(rest);
  const at = batch === 1 ? 0 : b;
  return { data: t.data.slice(at * step, (at + 1) * step), shape: [1, ...rest] };
}

/** The last axis lengthened to `length` with `fill`. */
export function padLast(t: Exact, length: number, fill: number): Exact {
  const last = t.shape[t.shape.length - 1] as number;
  if (last >= length) return t;
  const rows = product(t.shape.slice(0, -1));
  const data = new Float64Array(rows * length).fill(fill);
  for (let r = 0; r < rows; ++r) data.set(t.data.subarray(r * last, (r + 1) * last), r * length);
  return { data, shape: [...t.shape.slice(0, -1), length] };
}
