/// <reference lib="esnext.disposable" preserve="true" />

/**
 * The public types. Everything is row-major float32. Letters in shapes:
 * B = batch, T = queries, S = keys, D = dModel, H = numHeads, G = numKVHeads, dk / dv = head widths.
 * A leading batch axis may be left out; results then leave it out too.
 *
 * What goes wrong is a TypeError (wrong kind of value), a RangeError (a number out of its range) or a HeadscopeError
 * (values that do not fit each other, and everything else). Each names the argument, what was expected and what came,
 * nothing has been computed by then, and the module goes on working.
 */

/**
 * Numbers and their shape. `data.length` is the product of `shape`; results are copies that the caller owns, in fresh
 * arrays or in those of `out`.
 */
export interface Tensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** A yes/no tensor. In a Uint8Array 0 is false and anything else is true. */
export interface MaskTensor {
  readonly data: Uint8Array | readonly boolean[];
  readonly shape: readonly number[];
}

/** How to start the module. */
export interface LoadOptions {
  /**
   * Which build: `"simd"` (the baseline, the same bits on every machine) or `"relaxed"` (relaxed SIMD: fused
   * multiply-add where the processor has it, so the last bits may differ between machines). Default `"auto"`: relaxed
   * where the engine validates it, else simd. With `module`, what the module itself is decides, and naming the other
   * one is an error.
   */
  variant?: "auto" | "simd" | "relaxed" | undefined;
  /**
   * Bring your own module: compiled, as bytes, or the address of one (`headscope/simd.wasm`, `headscope/relaxed.wasm`).
   * A string or URL is fetched; its MIME type does not matter. Default: the bytes inside the package.
   */
  module?: WebAssembly.Module | BufferSource | URL | string | undefined;
  /** Stops loading; the promise then rejects with code `"aborted"`. */
  signal?: AbortSignal | undefined;
}

/** A running module. Two of them share nothing. It is freed when it is no longer referenced. */
export interface Headscope {
  /** The package's version, e.g. `"0.1.0"`. */
  readonly version: string;
  /** The build that runs. */
  readonly variant: "simd" | "relaxed";
  /**
   * A layer that owns its projections: output = Concat(head_1 … head_H) · W_O + b_O (Vaswani et al. 2017, section
   * 3.2.2). The weights are copied and packed once; the caller's arrays are free afterwards.
   *
   * @throws TypeError, RangeError, HeadscopeError `"config"` (sizes that do not go together), `"shape"` (a weight of the
   * wrong length) or `"memory"`.
   */
  multiHeadAttention(config: AttentionConfig, weights: AttentionWeights): MultiHeadAttention;
  /**
   * Attention alone, on heads that are projected already: output = softmax(scale · q kᵀ + masks) v (Vaswani et al. 2017,
   * equation 1; torch `scaled_dot_product_attention`, ONNX `Attention`).
   *
   * @param q `[B,H,T,dk]` or `[H,T,dk]`
   * @param k `[B,G,S,dk]` or `[G,S,dk]`; G divides H, and head h reads K/V head ⌊h / (H/G)⌋
   * @param v `[B,G,S,dv]` or `[G,S,dv]`
   * @returns `output` `[B,H,T,dv]` and what `want` asks for. There is no output projection here, so `"contributions"`
   * is refused.
   * @throws TypeError, RangeError, HeadscopeError `"shape"`, `"config"` or `"memory"`.
   */
  attention<const W extends Want = "weights">(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: AttentionOptions<W>,
  ): AttentionResult<W>;
  /**
   * Bytes of the wasm heap, and how many layers, caches and models are not disposed yet. A wasm heap never shrinks: to
   * give the memory back, drop the whole instance or end its worker.
   */
  memory(): { heapBytes: number; liveObjects: number };
}

/** The sizes and settings of a layer. Sizes are whole numbers from 1 to 2³¹ − 1. */
export interface AttentionConfig {
  /** D: width of the queries' source. */
  dModel: number;
  /** H: number of query heads. */
  numHeads: number;
  /** G: number of K/V heads, default `numHeads` (MHA). 1 < G < H is grouped-query attention, 1 is multi-query; G divides H. */
  numKVHeads?: number | undefined;
  /** dk: width of one query and key head, default `dModel / numHeads` (which must then be whole). H·dk may differ from D. */
  headDim?: number | undefined;
  /** dv: width of one value head, default `headDim`. */
  valueHeadDim?: number | undefined;
  /** Width of the key source in cross-attention, default `dModel`. */
  keyDim?: number | undefined;
  /** Width of the value source, default `keyDim`. */
  valueDim?: number | undefined;
  /** Width of the output, default `dModel`; without `wo` the output is the concatenation and this is H·dv. */
  outDim?: number | undefined;
  /** Factor on q·k, default 1/√dk. Any finite number; 0 makes every visible key weigh the same. */
  scale?: number | undefined;
  /** Soft cap c on the scores, c · tanh(score / c), before any mask (Gemma 2). Positive; default 0: none. */
  softcap?: number | undefined;
  /** Rotary position embedding of q and k, default none. */
  rope?: RopeConfig | undefined;
}

