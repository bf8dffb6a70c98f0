/** Builds GGUF and safetensors files byte by byte, right ones and wrong ones. */

/** Little-endian bytes, one piece after the other. */
export class Bytes {
  readonly #pieces: Buffer[] = [];
  length = 0;

  u8(value: number): this {
    return this.raw(Uint8Array.of(value));
  }
  u32(value: number): this {
    const piece = Buffer.alloc(4);
    piece.writeUInt32LE(value >>> 0);
    return this.raw(piece);
  }
  u64(value: number | bigint): this {
    const piece = Buffer.alloc(8);
    piece.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
    return this.raw(piece);
  }
  f32(value: number): this {
    const piece = Buffer.alloc(4);
    piece.writeFloatLE(value);
    return this.raw(piece);
  }
  f64(value: number): this {
    const piece = Buffer.alloc(8);
    piece.writeDoubleLE(value);
    return this.raw(piece);
  }
  string(text: string | Uint8Array): this {
    const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
    return this.u64(bytes.length).raw(bytes);
  }
  raw(bytes: Uint8Array): this {
    this.#pieces.push(Buffer.from(bytes));
    this.length += bytes.length;
    return this;
  }
  /** In memory of its own. */
  done(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(Buffer.concat(this.#pieces));
  }
}

export const GGUF_VALUE = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  bool: 7,
  string: 8,
  array: 9,
  u64: 10,
  i64: 11,
  f64: 12,
} as const;

/** The bytes of a key's value with its type in front. */
export type GgufValue = (to: Bytes) => Bytes;
export const u32 =
  (value: number): GgufValue =>
  (to) =>
    to.u32(GGUF_VALUE.u32).u32(value);
export const text =
  (value: string): GgufValue =>
  (to) =>
    to.u32(GGUF_VALUE.string).string(value);
export const strings =
  (values: readonly string[]): GgufValue =>
  (to) => {
    to.u32(GGUF_VALUE.array).u32(GGUF_VALUE.string).u64(values.length);
    for (const value of values) to.string(value);
    return to;
  };

export interface GgufTensor {
  name: string;
  /** Fastest first, as the file has them. */
  ne: readonly number[];
  type: number;
  data: Uint8Array;
  /** Default: after the tensor before, padded. */
  offset?: number;
}

export interface GgufParts {
  version?: number;
  alignment?: number;
  keys?: readonly (readonly [string, GgufValue])[];
  tensors?: readonly GgufTensor[];
}

const padTo = (length: number, alignment: number): Uint8Array =>
  new Uint8Array(Math.ceil(length / alignment) * alignment - length);

/** The last tensor is not padded. */
export function writeGguf({
  version = 3,
  alignment = 32,
  keys = [],
  tensors = [],
}: GgufParts): Uint8Array<ArrayBuffer> {
  const file = new Bytes();
  file.raw(Buffer.from("GGUF")).u32(version).u64(tensors.length).u64(keys.length);
  for (const [name, value] of keys) value(file.string(name));
  const data = new Bytes();
  for (const { name, ne, type, data: bytes, offset } of tensors) {
    data.raw(padTo(data.length, alignment));
    file.string(name).u32(ne.length);
    for (const size of ne) file.u64(size);
    file.u32(type).u64(offset ?? data.length);
    data.raw(bytes);
  }
  if (tensors.length > 0) file.raw(padTo(file.length, alignment));
  return file.raw(data.done()).done();
}

export function f32Bytes(values: readonly number[]): Uint8Array {
  const bytes = new Bytes();
  for (const value of values) bytes.f32(value);
  return bytes.done();
}

/** A safetensors file around any header, right or wrong. */
export function safetensorsFile(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array<ArrayBuffer> {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  return new Bytes().u64(json.length).raw(json).raw(data).done();
}

export interface SafeTensor {
  dtype: string;
  shape: readonly number[];
  data: Uint8Array;
}

export function writeSafetensors(
  tensors: Readonly<Record<string, SafeTensor>>,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> {
  const data = new Bytes();
  const header: Record<string, unknown> = metadata === undefined ? {} : { __metadata__: metadata };
  for (const [name, { dtype, shape, data: bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [data.length, data.length + bytes.length] };
    data.raw(bytes);
  }
  return safetensorsFile(header, data.done());
}
