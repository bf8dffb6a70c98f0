import { checkAttached, typedArrayName } from "../check.js";
import { wrongType } from "../errors.js";
import { throwIfAborted, untilAborted } from "./abort.js";
import { fileError } from "./file-error.js";
import { openRemote } from "./remote-source.js";

/** What the readers can be given. A string is an address. */
export type FileSource = Blob | URL | string | ArrayBuffer | ArrayBufferView;

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A file of which parts can be read. */
export interface ByteSource {
  /** How messages call it: a file's name or an address. */
  readonly name: string;
  /** Bytes of the whole file. undefined until the server has said it, and where it never does. */
  readonly size: number | undefined;
  /** Bytes taken from the file or the network so far. What came out of the cache does not count. */
  readonly bytesRead: number;
  /**
   * The bytes from `begin` to `end`, fewer only where the file ends before. The array may be a view of memory that the
   * source keeps: read it, never write to it.
   */
  read(begin: number, end: number, options?: ReadOptions): Promise<Uint8Array>;
  /** Lets go of memory and connections. */
  close(): void;
}

export interface SourceOptions {
  /** Told of every piece that arrives, also of those out of the cache. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
  /**
   * What is done with the browser's Cache API for addresses: use it (default), forget what it holds of this file and
   * read anew, or leave it alone.
   */
  readonly cache?: "use" | "reload" | "off" | undefined;
}

/** Blobs are read in pieces of this size, so that a signal stops a large read soon. */
const BLOB_PIECE = 4 * 2 ** 20;

class BlobSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  bytesRead = 0;
  readonly #blob: Blob;
  readonly #onBytes: SourceOptions["onBytes"];

  constructor(blob: Blob, onBytes: SourceOptions["onBytes"]) {
    this.#blob = blob;
    this.#onBytes = onBytes;
    this.size = blob.size;
    this.name = "name" in blob && typeof blob.name === "string" && blob.name !== "" ? blob.name : "the Blob";
  }

  async read(begin: number, end: number, { signal }: ReadOptions = {}): Promise<Uint8Array> {
    const stop = Math.min(end, this.size);
    if (stop - begin <= BLOB_PIECE) return this.#piece(begin, Math.max(begin, stop), signal);
    const bytes = new Uint8Array(stop - begin);
    for (let at = begin; at < stop; at += BLOB_PIECE) {
      bytes.set(await this.#piece(at, Math.min(at + BLOB_PIECE, stop), signal), at - begin);
    }
    return bytes;
  }

  async #piece(begin: number, end: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    throwIfAborted(this.name, signal);
    let buffer: ArrayBuffer;
    try {
      buffer = await untilAborted(this.name, signal, this.#blob.slice(begin, end).arrayBuffer());
    } catch (cause) {
      throwIfAborted(this.name, signal);
      // A file that was changed, moved or deleted after it was chosen: browsers say NotReadableError or NotFoundError.
      const actual = cause instanceof Error ? `"${cause.message}"` : "a failure";
      const hint = "was the file changed or moved? choose it again";
      throw fileError(this.name, `bytes ${begin} to ${end}`, "a file that can be read", actual, { hint, cause });
    }
    this.bytesRead += buffer.byteLength;
    this.#onBytes?.(buffer.byteLength);
    return new Uint8Array(buffer);
  }

  close(): void {}
}

class MemorySource implements ByteSource {
  readonly name = "the buffer";
  readonly size: number;
  bytesRead = 0;
  #bytes: Uint8Array;
  readonly #onBytes: SourceOptions["onBytes"];

  constructor(bytes: Uint8Array, onBytes: SourceOptions["onBytes"]) {
    this.#bytes = bytes;
    this.#onBytes = onBytes;
    this.size = bytes.length;
  }

  async read(begin: number, end: number, { signal }: ReadOptions = {}): Promise<Uint8Array> {
    throwIfAborted(this.name, signal);
    const bytes = this.#bytes.subarray(begin, end);
    this.bytesRead += bytes.length;
    this.#onBytes?.(bytes.length);
    return bytes;
  }

  close(): void {
    this.#bytes = new Uint8Array(0);
  }
}

function isBlob(value: object): value is Blob {
  // Not instanceof: Blobs of frames and of jsdom have other constructors.
  return typeof (value as Blob).slice === "function" && typeof (value as Blob).arrayBuffer === "function";
}

const EXPECTED = "a File, a Blob, a URL, an address as a string, or an ArrayBuffer";

/**
 * Opens a source. Nothing is read yet. Bytes are copied here, so that what the caller does with a buffer afterwards
 * changes no answer; give a Blob where a second copy is too much.
 */
export async function openSource(source: FileSource, options: SourceOptions = {}): Promise<ByteSource> {
  const { onBytes, cache = "use" } = options;
  const given: unknown = source;
  const kind = Object.prototype.toString.call(given);
  if (typeof given === "string" || kind === "[object URL]") {
    return openRemote(toAddress(String(given)), { onBytes, cache });
  }
  if (typeof given !== "object" || given === null) throw wrongType("source", EXPECTED, given);
  if (ArrayBuffer.isView(given)) {
    if (typedArrayName(given) !== undefined) checkAttached("source", given);
    return new MemorySource(new Uint8Array(given.buffer, given.byteOffset, given.byteLength).slice(), onBytes);
  }
  if (kind === "[object ArrayBuffer]" || kind === "[object SharedArrayBuffer]") {
    return new MemorySource(copyBuffer(given as ArrayBuffer), onBytes);
  }
  if (isBlob(given)) return new BlobSource(given, onBytes);
  throw wrongType("source", EXPECTED, given);
}

function copyBuffer(buffer: ArrayBuffer): Uint8Array {
  try {
    return new Uint8Array(buffer).slice();
  } catch {
    throw new TypeError("source: expected an ArrayBuffer with its memory, got a detached one");
  }
}

/** What fetch may know how to read. */
const SCHEMES = ["http:", "https:", "blob:", "data:", "file:"];

function toAddress(given: string): string {
  const base = typeof location === "object" && location !== null ? location.href : undefined;
  let url: URL;
  try {
    url = new URL(given, base);
  } catch {
    const hint = base === undefined ? "there is no page to start a relative address from" : undefined;
    throw wrongType("source", "an address that can be understood", given, hint);
  }
  if (SCHEMES.includes(url.protocol)) return url.href;
  throw wrongType(
    "source",
    "an address of http, https, blob or data",
    given,
    "files from disk are given as a File or Blob",
  );
}
