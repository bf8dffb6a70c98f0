// What both entries export besides `load`.
export { cost, type FlopCost, type KVCacheCost, type ParameterCost } from "./cost.js";
export { HeadscopeError, type HeadscopeErrorCode } from "./errors.js";
export { stats } from "./stats.js";
export type {
  AttentionConfig,
  AttentionOptions,
  AttentionResult,
  AttentionWeights,
  ForwardOptions,
  FusedWeights,
  HeadStats,
  Headscope,
  KVCache,
  Layout,
  LoadOptions,
  MaskTensor,
  MultiHeadAttention,
  ResolvedConfig,
  ResultBuffers,
  RopeConfig,
  SeparateWeights,
  Tensor,
  TraceStep,
  Want,
} from "./types.js";
