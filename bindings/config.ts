import {
  checkFinite,
  checkInteger,
  checkLength,
  checkNames,
  checkObject,
  checkPositive,
  checkWord,
  MAX_SIZE,
  type Properties,
} from "./check.js";
import { mismatch } from "./errors.js";
import type { Layout, ResolvedConfig } from "./types.js";

export const CONFIG_NAMES = [
  "dModel",
  "numHeads",
  "numKVHeads",
  "headDim",
  "valueHeadDim",
  "keyDim",
  "valueDim",
  "outDim",
  "scale",
  "softcap",
  "rope",
] as const;

const ROPE_NAMES = ["base", "dims", "pairing"] as const;
const LAYOUTS = ["in-out", "out-in"] as const;
const PAIRINGS = ["adjacent", "halves"] as const;
const OUTPUT_NAMES = ["layout", "wo", "bo"] as const;
const SEPARATE_NAMES = [...OUTPUT_NAMES, "wq", "wk", "wv", "bq", "bk", "bv"] as const;
const FUSED_NAMES = [...OUTPUT_NAMES, "wqkv", "bqkv"] as const;

function size(config: Properties, name: string, fallback?: number): number {
  const value = config[name];
  return value === undefined && fallback !== undefined ? fallback : checkInteger(name, value, 1, MAX_SIZE);
}

/** Every setting checked and every default filled in. The names were checked by the caller. */
export function resolveConfig(config: Properties, hasOutputProjection = true): ResolvedConfig {
  const dModel = size(config, "dModel");
  const numHeads = size(config, "numHeads");
  const numKVHeads = size(config, "numKVHeads", numHeads);
  if (numHeads % numKVHeads !== 0) {
    throw mismatch("config", "numKVHeads", `a divisor of numHeads ${numHeads}`, String(numKVHeads));
  }
  if (config.headDim === undefined && dModel % numHeads !== 0) {
    const expected = `headDim, or a dModel that numHeads divides`;
    throw mismatch("config", "headDim", expected, `dModel ${dModel} and numHeads ${numHeads}`);
  }
  const headDim = size(config, "headDim", dModel / numHeads);
  const valueHeadDim = size(config, "valueHeadDim", headDim);
  const keyDim = size(config, "keyDim", dModel);
  const valueDim = size(config, "valueDim", keyDim);
  const concatDim = numHeads * valueHeadDim;
  const outDim = size(config, "outDim", hasOutputProjection ? dModel : concatDim);
  if (!hasOutputProjection && outDim !== concatDim) {
    const expected = `numHeads · valueHeadDim = ${concatDim}, as there is no weights.wo`;
    throw mismatch("config", "outDim", expected, String(outDim));
  }
  const { scale, softcap } = config;
  return Object.freeze({
    dModel,
    numHeads,
    numKVHeads,
    headDim,
    valueHeadDim,
    keyDim,
    valueDim,
    outDim,
    scale: scale === undefined ? 1 / Math.sqrt(headDim) : checkFinite("scale", scale),
    softcap: softcap === undefined ? 0 : checkPositive("softcap", softcap, true),
    rope: resolveRope(config.rope, headDim),
  });
}

function resolveRope(value: unknown, headDim: number): ResolvedConfig["rope"] {
  if (value === undefined) return Object.freeze({ base: 10000, dims: 0, pairing: "adjacent" });
  const rope = checkObject("rope", value, "an object { pairing, base, dims }");
  checkNames("rope", rope, ROPE_NAMES);
  const { base, dims, pairing } = rope;
  const turned = dims === undefined ? headDim : checkInteger("rope.dims", dims, 0, headDim);
  if (turned % 2 !== 0) {
    const hint = dims === undefined ? "its default is headDim" : undefined;
    throw mismatch("config", "rope.dims", "an even number", String(turned), hint);
  }
  return Object.freeze({
    base: base === undefined ? 10000 : checkPositive("rope.base", base, false),
    dims: turned,
    pairing: checkWord("rope.pairing", pairing, PAIRINGS),
  });
}

/** Weights whose every length agrees with the configuration. Fused weights are one array with three starting places. */
export interface CheckedWeights {
  readonly layout: Layout;
  readonly fused: boolean;
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly wv: Float32Array;
  readonly wo: Float32Array | undefined;
  readonly bq: Float32Array | undefined;
  readonly bk: Float32Array | undefined;
  readonly bv: Float32Array | undefined;
  readonly bo: Float32Array | undefined;
}

