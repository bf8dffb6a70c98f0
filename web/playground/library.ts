/**
 * The sources that are there: those that need no file from the start, the page's own model once it has been fetched,
 * the visitor's own once it is open. The code for models is fetched with the first of them.
 */

import type { WorkerHeadscope } from "headscope/worker";
import { entries } from "./sources/index.js";
import type { Chosen, OpenProgress } from "./sources/opened-file.js";
import type { HeadSource } from "./sources/source.js";

/** The build gives the file a name of its content and keeps it beside the scripts. */
const TINY_ADDRESS = new URL("../models/headscope.gguf", import.meta.url).href;

type Disposable = HeadSource & { dispose(): void };

export interface FetchState {
  readonly loaded: number;
  /** Bytes, where the server has said how many. */
  readonly total: number | null;
}

export class Library {
  private readonly sources = new Map<string, HeadSource>();
  private opened: Disposable | null = null;
  private tiny: Promise<HeadSource> | null = null;

  constructor() {
    for (const { id, source } of entries) if (source) this.sources.set(id, source);
  }

  get(id: string): HeadSource | null {
    return this.sources.get(id) ?? null;
  }

  /** The page's own model. A fetch that failed is tried again at the next call. */
  fetchTiny(core: Promise<WorkerHeadscope>, onProgress: (state: FetchState) => void): Promise<HeadSource> {
    this.tiny ??= this.openTiny(core, onProgress).catch((error: unknown) => {
      this.tiny = null;
      throw error;
    });
    return this.tiny;
  }

  private async openTiny(
    ready: Promise<WorkerHeadscope>,
    onProgress: (state: FetchState) => void,
  ): Promise<HeadSource> {
    // Not before the core is there: on a slow line the file would take its share from what the first numbers need.
    const core = await ready;
    const [file, { openTiny }] = await Promise.all([
      download(TINY_ADDRESS, onProgress),
      import("./sources/tiny-gpt.js"),
    ]);
    const source = await openTiny(core, file);
    this.sources.set(source.id, source);
    return source;
  }

  /** A file that is read as far as it must be to run; the caller keeps it with `keep` once it has run. */
  async openChosen(ready: Promise<WorkerHeadscope>, chosen: Chosen, progress: OpenProgress): Promise<Disposable> {
    const [{ openChosen }, core] = await Promise.all([import("./sources/opened-file.js"), ready]);
    return openChosen(core, chosen, progress);
  }

  keep(source: Disposable): void {
    const before = this.opened;
    this.opened = source;
    this.sources.set(source.id, source);
    before?.dispose();
  }
}

async function download(address: string, onProgress: (state: FetchState) => void): Promise<Blob> {
  const answer = await fetch(address);
  if (!answer.ok || !answer.body) throw new Error(`HTTP ${answer.status}`);
  // A compressed answer's length is not that of the bytes that come out of it.
  const length = answer.headers.has("Content-Encoding") ? null : Number(answer.headers.get("Content-Length")) || null;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    parts.push(value);
    loaded += value.length;
    onProgress({ loaded, total: length });
  }
}
