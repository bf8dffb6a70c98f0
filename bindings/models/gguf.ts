import type { HeadscopeError } from "../errors.js";
import { fileError, quoted } from "./file-error.js";
import { readValue } from "./gguf-value.js";
import { decodeUtf8, elementsOf, type FileHeader, type TensorInfo, toNe } from "./header.js";
import { HEADER_LIMIT, type HeaderReader } from "./header-reader.js";
import { looksLike } from "./looks-like.js";
import { ggmlType, removedGgmlType } from "./tensor-types.js";

// GGUF, versions 2 and 3, little-endian (ggml, docs/gguf.md):
//
//   "GGUF"  u32 version  u64 tensors  u64 keys
//   keys:     string name, u32 type, value                        string = u64 length, UTF-8
//   tensors:  string name, u32 rank, u64 sizes (fastest first), u32 type, u64 offset from the start of the data
//   zeros up to a multiple of general.alignment (32), then the data
//
// Every count and length in it may be a lie: none is believed beyond what the file can still hold.

export const GGUF_MAGIC = "GGUF";
const ALIGNMENT_KEY = "general.alignment";
const DEFAULT_ALIGNMENT = 32;
/** The specification's limit for keys. It allows tensors 64 bytes, which some writers exceed without harm. */
const MAX_NAME_BYTES = 65_535;
const MAX_RANK = 4;
const KEY_BYTES = 8 + 1 + 4 + 1; // the shortest: a name of one byte and a value of one byte
const TENSOR_BYTES = 8 + 4 + 4 + 8;

interface StoredTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: string;
  readonly bytes: number;
  readonly offset: number;
}

/** Reads the header and checks that every tensor lies inside the file, aligned and apart from the others. */
export async function readGguf(reader: HeaderReader): Promise<FileHeader> {
  const { source } = reader;
  const fail = (part: string, expected: string, actual: string, hint?: string) =>
    fileError(source.name, part, expected, actual, hint === undefined ? {} : { hint });

  const start = await reader.peek(24);
  if (String.fromCharCode(...start.subarray(0, 4)) !== GGUF_MAGIC) {
    throw fail("the file", 'a GGUF file, which starts with "GGUF"', looksLike(await reader.peek(400)));
  }
  await reader.need(24);
  reader.take(4);
  const version = checkVersion(source.name, reader.u32());
  const tensorCount = reader.u64();
  const keyCount = reader.u64();
  checkCount(reader, "keys", keyCount, KEY_BYTES);
  checkCount(reader, "tensors", tensorCount, TENSOR_BYTES);

  const metadata = new Map<string, unknown>();
  const metadataTypes = new Map<string, string>();
  for (let i = 0; i < keyCount; ++i) {
    const key = await readName(reader, `key ${i + 1} of ${keyCount}`);
    if (key === "") throw fail(`key ${i + 1} of ${keyCount}`, "a name", "an empty one");
    if (metadata.has(key)) throw fail(`key ${quoted(key)}`, "each key once", "it twice");
    reader.part = `key ${quoted(key)}`;
    const { value, type } = await readValue(reader);
    metadata.set(key, value);
    metadataTypes.set(key, type);
  }
  const alignment = readAlignment(source.name, metadata, metadataTypes);

  const stored: StoredTensor[] = [];
  const names = new Set<string>();
  for (let i = 0; i < tensorCount; ++i) {
    const name = await readName(reader, `tensor ${i + 1} of ${tensorCount}`);
    if (names.has(name)) throw fail(`tensor ${quoted(name)}`, "each name once", "it twice");
    names.add(name);
    stored.push(await readTensor(reader, name, alignment));
  }

  const dataOffset = Math.ceil(reader.position / alignment) * alignment;
  const tensors = new Map<string, TensorInfo>();
  for (const { name, shape, type, bytes, offset } of stored) {
    const begin = dataOffset + offset;
    if (bytes > 0 && (begin + bytes > Number.MAX_SAFE_INTEGER || begin + bytes > (source.size ?? Infinity))) {
      const actual = `it at bytes ${begin} to ${begin + bytes}`;
      throw fail(
        `tensor ${quoted(name)}`,
        `it inside the file of ${source.size} bytes`,
        actual,
        "was the file cut off?",
      );
    }
    tensors.set(name, { shape, ne: toNe(shape), dtype: type, offset: begin, bytes });
  }
  checkOverlap(source.name, stored);
  return { format: "gguf", version, metadata, metadataTypes, tensors, dataOffset, rest: reader.rest() };
}

