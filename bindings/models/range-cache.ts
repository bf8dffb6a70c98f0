import { throwIfAborted } from "./abort.js";
import { ByteList } from "./byte-list.js";
import type { ByteSource, ReadOptions, SourceOptions } from "./byte-source.js";
import { FileChangedError } from "./file-error.js";
import type { Version } from "./http-answer.js";
import type { UrlSource } from "./url-source.js";

/** What `caches.delete` needs to forget every file. */
export const CACHE_NAME = "headscope-files-1";

/** Writes that wait for the disk: beyond this, reading waits for them too. */
const MAX_WAITING_BYTES = 32 * 2 ** 20;

interface Part {
  readonly begin: number;
  readonly end: number;
}

/**
 * The parts of one file that the browser's Cache API holds, each an entry of its own, so that two tabs can add to them.
 * Keys are addresses that no server has: a page's own service worker never finds them by accident.
 */
class PartStore {
  readonly #cache: Cache;
  readonly #key: string;
  #parts: Part[] = [];
  version: Version = { size: undefined, etag: undefined, lastModified: undefined };
  #waiting = 0;
  #writes: Promise<void> = Promise.resolve();
  #full = false;

  constructor(cache: Cache, address: string) {
    this.#cache = cache;
    const url = new URL(address);
    url.hash = "";
    this.#key = `https://headscope.invalid/${encodeURIComponent(url.href)}`;
  }

  /** Learns what is there. */
  async list(): Promise<void> {
    for (const { url } of await this.#cache.keys(this.#key, { ignoreSearch: true })) {
      const match = /\?bytes=(\d{1,15})-(\d{1,15})$/.exec(url);
      if (match !== null) this.#parts.push({ begin: Number(match[1]), end: Number(match[2]) });
    }
    this.#parts.sort((a, b) => a.begin - b.begin || b.end - a.end);
    const first = this.#parts[0];
    const response = first === undefined ? undefined : await this.#cache.match(this.#keyOf(first));
    if (response === undefined) this.#parts = [];
    else this.version = versionOf(response.headers);
  }

  #keyOf({ begin, end }: Part): string {
    return `${this.#key}?bytes=${begin}-${end}`;
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** The part that has the byte at `at`, or where the next part begins. */
  find(at: number): { part: Part | undefined; next: number } {
    let next = Number.POSITIVE_INFINITY;
    for (const part of this.#parts) {
      if (part.begin <= at && at < part.end) return { part, next };
      if (part.begin > at) next = Math.min(next, part.begin);
    }
    return { part: undefined, next };
  }

  /** undefined where the browser has thrown the entry out, or another tab keeps another version of the file. */
  async read(part: Part, begin: number, end: number): Promise<Uint8Array | undefined> {
    const response = await this.#cache.match(this.#keyOf(part)).catch(() => undefined);
    if (response !== undefined && agrees(versionOf(response.headers), this.version)) {
      const blob = await response.blob(); // of which only the wanted bytes are taken into memory
      if (blob.size === part.end - part.begin) {
        return new Uint8Array(await blob.slice(begin - part.begin, end - part.begin).arrayBuffer());
      }
    }
    this.#parts = this.#parts.filter((other) => other !== part);
    await this.#cache.delete(this.#keyOf(part)).catch(() => false);
    return undefined;
  }

  /** Keeps a part. The disk is not waited for, unless too much is under way. */
  async write(begin: number, bytes: Uint8Array, version: Version): Promise<void> {
    if (this.#full || bytes.length === 0) return;
    this.version = version;
    const part = { begin, end: begin + bytes.length };
    const headers = new Headers({ "Content-Type": "application/octet-stream" });
    if (version.size !== undefined) headers.set("X-File-Size", String(version.size));
    if (version.etag !== undefined) headers.set("ETag", version.etag);
    if (version.lastModified !== undefined) headers.set("Last-Modified", version.lastModified);
    const response = new Response(bytes.slice(), { headers });
    this.#waiting += bytes.length;
    this.#writes = this.#writes.then(async () => {
      try {
        if (!this.#full) await this.#cache.put(this.#keyOf(part), response);
        this.#parts.push(part);
      } catch {
        this.#full = true; // no room, or storage is switched off: reading goes on without
      }
      this.#waiting -= bytes.length;
    });
    if (this.#waiting > MAX_WAITING_BYTES) await this.#writes;
  }

  async clear(): Promise<void> {
    this.#parts = [];
    await this.#writes;
    for (const request of await this.#cache.keys(this.#key, { ignoreSearch: true })) await this.#cache.delete(request);
  }
}

function versionOf(headers: Headers): Version {
  const size = headers.get("X-File-Size");
  return {
    size: size === null ? undefined : Number(size),
    etag: headers.get("ETag") ?? undefined,
    lastModified: headers.get("Last-Modified") ?? undefined,
  };
}

/** What one of the two does not know is no difference. */
function agrees(a: Version, b: Version): boolean {
  return (["size", "etag", "lastModified"] as const).every(
    (name) => a[name] === undefined || b[name] === undefined || a[name] === b[name],
  );
}

/** Reads kept parts, asks the server for the rest and keeps that too. */
class CachedSource implements ByteSource {
  readonly #source: UrlSource;
  readonly #store: PartStore;
  readonly #onBytes: SourceOptions["onBytes"];

  constructor(source: UrlSource, store: PartStore, onBytes: SourceOptions["onBytes"]) {
    this.#source = source;
    this.#store = store;
    this.#onBytes = onBytes;
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

  async read(begin: number, end: number, options: ReadOptions = {}): Promise<Uint8Array> {
    const bytes = new ByteList();
    for (;;) {
      const at = begin + bytes.length;
      const stop = Math.min(end, this.size ?? end);
      if (at >= stop) break;
      throwIfAborted(this.name, options.signal);
      const { part, next } = this.#store.find(at);
      if (part !== undefined) {
        const kept = await this.#store.read(part, at, Math.min(stop, part.end));
        if (kept === undefined) continue;
        this.#onBytes?.(kept.length);
        bytes.push(kept);
        continue;
      }
      const fresh = await this.#fetch(at, Math.min(stop, next), options);
      if (fresh.length === 0) break;
      bytes.push(fresh);
    }
    return bytes.view();
  }

  async #fetch(begin: number, end: number, options: ReadOptions): Promise<Uint8Array> {
    try {
      const bytes = await this.#source.read(begin, end, options);
      await this.#store.write(begin, bytes, this.#source.version);
      return bytes;
    } catch (error) {
      if (error instanceof FileChangedError) await this.#store.clear().catch(() => undefined);
      throw error;
    }
  }

  close(): void {
    this.#source.close();
  }
}

/**
 * The source with the browser's Cache API in front of it; the source itself where there is none (Node.js, pages without
 * HTTPS, private windows). A second visit asks the server for nothing that is kept, not even whether the file is still
 * the same; the first byte that has to come from the server tells, and then everything kept of the file is thrown away.
 */
export async function withRangeCache(
  source: UrlSource,
  reload: boolean,
  onBytes: SourceOptions["onBytes"],
): Promise<ByteSource> {
  if (typeof caches !== "object" || caches === null || !/^https?:/.test(source.address)) return source;
  try {
    const store = new PartStore(await caches.open(CACHE_NAME), source.address);
    if (reload) await store.clear();
    else await store.list();
    if (!store.isEmpty) source.expectVersion(store.version);
    return new CachedSource(source, store, onBytes);
  } catch {
    return source;
  }
}
