import { checkInteger, checkTensor } from "../check.js";
import { resolveConfig } from "../config.js";
import { cost } from "../cost.js";
import { HeadscopeError, mismatch } from "../errors.js";
import type {
  AttentionConfig,
  AttentionWeights,
  Headscope,
  Layout,
  ResolvedConfig,
  SeparateWeights,
  Tensor,
} from "../types.js";
import type { ModelTokens } from "./ablation.js";
import { attentionTensors } from "./layer-names.js";
import type { Model } from "./model.js";
import type { PassOptions } from "./run-options.js";

// From multi-head to grouped-query attention without training: the K and V heads of a group are averaged (Ainslie et al.
// 2023, "GQA", section 2.1, where training goes on from there). A projection is linear, and so is a rotary turn, so that
// averaging the projections, or the heads that they give, is the same.

/** One place of the slider from MHA (G = H) to MQA (G = 1). */
export interface GqaPoint {
  readonly numKVHeads: number;
  /** ‖output − output of the layer as it is‖ / ‖output of the layer as it is‖, all tokens together. */
  readonly error: number;
  /** The largest difference of a single number. */
  readonly maxError: number;
  /** K/V cache of one token: of the layer, or of all layers of a model. */
  readonly bytesPerToken: number;
  /** `bytesPerToken` for as many tokens as were asked for. */
  readonly cacheBytes: number;
}

export interface GqaOptions {
  /** Of a number in the cache, default 2: half precision, as runtimes keep K and V. */
  readonly bytesPerElement?: number | undefined;
  /** How many tokens the cache is to hold, default as many as the input has. */
  readonly tokens?: number | undefined;
}

/**
 * The layer with its K/V heads averaged in groups of neighbours, as `multiHeadAttention` takes it.
 *
 * @param numKVHeads how many are to be left: a divisor of the layer's own number
 * @throws HeadscopeError `"config"`, `"shape"`; TypeError, RangeError
 */
export function poolKVHeads(
  config: AttentionConfig,
  weights: AttentionWeights,
  numKVHeads: number,
): { readonly config: AttentionConfig; readonly weights: SeparateWeights } {
  const c = resolveConfig({ ...config });
  checkGroups("numKVHeads", numKVHeads, c.numKVHeads);
  const apart = separate(c, weights);
  const { layout, wk, wv, bk, bv } = apart;
  const size = c.numKVHeads / numKVHeads;
  return {
    config: { ...c, numKVHeads },
    weights: {
      ...apart,
      wk: poolColumns(wk, layout, c.keyDim, c.headDim, numKVHeads, size),
      wv: poolColumns(wv, layout, c.valueDim, c.valueHeadDim, numKVHeads, size),
      bk: bk && poolColumns(bk, "in-out", 1, c.headDim, numKVHeads, size),
      bv: bv && poolColumns(bv, "in-out", 1, c.valueHeadDim, numKVHeads, size),
    },
  };
}

/**
 * Error and cache for every number of K/V heads that a layer can be pooled to, its own number first.
 *
 * @param x `[T,D]` or `[B,T,D]`: what the layer reads
 * @param options `causal`, default true; `headMask` as `forward` takes it, on both sides of the comparison
 * @throws as `multiHeadAttention` and `forward`
 */
export function gqaCurve(
  hs: Headscope,
  config: AttentionConfig,
  weights: AttentionWeights,
  x: Tensor,
  options: GqaOptions & { readonly causal?: boolean | undefined; readonly headMask?: Float32Array | undefined } = {},
): GqaPoint[] {
  const { causal = true, headMask } = options;
  const c = resolveConfig({ ...config });
  const { shape } = checkTensor("x", x, 3);
  let whole: Float32Array | undefined;
  return groupsBelow(c.numKVHeads).map((numKVHeads) => {
    const pooled = poolKVHeads(c, weights, numKVHeads);
    const layer = hs.multiHeadAttention(pooled.config, pooled.weights);
    try {
      const { data } = layer.forward(x, { causal, headMask, want: [] }).output;
      whole ??= data;
      return { numKVHeads, ...errorOf(data, whole), ...cacheOf(c, 1, numKVHeads, options, shape.at(-2) ?? 0) };
    } finally {
      layer.dispose();
    }
  });
}

/**
 * The same for one layer of a model, on what the layer really reads for a text: errors are of this layer's output, and of
 * no other layer; cache bytes are of all layers. Of a model that has grouped heads already, from its own number on. Heads
 * that `headMask` takes out, here or in an earlier layer, are out on both sides of the comparison.
 *
 * @throws as `model.run`
 */
