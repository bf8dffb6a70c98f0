// The Cache API as far as the readers use it: Node.js has none. Answers are kept as bytes and headers, like on a disk.
import type { TestContext } from "node:test";

interface Entry {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: [string, string][];
}

export class FakeCache {
  readonly entries = new Map<string, Entry>();
  /** Bytes there is room for. */
  room = Number.POSITIVE_INFINITY;

  async keys(request: string, { ignoreSearch = false } = {}): Promise<{ url: string }[]> {
    const plain = (url: string) => (ignoreSearch ? url.split("?")[0] : url);
    return [...this.entries.keys()].filter((url) => plain(url) === plain(request)).map((url) => ({ url }));
  }

  async match(request: string): Promise<Response | undefined> {
    const entry = this.entries.get(request);
    return entry && new Response(entry.body, { headers: entry.headers });
  }

  async put(request: string, response: Response): Promise<void> {
    if (!/^https?:/.test(request) || response.status === 206) throw new TypeError("not to be cached");
    const body = new Uint8Array(await response.arrayBuffer());
    if (body.length > this.room) throw new DOMException("no room", "QuotaExceededError");
    this.room -= body.length;
    this.entries.set(request, { body, headers: [...response.headers] });
  }

  async delete(request: string | { url: string }): Promise<boolean> {
    return this.entries.delete(typeof request === "string" ? request : request.url);
  }

  get bytes(): number {
    return [...this.entries.values()].reduce((sum, { body }) => sum + body.length, 0);
  }
}

/** Puts a cache where browsers have theirs, until the end of the test. */
export function withCaches(t: TestContext, open?: (name: string) => Promise<FakeCache>): FakeCache {
  const cache = new FakeCache();
  const caches = { open: open ?? (async () => cache) };
  Object.defineProperty(globalThis, "caches", { value: caches, configurable: true });
  t.after(() => Reflect.deleteProperty(globalThis, "caches"));
  return cache;
}
