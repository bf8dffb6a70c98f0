export {
  type ByteLayout,
  type Count,
  type FileReport,
  type FileSummary,
  type InspectableFile,
  inspectFile,
  type TensorRow,
  type TypeUse,
} from "./file.js";
export type { MetadataRow, MetadataValue } from "./metadata.js";
export type { NodeNote, NodeReport, NodeSource } from "./nodes.js";
export { type InspectPromptOptions, inspectPrompt, type PromptReport } from "./prompt.js";
export { type ComparedWeight, type Comparison, type Numerics, REFERENCE_WEIGHTS } from "./tutorial.js";
