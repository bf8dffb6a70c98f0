import { fromFloat16 } from "./float16.ts";

/**
 * ggml's block formats, decoded value by value from their definitions (ggml-common.h for the layouts, the
 * dequantize_row functions of ggml-quants.c for the order of operations): the oracle of the module's decoder. Each
 * product and each difference rounds to float32 once, as there.
 */
export interface BlockFormat {
  readonly values: number;
  readonly bytes: number;
  /** Values of one block, in order. */
  readonly decode: (block: DataView) => number[];
}

const f = Math.fround;
const half = (block: DataView, at: number): number => fromFloat16(block.getUint16(at, true));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const low = (byte: number): number => byte & 15;
const high = (byte: number): number => byte >> 4;

function float32FromBits(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits);
  return view.getFloat32(0);
}

/** Blocks of 32 four-bit numbers: the low halves of 16 bytes are values 0 to 15, the high halves 16 to 31. */
function nibble(block: DataView, at: number, i: number): number {
  return i < 16 ? low(block.getUint8(at + i)) : high(block.getUint8(at + i - 16));
}

/** Bit i of the 32 that begin at a byte. */
function bit(block: DataView, at: number, i: number): number {
  return (block.getUint8(at + (i >> 3)) >> (i & 7)) & 1;
}

/** Q4_K and Q5_K: scale and minimum j of 8, six bits each in 12 bytes. */
function scaleAndMinimum(block: DataView, at: number, j: number): [number, number] {
  const q = (i: number): number => block.getUint8(at + i);
  if (j < 4) return [q(j) & 63, q(j + 4) & 63];
  return [low(q(j + 4)) | ((q(j - 4) >> 6) << 4), high(q(j + 4)) | ((q(j) >> 6) << 4)];
}

/** Q3_K: scale j of 16, six bits in 12 bytes: four low ones in the first 8 bytes, two high ones in the last 4. */
function scaleOfQ3(block: DataView, at: number, j: number): number {
  const four = j < 8 ? low(block.getUint8(at + j)) : high(block.getUint8(at + j - 8));
  const two = (block.getUint8(at + 8 + (j % 4)) >> (2 * (j >> 2))) & 3;
  return (four | (two << 4)) - 32;
}

export const BLOCK_FORMATS: Readonly<Record<string, BlockFormat>> = {
  F32: { values: 1, bytes: 4, decode: (b) => [b.getFloat32(0, true)] },
  F16: { values: 1, bytes: 2, decode: (b) => [half(b, 0)] },
  BF16: { values: 1, bytes: 2, decode: (b) => [float32FromBits(b.getUint16(0, true) * 2 ** 16)] },
  // f16 d, 32 i8
  Q8_0: { values: 32, bytes: 34, decode: (b) => range(32).map((i) => f(b.getInt8(2 + i) * half(b, 0))) },
  // f16 d, 16 bytes
  Q4_0: { values: 32, bytes: 18, decode: (b) => range(32).map((i) => f((nibble(b, 2, i) - 8) * half(b, 0))) },
  // f16 d, f16 m, 16 bytes
  Q4_1: { values: 32, bytes: 20, decode: (b) => range(32).map((i) => f(f(nibble(b, 4, i) * half(b, 0)) + half(b, 2))) },
  // f16 d, 32 fifth bits, 16 bytes
  Q5_0: {
    values: 32,
    bytes: 22,
    decode: (b) => range(32).map((i) => f(((nibble(b, 6, i) | (bit(b, 2, i) << 4)) - 16) * half(b, 0))),
  },
  // f16 d, f16 m, 32 fifth bits, 16 bytes
  Q5_1: {
    values: 32,
    bytes: 24,
    decode: (b) => range(32).map((i) => f(f((nibble(b, 8, i) | (bit(b, 4, i) << 4)) * half(b, 0)) + half(b, 2))),
  },
  // 16 bytes of scale (low) and minimum (high), 64 bytes of 2 bits, f16 d, f16 dmin
  Q2_K: {
    values: 256,
    bytes: 84,
    decode: (b) =>
      range(256).map((i) => {
        const scales = b.getUint8(i >> 4);
        const q = (b.getUint8(16 + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
        return f(f(f(half(b, 80) * low(scales)) * q) - f(half(b, 82) * high(scales)));
      }),
  },
  // 32 bytes of third bits (1 = no 4 to take off), 64 bytes of 2 bits, 12 bytes of scales, f16 d
  Q3_K: {
    values: 256,
    bytes: 110,
    decode: (b) =>
      range(256).map((i) => {
        const two = (b.getUint8(32 + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
        const third = (b.getUint8(i & 31) >> (i >> 5)) & 1;
        return f(f(half(b, 108) * scaleOfQ3(b, 96, i >> 4)) * (two - (third === 1 ? 0 : 4)));
      }),
  },
  // f16 d, f16 dmin, 12 bytes of scales and minimums, 128 bytes: of each 32, the low halves, then the high ones
  Q4_K: {
    values: 256,
    bytes: 144,
    decode: (b) =>
      range(256).map((i) => {
        const [scale, minimum] = scaleAndMinimum(b, 4, i >> 5);
        const byte = b.getUint8(16 + 32 * (i >> 6) + (i & 31));
        const q = ((i >> 5) & 1) === 0 ? low(byte) : high(byte);
        return f(f(f(half(b, 0) * scale) * q) - f(half(b, 2) * minimum));
      }),
  },
  // the same with 32 bytes of fifth bits before the 128
  Q5_K: {
    values: 256,
    bytes: 176,
    decode: (b) =>
      range(256).map((i) => {
        const [scale, minimum] = scaleAndMinimum(b, 4, i >> 5);
        const byte = b.getUint8(48 + 32 * (i >> 6) + (i & 31));
        const fifth = (b.getUint8(16 + (i & 31)) >> (i >> 5)) & 1;
        const q = (((i >> 5) & 1) === 0 ? low(byte) : high(byte)) | (fifth << 4);
        return f(f(f(half(b, 0) * scale) * q) - f(half(b, 2) * minimum));
      }),
  },
  // 128 bytes of 4 bits, 64 bytes of 2 bits, 16 i8 scales, f16 d
  Q6_K: {
    values: 256,
    bytes: 210,
    decode: (b) =>
      range(256).map((i) => {
        const byte = b.getUint8(64 * (i >> 7) + (i & 63));
        const four = (i & 64) === 0 ? low(byte) : high(byte);
        const two = (b.getUint8(128 + 32 * (i >> 7) + (i & 31)) >> (2 * ((i >> 5) & 3))) & 3;
        return f(f(half(b, 208) * b.getInt8(192 + (i >> 4))) * ((four | (two << 4)) - 32));
      }),
  },
};

/** Stored bytes of whole blocks to float32. */
export function dequantizeReference(dtype: string, bytes: Uint8Array, elements: number): Float32Array {
  const format = BLOCK_FORMATS[dtype];
  if (format === undefined) throw new Error(`no reference for ${dtype}`);
  const blocks = elements / format.values;
  if (!Number.isInteger(blocks) || bytes.length !== blocks * format.bytes) {
    throw new Error(`${elements} values of ${dtype} are not ${bytes.length} bytes`);
  }
  const out = new Float32Array(elements);
  for (let i = 0; i < blocks; ++i) {
    const block = new DataView(bytes.buffer, bytes.byteOffset + i * format.bytes, format.bytes);
    out.set(format.decode(block), i * format.values);
  }
  return out;
}
