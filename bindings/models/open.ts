import { checkNames, checkObject, checkWord } from "../check.js";
import { wrongType } from "../errors.js";
import type { Headscope } from "../types.js";
import { type ByteSource, type FileSource, openSource, type SourceOptions } from "./byte-source.js";
import { type Decode, decoderOf } from "./decode.js";
import { FileChangedError } from "./file-error.js";
import { type FileFormat, openTensorReader, type TensorFile, type TensorReader } from "./tensor-file.js";

export interface OpenOptions {
  /** Default `"auto"`: told from the first bytes. */
  readonly format?: "auto" | FileFormat | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Told of the bytes that have arrived so far, for as long as the file is open, also of those out of the browser's cache.
   * `total` is the size of the whole file, of which most may never be read; it is missing where the server does not say it.
   */
  readonly onProgress?: ((progress: { loaded: number; total?: number }) => void) | undefined;
  /**
   * For addresses, where the browser has the Cache API. `"use"` (default) keeps every part that is read, so that a
   * second visit reads nothing from the network; `"reload"` forgets what is kept of this file first; `"off"` leaves the
   * cache alone. `caches.delete("headscope-files-1")` forgets all files.
   */
  readonly cache?: "use" | "reload" | "off" | undefined;
}

const OPTION_NAMES = ["format", "signal", "onProgress", "cache"] as const;

/**
 * Opens a GGUF (version 2 or 3, little-endian) or safetensors file and reads its header, nothing else. Blobs and Files
 * are read by `slice`, addresses by HTTP Range; buffers are copied, so that what becomes of them later changes nothing.
 *
 * @param hs a running module, which decodes the tensors
 * @throws HeadscopeError `"format"` (says which part of the file, what was expected and what came), `"unsupported"` (an
 * old version or a type of tensor that does not exist, by name) or `"aborted"`; TypeError for wrong arguments.
 */
export async function openTensors(hs: Headscope, source: FileSource, options: OpenOptions = {}): Promise<TensorFile> {
  return openFile(decoderOf(hs), source, options);
}

/** The same with any decoder, and with what models need of a file. */
export async function openFile(decode: Decode, source: FileSource, options: OpenOptions = {}): Promise<TensorReader> {
  const checked = check(options);
  const { format, signal } = checked;
  const open = async (cache: SourceOptions["cache"]): Promise<ByteSource> => {
    let loaded = 0;
    const { onProgress } = checked;
    const onBytes = (bytes: number) => {
      loaded += bytes;
      const { size } = opened;
      onProgress?.(size === undefined ? { loaded } : { loaded, total: size });
    };
    const opened = await openSource(source, { cache, onBytes });
    return opened;
  };
  try {
    return await openTensorReader(await open(checked.cache), decode, { format, signal });
  } catch (error) {
    // Kept parts of an older version of the file: they are gone now, and the new version may be fine.
    if (!(error instanceof FileChangedError)) throw error;
    return openTensorReader(await open("reload"), decode, { format, signal });
  }
}

function check(options: unknown): OpenOptions {
  const given = checkObject("options", options, "an object { format, signal, onProgress, cache }") as OpenOptions;
  checkNames("options", given as Readonly<Record<string, unknown>>, OPTION_NAMES);
  const { format = "auto", signal, onProgress, cache = "use" } = given;
  checkWord("options.format", format, ["auto", "gguf", "safetensors"]);
  checkWord("options.cache", cache, ["use", "reload", "off"]);
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw wrongType("options.signal", "an AbortSignal", signal);
  }
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw wrongType("options.onProgress", "a function", onProgress);
  }
  return { format, signal, onProgress, cache };
}
