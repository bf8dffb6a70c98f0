/// <reference lib="esnext.disposable" preserve="true" />

import type { InspectPromptOptions, PromptReport } from "../inspect/prompt.js";
import type {
  Ablation,
  FileSource,
  GqaOptions,
  GqaPoint,
  HeadRef,
  ImportanceReport,
  LayerHeadStats,
  LayerResult,
  LoneHead,
  Loss,
  MeasureOptions,
  Model,
  ModelTokens,
  ModelWant,
  OpenModelOptions,
  OpenOptions,
  PassOptions,
  PruneCurve,
  PruneOptions,
  RunOptions,
  TensorFile,
  TensorReadOptions,
  Token,
  TokenizeOptions,
} from "../models/index.js";
import type {
  AttentionConfig,
  AttentionOptions,
  AttentionResult,
  AttentionWeights,
  ForwardOptions,
  HeadStats,
  Headscope,
  KVCache,
  LoadOptions,
  MultiHeadAttention,
  Tensor,
  Want,
} from "../types.js";

// The types of `headscope` and `headscope/models` with promises around their results. tests/types holds both against
// each other, so that a method that is added there is missed here.

/** For every call. */
export interface CallOptions {
  /**
   * The call then rejects with code `"aborted"` at once. A call that waits for its turn is never started; a pass through
   * a model stops before its next layer; a single layer that is being computed is finished and thrown away.
   */
  readonly signal?: AbortSignal | undefined;
}

export interface LoadWorkerOptions extends LoadOptions {
  /**
   * A worker that runs `headscope/worker-script`, or the address of that script. It belongs to what `loadWorker` gives
   * from then on, and `dispose()` ends it.
   */
  worker: Worker | URL | string | NodeWorker;
}

/** A Worker of Node's worker_threads. */
export interface NodeWorker {
  // biome-ignore lint/suspicious/noExplicitAny: Node's own types are not for browsers
  postMessage(message: any, transfer?: any): void;
  terminate(): Promise<number>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  on(event: string, listener: (...values: any[]) => void): unknown;
}

/** An object that stays in the worker until `dispose()`. Calls are answered in their order. */
export interface WorkerHandle extends Disposable, AsyncDisposable {
  /** Lets go of it in the worker. Calls that were made before are still answered; later ones reject with `"disposed"`. */
  dispose(): Promise<void>;
}

type Data<T, Names extends keyof T> = { readonly [Name in Names]: T[Name] };

/**
 * As in `headscope`, without `out`: a worker cannot write to arrays of the page. Results arrive in memory of their own, which
 * is handed over without a copy, and is new for every call. Where fresh memory is what costs (weights of a thousand
 * tokens, again and again), run `headscope` itself in a worker of your own and look at the results there.
 */
export interface WorkerAttentionOptions<W extends Want = Want> extends Omit<AttentionOptions<W>, "out">, CallOptions {}

export interface WorkerForwardOptions<W extends Want = Want>
  extends Omit<ForwardOptions<W>, "out" | "cache">,
    CallOptions {
  /** From this layer's `createCache`. */
  cache?: WorkerKVCache | undefined;
}

/** As in `headscope/models`, without `out`. */
export interface WorkerRunOptions<W extends ModelWant = ModelWant, O extends boolean = boolean>
  extends Omit<RunOptions<W, O>, "out"> {}

/**
 * `headscope` in a worker: the same methods, arguments, results and errors, as promises. Arguments are copied before a
 * method returns, so they may be written to at once; results are transferred.
 */
