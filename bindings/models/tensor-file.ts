import { checkInteger } from "../check.js";
import { HeadscopeError, wrongType } from "../errors.js";
import { suggest } from "../suggest.js";
import { disposeSymbol } from "../symbols.js";
import type { Tensor } from "../types.js";
import { throwIfAborted } from "./abort.js";
import type { ByteSource, ReadOptions } from "./byte-source.js";
import { DECODABLE, type Decode, isDecodable } from "./decode.js";
import { fileError, quoted } from "./file-error.js";
import { GGUF_MAGIC, readGguf } from "./gguf.js";
import { elementsOf, type FileHeader, type TensorInfo } from "./header.js";
import { HEADER_LIMIT, HeaderReader } from "./header-reader.js";
import { looksLike } from "./looks-like.js";
import { readRanges } from "./ranges.js";
import { readSafetensors } from "./safetensors.js";
import { tensorType } from "./tensor-types.js";

export type FileFormat = "gguf" | "safetensors";

/** Which part of a tensor: rows `[begin, end)` of its first axis; all of it without. */
export interface TensorPart {
  readonly name: string;
  readonly rows?: readonly [number, number] | undefined;
}

/** Bytes of a part as the file has them: whole blocks, of which the part is `elements` values from `skip` on. */
export interface StoredPart {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  readonly skip: number;
  readonly elements: number;
}

interface Plan extends Omit<StoredPart, "bytes"> {
  readonly begin: number;
  readonly end: number;
}

/**
 * An opened file: its header is in memory, its tensors are read when they are asked for. Dispose of it when it is no
 * longer needed; that matters for buffers and for servers that send only whole files, which are kept until then.
 */
export interface TensorFile extends Disposable {
  readonly format: FileFormat;
  /** How messages call the file: its name or its address. */
  readonly name: string;
  /** Bytes of the whole file; undefined where the server does not say. */
  readonly size: number | undefined;
  /** GGUF's version; undefined for safetensors. */
  readonly version: number | undefined;
  /**
   * GGUF's keys, or what is in safetensors' `__metadata__`. Integers up to 2^53 and floats are numbers, larger integers
   * bigints; arrays of u8 … i32, f32 and f64 are typed arrays, all others Arrays.
   */
  readonly metadata: ReadonlyMap<string, unknown>;
  /** The types of the metadata in GGUF's words: `"u32"`, `"string"`, `"f32[]"`, … */
  readonly metadataTypes: ReadonlyMap<string, string>;
  /** Every tensor in the order of the header, also those whose type cannot be decoded. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** Position of the first byte of tensor data. */
  readonly dataOffset: number;
  /** Bytes taken from the file or the network so far. What came out of the browser's cache does not count. */
  readonly bytesRead: number;
  /**
   * A tensor as float32, or some rows of its first axis: `[begin, end)`. Only the bytes of those rows are read.
   *
   * @throws HeadscopeError `"format"` (no such tensor, a file that is shorter than it says or has changed, a server that
   * does not answer), `"unsupported"` (the type, with its name), `"memory"`, `"aborted"`, `"disposed"`; TypeError or
   * RangeError for wrong rows.
   */
  read(name: string, options?: TensorReadOptions): Promise<Tensor>;
  /** Lets go of memory and connections; idempotent. */
  dispose(): void;
}

export interface TensorReadOptions {
  readonly rows?: readonly [number, number] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A tensor file, and for models its tensors as they are stored. */
export class TensorReader implements TensorFile {
  readonly #source: ByteSource;
  readonly #decode: Decode;
  readonly #header: FileHeader;
  #rest: FileHeader["rest"];
  #disposed = false;

  constructor(source: ByteSource, header: FileHeader, decode: Decode) {
    this.#source = source;
    this.#header = header;
    this.#rest = header.rest;
    this.#decode = decode;
  }

  get format(): FileFormat {
    return this.#header.format;
  }

  get version(): number | undefined {
    return this.#header.version;
  }

  get metadata(): ReadonlyMap<string, unknown> {
    return this.#header.metadata;
  }

  get metadataTypes(): ReadonlyMap<string, string> {
    return this.#header.metadataTypes;
  }

  get tensors(): ReadonlyMap<string, TensorInfo> {
    return this.#header.tensors;
  }

  get dataOffset(): number {
    return this.#header.dataOffset;
  }

  get name(): string {
    return this.#source.name;
  }

  get size(): number | undefined {
    return this.#source.size;
  }

  get bytesRead(): number {
    return this.#source.bytesRead;
  }

  async read(name: string, options: TensorReadOptions = {}): Promise<Tensor> {
    const [part] = await this.readStored([{ name, rows: options.rows }], { signal: options.signal });
    return { data: this.decode(part as StoredPart), shape: (part as StoredPart).shape };
  }

  /** The values of a stored part. */
  decode({ dtype, bytes, skip, elements }: StoredPart): Float32Array {
    const type = tensorType(dtype) as NonNullable<ReturnType<typeof tensorType>>;
    const values = this.#decode(dtype, bytes, (bytes.length / type.blockBytes) * type.blockValues);
    return values.length === elements ? values : values.slice(skip, skip + elements);
  }

