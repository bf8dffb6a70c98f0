// Compiled, never run: what the declarations of the package allow and refuse. `tsc` fails where an expected error is
// not one.
import {
  type AttentionConfig,
  type AttentionOptions,
  type AttentionResult,
  type AttentionWeights,
  cost,
  type ForwardOptions,
  type HeadStats,
  type Headscope,
  HeadscopeError,
  type KVCache,
  load,
  type MaskTensor,
  type MultiHeadAttention,
  type ResolvedConfig,
  type ResultBuffers,
  stats,
  type Tensor,
  type TraceStep,
  type Want,
} from "headscope";
import * as core from "headscope/core";

/** Compiles only when A and B are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(yes: Same<A, B>): void;

declare const hs: Headscope;
declare const layer: MultiHeadAttention;
declare const x: Tensor;
declare const floats: Float32Array;

// ---- load -------------------------------------------------------------------------------------------------------
same<ReturnType<typeof load>, Promise<Headscope>>(true);
void load();
void load({ variant: "simd", signal: new AbortController().signal });
void load({ module: new URL("https://example.org/simd.wasm") });
void core.load({ module: new Uint8Array(8) });
// @ts-expect-error there is no such build
void load({ variant: "fast" });
// @ts-expect-error misspelt
void load({ varient: "simd" });
// @ts-expect-error core has no bytes of its own
void core.load();
// @ts-expect-error core has no bytes of its own
void core.load({ variant: "simd" });
// @ts-expect-error read-only
hs.variant = "simd";

// ---- results: what was asked for, and nothing else ----------------------------------------------------------------
{
  const plain = layer.forward(x);
  same<typeof plain.weights, Tensor>(true);
  same<typeof plain.output, Tensor>(true);
  // @ts-expect-error scores were not asked for
  plain.scores;
  // @ts-expect-error the trace was not asked for
  plain.trace;
}
{
  const noWant = layer.forward(x, { causal: true });
  same<typeof noWant.weights, Tensor>(true);
  // @ts-expect-error heads were not asked for
  noWant.heads;
}
{
  const none = layer.forward(x, { want: [] });
  same<typeof none.output, Tensor>(true);
  // @ts-expect-error nothing was asked for
  none.weights;
}
{
  const some = layer.forward(x, { want: ["scores", "contributions", "trace"], key: x, causal: { offset: 2 } });
  same<typeof some.scores, Tensor>(true);
  same<typeof some.contributions, Tensor>(true);
  same<typeof some.trace, TraceStep[]>(true);
  // @ts-expect-error the default does not come on top
  some.weights;
}
{
  const want = ["q", "k"] as const;
  const kept = layer.forward(x, { want });
  same<typeof kept.q, Tensor>(true);
  // @ts-expect-error v was not asked for
  kept.v;
}
{
  const bare = hs.attention(x, x, x, { want: ["heads"], scale: 1 });
  same<typeof bare.heads, Tensor>(true);
  // @ts-expect-error weights were not asked for
  bare.weights;
  same<typeof bare, AttentionResult<"heads">>(true);
}
{
  const any: Want[] = ["weights"];
  const every = layer.forward(x, { want: any });
  same<typeof every.trace, TraceStep[]>(true);
}
// @ts-expect-error no such result
layer.forward(x, { want: ["attentions"] });
// @ts-expect-error an array, not a word
layer.forward(x, { want: "weights" });

// ---- options ----------------------------------------------------------------------------------------------------
const mask: MaskTensor = { data: [true, false], shape: [2] };
const everything: ForwardOptions<"weights"> = {
  causal: true,
  window: { left: 4, right: 0 },
  mask: { blocked: mask },
  keyPadding: Int32Array.of(3),
  bias: x,
  scale: 0.5,
  softcap: 30,
  headMask: floats,
  scoresStage: "capped",
  want: ["weights"],
  out: floats,
  key: x,
  value: x,
};
layer.forward(x, everything);
layer.forward(x, { mask, keyPadding: Uint8Array.of(1, 1), causal: undefined });
// @ts-expect-error a float mask goes into bias
layer.forward(x, { mask: x });
// @ts-expect-error misspelt
layer.forward(x, { casual: true });
// @ts-expect-error lengths are 32-bit integers
layer.forward(x, { keyPadding: new Float32Array(2) });
// @ts-expect-error an offset is a number
layer.forward(x, { causal: { offset: "2" } });
// @ts-expect-error a stage that does not exist
layer.forward(x, { scoresStage: "raw" });
// @ts-expect-error a cache belongs to a layer's forward
hs.attention(x, x, x, { cache: layer.createCache({ capacity: 4 }) });
// @ts-expect-error double precision is not read
layer.forward({ data: new Float64Array(4), shape: [2, 2] });
// @ts-expect-error a tensor has a shape
layer.forward({ data: floats });
// @ts-expect-error results are read-only tensors: their data may change, not what they are
layer.forward(x).output.shape[0] = 3;
same<AttentionOptions["out"], Float32Array | ResultBuffers | undefined>(true);
{
  const buffers: ResultBuffers = { output: floats, weights: floats, contributions: undefined };
  const result = layer.forward(x, { want: ["weights", "scores"], out: buffers });
  same<typeof result, AttentionResult<"weights" | "scores">>(true);
  hs.attention(x, x, x, { out: { heads: floats }, want: ["heads"] }).heads;
}
// @ts-expect-error double precision is not written
layer.forward(x, { out: { weights: new Float64Array(4) } });
// @ts-expect-error a trace has no memory to write to
layer.forward(x, { want: ["trace"], out: { trace: floats } });
// @ts-expect-error arrays, not tensors
layer.forward(x, { out: { weights: x } });

// ---- layers -----------------------------------------------------------------------------------------------------
const separate: AttentionWeights = { layout: "out-in", wq: floats, wk: floats, wv: floats };
const fused: AttentionWeights = { layout: "in-out", wqkv: floats, bqkv: floats, wo: floats, bo: floats };
hs.multiHeadAttention({ dModel: 8, numHeads: 2, rope: { pairing: "halves" } }, separate);
hs.multiHeadAttention(layer.config, fused);
same<MultiHeadAttention["config"], ResolvedConfig>(true);
const required: Required<AttentionConfig> = layer.config;
same<typeof layer.config.numKVHeads, number>(true);
same<typeof layer.config.rope.dims, number>(true);
void required;
// @ts-expect-error the number of heads has no default
hs.multiHeadAttention({ dModel: 8 }, separate);
// @ts-expect-error a layout that does not exist
hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, { ...separate, layout: "in_out" });
// @ts-expect-error wv is missing
hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, { layout: "in-out", wq: floats, wk: floats });
// @ts-expect-error rotary embedding needs its pairing
hs.multiHeadAttention({ dModel: 8, numHeads: 2, rope: { base: 10000 } }, separate);
// @ts-expect-error frozen
layer.config.scale = 1;
// @ts-expect-error read-only
layer.parameterCount = 1;

// ---- lifetime ---------------------------------------------------------------------------------------------------
const disposables: Disposable[] = [layer, layer.createCache({ capacity: 8, batch: 2 })];
void disposables;
same<ReturnType<MultiHeadAttention["createCache"]>, KVCache>(true);
// @ts-expect-error a cache has a capacity
layer.createCache({});
// @ts-expect-error tokens come by forward
layer.createCache({ capacity: 8 }).length = 0;
same<ReturnType<Headscope["memory"]>, { heapBytes: number; liveObjects: number }>(true);

// ---- cost, stats, errors ----------------------------------------------------------------------------------------
const parameters: { wq: bigint; wk: bigint; wv: bigint; wo: bigint; biases: bigint; total: bigint } = cost.parameters({
  dModel: 512,
  numHeads: 8,
  bias: true,
});
const flops: { projections: bigint; scores: bigint; context: bigint; output: bigint; total: bigint } = cost.flops({
  dModel: 512,
  numHeads: 8,
  T: 4,
  causal: true,
});
const bytes: bigint = cost.scoreBytes({ numHeads: 8, T: 4096, bytesPerElement: 2 });
const cache: { elementsPerToken: bigint; bytesPerToken: bigint; total: bigint } = cost.kvCache({
  layers: 32,
  numKVHeads: 8,
  headDim: 128,
  bytesPerElement: 2,
});
void [parameters, flops, bytes, cache];
// @ts-expect-error T has no default
cost.flops({ dModel: 512, numHeads: 8 });
// @ts-expect-error counts are numbers
cost.scoreBytes({ numHeads: 8n, T: 4096, bytesPerElement: 2 });
same<ReturnType<typeof stats.heads>, HeadStats[]>(true);
stats.heads(x, Int32Array.of(1, 2));
stats.heads(x, [1, 2]);
// @ts-expect-error ids are numbers
stats.heads(x, ["a"]);
same<ReturnType<typeof stats.similarity>, Tensor>(true);

function explain(error: unknown): string {
  if (!(error instanceof HeadscopeError)) return "";
  same<typeof error.code, "shape" | "config" | "memory" | "disposed" | "format" | "unsupported" | "aborted">(true);
  // @ts-expect-error not a code
  if (error.code === "oops") return "";
  return error.argument ?? error.expected ?? error.actual ?? error.message;
}
void explain;