export interface WorkerHeadscope extends Data<Headscope, "version" | "variant">, WorkerHandle {
  multiHeadAttention(
    config: AttentionConfig,
    weights: AttentionWeights,
    options?: CallOptions,
  ): Promise<WorkerMultiHeadAttention>;
  attention<const W extends Want = "weights">(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: WorkerAttentionOptions<W>,
  ): Promise<AttentionResult<W>>;
  memory(options?: CallOptions): Promise<ReturnType<Headscope["memory"]>>;
  /** As `stats` of `headscope`, which needs no worker but has to walk over every weight. */
  readonly stats: {
    heads(weights: Tensor, tokenIds?: ArrayLike<number>, options?: CallOptions): Promise<HeadStats[]>;
    similarity(weights: Tensor, options?: CallOptions): Promise<Tensor>;
  };
  /**
   * As `openModel` of `headscope/models`. Files and Blobs are read in the worker; a relative address counts from the
   * page.
   */
  openModel(source: FileSource, options?: OpenModelOptions): Promise<WorkerModel>;
  /** As `openTensors` of `headscope/models`. */
  openTensors(source: FileSource, options?: OpenOptions): Promise<WorkerTensorFile>;
  /** As `gqaCurve` of `headscope/models`. */
  gqaCurve(
    config: AttentionConfig,
    weights: AttentionWeights,
    x: Tensor,
    options?: GqaOptions & {
      readonly causal?: boolean | undefined;
      readonly headMask?: Float32Array | undefined;
    } & CallOptions,
  ): Promise<GqaPoint[]>;
  /**
   * Ends the worker. This, and nothing else, gives the memory of its wasm heap back to the system. Calls that have not
   * been answered reject with code `"disposed"`. A second call does nothing.
   */
  dispose(): Promise<void>;
}

export interface WorkerMultiHeadAttention extends Data<MultiHeadAttention, "config" | "parameterCount">, WorkerHandle {
  forward<const W extends Want = "weights">(
    query: Tensor,
    options?: WorkerForwardOptions<W>,
  ): Promise<AttentionResult<W>>;
  createCache(options: Parameters<MultiHeadAttention["createCache"]>[0] & CallOptions): Promise<WorkerKVCache>;
}

/** `length` is that of the last answer. */
export interface WorkerKVCache
  extends Data<KVCache, "length" | "capacity" | "batch" | "bytes" | "bytesPerToken">,
    WorkerHandle {
  truncate(n: number, options?: CallOptions): Promise<void>;
}

/** `bytesRead` is that of the last answer. */
export interface WorkerTensorFile
  extends Data<
      TensorFile,
      "format" | "name" | "size" | "version" | "metadata" | "metadataTypes" | "tensors" | "dataOffset" | "bytesRead"
    >,
    WorkerHandle {
  read(name: string, options?: TensorReadOptions): Promise<Tensor>;
}

/**
 * A model in the worker. `run`, `loss`, `logits` and what runs the model several times follow one another: the next
 * starts when the one before has ended or been aborted. `bytesRead` is that of the last answer.
 */
export interface WorkerModel
  extends Data<Model, "architecture" | "config" | "format" | "name" | "metadata" | "tensors" | "bytesRead">,
    WorkerHandle {
  tokenize(text: string, options?: TokenizeOptions & CallOptions): Promise<Token[]>;
  /**
   * As `run` of a model, layer by layer as the loop asks for them: while a result is looked at, nothing runs ahead. Wrong
   * arguments are told by the first step of the loop.
   */
  run<const W extends ModelWant = "weights", const O extends boolean = true>(
    tokens: ModelTokens,
    options?: WorkerRunOptions<W, O>,
  ): AsyncIterableIterator<LayerResult<W, O>>;
  loss(tokens: ModelTokens, options?: PassOptions): Promise<Loss>;
  logits(tokens: ModelTokens, options?: PassOptions): Promise<Tensor>;
  read(name: string, options?: TensorReadOptions): Promise<Tensor>;
  /** The functions of `headscope/models` and `headscope/inspect` that take a model. */
  ablateHeads(tokens: ModelTokens, heads: readonly HeadRef[], options?: MeasureOptions): Promise<Ablation>;
  headStats(tokens: ModelTokens, options?: MeasureOptions): Promise<LayerHeadStats[]>;
  headImportance(texts: readonly ModelTokens[], options?: MeasureOptions): Promise<ImportanceReport>;
  pruneCurve(texts: readonly ModelTokens[], options?: PruneOptions): Promise<PruneCurve>;
  loneHeads(texts: readonly ModelTokens[], options?: MeasureOptions): Promise<LoneHead[]>;
  gqaCurve(
    tokens: ModelTokens,
    options?: GqaOptions &
      Pick<PassOptions, "headMask" | "signal" | "keepWeights"> & { readonly layer?: number | undefined },
  ): Promise<GqaPoint[]>;
  inspectPrompt(prompt: string | readonly number[], options?: InspectPromptOptions): Promise<PromptReport>;
}
