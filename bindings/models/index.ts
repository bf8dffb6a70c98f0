export type { FileSource } from "./byte-source.js";
export type { TensorInfo } from "./header.js";
export { type OpenOptions, openTensors } from "./open.js";
export type { FileFormat, TensorFile, TensorReadOptions } from "./tensor-file.js";
