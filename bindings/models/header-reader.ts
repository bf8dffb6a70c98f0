import type { HeadscopeError } from "../errors.js";
import type { ByteSource, ReadOptions } from "./byte-source.js";
import { fileError } from "./file-error.js";

/** No header is longer: safetensors' own limit, and several times the largest vocabulary in a GGUF. */
export const HEADER_LIMIT = 100_000_000;

const FIRST_READ = 64 * 1024;
const LARGEST_READ = 512 * 1024;

/**
 * Reads a header whose length nobody knows in advance from its beginning: a window over the source that moves forward,
 * in steps that double from 64 to 512 KiB. Nothing before the window is kept, so that memory stays at one step or the
 * largest item.
 */
export class HeaderReader {
  readonly source: ByteSource;
  readonly #options: ReadOptions;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /** Where in the file the window begins. */
  #base = 0;
  /** Read position in the window. */
  #at = 0;
  #step = FIRST_READ;
  /** What is being read, for the message when the file ends inside it. */
  part = "the header";

  constructor(source: ByteSource, options: ReadOptions) {
    this.source = source;
    this.#options = options;
  }

  /** Read position in the file. */
  get position(): number {
    return this.#base + this.#at;
  }

  /** How many bytes can follow at most. */
  get remaining(): number {
    return Math.min(this.source.size ?? HEADER_LIMIT, HEADER_LIMIT) - this.position;
  }

  has(bytes: number): boolean {
    return this.#at + bytes <= this.#bytes.length;
  }

  /** Makes so many bytes readable, or throws because the file has fewer. */
  async need(bytes: number): Promise<void> {
    if (this.has(bytes)) return;
    if (bytes > this.remaining) throw this.#ends(bytes);
    await this.#fill(bytes);
    if (!this.has(bytes)) throw this.#ends(bytes);
  }

  /** The bytes from here on, as many as there are up to `bytes`, without moving. */
  async peek(bytes: number): Promise<Uint8Array> {
    if (!this.has(bytes)) await this.#fill(Math.max(0, Math.min(bytes, this.remaining)));
    return this.#bytes.subarray(this.#at, this.#at + bytes);
  }

  async #fill(bytes: number): Promise<void> {
    const kept = this.#bytes.subarray(this.#at);
    const end = this.#base + this.#bytes.length;
    const wanted = Math.max(bytes - kept.length, this.#step);
    this.#step = Math.min(2 * this.#step, LARGEST_READ);
    const fresh = await this.source.read(end, end + wanted, this.#options);
    this.#base += this.#at;
    this.#at = 0;
    if (kept.length === 0) {
      this.#bytes = fresh as Uint8Array<ArrayBuffer>;
    } else {
      this.#bytes = new Uint8Array(kept.length + fresh.length);
      this.#bytes.set(kept);
      this.#bytes.set(fresh, kept.length);
    }
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
  }

  #ends(bytes: number): HeadscopeError {
    const { size, name } = this.source;
    if (size === undefined || size > HEADER_LIMIT) {
      const limit = `a header of at most ${HEADER_LIMIT} bytes`;
      if (bytes > this.remaining) return fileError(name, this.part, limit, `${bytes} bytes at byte ${this.position}`);
    }
    const expected = `${bytes} more bytes at byte ${this.position}`;
    const left = size === undefined ? this.#bytes.length - this.#at : Math.max(0, size - this.position);
    return fileError(name, this.part, expected, `${left}, then the end of the file`);
  }

  // The following read what `need` has made readable.

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  /** Exact up to 2^53; what is larger becomes Infinity, which no size check lets through. */
  u64(): number {
    const at = this.#advance(8);
    const value = this.#view.getUint32(at + 4, true) * 2 ** 32 + this.#view.getUint32(at, true);
    return value <= Number.MAX_SAFE_INTEGER ? value : Number.POSITIVE_INFINITY;
  }

  /** The bytes themselves: a view that is good until the next `need`. */
  take(bytes: number): Uint8Array {
    const at = this.#advance(bytes);
    return this.#bytes.subarray(at, at + bytes);
  }

  #advance(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    return at;
  }

  /** What was read and not used: the data that follows the header, or its first part. */
  rest(): { begin: number; bytes: Uint8Array } {
    return { begin: this.position, bytes: this.#bytes.slice(this.#at) };
  }
}
