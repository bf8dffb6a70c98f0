import type { TensorReadOptions } from "../models/index.js";
import type { Tensor } from "../types.js";
import type { Connection } from "./connection.js";
import { Handle, splitSignal } from "./handle.js";
import type { Kept } from "./protocol.js";
import type { WorkerTensorFile } from "./types.js";

type FileSnapshot = Omit<WorkerTensorFile, "read" | keyof Handle>;

export class RemoteFile extends Handle implements WorkerTensorFile {
  declare readonly format: WorkerTensorFile["format"];
  declare readonly name: string;
  declare readonly size: number | undefined;
  declare readonly version: number | undefined;
  declare readonly metadata: WorkerTensorFile["metadata"];
  declare readonly metadataTypes: WorkerTensorFile["metadataTypes"];
  declare readonly tensors: WorkerTensorFile["tensors"];
  declare readonly dataOffset: number;
  declare readonly bytesRead: number;

  constructor(connection: Connection, kept: Kept<FileSnapshot>) {
    super(connection, kept, undefined);
    Object.assign(this, kept.snapshot);
  }

  read(name: string, options?: TensorReadOptions): Promise<Tensor> {
    const { signal, rest } = splitSignal(options);
    return this.call("read", "file.read", { args: { name, options: rest }, signal });
  }
}
