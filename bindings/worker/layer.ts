import { mismatch } from "../errors.js";
import type { AttentionResult, Tensor, Want } from "../types.js";
import type { Connection } from "./connection.js";
import { Handle, splitSignal } from "./handle.js";
import type { Kept } from "./protocol.js";
import type { WorkerForwardOptions, WorkerKVCache, WorkerMultiHeadAttention } from "./types.js";

type LayerSnapshot = Pick<WorkerMultiHeadAttention, "config" | "parameterCount">;
type CacheSnapshot = Pick<WorkerKVCache, "length" | "capacity" | "batch" | "bytes" | "bytesPerToken">;

/**
 * Results come in memory of the worker's, which is handed over. Arrays of the page's would be copied on their way there, and
 * what is written to the copies would not be in them; handed over themselves they would be gone from the page.
 */
export function refuseOut(options: unknown): void {
  if (typeof options === "object" && options !== null && (options as { out?: unknown }).out !== undefined) {
    throw new TypeError("options.out: expected none in a worker, whose results come in memory of their own, got one");
  }
}

export class RemoteLayer extends Handle implements WorkerMultiHeadAttention {
  readonly config: LayerSnapshot["config"];
  readonly parameterCount: number;

  constructor(connection: Connection, kept: Kept<LayerSnapshot>) {
    super(connection, kept, connection.lane);
    const { config, parameterCount } = kept.snapshot;
    this.config = Object.freeze({ ...config, rope: Object.freeze(config.rope) });
    this.parameterCount = parameterCount;
  }

  async forward<const W extends Want = "weights">(
    query: Tensor,
    options?: WorkerForwardOptions<W>,
  ): Promise<AttentionResult<W>> {
    refuseOut(options);
    const { signal, rest } = splitSignal(options);
    const { lane } = this.connection;
    const cache = typeof rest === "object" && rest !== null ? (rest as { cache?: unknown }).cache : undefined;
    if (!(cache instanceof RemoteCache))
      return this.call("forward", "layer.forward", { args: { query, options: rest }, lane, signal });
    if (cache.connection !== this.connection) {
      throw mismatch("config", "cache", "a cache made by this layer's createCache", "a cache of another worker");
    }
    const { cache: _cache, ...given } = rest as object & { cache: unknown };
    return this.call("forward", "layer.forward", { args: { query, options: given }, cache: cache.id, lane, signal });
  }

  async createCache(options: Parameters<WorkerMultiHeadAttention["createCache"]>[0]): Promise<WorkerKVCache> {
    const { signal, rest } = splitSignal(options);
    const { lane } = this.connection;
    const kept = await this.call<Kept<CacheSnapshot>>("createCache", "layer.createCache", {
      args: { options: rest },
      lane,
      signal,
    });
    return new RemoteCache(this.connection, kept);
  }
}

class RemoteCache extends Handle implements WorkerKVCache {
  readonly length: number;
  readonly capacity: number;
  readonly batch: number;
  readonly bytes: number;
  readonly bytesPerToken: number;

  constructor(connection: Connection, kept: Kept<CacheSnapshot>) {
    super(connection, kept, connection.lane);
    const { length, capacity, batch, bytes, bytesPerToken } = kept.snapshot;
    this.length = length;
    this.capacity = capacity;
    this.batch = batch;
    this.bytes = bytes;
    this.bytesPerToken = bytesPerToken;
  }

  truncate(n: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    return this.call("truncate", "cache.truncate", {
      args: { n },
      lane: this.connection.lane,
      signal: options?.signal,
    });
  }
}
