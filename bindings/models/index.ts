export {
  type Ablation,
  ablateHeads,
  ablationMask,
  type HeadRef,
  type HiddenChange,
  headStats,
  type LayerHeadStats,
  type LossChange,
  type MeasureOptions,
  type ModelTokens,
} from "./ablation.js";
export type { FileSource } from "./byte-source.js";
export { type GqaOptions, type GqaPoint, gqaCurve, gqaCurveOfModel, poolKVHeads } from "./gqa.js";
export type { TensorInfo } from "./header.js";
export { type AttentionTensors, attentionTensors } from "./layer-names.js";
export { type Loss, type Model, type ModelConfig, type OpenModelOptions, openModel } from "./model.js";
export { type OpenOptions, openTensors } from "./open.js";
export {
  type HeadImportance,
  headImportance,
  type ImportanceReport,
  type LoneHead,
  loneHeads,
  type PruneCurve,
  type PruneMeasure,
  type PruneOptions,
  type PrunePoint,
  type PruneScore,
  PUBLISHED_PRUNING,
  type PublishedPruning,
  pruneCurve,
} from "./prune.js";
export type { LayerResult, ModelWant, PassOptions, RunOptions } from "./run-options.js";
export type { FileFormat, TensorFile, TensorReadOptions } from "./tensor-file.js";
export type { Token, TokenizeOptions } from "./token.js";
