import { disposeSymbol } from "../symbols.js";
import type { Connection, Request } from "./connection.js";
import type { Lane } from "./lane.js";
import type { Operation } from "./operations.js";
import type { Kept } from "./protocol.js";
import type { WorkerHandle } from "./types.js";

const asyncDisposeSymbol: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);

/** What both kinds of `using` do: the promise of `dispose` counts for `await using` alone. */
export abstract class Ended implements WorkerHandle {
  abstract dispose(): Promise<void>;

  [disposeSymbol](): void {
    // A failure is that of a worker that has ended, and everything in it with it.
    this.dispose().catch(() => undefined);
  }

  [asyncDisposeSymbol](): Promise<void> {
    return this.dispose();
  }
}

/** The page's end of an object that stays in the worker. */
export abstract class Handle extends Ended {
  readonly connection: Connection;
  readonly id: number;
  readonly #lane: Lane | undefined;
  #disposed = false;

  /** @param lane the lane of its `dispose`, if that has to wait for calls before it */
  constructor(connection: Connection, { kept }: Kept<unknown>, lane: Lane | undefined) {
    super();
    this.connection = connection;
    this.id = kept;
    this.#lane = lane;
    connection.hold(kept, this);
  }

  /** Learns what has changed in the worker. */
  update(state: Readonly<Record<string, unknown>>): void {
    Object.assign(this, state);
  }

  protected call<T>(name: string, operation: Operation, request: Omit<Request, "target">): Promise<T> {
    return this.connection.call<T>(name, operation, { ...request, target: this.id });
  }

  async dispose(): Promise<void> {
    if (this.#disposed || this.connection.closed) return;
    this.#disposed = true;
    await this.call("dispose", "dispose", { lane: this.#lane });
  }
}

/** A call's options without what does not cross. */
export function split(options: unknown): { signal?: unknown; onProgress?: unknown; rest: unknown } {
  if (typeof options !== "object" || options === null) return { rest: options };
  const { signal, onProgress, ...rest } = options as { signal?: unknown; onProgress?: unknown };
  return { signal, onProgress, rest };
}

/** For calls that tell of no progress: there the name is misspelt, and refused as such. */
export function splitSignal(options: unknown): { signal?: unknown; rest: unknown } {
  if (typeof options !== "object" || options === null) return { rest: options };
  const { signal, ...rest } = options as { signal?: unknown };
  return { signal, rest };
}
