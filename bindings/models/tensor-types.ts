/** How a type of tensor is stored: in blocks of so many values and so many bytes. */
export interface TensorType {
  readonly name: string;
  readonly blockValues: number;
  readonly blockBytes: number;
}

/**
 * ggml's types by their number in GGUF files. Those that the module decodes are DECODABLE in decode.ts; of the others
 * the size is enough to find the tensors around them. Source: ggml.h and ggml-common.h.
 */
const GGML_TYPES: readonly (readonly [number, string, number, number])[] = [
  [0, "F32", 1, 4],
  [1, "F16", 1, 2],
  [2, "Q4_0", 32, 18],
  [3, "Q4_1", 32, 20],
  [6, "Q5_0", 32, 22],
  [7, "Q5_1", 32, 24],
  [8, "Q8_0", 32, 34],
  [9, "Q8_1", 32, 36],
  [10, "Q2_K", 256, 84],
  [11, "Q3_K", 256, 110],
  [12, "Q4_K", 256, 144],
  [13, "Q5_K", 256, 176],
  [14, "Q6_K", 256, 210],
  [15, "Q8_K", 256, 292],
  [16, "IQ2_XXS", 256, 66],
  [17, "IQ2_XS", 256, 74],
  [18, "IQ3_XXS", 256, 98],
  [19, "IQ1_S", 256, 50],
  [20, "IQ4_NL", 32, 18],
  [21, "IQ3_S", 256, 110],
  [22, "IQ2_S", 256, 82],
  [23, "IQ4_XS", 256, 136],
  [24, "I8", 1, 1],
  [25, "I16", 1, 2],
  [26, "I32", 1, 4],
  [27, "I64", 1, 8],
  [28, "F64", 1, 8],
  [29, "IQ1_M", 256, 56],
  [30, "BF16", 1, 2],
  [34, "TQ1_0", 256, 54],
  [35, "TQ2_0", 256, 66],
  [39, "MXFP4", 32, 17],
  [40, "NVFP4", 64, 36],
  [41, "Q1_0", 128, 18],
  [42, "Q2_0", 64, 18],
];

const REMOVED = new Map([
  [4, "Q4_2"],
  [5, "Q4_3"],
  [31, "Q4_0_4_4"],
  [32, "Q4_0_4_8"],
  [33, "Q4_0_8_8"],
  [36, "IQ4_NL_4_4"],
  [37, "IQ4_NL_4_8"],
  [38, "IQ4_NL_8_8"],
]);

const BY_NUMBER: ReadonlyMap<number, TensorType> = /* @__PURE__ */ new Map(
  GGML_TYPES.map(([number, name, blockValues, blockBytes]) => [number, { name, blockValues, blockBytes }]),
);
const NUMBERS: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  GGML_TYPES.map(([number, name]) => [name, number]),
);

export function ggmlType(number: number): TensorType | undefined {
  return BY_NUMBER.get(number);
}

/** The number of a type in GGUF files, which is also its number in the module (src/dequantize.h). */
export function ggmlTypeNumber(name: string): number | undefined {
  return NUMBERS.get(name);
}

/** What a number that is no type of today was, for messages. */
export function removedGgmlType(number: number): string | undefined {
  return REMOVED.get(number);
}

/** safetensors' types and their bits: dtype.rs of the reference reader. */
const SAFETENSORS_BITS = new Map([
  ["BOOL", 8],
  ["U8", 8],
  ["I8", 8],
  ["F8_E5M2", 8],
  ["F8_E4M3", 8],
  ["F8_E8M0", 8],
  ["F8_E4M3FNUZ", 8],
  ["F8_E5M2FNUZ", 8],
  ["F6_E2M3", 6],
  ["F6_E3M2", 6],
  ["F4", 4],
  ["I16", 16],
  ["U16", 16],
  ["F16", 16],
  ["BF16", 16],
  ["I32", 32],
  ["U32", 32],
  ["F32", 32],
  ["F64", 64],
  ["C64", 64],
  ["I64", 64],
  ["U64", 64],
]);

/** Bits of one value; undefined for a type that is newer than this list. */
export function safetensorsBits(dtype: string): number | undefined {
  return SAFETENSORS_BITS.get(dtype);
}

/** The blocks of a type of either format by its name; undefined where values are no whole bytes, or it is unknown. */
export function tensorType(name: string): TensorType | undefined {
  const number = NUMBERS.get(name);
  if (number !== undefined) return BY_NUMBER.get(number);
  const bits = safetensorsBits(name);
  return bits === undefined || bits % 8 !== 0 ? undefined : { name, blockValues: 1, blockBytes: bits / 8 };
}