/** A layer's configuration and weights, checked against each other. */
export function checkLayer(configValue: unknown, weightsValue: unknown): [ResolvedConfig, CheckedWeights] {
  const given = checkObject("config", configValue, "an object { dModel, numHeads, … }");
  checkNames("config", given, CONFIG_NAMES);
  const weights = checkObject("weights", weightsValue, "an object { layout, wq, wk, wv, wo, … }");
  const fused = weights.wqkv !== undefined;
  if (fused && (weights.wq !== undefined || weights.wk !== undefined || weights.wv !== undefined)) {
    throw mismatch("config", "weights.wqkv", "either wqkv or wq, wk and wv", "both");
  }
  checkNames("weights", weights, fused ? FUSED_NAMES : SEPARATE_NAMES);
  const config = resolveConfig(given, weights.wo !== undefined);
  return [config, fused ? checkFused(config, weights) : checkSeparate(config, weights)];
}

function optional(weights: Properties, name: string, length: number, meaning: string): Float32Array | undefined {
  const value = weights[name];
  return value === undefined ? undefined : checkLength(`weights.${name}`, value, length, meaning);
}

function checkOutput(c: ResolvedConfig, weights: Properties): Pick<CheckedWeights, "wo" | "bo"> {
  if (weights.bo !== undefined && weights.wo === undefined) {
    throw mismatch("config", "weights.bo", "weights.wo beside it", "bo alone");
  }
  const concatDim = c.numHeads * c.valueHeadDim;
  return {
    wo: optional(weights, "wo", concatDim * c.outDim, `numHeads · valueHeadDim ${concatDim} × outDim ${c.outDim}`),
    bo: optional(weights, "bo", c.outDim, `outDim`),
  };
}

function checkSeparate(c: ResolvedConfig, weights: Properties): CheckedWeights {
  const q = c.numHeads * c.headDim;
  const k = c.numKVHeads * c.headDim;
  const v = c.numKVHeads * c.valueHeadDim;
  const required = (name: string, from: string, rows: number, to: string, columns: number): Float32Array =>
    checkLength(`weights.${name}`, weights[name], rows * columns, `${from} ${rows} × ${to} ${columns}`);
  return {
    layout: checkWord("weights.layout", weights.layout, LAYOUTS),
    fused: false,
    wq: required("wq", "dModel", c.dModel, "numHeads · headDim", q),
    wk: required("wk", "keyDim", c.keyDim, "numKVHeads · headDim", k),
    wv: required("wv", "valueDim", c.valueDim, "numKVHeads · valueHeadDim", v),
    bq: optional(weights, "bq", q, "numHeads · headDim"),
    bk: optional(weights, "bk", k, "numKVHeads · headDim"),
    bv: optional(weights, "bv", v, "numKVHeads · valueHeadDim"),
    ...checkOutput(c, weights),
  };
}

function checkFused(c: ResolvedConfig, weights: Properties): CheckedWeights {
  if (c.keyDim !== c.dModel || c.valueDim !== c.dModel) {
    const hint = "a fused projection reads one source";
    const actual = `dModel ${c.dModel}, keyDim ${c.keyDim}, valueDim ${c.valueDim}`;
    throw mismatch("config", "weights.wqkv", "keyDim and valueDim equal to dModel", actual, hint);
  }
  const layout = checkWord("weights.layout", weights.layout, LAYOUTS);
  const q = c.numHeads * c.headDim;
  const k = c.numKVHeads * c.headDim;
  const all = q + k + c.numKVHeads * c.valueHeadDim;
  const meaning = `q ${q} + k ${k} + v ${all - q - k}`;
  const w = checkLength("weights.wqkv", weights.wqkv, c.dModel * all, `dModel ${c.dModel} × (${meaning})`);
  const b = optional(weights, "bqkv", all, meaning);
  // Rows of the out-in form are outputs, so q, k and v are runs of rows; in the in-out form they are runs of columns.
  const step = layout === "out-in" ? c.dModel : 1;
  return {
    layout,
    fused: true,
    wq: w,
    wk: w.subarray(q * step),
    wv: w.subarray((q + k) * step),
    bq: b,
    bk: b?.subarray(q),
    bv: b?.subarray(q + k),
    ...checkOutput(c, weights),
  };
}

/** How many numbers were given in all. */
export function countParameters(weights: CheckedWeights): number {
  const { wo, bq, bo } = weights;
  const own = weights.fused
    ? weights.wq.length + (bq?.length ?? 0)
    : weights.wq.length +
      weights.wk.length +
      weights.wv.length +
      (bq?.length ?? 0) +
      (weights.bk?.length ?? 0) +
      (weights.bv?.length ?? 0);
  return own + (wo?.length ?? 0) + (bo?.length ?? 0);
}