export async function gqaCurveOfModel(
  hs: Headscope,
  model: Model,
  tokens: ModelTokens,
  options: GqaOptions &
    Pick<PassOptions, "headMask" | "signal" | "keepWeights"> & { readonly layer?: number | undefined } = {},
): Promise<GqaPoint[]> {
  const { layer = 0, headMask, signal, keepWeights } = options;
  checkInteger("options.layer", layer, 0, model.config.layers - 1);
  const names = attentionTensors(model, layer);
  if (names === undefined)
    throw new HeadscopeError("unsupported", `${model.name}: no output projection by a known name`);
  const want = ["q", "k", "v", "scores"] as const;
  const run = model.run(tokens, { layers: layer + 1, want, headMask, signal, keepWeights });
  let last: Awaited<ReturnType<typeof run.next>>["value"];
  for await (const result of run) last = result;
  const { q, k, v, scores, output } = last;
  const matrix = await model.read(names.output, { signal });

  const [heads, queries, keys] = scores.shape as readonly [number, number, number];
  const mask = visible(scores, queries, keys);
  const scale = scaleOf(q, k, scores);
  const numKVHeads = k.shape[0] as number;
  const valueHeadDim = v.shape[2] as number;
  const attend = (G: number): Float32Array => {
    const size = numKVHeads / G;
    return hs.attention(q, poolHeads(k, size), poolHeads(v, size), { mask, scale, want: [] }).output.data;
  };
  const whole = attend(numKVHeads);
  const gates = headMask?.[layer];
  const concat = new Float32Array(queries * heads * valueHeadDim);
  return groupsBelow(numKVHeads).map((G) => {
    const pooled = attend(G);
    // The difference goes through W_O by itself: b_O and what is equal fall out without rounding.
    sideBySide(
      pooled.map((value, i) => value - (whole[i] as number)),
      heads,
      queries,
      valueHeadDim,
      concat,
      gates,
    );
    const difference = project(concat, queries, matrix.data, names.outputLayout, output.shape[1] as number);
    const error = errorOfDifference(difference, output.data);
    const config = { ...model.config, numKVHeads };
    return { numKVHeads: G, ...error, ...cacheOf(config, model.config.layers, G, options, queries) };
  });
}

function checkGroups(argument: string, value: unknown, own: number): void {
  const groups = checkInteger(argument, value, 1, own);
  if (own % groups !== 0)
    throw mismatch("config", argument, `a divisor of the layer's ${own} K/V heads`, String(groups));
}

/** Divisors, the largest first. */
function groupsBelow(own: number): number[] {
  return Array.from({ length: own }, (_, i) => own - i).filter((groups) => own % groups === 0);
}

/** Fused weights taken apart; separate ones as they are. */
function separate(c: ResolvedConfig, weights: AttentionWeights): SeparateWeights {
  if (!("wqkv" in weights)) return weights;
  const { layout, wqkv, bqkv, wo, bo } = weights;
  const widths = [c.numHeads * c.headDim, c.numKVHeads * c.headDim, c.numKVHeads * c.valueHeadDim] as const;
  const total = widths[0] + widths[1] + widths[2];
  if (wqkv.length !== total * c.dModel) {
    throw mismatch("shape", "weights.wqkv", `${total * c.dModel} numbers (D × (H·dk + G·dk + G·dv))`, `${wqkv.length}`);
  }
  const part = (first: number, columns: number): Float32Array => {
    if (layout === "out-in") return wqkv.slice(first * c.dModel, (first + columns) * c.dModel);
    const to = new Float32Array(c.dModel * columns);
    for (let row = 0; row < c.dModel; ++row) {
      to.set(wqkv.subarray(row * total + first, row * total + first + columns), row * columns);
    }
    return to;
  };
  const [q, k] = widths;
  return {
    layout,
    wq: part(0, q),
    wk: part(q, k),
    wv: part(q + k, widths[2]),
    bq: bqkv?.slice(0, q),
    bk: bqkv?.slice(q, q + k),
    bv: bqkv?.slice(q + k, total),
    wo,
    bo,
  };
}

/** Averages groups of `size` neighbouring heads of `width` columns each. */
function poolColumns(
  matrix: Float32Array,
  layout: Layout,
  depth: number,
  width: number,
  groups: number,
  size: number,
): Float32Array {
  const columns = groups * size * width;
  if (matrix.length !== depth * columns) {
    throw mismatch("shape", "weights", `${depth * columns} numbers in a key or value matrix`, String(matrix.length));
  }
  if (size === 1) return matrix.slice();
  const pooled = new Float32Array(depth * groups * width);
  for (let row = 0; row < depth; ++row) {
    for (let group = 0; group < groups; ++group) {
      for (let i = 0; i < width; ++i) {
        let sum = 0;
        for (let head = group * size; head < (group + 1) * size; ++head) {
          const column = head * width + i;
          sum += matrix[layout === "in-out" ? row * columns + column : column * depth + row] as number;
        }
        const column = group * width + i;
        pooled[layout === "in-out" ? row * groups * width + column : column * depth + row] = sum / size;
      }
    }
  }
  return pooled;
}

