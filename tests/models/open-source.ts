// The readers from their sources, with the reference decoder: for what the package does not export.
import type { Decode } from "../../bindings/models/decode.js";
import { decodePlain } from "../../bindings/models/decode.js";
import { dequantizeReference } from "../support/dequantize-reference.js";

export { HeadscopeError } from "../../bindings/errors.js";
export type { FileSource } from "../../bindings/models/byte-source.js";
export type { OpenOptions } from "../../bindings/models/open.js";
export type { TensorReader } from "../../bindings/models/tensor-file.js";

import type { FileSource } from "../../bindings/models/byte-source.js";
import { type OpenOptions, openFile } from "../../bindings/models/open.js";
import type { TensorReader } from "../../bindings/models/tensor-file.js";

export const decodeReference: Decode = (dtype, bytes, elements) =>
  decodePlain(dtype, bytes, elements) ?? dequantizeReference(dtype, bytes, elements);

export function open(source: FileSource, options?: OpenOptions): Promise<TensorReader> {
  return openFile(decodeReference, source, options);
}
