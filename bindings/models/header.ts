/** Where a tensor is in its file and how it is stored. */
export interface TensorInfo {
  /** Sizes in row-major order, the slowest first: [rows, columns]. A scalar has none. */
  readonly shape: readonly number[];
  /** The same sizes as ggml prints them: the fastest first, at least four. */
  readonly ne: readonly number[];
  /** The format's own name: `"F32"`, `"BF16"`, `"Q8_0"`, `"Q4_K"`, … */
  readonly dtype: string;
  /** Position of the first byte in the file. */
  readonly offset: number;
  readonly bytes: number;
}

/** What the header of either format says. */
export interface FileHeader {
  readonly format: "gguf" | "safetensors";
  /** GGUF's version. */
  readonly version: number | undefined;
  readonly metadata: ReadonlyMap<string, unknown>;
  /** Types of the metadata in GGUF's words: `"u32"`, `"string"`, `"f32[]"`, … */
  readonly metadataTypes: ReadonlyMap<string, string>;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Position of the first byte of tensor data. */
  readonly dataOffset: number;
  /** Bytes that were read together with the header and follow it. */
  readonly rest: { readonly begin: number; readonly bytes: Uint8Array };
}

/** Sizes, the fastest first, as ggml prints them. */
export function toNe(shape: readonly number[]): number[] {
  const ne = [...shape].reverse();
  while (ne.length < 4) ne.push(1);
  return ne;
}

/** The product of sizes: exact, 0 where one of them is 0, Infinity above 2^53. */
export function elementsOf(shape: readonly number[]): number {
  if (shape.includes(0)) return 0;
  let product = 1;
  for (const size of shape) product *= size;
  return product <= Number.MAX_SAFE_INTEGER ? product : Number.POSITIVE_INFINITY;
}

// Made when they are first needed: importing the package asks for no global of the platform. A byte order mark is kept: it
// is a character of a token like any other.
let strict: TextDecoder | undefined;
let lenient: TextDecoder | undefined;

/** undefined for bytes that are no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  strict ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** With U+FFFD for what is no UTF-8. */
export function decodeUtf8Leniently(bytes: Uint8Array): string {
  lenient ??= new TextDecoder("utf-8", { ignoreBOM: true });
  return lenient.decode(bytes);
}