/**
 * Rotary position embedding (Su et al. 2021): pair i of a head at position p turns by the angle p · base^(−2i/dims).
 * Key j stands at position j (cached keys count) and query i at i + offset, the offset of `causal`: by default the cached
 * length, so 0 without a cache.
 */
export interface RopeConfig {
  /** Base of the angles, default 10000. Above 0. */
  base?: number | undefined;
  /** How many leading numbers of a head turn: even, at most `headDim`, which is the default. 0: none. */
  dims?: number | undefined;
  /** `"adjacent"`: (x0,x1), (x2,x3) … (RoFormer, GGUF llama). `"halves"`: (x_i, x_{i+dims/2}) (Hugging Face, GPT-NeoX). */
  pairing: "adjacent" | "halves";
}

/** `T` with every property there and read-only. */
type Resolved<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** A layer's configuration with every default filled in. It may be given back to `multiHeadAttention`. */
export type ResolvedConfig = Resolved<Omit<AttentionConfig, "rope">> & {
  /** `dims: 0` where the layer has no rotary embedding. */
  readonly rope: Resolved<RopeConfig>;
};

/** `"in-out"`: y = x W, W [in,out] (NumPy, GPT-2 Conv1D). `"out-in"`: y = x Wᵀ, W [out,in] (torch Linear, GGUF). */
export type Layout = "in-out" | "out-in";

/** Projections apart. Head h is the h-th block of dk (or dv) columns of the output side. */
export interface SeparateWeights {
  readonly layout: Layout;
  /** `[D, H·dk]` (in-out) or `[H·dk, D]` (out-in). */
  readonly wq: Float32Array;
  /** `[keyDim, G·dk]` or `[G·dk, keyDim]`. */
  readonly wk: Float32Array;
  /** `[valueDim, G·dv]` or `[G·dv, valueDim]`. */
  readonly wv: Float32Array;
  /** `[H·dv, outDim]` or `[outDim, H·dv]`. Without it the output is the concatenation of the heads. */
  readonly wo?: Float32Array | undefined;
  /** `[H·dk]` */
  readonly bq?: Float32Array | undefined;
  /** `[G·dk]` */
  readonly bk?: Float32Array | undefined;
  /** `[G·dv]` */
  readonly bv?: Float32Array | undefined;
  /** `[outDim]`; needs `wo`. */
  readonly bo?: Float32Array | undefined;
}

/** Q, K and V in one matrix: along the output side all of q, then all of k, then all of v (GPT-2 `c_attn`). */
export interface FusedWeights {
  readonly layout: Layout;
  /** `[D, H·dk + G·dk + G·dv]` (in-out) or its transpose (out-in). */
  readonly wqkv: Float32Array;
  /** `[H·dk + G·dk + G·dv]` */
  readonly bqkv?: Float32Array | undefined;
  /** As in {@link SeparateWeights}. */
  readonly wo?: Float32Array | undefined;
  /** As in {@link SeparateWeights}. */
  readonly bo?: Float32Array | undefined;
}

export type AttentionWeights = SeparateWeights | FusedWeights;

/**
 * What a call can return besides `output`:
 *
 * | name | shape | |
 * |---|---|---|
 * | `weights` | `[B,H,T,S]` | softmax of the scores; a row sums to 1, or is all 0 where it sees no key |
 * | `scores` | `[B,H,T,S]` | before the softmax, at the stage that `scoresStage` names; hidden = −Infinity |
 * | `q` | `[B,H,T,dk]` | with bias and rotary embedding |
 * | `k`, `v` | `[B,G,S,dk]`, `[B,G,S,dv]` | with bias and rotary embedding; with a cache all S keys |
 * | `heads` | `[B,H,T,dv]` | each head's weighted average of its values, before `headMask` |
 * | `concat` | `[B,T,H·dv]` | heads side by side, after `headMask`: what W_O reads |
 * | `contributions` | `[B,H,T,outDim]` | what each head adds to the output, after `headMask`: their sum + b_O = `output` |
 * | `trace` | | the steps with their shapes and strides, see {@link TraceStep} |
 */
export type Want = "weights" | "scores" | "q" | "k" | "v" | "heads" | "concat" | "contributions" | "trace";