/** `[G,S,d]` to `[G/size,S,d]`. */
function poolHeads({ data, shape }: Tensor, size: number): Tensor {
  const [heads, rows, width] = shape as readonly [number, number, number];
  const area = rows * width;
  const pooled = new Float32Array((heads / size) * area);
  for (let i = 0; i < pooled.length; ++i) {
    const first = Math.floor(i / area) * size * area + (i % area);
    let sum = 0;
    for (let head = 0; head < size; ++head) sum += data[first + head * area] as number;
    pooled[i] = sum / size;
  }
  return { data: pooled, shape: [heads / size, rows, width] };
}

/** Which keys a layer's queries see, as its own masked scores tell: causal, a window, or all. */
function visible({ data }: Tensor, queries: number, keys: number): { data: Uint8Array; shape: number[] } {
  const mask = Uint8Array.from(data.subarray(0, queries * keys), (score) =>
    score === Number.NEGATIVE_INFINITY ? 0 : 1,
  );
  return { data: mask, shape: [queries, keys] };
}

/** The factor between q·k and the scores, which may differ from layer to layer: from the largest product that is seen. */
function scaleOf(q: Tensor, k: Tensor, scores: Tensor): number {
  const [heads, queries, keys] = scores.shape as readonly [number, number, number];
  const width = q.shape[2] as number;
  const shared = heads / (k.shape[0] as number);
  let [largest, at] = [0, -1];
  scores.data.forEach((score, i) => {
    if (Number.isFinite(score) && Math.abs(score) > largest) [largest, at] = [Math.abs(score), i];
  });
  if (at < 0) return 0;
  const head = Math.floor(at / (queries * keys));
  const query = Math.floor(at / keys) % queries;
  let product = 0;
  for (let i = 0; i < width; ++i) {
    const a = q.data[(head * queries + query) * width + i] as number;
    product += a * (k.data[(Math.floor(head / shared) * keys + (at % keys)) * width + i] as number);
  }
  return (scores.data[at] as number) / product;
}

/** `[H,T,dv]` to `[T,H·dv]`, each head times its gate. */
function sideBySide(
  heads: Float32Array,
  count: number,
  rows: number,
  width: number,
  to: Float32Array,
  gates: Float32Array | undefined,
): void {
  for (let head = 0; head < count; ++head) {
    const gate = gates?.[head] ?? 1;
    for (let row = 0; row < rows; ++row) {
      const from = (head * rows + row) * width;
      const at = (row * count + head) * width;
      for (let i = 0; i < width; ++i) to[at + i] = gate * (heads[from + i] as number);
    }
  }
}

/** x [rows, depth] · W. */
function project(x: Float32Array, rows: number, matrix: Float32Array, layout: Layout, columns: number): Float32Array {
  const depth = x.length / rows;
  const y = new Float32Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      let sum = 0;
      for (let i = 0; i < depth; ++i) {
        const w = matrix[layout === "in-out" ? i * columns + column : column * depth + i] as number;
        sum += (x[row * depth + i] as number) * w;
      }
      y[row * columns + column] = sum;
    }
  }
  return y;
}

function errorOf(actual: Float32Array, expected: Float32Array): { error: number; maxError: number } {
  return errorOfDifference(
    actual.map((value, i) => value - (expected[i] as number)),
    expected,
  );
}

function errorOfDifference(difference: Float32Array, expected: Float32Array): { error: number; maxError: number } {
  let [squares, all, maxError] = [0, 0, 0];
  difference.forEach((value, i) => {
    squares += value * value;
    all += (expected[i] as number) ** 2;
    maxError = Math.max(maxError, Math.abs(value));
  });
  return { error: squares === 0 ? 0 : Math.sqrt(squares / all), maxError };
}

function cacheOf(
  { headDim, valueHeadDim }: Pick<ResolvedConfig, "headDim" | "valueHeadDim">,
  layers: number,
  numKVHeads: number,
  { bytesPerElement = 2, tokens }: GqaOptions,
  length: number,
): { bytesPerToken: number; cacheBytes: number } {
  const { bytesPerToken, total } = cost.kvCache({
    layers,
    numKVHeads,
    headDim,
    valueHeadDim,
    bytesPerElement,
    tokens: tokens ?? length,
  });
  return { bytesPerToken: Number(bytesPerToken), cacheBytes: Number(total) };
}
