import type { AttentionConfig, AttentionOptions, AttentionWeights, Tensor, Want } from "headscope";
import type { Tolerance } from "../support/compare.js";
import type { Exact } from "../support/tensor.js";

export type Options = Omit<AttentionOptions<Want>, "want" | "out">;

/** One call of hs.attention(). */
export interface AttentionCall {
  q: Tensor;
  k: Tensor;
  v: Tensor;
  options: Options;
  /** [B,H,T,dv] */
  output: Exact;
  weights?: Exact;
  scores?: Exact;
}

/** One call of a layer; `past` is fed to its cache first. */
export interface LayerCall {
  config: AttentionConfig;
  weights: AttentionWeights;
  past?: { key: Tensor; value: Tensor };
  query: Tensor;
  key?: Tensor;
  value?: Tensor;
  options: Options;
  /** [B,T,outDim] */
  output: Exact;
  attention?: Exact;
  scores?: Exact;
  /** What the cache must hold afterwards, [B,G,S,dk] and [B,G,S,dv]; copied numbers, so compared bit for bit. */
  presentKey?: Exact;
  presentValue?: Exact;
}

/** A case of somebody's suite. More than one call where the case has settings of its own for each batch item. */
export interface ConformanceCase {
  name: string;
  tolerance: Tolerance;
  attention: AttentionCall[];
  layer: LayerCall[];
}