  /** Parts as they are stored, neighbours in one read. Only types that can be decoded are read at all. */
  async readStored(parts: readonly TensorPart[], options: ReadOptions = {}): Promise<StoredPart[]> {
    if (this.#disposed) throw new HeadscopeError("disposed", `read: ${this.name} was closed`, { argument: "read" });
    throwIfAborted(this.name, options.signal);
    const plans = parts.map((part) => this.#plan(part));
    const read = await readRanges(this.#withRest(), plans, options);
    return plans.map(({ begin, end, ...part }, i) => {
      const bytes = read[i] as Uint8Array;
      if (bytes.length < end - begin) {
        const actual = `${bytes.length}, then the end of the file`;
        const where = `tensor ${quoted(parts[i]?.name ?? "")}`;
        throw fileError(this.name, where, `${end - begin} bytes at byte ${begin}`, actual, {
          hint: "was the file cut off?",
        });
      }
      return { ...part, bytes };
    });
  }

  /** The source, after what came together with the header. */
  #withRest(): ByteSource {
    const source = this.#source;
    const { begin, bytes } = this.#rest;
    const end = begin + bytes.length;
    return {
      name: source.name,
      size: source.size,
      bytesRead: source.bytesRead,
      read: async (from, to, options) =>
        begin <= from && to <= end ? bytes.subarray(from - begin, to - begin) : source.read(from, to, options),
      close: () => source.close(),
    };
  }

  #plan({ name, rows }: TensorPart): Plan {
    const info = typeof name === "string" ? this.tensors.get(name) : undefined;
    if (info === undefined) {
      if (typeof name !== "string") throw wrongType("name", "the name of a tensor", name);
      throw fileError(this.name, `tensor ${quoted(name)}`, "a tensor of this name", "none", {
        hint: this.#nearest(name),
      });
    }
    const { shape, dtype, offset } = info;
    const type = tensorType(dtype);
    if (type === undefined || !isDecodable(dtype)) {
      const expected = `a type that can be decoded (${DECODABLE})`;
      throw fileError(this.name, `tensor ${quoted(name)}`, expected, dtype, { code: "unsupported" });
    }
    const [first, last] = rows === undefined ? [0, shape[0] ?? 1] : checkRows(rows, shape);
    const row = elementsOf(shape.slice(1));
    // A row of a one-dimensional tensor is a single value, which may lie in the middle of a block.
    const begin = Math.floor((first * row) / type.blockValues);
    const end = Math.ceil((last * row) / type.blockValues);
    return {
      dtype,
      shape: shape.length === 0 ? [] : [last - first, ...shape.slice(1)],
      begin: offset + begin * type.blockBytes,
      end: offset + end * type.blockBytes,
      skip: first * row - begin * type.blockValues,
      elements: (last - first) * row,
    };
  }

  #nearest(name: string): string {
    const names = [...this.tensors.keys()];
    if (names.length === 0) return "the file has no tensors";
    const hint = names.length > 2000 ? "" : suggest(name, names);
    return hint.startsWith("did you mean") ? hint : `the file has ${names.length}, ${quoted(names[0] ?? "")} first`;
  }

  dispose(): void {
    this.#disposed = true;
    this.#rest = { begin: 0, bytes: new Uint8Array(0) };
    this.#source.close();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

function checkRows(rows: unknown, shape: readonly number[]): [number, number] {
  if (!Array.isArray(rows) || rows.length !== 2) throw wrongType("options.rows", "[begin, end]", rows);
  const [count] = shape;
  if (count === undefined) throw wrongType("options.rows", "none for a tensor without axes", rows);
  const begin = checkInteger("options.rows[0]", rows[0], 0, count);
  return [begin, checkInteger("options.rows[1]", rows[1], begin, count)];
}

/** Reads the header of either format. The source is closed when that fails. */
export async function openTensorReader(
  source: ByteSource,
  decode: Decode,
  options: { readonly format?: "auto" | FileFormat | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<TensorReader> {
  const { format = "auto", signal } = options;
  try {
    const reader = new HeaderReader(source, { signal });
    const chosen = format === "auto" ? await detect(reader) : format;
    const header = await (chosen === "gguf" ? readGguf : readSafetensors)(reader);
    if (source.size === undefined) await checkEnd(source, header, { signal });
    return new TensorReader(source, header, decode);
  } catch (error) {
    source.close();
    throw error;
  }
}

async function detect(reader: HeaderReader): Promise<FileFormat> {
  const bytes = await reader.peek(400);
  if (String.fromCharCode(...bytes.subarray(0, 4)) === GGUF_MAGIC) return "gguf";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = bytes.length < 8 ? Number.POSITIVE_INFINITY : Number(view.getBigUint64(0, true));
  // The length of a header, or a wrong one in front of what can only be a header: that reader knows what to say.
  if (length <= HEADER_LIMIT || String.fromCharCode(...bytes.subarray(8, 10)) === '{"') return "safetensors";
  throw fileError(reader.source.name, "the file", "a GGUF or safetensors file", looksLike(bytes));
}

/** Where no server says how long the file is: the last byte of the last tensor has to be there. */
async function checkEnd(source: ByteSource, header: FileHeader, options: ReadOptions): Promise<void> {
  let last: { name: string; end: number } | undefined;
  for (const [name, { offset, bytes }] of header.tensors) {
    if (bytes > 0 && (last === undefined || offset + bytes > last.end)) last = { name, end: offset + bytes };
  }
  if (last === undefined || last.end <= header.rest.begin + header.rest.bytes.length) return;
  const { length } = await source.read(last.end - 1, last.end + 1, options);
  if (length === 0) {
    const expected = `${last.end} bytes up to its end`;
    throw fileError(source.name, `tensor ${quoted(last.name)}`, expected, "fewer", { hint: "was the file cut off?" });
  }
  if (length > 1 && header.format === "safetensors") {
    throw fileError(source.name, "the data", `${last.end} bytes, as the header says`, "more");
  }
}
