import { fileError } from "./file-error.js";
import { decodeUtf8Leniently } from "./header.js";
import type { HeaderReader } from "./header-reader.js";

/** GGUF's types of metadata by their number. */
const TYPES = ["u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"] as const;
type ValueType = (typeof TYPES)[number];

const BYTES: Readonly<Record<ValueType, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  string: 8, // at least: its length
  array: 12, // at least: type and length
  u64: 8,
  i64: 8,
  f64: 8,
};

/** Files have no arrays in arrays; the specification allows them. */
const MAX_DEPTH = 8;
/** Elements that become objects of their own: sixty times the largest vocabulary. */
const MAX_OBJECTS = 2 ** 24;

/** A value as JavaScript has it, and its type: `"u32"`, `"f32[]"`, `"string[][]"`. */
export interface Value {
  readonly value: unknown;
  readonly type: string;
}

/**
 * A value with its type in front of it.
 *
 * - integers up to 2^53, floats: number; u64 and i64 beyond: bigint
 * - bool: boolean; string: string, with U+FFFD for what is no UTF-8
 * - arrays of u8 … i32, f32 and f64: the typed array; of u64 and i64, bool, string and arrays: Array
 */
export async function readValue(reader: HeaderReader): Promise<Value> {
  await reader.need(4);
  return readTyped(reader, typeOf(reader, reader.u32()), 0);
}

function typeOf(reader: HeaderReader, number: number): ValueType {
  const type = TYPES[number];
  if (type === undefined) {
    throw fileError(reader.source.name, reader.part, `a type from 0 to ${TYPES.length - 1}`, String(number));
  }
  return type;
}

async function readTyped(reader: HeaderReader, type: ValueType, depth: number): Promise<Value> {
  await reader.need(BYTES[type]);
  if (type === "array") return readArray(reader, depth + 1);
  if (type === "string") return { value: await readString(reader), type };
  return { value: readScalar(reader, type), type };
}

async function readString(reader: HeaderReader): Promise<string> {
  if (!reader.has(8)) await reader.need(8);
  const bytes = reader.u64();
  if (!reader.has(bytes)) {
    if (bytes > reader.remaining) throw tooLong(reader, "a string of at most", reader.remaining, bytes, "bytes");
    await reader.need(bytes);
  }
  return decodeUtf8Leniently(reader.take(bytes));
}

function tooLong(reader: HeaderReader, what: string, most: number, count: number, unit: string) {
  const actual = Number.isFinite(count) ? String(count) : "more than 2^53";
  return fileError(reader.source.name, reader.part, `${what} ${most} ${unit}, as the file can hold`, actual);
}

function readScalar(reader: HeaderReader, type: ValueType): unknown {
  if (type === "bool") {
    const byte = reader.u8();
    if (byte > 1) throw fileError(reader.source.name, reader.part, "a bool, 0 or 1", String(byte));
    return byte === 1;
  }
  const bytes = reader.take(BYTES[type]);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  switch (type) {
    case "u8":
      return view.getUint8(0);
    case "i8":
      return view.getInt8(0);
    case "u16":
      return view.getUint16(0, true);
    case "i16":
      return view.getInt16(0, true);
    case "u32":
      return view.getUint32(0, true);
    case "i32":
      return view.getInt32(0, true);
    case "f32":
      return view.getFloat32(0, true);
    case "u64":
      return narrow(view.getBigUint64(0, true));
    case "i64":
      return narrow(view.getBigInt64(0, true));
    default:
      return view.getFloat64(0, true);
  }
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

async function readArray(reader: HeaderReader, depth: number): Promise<Value> {
  const type = typeOf(reader, reader.u32());
  const count = reader.u64();
  const most = Math.floor(reader.remaining / BYTES[type]);
  if (count > most) throw tooLong(reader, "an array of at most", most, count, "elements");
  switch (type) {
    case "u8":
    case "i8":
    case "u16":
    case "i16":
    case "u32":
    case "i32":
    case "f32":
    case "f64": {
      const bytes = count * BYTES[type];
      await reader.need(bytes);
      return { value: typedArray(type, reader.take(bytes).slice().buffer), type: `${type}[]` };
    }
    default:
      return readObjects(reader, type, count, depth);
  }
}

type TypedValue = "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "f32" | "f64";

// WebAssembly's memory is little-endian, and so is every machine whose engine runs it at speed: no swapping here.
function typedArray(type: TypedValue, buffer: ArrayBuffer): ArrayBufferView {
  switch (type) {
    case "u8":
      return new Uint8Array(buffer);
    case "i8":
      return new Int8Array(buffer);
    case "u16":
      return new Uint16Array(buffer);
    case "i16":
      return new Int16Array(buffer);
    case "u32":
      return new Uint32Array(buffer);
    case "i32":
      return new Int32Array(buffer);
    case "f32":
      return new Float32Array(buffer);
    default:
      return new Float64Array(buffer);
  }
}

async function readObjects(reader: HeaderReader, type: ValueType, count: number, depth: number): Promise<Value> {
  const { name } = reader.source;
  if (count > MAX_OBJECTS) throw fileError(name, reader.part, `at most ${MAX_OBJECTS} elements`, String(count));
  if (type === "array" && depth >= MAX_DEPTH) {
    throw fileError(name, reader.part, `arrays at most ${MAX_DEPTH} deep`, "deeper ones");
  }
  const values: unknown[] = [];
  let inner: string = type;
  for (let i = 0; i < count; ++i) {
    if (type === "string") {
      values.push(await readString(reader));
      continue;
    }
    const element = await readTyped(reader, type, depth);
    values.push(element.value);
    inner = element.type;
  }
  return { value: values, type: `${inner}[]` };
}
