import { HeadscopeError } from "../errors.js";
import { throwIfAborted, untilAborted } from "./abort.js";
import { ByteList } from "./byte-list.js";
import type { ByteSource, ReadOptions } from "./byte-source.js";
import { FileChangedError, fileError } from "./file-error.js";
import {
  isPassing,
  lengthOf,
  parseContentRange,
  parseUnsatisfied,
  type Version,
  wholeLengthOf,
} from "./http-answer.js";
import { PassingFailure, passing, Retries } from "./retries.js";
import { WholeBody } from "./whole-body.js";

/** A server that cannot send parts has its file kept in memory up to this size; larger ones are refused. */
export const WHOLE_FILE_LIMIT = 512 * 2 ** 20;

/** Memory made before the first byte has come. */
const FIRST_ALLOCATION = 16 * 2 ** 20;

/**
 * A file behind an address, read by HTTP Range. Only a `Range: bytes=a-b` header is sent, which needs no CORS preflight.
 *
 * - 206 with the range, or a part of it (the rest is asked for next)
 * - 200 with the whole file: it is streamed into memory as far as reads need it, and kept (WHOLE_FILE_LIMIT)
 * - 416: the file ends earlier than thought, or the server has no ranges at all: then the whole file is asked for
 * - connections that fail or break off, and passing statuses: the rest of the range is asked for again, after pauses of
 *   0.2, 0.4, 0.8 and 1.6 seconds, or what Retry-After says up to 10; an address that never answered is tried twice
 * - another ETag, Last-Modified or size than before: the file has changed, which is an error
 *
 * Cross-origin, Content-Range and ETag are only there to read where the server exposes them
 * (Access-Control-Expose-Headers); without, the size stays unknown and the file's end is found by reading.
 */
export class UrlSource implements ByteSource {
  readonly address: string;
  bytesRead = 0;
  #name: string;
  #size: number | undefined;
  #etag: string | undefined;
  #lastModified: string | undefined;
  #whole: WholeBody | undefined;
  #resuming: Promise<void> | undefined;
  #answered = false;
  readonly #onBytes: ((bytes: number) => void) | undefined;

  constructor(address: string, onBytes?: ((bytes: number) => void) | undefined) {
    this.address = address;
    this.#name = shorten(address);
    this.#onBytes = onBytes;
  }

  get name(): string {
    return this.#name;
  }

  get size(): number | undefined {
    return this.#size;
  }

