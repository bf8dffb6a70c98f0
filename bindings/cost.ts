import { checkBoolean, checkInteger, checkNames, checkObject, type Properties } from "./check.js";
import { CONFIG_NAMES, resolveConfig } from "./config.js";
import type { AttentionConfig } from "./types.js";

/** Parameters of a layer, matrix by matrix. */
export interface ParameterCost {
  wq: bigint;
  wk: bigint;
  wv: bigint;
  wo: bigint;
  biases: bigint;
  total: bigint;
}

/** Floating-point operations of one forward pass, product by product. */
export interface FlopCost {
  /** Q, K and V. */
  projections: bigint;
  /** Q Kᵀ. */
  scores: bigint;
  /** Weights times V. */
  context: bigint;
  /** Concatenation times W_O. */
  output: bigint;
  total: bigint;
}

/** Memory of a K/V cache. */
export interface KVCacheCost {
  elementsPerToken: bigint;
  bytesPerToken: bigint;
  /** `bytesPerToken` × `tokens`. */
  total: bigint;
}

const COUNT_MAX = Number.MAX_SAFE_INTEGER;

function read(argument: Properties, name: string, min: number): bigint {
  return BigInt(checkInteger(name, argument[name], min, COUNT_MAX));
}

function readOr(argument: Properties, name: string, min: number, fallback: bigint): bigint {
  return argument[name] === undefined ? fallback : read(argument, name, min);
}

function flag(argument: Properties, name: string): boolean {
  const value = argument[name];
  return value === undefined ? false : checkBoolean(name, value);
}

function layer(argument: Properties) {
  const c = resolveConfig(argument);
  return {
    d: BigInt(c.dModel),
    keyDim: BigInt(c.keyDim),
    valueDim: BigInt(c.valueDim),
    outDim: BigInt(c.outDim),
    q: BigInt(c.numHeads) * BigInt(c.headDim),
    k: BigInt(c.numKVHeads) * BigInt(c.headDim),
    v: BigInt(c.numKVHeads) * BigInt(c.valueHeadDim),
    concat: BigInt(c.numHeads) * BigInt(c.valueHeadDim),
  };
}

/**
 * What attention costs, in exact integers. Plain arithmetic: no module has to be loaded. One multiply-add counts as
 * 2 FLOPs; biases, masks and the softmax are left out, as is usual. Bad arguments are TypeErrors and RangeErrors as
 * everywhere.
 */
export const cost = {
  /**
   * D·H·dk + keyDim·G·dk + valueDim·G·dv + H·dv·outDim, which is 4D² for plain self-attention, whatever H is.
   *
   * @param c a layer's configuration; `bias` (default false) adds b_Q, b_K, b_V and b_O
   */
  parameters(c: AttentionConfig & { bias?: boolean | undefined }): ParameterCost {
    const given = checkObject("config", c, "an object { dModel, numHeads, … }");
    checkNames("config", given, [...CONFIG_NAMES, "bias"]);
    const { d, keyDim, valueDim, outDim, q, k, v, concat } = layer(given);
    const [wq, wk, wv, wo] = [d * q, keyDim * k, valueDim * v, concat * outDim];
    const biases = flag(given, "bias") ? q + k + v + outDim : 0n;
    return { wq, wk, wv, wo, biases, total: wq + wk + wv + wo + biases };
  },

  /**
   * Of one sequence of T queries and S keys (default T), all S of them projected: scores 2·T·S·H·dk, context
   * 2·T·S·H·dv, together 4n²d for T = S = n and H·dk = d, whatever H is.
   *
   * `causal` (default false) leaves out the half that is hidden: T·S becomes T·S − m²/2 with m = min(T, S), so 2n²d, the
   * usual count (the diagonal is halved too).
   */
  flops(c: AttentionConfig & { T: number; S?: number | undefined; causal?: boolean | undefined }): FlopCost {
    const given = checkObject("config", c, "an object { dModel, numHeads, T, … }");
    checkNames("config", given, [...CONFIG_NAMES, "T", "S", "causal"]);
    const { d, keyDim, valueDim, outDim, q, k, v, concat } = layer(given);
    const t = read(given, "T", 0);
    const s = readOr(given, "S", 0, t);
    let twicePairs = 2n * t * s;
    if (flag(given, "causal")) twicePairs -= t < s ? t * t : s * s;
    const projections = 2n * (t * d * q + s * keyDim * k + s * valueDim * v);
    const scores = twicePairs * q;
    const context = twicePairs * concat;
    const output = 2n * t * concat * outDim;
    return { projections, scores, context, output, total: projections + scores + context + output };
  },

  /** H·T·S·bytesPerElement: what one layer's weights of one sequence take when they are kept. S defaults to T. */
  scoreBytes(c: { numHeads: number; T: number; S?: number | undefined; bytesPerElement: number }): bigint {
    const given = checkObject("config", c, "an object { numHeads, T, bytesPerElement }");
    checkNames("config", given, ["numHeads", "T", "S", "bytesPerElement"]);
    const t = read(given, "T", 0);
    return read(given, "numHeads", 1) * t * readOr(given, "S", 0, t) * read(given, "bytesPerElement", 1);
  },

  /**
   * G·(dk + dv) numbers per layer and token, which is 2·G·dk for equal widths.
   *
   * @param c `valueHeadDim` defaults to `headDim`, `tokens` to 1
   */
  kvCache(c: {
    layers: number;
    numKVHeads: number;
    headDim: number;
    valueHeadDim?: number | undefined;
    bytesPerElement: number;
    tokens?: number | undefined;
  }): KVCacheCost {
    const given = checkObject("config", c, "an object { layers, numKVHeads, headDim, bytesPerElement }");
    checkNames("config", given, ["layers", "numKVHeads", "headDim", "valueHeadDim", "bytesPerElement", "tokens"]);
    const headDim = read(given, "headDim", 1);
    const widths = headDim + readOr(given, "valueHeadDim", 1, headDim);
    const elementsPerToken = read(given, "layers", 1) * read(given, "numKVHeads", 1) * widths;
    const bytesPerToken = elementsPerToken * read(given, "bytesPerElement", 1);
    return { elementsPerToken, bytesPerToken, total: bytesPerToken * readOr(given, "tokens", 0, 1n) };
  },
};