/**
 * The order is: scale → soft cap → bias and masks → softmax → values. Masks of every kind combine: a key is visible when
 * all of them allow it. A row that sees no key gets weights and head outputs of exactly 0. A hidden value never reaches
 * a row, even NaN.
 */
export interface AttentionOptions<W extends Want = Want> {
  /**
   * true: key j is visible to query i when j ≤ i + offset. The offset is the cached length, and 0 without a cache
   * (top-left, as in torch and ONNX); give S − T for bottom-right. Default false.
   */
  causal?: boolean | { readonly offset: number } | undefined;
  /**
   * Keys from p − left to p + right, where p = i + offset as above. Whole numbers from 0; leave one out for no limit
   * on that side.
   */
  window?: { readonly left?: number | undefined; readonly right?: number | undefined } | undefined;
  /**
   * true / 1 = may attend, in any shape that broadcasts from the right to `[B,H,T,S]` (with a cache S counts the cached
   * keys): a mask per batch item is `[B,1,T,S]`. `{ blocked }` for the opposite convention, as torch
   * `MultiheadAttention` has it. Float masks that are added go into `bias`.
   */
  mask?: MaskTensor | { readonly blocked: MaskTensor } | undefined;
  /**
   * Which keys are real: a Uint8Array or Int32Array of B·S, not 0 = real, or an Int32Array of B with the true lengths
   * (0 … S). The length decides; where S is 1 the two mean the same.
   */
  keyPadding?: Uint8Array | Int32Array | undefined;
  /** Added to the scaled and capped scores, broadcast like `mask`; −Infinity hides, large finite values only add. */
  bias?: Tensor | undefined;
  /** For this call, instead of the layer's. */
  scale?: number | undefined;
  /** For this call, instead of the layer's; 0: none. */
  softcap?: number | undefined;
  /** `[H]`: a gate on each head's output before the output projection; 0 takes the head out exactly. */
  headMask?: Float32Array | undefined;
  /** Which scores `scores` returns: `"scaled"`, `"capped"` (scaled and capped) or `"masked"` (bias and masks too), the default. */
  scoresStage?: "scaled" | "capped" | "masked" | undefined;
  /**
   * What to return besides `output`, default `["weights"]`. `[]` returns the output alone and never holds a `[T,S]`
   * matrix. Asking for more never changes the output by more than 1e-6.
   */
  want?: readonly W[] | undefined;
  /**
   * Memory of yours for results, instead of fresh arrays: an array for the output, or a {@link ResultBuffers} object with
   * an array for any of the results. New memory costs more than the copy (the weights of 1,024 tokens and 12 heads are
   * 50 MB, 20 ms of it), so give the same buffers again where a call repeats.
   */
  out?: Float32Array | ResultBuffers | undefined;
}

/**
 * Arrays that results are written to, each exactly as long as its result and in its order (see {@link Want}: row-major,
 * `weights` `[B,H,T,S]` and so on). `result.weights.data` is then the very array that was given, whole: what it held
 * before is gone, and a row that sees no key is 0 in it. Names that are left out come in fresh arrays.
 *
 * An array may be a part of a larger buffer, or of a SharedArrayBuffer, and may be one of the inputs, since these have been
 * read by then; after an error all of them hold what they held. Refused are a name that is not in `want`, an array of another
 * length or type, detached memory, and two that share memory.
 */
export interface ResultBuffers {
  /** Layer: `[B,T,outDim]`. `attention()`: `[B,H,T,dv]`. */
  readonly output?: Float32Array | undefined;
  /** `[B,H,T,S]` */
  readonly weights?: Float32Array | undefined;
  /** `[B,H,T,S]` */
  readonly scores?: Float32Array | undefined;
  /** `[B,H,T,dk]` */
  readonly q?: Float32Array | undefined;
  /** `[B,G,S,dk]`; with a cache S counts its keys. */
  readonly k?: Float32Array | undefined;
  /** `[B,G,S,dv]`; with a cache S counts its keys. */
  readonly v?: Float32Array | undefined;
  /** `[B,H,T,dv]` */
  readonly heads?: Float32Array | undefined;
  /** `[B,T,H·dv]` */
  readonly concat?: Float32Array | undefined;
  /** `[B,H,T,outDim]` */
  readonly contributions?: Float32Array | undefined;
}

/** The options of a layer's `forward`. */
export interface ForwardOptions<W extends Want = Want> extends AttentionOptions<W> {
  /** `[S,keyDim]` or `[B,S,keyDim]`, default the query itself (self-attention; needs keyDim = dModel). */
  key?: Tensor | undefined;
  /** `[S,valueDim]` or `[B,S,valueDim]`, default the key. */
  value?: Tensor | undefined;
  /**
   * Keys and values of earlier calls. The call's own are put behind them, and S counts all. The cache has to come from
   * this layer and have the batch of the query.
   */
  cache?: KVCache | undefined;
}

