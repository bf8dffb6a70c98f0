/** The bills of attention for sizes of any kind, and what there is to say about sizes that do not fit each other. */

import type { AttentionConfig, cost } from "headscope";

/** What this module needs of headscope's `cost`; anything that computes the same may be given instead. */
export type CostFunctions = Pick<typeof cost, "parameters" | "flops" | "scoreBytes" | "kvCache">;

export interface Sizes {
  readonly dModel: number;
  readonly numHeads: number;
  readonly numKVHeads: number;
  readonly headDim: number;
  readonly tokens: number;
  readonly layers: number;
  readonly bytesPerElement: number;
  /** Widths that are not the usual ones: of a layer that has them, with no control of their own. */
  readonly unusual?: Pick<AttentionConfig, "valueHeadDim" | "keyDim" | "valueDim" | "outDim">;
}

/** All that 32-bit WebAssembly can address. */
export const WASM32_LIMIT = 4n * 1024n ** 3n;

/** Bytes of one number; names as model files write them. */
export const DTYPES = [
  { name: "F32", bytes: 4 },
  { name: "F16 / BF16", bytes: 2 },
  { name: "8 bit", bytes: 1 },
] as const;

/** Both ends of what the controls take; numbers stay exact far beyond. */
export const LIMITS = {
  dModel: [1, 65_536],
  numHeads: [1, 512],
  numKVHeads: [1, 512],
  headDim: [1, 4096],
  tokens: [1, 1_048_576],
  layers: [1, 512],
} as const;

export type SizeName = keyof typeof LIMITS;

export interface Bills {
  /** Null where heads cannot share K/V heads evenly: there is no such layer. */
  readonly layer: LayerBills | null;
  /** H · T² numbers: of one layer and one sequence. */
  readonly scoreBytes: bigint;
  /** Of all layers, for one token. */
  readonly cacheNumbers: bigint;
  readonly cacheBytes: bigint;
  /** Of all layers, for the whole sequence. */
  readonly cacheTotal: bigint;
}

/** Of one layer and one sequence. */
export interface LayerBills {
  /** W_Q, W_K, W_V, W_O. */
  readonly matrices: readonly [bigint, bigint, bigint, bigint];
  readonly parameters: bigint;
  /** QKᵀ and weights × V; with the causal half left out; with all projections. */
  readonly attentionFlops: bigint;
  readonly causalFlops: bigint;
  readonly flops: bigint;
}

export function bills(sizes: Sizes, functions: CostFunctions): Bills {
  const { dModel, numHeads, numKVHeads, headDim, tokens, layers, bytesPerElement, unusual } = sizes;
  const config: AttentionConfig = { dModel, numHeads, numKVHeads, headDim, ...unusual };
  const { valueHeadDim } = { ...unusual };
  const cache = functions.kvCache({ layers, numKVHeads, headDim, valueHeadDim, bytesPerElement, tokens });
  return {
    layer: numHeads % numKVHeads === 0 ? layerBills(config, tokens, functions) : null,
    scoreBytes: functions.scoreBytes({ numHeads, T: tokens, bytesPerElement }),
    cacheNumbers: cache.elementsPerToken,
    cacheBytes: cache.bytesPerToken,
    cacheTotal: cache.total,
  };
}

function layerBills(config: AttentionConfig, tokens: number, functions: CostFunctions): LayerBills {
  const { wq, wk, wv, wo, total: parameters } = functions.parameters(config);
  const dense = functions.flops({ ...config, T: tokens });
  const causal = functions.flops({ ...config, T: tokens, causal: true });
  return {
    matrices: [wq, wk, wv, wo],
    parameters,
    attentionFlops: dense.scores + dense.context,
    causalFlops: causal.scores + causal.context,
    flops: dense.total,
  };
}

export type Finding =
  /** No head can be given a whole number of columns: D / H is not whole. */
  | {
      readonly kind: "uneven";
      readonly dModel: number;
      readonly numHeads: number;
      readonly below: number;
      readonly above: number;
    }
  /** Allowed, and W_O makes up for it: H · dk is not D. */
  | {
      readonly kind: "apart";
      readonly concat: number;
      readonly dModel: number;
      readonly numHeads: number;
      readonly headDim: number;
    }
  /** Not allowed: heads cannot share K/V heads evenly. */
  | {
      readonly kind: "groups";
      readonly numHeads: number;
      readonly numKVHeads: number;
      readonly divisors: readonly number[];
    }
  /** A head narrower than the sequence is long cannot make every pattern. */
  | { readonly kind: "rank"; readonly headDim: number; readonly tokens: number };

export function divisors(n: number): number[] {
  const found: number[] = [];
  for (let i = 1; i <= n; i++) if (n % i === 0) found.push(i);
  return found;
}

/** The nearest numbers on both sides that divide n; `value` itself is not one of them. */
export function divisorsAround(n: number, value: number): { below: number; above: number } {
  const all = divisors(n);
  const below = all.filter((d) => d < value).pop() ?? 1;
  return { below, above: all.find((d) => d > value) ?? n };
}

/** What these sizes deserve to have said about them. `follow`: the width of a head is meant to be D / H. */
export function findings(sizes: Sizes, follow: boolean): Finding[] {
  const { dModel, numHeads, numKVHeads, headDim, tokens } = sizes;
  const found: Finding[] = [];
  if (numHeads % numKVHeads !== 0) {
    found.push({ kind: "groups", numHeads, numKVHeads, divisors: divisors(numHeads) });
  }
  if (follow && dModel % numHeads !== 0) {
    found.push({ kind: "uneven", dModel, numHeads, ...divisorsAround(dModel, numHeads) });
  } else if (numHeads * headDim !== dModel) {
    found.push({ kind: "apart", concat: numHeads * headDim, dModel, numHeads, headDim });
  }
  if (headDim < tokens) found.push({ kind: "rank", headDim, tokens });
  return found;
}

/** The width of a head that follows D and H: D / H, rounded down where that is not whole. */
export function followedHeadDim(dModel: number, numHeads: number): number {
  return Math.max(1, Math.floor(dModel / numHeads));
}

/** `1/4` for a fourth, `3/8` … */
export function fraction(part: number, whole: number): string {
  const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));
  const by = common(part, whole);
  return part === whole ? "1" : `${part / by}/${whole / by}`;
}
