import type { ByteSource } from "./byte-source.js";
import { fileError, quoted } from "./file-error.js";
import { decodeUtf8, elementsOf, type FileHeader, type TensorInfo, toNe } from "./header.js";
import { HEADER_LIMIT, type HeaderReader } from "./header-reader.js";
import { looksLike, looksLikePage } from "./looks-like.js";
import { type Json, JsonError, parseJson } from "./strict-json.js";
import { safetensorsBits } from "./tensor-types.js";

// safetensors (huggingface/safetensors, README and tensor.rs):
//
//   u64 length of the header, little-endian
//   header: JSON { name: { dtype, shape, data_offsets: [begin, end] }, …, "__metadata__": { string: string } }
//   data: the tensors, one after the other without holes, to the very end of the file

const METADATA = "__metadata__";
const MAX_DEPTH = 16;

interface StoredTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Reads the header and checks that the tensors fill the rest of the file. */
export async function readSafetensors(reader: HeaderReader): Promise<FileHeader> {
  const { source } = reader;
  const { name: file } = source;
  const first = await reader.peek(400);
  if (first.length < 8 || looksLikePage(first)) {
    throw fileError(file, "the file", "a safetensors file", looksLike(first));
  }
  await reader.need(8);
  const length = reader.u64();
  if (length > HEADER_LIMIT - 8) {
    const actual = Number.isFinite(length) ? String(length) : "more than 2^53";
    const hint = `the file has ${looksLike(first)}`;
    throw fileError(file, "the header's length", `at most ${HEADER_LIMIT} bytes`, actual, { hint });
  }
  reader.part = "the header";
  await reader.need(length);
  const text = decodeUtf8(reader.take(length));
  if (text === undefined) throw fileError(file, "the header", "JSON in UTF-8", "other bytes");
  const header = parseHeader(file, text);

  const metadata = readMetadata(file, header.get(METADATA));
  header.delete(METADATA);
  const stored = [...header].map(([name, value]) => readTensor(file, name, value));
  const dataOffset = 8 + length;
  checkCoverage(source, dataOffset, stored);
  const tensors = new Map<string, TensorInfo>();
  for (const { name, dtype, shape, begin, end } of stored) {
    tensors.set(name, { shape, ne: toNe(shape), dtype, offset: dataOffset + begin, bytes: end - begin });
  }
  const metadataTypes = new Map([...metadata.keys()].map((key) => [key, "string"]));
  return {
    format: "safetensors",
    version: undefined,
    metadata,
    metadataTypes,
    tensors,
    dataOffset,
    rest: reader.rest(),
  };
}

function parseHeader(file: string, text: string): Map<string, Json> {
  let json: Json;
  try {
    json = parseJson(text, MAX_DEPTH);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const found = error.at < text.length ? quoted(text.slice(error.at, error.at + 20)) : "its end";
    throw fileError(file, `the header's JSON at character ${error.at}`, error.message, found);
  }
  if (!(json instanceof Map)) throw fileError(file, "the header's JSON", "an object", kindOf(json));
  return json;
}

function kindOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value !== "object") return typeof value === "string" ? quoted(value) : String(value);
  return value instanceof Map ? "an object" : "an array";
}

function readMetadata(file: string, value: Json | undefined): Map<string, string> {
  const metadata = new Map<string, string>();
  if (value === undefined) return metadata;
  if (!(value instanceof Map)) throw fileError(file, METADATA, "an object", kindOf(value));
  for (const [key, text] of value) {
    if (typeof text !== "string") throw fileError(file, `${METADATA} ${quoted(key)}`, "a string", kindOf(text));
    metadata.set(key, text);
  }
  return metadata;
}

function readTensor(file: string, name: string, value: Json): StoredTensor {
  const part = `tensor ${quoted(name)}`;
  if (!(value instanceof Map)) throw fileError(file, part, "an object", kindOf(value));
  const dtype = value.get("dtype");
  if (typeof dtype !== "string") throw fileError(file, `${part}, dtype`, "a string", kindOf(dtype));
  const shape = sizes(file, `${part}, shape`, value.get("shape"));
  const offsets = sizes(file, `${part}, data_offsets`, value.get("data_offsets"));
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || offsets.length !== 2 || end < begin) {
    throw fileError(file, `${part}, data_offsets`, "[begin, end]", `[${offsets.join(", ")}]`);
  }
  const elements = elementsOf(shape);
  const bits = safetensorsBits(dtype);
  // A type that is newer than this reader takes as many bytes as it says.
  if (!Number.isFinite(elements) || (bits !== undefined && elements * bits !== (end - begin) * 8)) {
    const expected = `${end - begin} bytes, from ${begin} to ${end},`;
    const needed = bits === undefined || !Number.isFinite(elements) ? "too many" : String((elements * bits) / 8);
    throw fileError(file, part, `${expected} for its shape`, `${needed} for ${dtype} [${shape.join(", ")}]`);
  }
  return { name, dtype, shape, begin, end };
}

function sizes(file: string, part: string, value: Json | undefined): number[] {
  if (!Array.isArray(value)) throw fileError(file, part, "an array of whole numbers", kindOf(value));
  for (const item of value) {
    if (typeof item !== "number" || !Number.isSafeInteger(item) || item < 0 || Object.is(item, -0)) {
      throw fileError(file, part, "whole numbers from 0 to 2^53", kindOf(item));
    }
  }
  return value as number[];
}

/** The tensors in the order of their bytes: each begins where the one before ends, and the last one ends the file. */
function checkCoverage(source: ByteSource, dataOffset: number, stored: readonly StoredTensor[]): void {
  let at = 0;
  for (const { name, begin, end } of [...stored].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== at) {
      const actual = begin < at ? `${begin}, inside another tensor` : `${begin}, with a hole before it`;
      throw fileError(source.name, `tensor ${quoted(name)}`, `data from byte ${at} on`, actual);
    }
    at = end;
  }
  if (source.size !== undefined && source.size - dataOffset !== at) {
    const actual = `${source.size - dataOffset}`;
    const hint = source.size - dataOffset < at ? "was the file cut off?" : "there are bytes that belong to no tensor";
    throw fileError(source.name, "the data", `${at} bytes, as the header says`, actual, { hint });
  }
}