  get version(): Version {
    return { size: this.#size, etag: this.#etag, lastModified: this.#lastModified };
  }

  /** The version that parts kept from an earlier visit are of: the server's answers have to agree. */
  expectVersion({ size, etag, lastModified }: Version): void {
    this.#size = size;
    this.#etag = etag;
    this.#lastModified = lastModified;
  }

  async read(begin: number, end: number, { signal }: ReadOptions = {}): Promise<Uint8Array> {
    throwIfAborted(this.#name, signal);
    const stop = this.#size === undefined ? end : Math.min(end, this.#size);
    const bytes = new ByteList(Math.max(0, Math.min(stop - begin, FIRST_ALLOCATION)));
    const retries = new Retries(begin);
    while (begin + bytes.length < (this.#size === undefined ? end : Math.min(end, this.#size))) {
      if (this.#whole !== undefined) return this.#readWhole(this.#whole, begin, end, signal);
      try {
        if (await this.#request(begin, end, bytes, signal)) break;
      } catch (error) {
        throwIfAborted(this.#name, signal);
        if (!(error instanceof PassingFailure)) throw error;
        await this.#again(retries, error, begin + bytes.length, signal);
      }
    }
    return bytes.view();
  }

  #again(retries: Retries, failure: PassingFailure, at: number, signal: AbortSignal | undefined): Promise<void> {
    return retries.next(failure, { file: this.#name, at, answered: this.#answered, signal });
  }

  close(): void {
    this.#whole?.close();
    this.#whole = undefined;
  }

  /** One request for what is missing. Answers true where the file has ended. */
  async #request(begin: number, end: number, bytes: ByteList, signal: AbortSignal | undefined): Promise<boolean> {
    const at = begin + bytes.length;
    const stop = this.#size === undefined ? end : Math.min(end, this.#size);
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const response = await this.#fetch(`bytes=${at}-${stop - 1}`, controller.signal);
      if (response.status === 206) return await this.#takePart(response, at, stop, bytes);
      if (response.status === 200) {
        this.#keepWhole(response);
        return false;
      }
      await response.body?.cancel();
      if (response.status === 416) {
        if (!this.#shrinkTo(response, at)) {
          // No such range, and no word about how long the file is: it ends here, unless it was said to be longer.
          if (at > 0 && (this.#size === undefined || at >= this.#size)) {
            if (bytes.length > 0) this.#size = at;
            return true;
          }
          const answer = await this.#fetch(undefined, controller.signal);
          if (answer.status !== 200) throw this.#refused(answer);
          this.#keepWhole(answer);
        }
        return false;
      }
      throw this.#refused(response);
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  async #fetch(range: string | undefined, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      const headers: HeadersInit = range === undefined ? {} : { Range: range };
      response = await fetch(this.address, signal === undefined ? { headers } : { headers, signal });
    } catch (cause) {
      throw passing(cause);
    }
    this.#answered = true;
    if (response.redirected && response.url !== "") {
      this.#name = `${shorten(this.address)} (answered by ${shorten(response.url)})`;
    }
    return response;
  }

  /** A 206 answer: appends what comes. */
  async #takePart(response: Response, at: number, stop: number, bytes: ByteList): Promise<boolean> {
    const header = response.headers.get("Content-Range");
    const range = header === null ? undefined : parseContentRange(header);
    // Where Content-Range cannot be read, the length of the body has to do.
    const last = range?.end ?? at + (lengthOf(response) ?? stop - at);
    if ((header !== null && range === undefined) || (range !== undefined && range.begin !== at) || last > stop) {
      await response.body?.cancel();
      const actual = header ?? `${last - at} bytes`;
      throw this.#error(`bytes ${at} to ${stop}`, `a part of bytes ${at}-${stop - 1}`, `the range "${actual}"`);
    }
    try {
      this.#checkVersion(response, range?.size);
    } catch (error) {
      await response.body?.cancel();
      throw error;
    }
    const started = bytes.length;
    const wanted = last - at;
    await this.#stream(response, (piece) => {
      if (bytes.length - started + piece.length > wanted) {
        throw this.#error(`bytes ${at} to ${last}`, `${wanted} bytes`, "more than that");
      }
      bytes.push(piece);
    });
    const got = bytes.length - started;
    if (range !== undefined && got < wanted) throw new PassingFailure(`it broke off after ${got} of ${wanted} bytes`);
    return got === 0; // an empty part where the size is unknown: there is no more
  }

  async #stream(response: Response, take: (piece: Uint8Array) => void): Promise<void> {
    if (response.body === null) return;
    const reader = response.body.getReader();
    try {
      for (;;) {
        let piece: ReadableStreamReadResult<Uint8Array>;
        try {
          piece = await reader.read();
        } catch (cause) {
          throw passing(cause);
        }
        if (piece.done) return;
        this.#arrived(piece.value.length);
        take(piece.value);
      }
    } catch (error) {
      reader.cancel().catch(() => undefined);
      throw error;
    }
  }

  #arrived(bytes: number): void {
    this.bytesRead += bytes;
    this.#onBytes?.(bytes);
  }

  /** A 200 answer: the server sends the file whole or not at all. */
  #keepWhole(response: Response): void {
    const size = wholeLengthOf(response);
    if (size !== undefined && size > WHOLE_FILE_LIMIT) {
      response.body?.cancel().catch(() => undefined);
      throw this.#tooLargeToKeep(`${size} bytes`);
    }
    try {
      this.#checkVersion(response, size);
    } catch (error) {
      response.body?.cancel().catch(() => undefined);
      throw error;
    }
    this.#whole = new WholeBody(response, {
      arrived: (count) => this.#arrived(count),
      tooLarge: () => this.#tooLargeToKeep(`more than ${WHOLE_FILE_LIMIT} bytes`),
      limit: WHOLE_FILE_LIMIT,
    });
  }

  async #readWhole(whole: WholeBody, begin: number, end: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const retries = new Retries(whole.length);
    for (;;) {
      try {
        const bytes = await untilAborted(this.#name, signal, whole.read(begin, end));
        if (whole.complete) this.#checkLength(whole.length);
        return bytes;
      } catch (cause) {
        if (cause instanceof HeadscopeError) throw cause;
        await this.#again(retries, passing(cause), whole.length, signal);
        if (whole.connected) continue; // another read of the same file was faster
        this.#resuming ??= this.#resume(whole).finally(() => {
          this.#resuming = undefined;
        });
        await untilAborted(this.#name, signal, this.#resuming);
      }
    }
  }

  /** After a whole answer broke off: the rest by Range where that works now, else all again. */
  async #resume(whole: WholeBody): Promise<void> {
    let response: Response;
    try {
      response = await this.#fetch(whole.length > 0 ? `bytes=${whole.length}-` : undefined);
    } catch (error) {
      if (error instanceof PassingFailure) return; // the next read fails at once and is counted
      throw error;
    }
    const range = parseContentRange(response.headers.get("Content-Range") ?? "");
    if (response.status === 206 && range?.begin === whole.length) {
      this.#checkVersion(response, range.size);
      whole.continueWith(response, 0);
    } else if (response.status === 200) {
      this.#checkVersion(response, wholeLengthOf(response));
      whole.continueWith(response, whole.length);
    } else {
      await response.body?.cancel();
      const refused = this.#refused(response);
      if (!(refused instanceof PassingFailure)) throw refused;
    }
  }

  #checkLength(length: number): void {
    if (this.#size === undefined) this.#size = length;
    else if (this.#size !== length) {
      throw this.#error("the whole file", `${this.#size} bytes`, `${length}`);
    }
  }

  /** A 416 answer that says how long the file is. */
  #shrinkTo(response: Response, at: number): boolean {
    const size = parseUnsatisfied(response.headers.get("Content-Range") ?? "");
    if (size === undefined) return false;
    if (this.#size !== undefined && this.#size !== size) {
      throw new FileChangedError(this.#name, "a size of", `${this.#size} bytes`, `${size}`);
    }
    // A server that refuses a range which its own size allows has no ranges.
    if (this.#size === size && at < size) return false;
    this.#size = size;
    return true;
  }

  #checkVersion(response: Response, size: number | undefined): void {
    const etag = response.headers.get("ETag") ?? undefined;
    const lastModified = response.headers.get("Last-Modified") ?? undefined;
    const check = (what: string, before: string | number | undefined, now: string | number | undefined) => {
      if (before !== undefined && now !== undefined && before !== now) {
        throw new FileChangedError(this.#name, what, String(before), String(now));
      }
    };
    check("the size", this.#size, size);
    check("the ETag", this.#etag, etag);
    // Servers that share a file out may differ in its date; an equal ETag is the stronger word.
    if (this.#etag === undefined || etag === undefined) check("the date", this.#lastModified, lastModified);
    this.#size ??= size;
    this.#etag ??= etag;
    this.#lastModified ??= lastModified;
  }

  #refused(response: Response): Error {
    const { status } = response;
    const said = response.statusText === "" ? `${status}` : `${status} ${response.statusText}`;
    if (isPassing(status)) {
      const seconds = Number(response.headers.get("Retry-After") ?? "none");
      return new PassingFailure(`HTTP ${said}`, undefined, Number.isFinite(seconds) ? seconds * 1000 : undefined);
    }
    const hint =
      status === 401 || status === 403 ? { hint: "the file may need a login: download it and open it from disk" } : {};
    return fileError(this.#name, "the server's answer", "the file", `HTTP ${said}`, hint);
  }

  #tooLargeToKeep(actual: string): HeadscopeError {
    return fileError(this.#name, "the server's answer", "a part of the file, as the Range header asks for", actual, {
      code: "unsupported",
      hint: `this server sends only whole files, and those are kept up to ${WHOLE_FILE_LIMIT} bytes: download it and open it from disk`,
    });
  }

  #error(part: string, expected: string, actual: string): HeadscopeError {
    return fileError(this.#name, part, expected, actual);
  }
}

function shorten(address: string): string {
  return address.length > 200 ? `${address.slice(0, 200)}…` : address;
}
