// What the worker does for the page: one entry for each method that crosses.
import { mismatch } from "../errors.js";
import * as simd from "../generated/simd-bytes.js";
import { inspectPrompt } from "../inspect/index.js";
import { start } from "../load.js";
import {
  ablateHeads,
  gqaCurve,
  gqaCurveOfModel,
  headImportance,
  headStats,
  loneHeads,
  type Model,
  openModel,
  openTensors,
  pruneCurve,
  type TensorFile,
} from "../models/index.js";
import { stats } from "../stats.js";
import type { Headscope, KVCache, MultiHeadAttention } from "../types.js";
import { unpack } from "../unpack.js";
import { VERSION } from "../version.js";
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

const fresh = (value: unknown): Answer => ({ value, fresh: true });

/** Options as the API takes them: with the signal of this side. What is no object is for the API to refuse. */
function options(work: Work, given: unknown, extra?: object): never {
  if (given !== undefined && (typeof given !== "object" || given === null)) return given as never;
  return { ...given, signal: work.signal, ...extra } as never;
}

/** The same with progress. */
function reporting(work: Work, given: unknown): never {
  return options(work, given, work.onProgress && { onProgress: work.onProgress });
}

const asLayer = (work: Work) => work.target as MultiHeadAttention;
const asCache = (work: Work) => work.target as KVCache;
const asModel = (work: Work) => work.target as Model;
const asFile = (work: Work) => work.target as TensorFile;

type Run = AsyncIterableIterator<unknown>;
type Operations = Readonly<Record<string, (work: Work) => Answer | Promise<Answer>>>;

export const OPERATIONS = {
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
  "stats.heads": ({ args: [weights, tokenIds] }) => ({ value: stats.heads(weights, tokenIds) }),
  "stats.similarity": ({ args: [weights] }) => fresh(stats.similarity(weights)),
  gqaCurve: ({ hs, args: [config, weights, x, given] }) => ({ value: gqaCurve(hs, config, weights, x, given) }),

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

  async openModel(work) {
    const model = await openModel(work.hs, work.args[0], reporting(work, work.args[1]));
    const { architecture, config, format, name, metadata, tensors, bytesRead } = model;
    return { value: work.keep(model, { architecture, config, format, name, metadata, tensors, bytesRead }) };
  },
  async openTensors(work) {
    const file = await openTensors(work.hs, work.args[0], reporting(work, work.args[1]));
    const { format, name, size, version, metadata, metadataTypes, tensors, dataOffset, bytesRead } = file;
    const snapshot = { format, name, size, version, metadata, metadataTypes, tensors, dataOffset, bytesRead };
    return { value: work.keep(file, snapshot) };
  },
  /** Of models too. */
  "file.read": async (work) => fresh(await asFile(work).read(work.args[0], options(work, work.args[1]))),

  "model.tokenize": (work) => ({ value: asModel(work).tokenize(work.args[0], work.args[1]) }),
  /** Makes the iterator; its own signal lives as long as it does, see `run.next`. */
  "model.run"(work) {
    const [tokens, given] = work.args;
    const stop = new AbortController();
    const steps = asModel(work).run(tokens, { ...given, signal: stop.signal });
    return { value: work.keep({ steps, stop, owner: work.id }, undefined) };
  },
  async "run.next"(work) {
    const { steps, stop } = work.target as { steps: Run; stop: AbortController };
    work.signal.addEventListener("abort", () => stop.abort(), { once: true });
    let ended = true;
    try {
      const step = await steps.next();
      ended = step.done === true;
      return fresh(step);
    } finally {
      if (ended) work.drop();
    }
  },
  "model.loss": async (work) => fresh(await asModel(work).loss(work.args[0], options(work, work.args[1]))),
  "model.logits": async (work) => fresh(await asModel(work).logits(work.args[0], options(work, work.args[1]))),
  async "model.ablateHeads"(work) {
    const [tokens, heads, given] = work.args;
    return fresh(await ablateHeads(asModel(work), tokens, heads, reporting(work, given)));
  },
  async "model.headStats"(work) {
    return { value: await headStats(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.headImportance"(work) {
    return { value: await headImportance(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.pruneCurve"(work) {
    return { value: await pruneCurve(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.loneHeads"(work) {
    return { value: await loneHeads(asModel(work), work.args[0], reporting(work, work.args[1])) };
  },
  async "model.gqaCurve"(work) {
    return { value: await gqaCurveOfModel(work.hs, asModel(work), work.args[0], options(work, work.args[1])) };
  },
  // Cloned, not transferred: parts of a report may be the inspector's own tables.
  async "model.inspectPrompt"(work) {
    return { value: await inspectPrompt(asModel(work), work.args[0], options(work, work.args[1])) };
  },
} satisfies Operations;

export type Operation = keyof typeof OPERATIONS;

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