function checkVersion(file: string, version: number): number {
  if (version === 2 || version === 3) return version;
  const refuse = (actual: string, hint: string): HeadscopeError =>
    fileError(file, "the GGUF version", "2 or 3, little-endian", actual, { code: "unsupported", hint });
  if (version === 1) throw refuse("1", "convert the file again with a newer program");
  if ((version & 0xffff) === 0 && version !== 0) {
    const swapped = ((version >>> 24) | ((version >>> 8) & 0xff00)) >>> 0;
    throw refuse(`${swapped}, big-endian`, "convert the file for little-endian machines");
  }
  throw fileError(file, "the GGUF version", "2 or 3", String(version));
}

function checkCount(reader: HeaderReader, what: string, count: number, leastBytes: number): void {
  if (count * leastBytes <= reader.remaining) return;
  const expected = `at most ${Math.floor(reader.remaining / leastBytes)}, as ${reader.remaining} bytes can hold`;
  throw fileError(reader.source.name, `the number of ${what}`, expected, countText(count));
}

function countText(count: number): string {
  return Number.isFinite(count) ? String(count) : "more than 2^53";
}

async function readName(reader: HeaderReader, part: string): Promise<string> {
  reader.part = part;
  await reader.need(8);
  const bytes = reader.u64();
  if (bytes > MAX_NAME_BYTES) {
    throw fileError(reader.source.name, part, `a name of at most ${MAX_NAME_BYTES} bytes`, countText(bytes));
  }
  await reader.need(bytes);
  const name = decodeUtf8(reader.take(bytes));
  if (name === undefined) throw fileError(reader.source.name, part, "a name in UTF-8", "other bytes");
  return name;
}

function readAlignment(
  file: string,
  metadata: ReadonlyMap<string, unknown>,
  types: ReadonlyMap<string, string>,
): number {
  if (!metadata.has(ALIGNMENT_KEY)) return DEFAULT_ALIGNMENT;
  const part = `key ${quoted(ALIGNMENT_KEY)}`;
  const type = types.get(ALIGNMENT_KEY);
  if (type !== "u32") throw fileError(file, part, "a u32", `${type}`);
  const alignment = metadata.get(ALIGNMENT_KEY) as number;
  // The specification wants a multiple of 8, ggml a power of two: files of either kind exist.
  const isPowerOfTwo = Number.isInteger(Math.log2(alignment));
  if (alignment === 0 || (alignment % 8 !== 0 && !isPowerOfTwo)) {
    throw fileError(file, part, "a multiple of 8 or a power of two", String(alignment));
  }
  if (alignment > HEADER_LIMIT) throw fileError(file, part, `at most ${HEADER_LIMIT}`, String(alignment));
  return alignment;
}

async function readTensor(reader: HeaderReader, name: string, alignment: number): Promise<StoredTensor> {
  const part = `tensor ${quoted(name)}`;
  const { name: file } = reader.source;
  reader.part = part;
  await reader.need(4);
  const rank = reader.u32();
  if (rank > MAX_RANK) throw fileError(file, part, `at most ${MAX_RANK} axes`, String(rank));
  await reader.need(rank * 8 + 12);
  const shape: number[] = [];
  for (let axis = 0; axis < rank; ++axis) shape.unshift(reader.u64());
  const number = reader.u32();
  const offset = reader.u64();

  const type = ggmlType(number);
  if (type === undefined) {
    const removed = removedGgmlType(number);
    const actual = removed === undefined ? String(number) : `${number} (${removed}, which was removed from the format)`;
    throw fileError(file, part, "a known type", actual, { code: "unsupported" });
  }
  const bytes = (elementsOf(shape) / type.blockValues) * type.blockBytes;
  if (!shape.every(Number.isFinite) || !(bytes <= Number.MAX_SAFE_INTEGER)) {
    throw fileError(file, part, "a size below 2^53 bytes", `the sizes ${shape.map(countText).join(" × ")}`);
  }
  const row = shape.at(-1) ?? 1;
  if (row % type.blockValues !== 0) {
    throw fileError(file, part, `rows of a multiple of ${type.blockValues} values, as ${type.name} has them`, `${row}`);
  }
  if (offset % alignment !== 0) {
    throw fileError(file, part, `an offset that is a multiple of ${alignment}`, countText(offset));
  }
  return { name, shape, type: type.name, bytes, offset };
}

function checkOverlap(file: string, stored: readonly StoredTensor[]): void {
  const inOrder = stored.filter(({ bytes }) => bytes > 0).sort((a, b) => a.offset - b.offset);
  for (let i = 1; i < inOrder.length; ++i) {
    const before = inOrder[i - 1] as StoredTensor;
    const { name, offset } = inOrder[i] as StoredTensor;
    if (before.offset + before.bytes > offset) {
      const expected = `bytes of its own, from ${before.offset + before.bytes} on`;
      throw fileError(file, `tensor ${quoted(name)}`, expected, `${offset}, inside ${quoted(before.name)}`);
    }
  }
}