/** `output` and exactly what was asked for: reading a result that is not in `want` is a compile error. */
export type AttentionResult<W extends Want = Want> = {
  /** Layer: `[B,T,outDim]`. `attention()`: `[B,H,T,dv]`. */
  output: Tensor;
} & { [K in Exclude<W, "trace">]: Tensor } & ("trace" extends W ? { trace: TraceStep[] } : unknown);

/**
 * One step of the calculation as NumPy or ggml would do it in row-major memory. (The module itself fuses steps; the
 * values are the same.) Bytes and FLOPs are of this call, float32.
 */
export interface TraceStep {
  /** `input`, `qkv` or `qProjection` …, `qView`, `q` …, `scores`, `weights`, `heads`, `concat`, `output`. */
  id: string;
  /** The step in symbols, e.g. `Q = view(QKV)`. */
  formula: string;
  /** Logical shape; without a batch axis where the input had none. */
  shape: readonly number[];
  /** Steps between neighbours along each axis, in elements. */
  strides: readonly number[];
  /** true where values are only moved to new memory (the reshape after the transpose back). */
  copied: boolean;
  /** New memory that the step makes; 0 for a view of an earlier step's memory. */
  bytes: number;
  /** One multiply-add = 2. Matrix products only and counted dense, so that the steps add up to `cost.flops().total`. */
  flops: number;
  /**
   * The node of llama.cpp's graph that holds the same values, numbered as in block 0, and `ne` as ggml prints it:
   * fastest axis first, with the keys padded to a multiple of 256 as its K/V cache is.
   */
  ggml?: { name: string; ne: readonly number[] };
}

/** A layer. Not usable after `dispose()`: every call then throws code `"disposed"`. */
export interface MultiHeadAttention extends Disposable {
  /** The configuration with every default filled in, frozen. */
  readonly config: ResolvedConfig;
  /** Numbers in all weights and biases that were given. */
  readonly parameterCount: number;
  /**
   * Runs the layer.
   *
   * @param query `[T,D]` or `[B,T,D]`. B, T and S may be 0.
   * @returns `output` `[T,outDim]` or `[B,T,outDim]`, and what `want` asks for.
   * @throws TypeError, RangeError, HeadscopeError `"shape"`, `"config"`, `"memory"` (also a full cache) or `"disposed"`.
   * A cache is unchanged after a failure.
   */
  forward<const W extends Want = "weights">(query: Tensor, options?: ForwardOptions<W>): AttentionResult<W>;
  /**
   * Memory for the keys and values of up to `capacity` tokens, for `batch` (default 1) sequences of one length.
   *
   * @throws TypeError, RangeError, HeadscopeError `"memory"` or `"disposed"`.
   */
  createCache(options: { readonly capacity: number; readonly batch?: number | undefined }): KVCache;
  /** Frees the layer's memory. A second call does nothing. */
  dispose(): void;
}

/** Keys and values kept from call to call, for decoding token by token. */
export interface KVCache extends Disposable {
  /** Tokens held. */
  readonly length: number;
  /** Tokens that fit. */
  readonly capacity: number;
  /** Sequences held side by side. */
  readonly batch: number;
  /** Heap bytes that the cache takes, used or not. */
  readonly bytes: number;
  /** G·(dk + dv)·4: what one token of one sequence needs. */
  readonly bytesPerToken: number;
  /** Forgets all but the first `n` tokens; 0 ≤ n ≤ `length`. */
  truncate(n: number): void;
  /** Frees the memory. A second call does nothing. */
  dispose(): void;
}

/** What one head does, averaged over its rows. Shares are 0 … 1 of a row's weight. See `stats.heads`. */
export interface HeadStats {
  /** −Σ w log₂ w, in bits: 0 = all on one key, log₂ n = even over n keys. */
  entropy: number;
  /** The largest weight of the row. */
  maxWeight: number;
  /** Σ w·|p − j|: how far away the attended keys are, in tokens. */
  meanDistance: number;
  /** Share on the key before the query's own position. */
  previous: number;
  /** Share on the query's own position. */
  self: number;
  /** Share on the key after the query's own position. */
  next: number;
  /** Share on key 0. */
  first: number;
  /** Share on earlier places with the query's own token. */
  duplicate: number;
  /** Share on the places right behind an earlier one with the query's own token. */
  induction: number;
  /** Share on the rarest token of the text. */
  rare: number;
}
