import type { AttentionConfig, AttentionWeights } from "headscope";

/** A layer that only splits into heads and joins them again: identity projections, no output projection. */
export function identityLayer(
  heads: number,
  groups: number,
  dk: number,
  dv: number,
  bias?: { bq: Float32Array; bk: Float32Array; bv: Float32Array },
): { config: AttentionConfig; weights: AttentionWeights } {
  return {
    config: {
      dModel: heads * dk,
      numHeads: heads,
      numKVHeads: groups,
      headDim: dk,
      valueHeadDim: dv,
      keyDim: groups * dk,
      valueDim: groups * dv,
      outDim: heads * dv,
    },
    weights: {
      layout: "in-out",
      wq: identity(heads * dk),
      wk: identity(groups * dk),
      wv: identity(groups * dv),
      ...bias,
    },
  };
}

function identity(n: number): Float32Array {
  const out = new Float32Array(n * n);
  for (let i = 0; i < n; ++i) out[i * n + i] = 1;
  return out;
}
