import type { FileSource } from "../models/index.js";
import type { AttentionConfig, AttentionResult, AttentionWeights, Tensor, Want } from "../types.js";
import type { Connection } from "./connection.js";
import { RemoteFile } from "./file.js";
import { Ended, split, splitSignal } from "./handle.js";
import { RemoteLayer, refuseOut } from "./layer.js";
import { RemoteModel } from "./model.js";
import type { Kept } from "./protocol.js";
import type { CallOptions, WorkerAttentionOptions, WorkerHeadscope, WorkerMultiHeadAttention } from "./types.js";

/** Addresses count from the page, not from the worker's script. What is no address is for the reader to refuse. */
export function fromPage(source: unknown): unknown {
  if (typeof source !== "string" || typeof location !== "object") return source;
  try {
    return new URL(source, location.href).href;
  } catch {
    return source;
  }
}

export class RemoteHeadscope extends Ended implements WorkerHeadscope {
  readonly version: string;
  readonly variant: "simd" | "relaxed";
  readonly stats: WorkerHeadscope["stats"];
  readonly #connection: Connection;

  constructor(connection: Connection, { version, variant }: Pick<WorkerHeadscope, "version" | "variant">) {
    super();
    this.#connection = connection;
    this.version = version;
    this.variant = variant;
    this.stats = {
      heads: (weights, tokenIds, options) =>
        connection.call("stats.heads", "stats.heads", { args: { weights, tokenIds }, ...this.#computed(options) }),
      similarity: (weights, options) =>
        connection.call("stats.similarity", "stats.similarity", { args: { weights }, ...this.#computed(options) }),
    };
  }

  #computed(options: CallOptions | undefined) {
    return { lane: this.#connection.lane, signal: options?.signal };
  }

  async multiHeadAttention(
    config: AttentionConfig,
    weights: AttentionWeights,
    options?: CallOptions,
  ): Promise<WorkerMultiHeadAttention> {
    const connection = this.#connection;
    const request = { args: { config, weights }, ...this.#computed(options) };
    return new RemoteLayer(connection, await connection.call("multiHeadAttention", "multiHeadAttention", request));
  }

  async attention<const W extends Want = "weights">(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: WorkerAttentionOptions<W>,
  ): Promise<AttentionResult<W>> {
    refuseOut(options);
    const { signal, rest } = splitSignal(options);
    const { lane } = this.#connection;
    return this.#connection.call("attention", "attention", { args: { q, k, v, options: rest }, lane, signal });
  }

  memory(options?: CallOptions): ReturnType<WorkerHeadscope["memory"]> {
    return this.#connection.call("memory", "memory", this.#computed(options));
  }

  gqaCurve(
    ...[config, weights, x, options]: Parameters<WorkerHeadscope["gqaCurve"]>
  ): ReturnType<WorkerHeadscope["gqaCurve"]> {
    const { signal, rest } = splitSignal(options);
    const { lane } = this.#connection;
    return this.#connection.call("gqaCurve", "gqaCurve", { args: { config, weights, x, options: rest }, lane, signal });
  }

  async openModel(
    ...[source, options]: Parameters<WorkerHeadscope["openModel"]>
  ): ReturnType<WorkerHeadscope["openModel"]> {
    return new RemoteModel(this.#connection, await this.#open("openModel", source, options));
  }

  async openTensors(
    ...[source, options]: Parameters<WorkerHeadscope["openTensors"]>
  ): ReturnType<WorkerHeadscope["openTensors"]> {
    return new RemoteFile(this.#connection, await this.#open("openTensors", source, options));
  }

  #open<T>(name: "openModel" | "openTensors", source: FileSource, options: object | undefined): Promise<Kept<T>> {
    const { signal, onProgress, rest } = split(options);
    const args = { source: fromPage(source), options: rest };
    return this.#connection.call(name, name, { args, signal, onProgress });
  }

  dispose(): Promise<void> {
    return this.#connection.end();
  }
}
