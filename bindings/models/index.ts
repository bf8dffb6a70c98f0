export type { FileSource } from "./byte-source.js";
export type { TensorInfo } from "./header.js";
export { type Loss, type Model, type ModelConfig, type OpenModelOptions, openModel } from "./model.js";
export { type OpenOptions, openTensors } from "./open.js";
export type { LayerResult, ModelWant, PassOptions, RunOptions } from "./run-options.js";
export type { FileFormat, TensorFile, TensorReadOptions } from "./tensor-file.js";
export type { Token } from "./token.js";
export type { TokenizeOptions } from "./tokenizer.js";
