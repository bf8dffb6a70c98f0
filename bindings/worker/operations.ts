// What the worker does for the page: one entry for each method that crosses. Here what layers need; models and measures
// have files of their own, so that a page can fetch them when it first asks for one of theirs (parts.ts).
import { mismatch } from "../errors.js";
import * as simd from "../generated/simd-bytes.js";
import { start } from "../load.js";
import type { Headscope, KVCache, MultiHeadAttention } from "../types.js";
import { unpack } from "../unpack.js";
import { VERSION } from "../version.js";
import type { MEASURES } from "./measure-operations.js";
import type { MODELS } from "./model-operations.js";
import type { Kept, StartOptions } from "./protocol.js";

/** One call, with what stands for the things that do not cross. */
export interface Work {
  readonly hs: Headscope;
  readonly target: unknown;
  /** The number of `target`. */
  readonly id: number;
  // Whatever the page was given: the API itself checks it, as it would there.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly args: readonly any[];
  readonly cache: KVCache | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: ((progress: unknown) => void) | undefined;
  /** Gives an object a number, by which the page can call it. */
  keep<T>(object: object, snapshot: T): Kept<T>;
  started(hs: Headscope): void;
  /** Let go of an object. */
  drop(): void;
}

/** `fresh`: the result's arrays are its own, and are transferred. */
export interface Answer {
  readonly value: unknown;
  readonly fresh?: boolean;
}

export const fresh = (value: unknown): Answer => ({ value, fresh: true });

/** Options as the API takes them: with the signal of this side. What is no object is for the API to refuse. */
export function options(work: Work, given: unknown, extra?: object): never {
  if (given !== undefined && (typeof given !== "object" || given === null)) return given as never;
  return { ...given, signal: work.signal, ...extra } as never;
}

/** The same with progress. */
export function reporting(work: Work, given: unknown): never {
  return options(work, given, work.onProgress && { onProgress: work.onProgress });
}

const asLayer = (work: Work) => work.target as MultiHeadAttention;
const asCache = (work: Work) => work.target as KVCache;

export type Operations = Readonly<Record<string, (work: Work) => Answer | Promise<Answer>>>;

export const LAYERS = {
  async start(work) {
    const { version, variant, module, relaxed } = work.args[0] as StartOptions;
    if (version !== VERSION) {
      throw mismatch("format", "worker", `the script of headscope ${version}`, `that of ${VERSION}`);
    }
    const hs = await start({ variant, module }, (chosen) => {
      const bytes = chosen === "simd" ? simd : relaxed;
      if (bytes === undefined) throw new Error("the relaxed build did not arrive");
      return unpack(bytes);
    });
    work.started(hs);
    return { value: { version: hs.version, variant: hs.variant } };
  },

  attention: ({ hs, args: [q, k, v, given] }) => fresh(hs.attention(q, k, v, given)),
  multiHeadAttention(work) {
    const [config, weights] = work.args;
    const layer = work.hs.multiHeadAttention(config, weights);
    return { value: work.keep(layer, { config: layer.config, parameterCount: layer.parameterCount }) };
  },
  memory: ({ hs }) => ({ value: hs.memory() }),

  "layer.forward"(work) {
    const [query, given] = work.args;
    return fresh(asLayer(work).forward(query, work.cache === undefined ? given : { ...given, cache: work.cache }));
  },
  "layer.createCache"(work) {
    const cache = asLayer(work).createCache(work.args[0]);
    const { capacity, batch, bytes, bytesPerToken, length } = cache;
    return { value: work.keep(cache, { capacity, batch, bytes, bytesPerToken, length }) };
  },
  "cache.truncate"(work) {
    asCache(work).truncate(work.args[0]);
    return { value: undefined };
  },
  dispose(work) {
    (work.target as { dispose(): void }).dispose();
    return { value: undefined };
  },
} satisfies Operations;

export type Operation = keyof typeof LAYERS | keyof typeof MODELS | keyof typeof MEASURES;

/** What changes about kept objects, and is told with every answer that concerns them. */
export function stateOf(object: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  if ("bytesRead" in object) return { bytesRead: object.bytesRead };
  if ("capacity" in object) {
    try {
      return { length: (object as KVCache).length };
    } catch {
      return undefined; // disposed
    }
  }
  return undefined;
}
