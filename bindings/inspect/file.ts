import { checkObject } from "../check.js";
import { wrongType } from "../errors.js";
import type { TensorInfo } from "../models/header.js";
import type { ModelConfig } from "../models/model.js";
import type { FileFormat } from "../models/tensor-file.js";
import { type MetadataRow, metadataRows } from "./metadata.js";

/** What `inspectFile` reads: an opened `TensorFile`, or a `Model`, which knows less of the file and more of itself. */
export interface InspectableFile {
  readonly name: string;
  readonly format: FileFormat;
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly size?: number | undefined;
  readonly version?: number | undefined;
  readonly metadataTypes?: ReadonlyMap<string, string>;
  readonly dataOffset?: number;
  readonly architecture?: string;
  readonly config?: ModelConfig;
}

/** How many tensors are stored as one type. */
export interface TypeUse {
  readonly dtype: string;
  readonly tensors: number;
  readonly elements: number;
  readonly bytes: number;
}

/** One number, or one for each layer. */
export type Count = number | readonly number[];

export interface FileSummary {
  readonly name: string;
  readonly format: FileFormat;
  /** GGUF's version. */
  readonly version: number | undefined;
  /** Bytes of the whole file. */
  readonly size: number | undefined;
  /** Where the first tensor begins: all before it is header. */
  readonly dataOffset: number | undefined;
  /** As the file says, also where this package cannot run it. */
  readonly architecture: string | undefined;
  /** Its name in the file. */
  readonly title: string | undefined;
  readonly layers: number | undefined;
  readonly heads: Count | undefined;
  readonly kvHeads: Count | undefined;
  readonly headWidth: number | undefined;
  readonly width: number | undefined;
  readonly feedForwardWidth: Count | undefined;
  readonly contextLength: number | undefined;
  readonly vocabularySize: number | undefined;
  /** Numbers in all tensors together, and the bytes they take. */
  readonly parameters: number;
  readonly tensorBytes: number;
  /** The type with the most bytes first. */
  readonly types: readonly TypeUse[];
}

/** What the bytes of a tensor say first: all of one row, then the next. */
export type ByteLayout = "[out][in]" | "[in][out]" | "[token][width]" | "[position][width]";

export interface TensorRow {
  readonly name: string;
  readonly dtype: string;
  /** Logical, row-major: the slowest axis first. */
  readonly shape: readonly number[];
  /** As ggml prints it: the fastest axis first, four of them. */
  readonly ne: readonly number[];
  readonly elements: number;
  readonly bytes: number;
  /** Position of its first byte in the file. */
  readonly offset: number;
  /**
   * For matrices. GGUF keeps a projection out-major: `ne` {in, out} is row-major [out, in], transposed against y = x W.
   * Hugging Face's GPT-2 keeps it in-major.
   */
  readonly byteLayout: ByteLayout | undefined;
}

export interface FileReport {
  readonly summary: FileSummary;
  readonly metadata: readonly MetadataRow[];
  /** In the file's order. */
  readonly tensors: readonly TensorRow[];
}

/**
 * What a file says about itself, out of its header alone: nothing is read.
 *
 * @param file from `openTensors` or `openModel`
 * @param model the model in it, where it could be opened: safetensors files do not know their heads
 */
export function inspectFile(
  file: InspectableFile,
  model?: Pick<InspectableFile, "architecture" | "config">,
): FileReport {
  checkObject("file", file, "a file from openTensors or openModel");
  if (!(file.tensors instanceof Map)) throw wrongType("file.tensors", "a Map of tensors", file.tensors);
  const tensors = [...file.tensors].map(([name, info]) => tensorRow(file.format, name, info));
  return {
    summary: summarise(file, model ?? file, tensors),
    metadata: metadataRows(file.metadata, file.metadataTypes),
    tensors,
  };
}

function tensorRow(format: FileFormat, name: string, { shape, ne, dtype, bytes, offset }: TensorInfo): TensorRow {
  const elements = shape.reduce((product, size) => product * size, 1);
  const byteLayout = shape.length === 2 ? layoutOf(format, name) : undefined;
  return { name, dtype, shape, ne, elements, bytes, offset, byteLayout };
}

function layoutOf(format: FileFormat, name: string): ByteLayout {
  if (/position|pos_embd|(^|\.)wpe\./.test(name)) return "[position][width]";
  if (/embd|embed_tokens|word_embeddings|token_type|(^|\.)wte\./.test(name)) return "[token][width]";
  if (
    format === "safetensors" &&
    /(^|\.)h\.\d+\.(attn\.c_attn|attn\.c_proj|mlp\.c_fc|mlp\.c_proj)\.weight$/.test(name)
  ) {
    return "[in][out]";
  }
  return "[out][in]";
}

function summarise(
  file: InspectableFile,
  model: Pick<InspectableFile, "architecture" | "config">,
  tensors: readonly TensorRow[],
): FileSummary {
  const { name, format, version, size, dataOffset, metadata } = file;
  const { config } = model;
  const said = metadata.get("general.architecture");
  const architecture = typeof said === "string" ? said : model.architecture;
  const title = metadata.get("general.name");
  const key = (suffix: string): unknown => metadata.get(`${architecture}.${suffix}`);
  const heads = count(key("attention.head_count")) ?? config?.numHeads;
  const width = single(key("embedding_length")) ?? config?.dModel;
  const even = typeof heads === "number" && width !== undefined ? width / heads : undefined;
  const vocabulary = metadata.get("tokenizer.ggml.tokens");
  const contextLength = single(key("context_length")) ?? config?.contextLength;
  return {
    name,
    format,
    version,
    size,
    dataOffset,
    architecture,
    title: typeof title === "string" ? title : undefined,
    layers: single(key("block_count")) ?? config?.layers,
    heads,
    kvHeads: count(key("attention.head_count_kv")) ?? config?.numKVHeads ?? heads,
    headWidth: single(key("attention.key_length")) ?? config?.headDim ?? even,
    width,
    feedForwardWidth: count(key("feed_forward_length")),
    contextLength: contextLength === Number.POSITIVE_INFINITY ? undefined : contextLength,
    vocabularySize: config?.vocabularySize ?? (Array.isArray(vocabulary) ? vocabulary.length : undefined),
    parameters: tensors.reduce((sum, { elements }) => sum + elements, 0),
    tensorBytes: tensors.reduce((sum, { bytes }) => sum + bytes, 0),
    types: typeUses(tensors),
  };
}

function typeUses(tensors: readonly TensorRow[]): TypeUse[] {
  const uses = new Map<string, TypeUse>();
  for (const { dtype, elements, bytes } of tensors) {
    const use = uses.get(dtype) ?? { dtype, tensors: 0, elements: 0, bytes: 0 };
    uses.set(dtype, {
      dtype,
      tensors: use.tensors + 1,
      elements: use.elements + elements,
      bytes: use.bytes + bytes,
    });
  }
  return [...uses.values()].sort((a, b) => b.bytes - a.bytes);
}

function single(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function count(value: unknown): Count | undefined {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const list = [...(value as Iterable<unknown>)].filter((each) => typeof each === "number");
    return list.every((each) => each === list[0]) ? list[0] : list;
  }
  return single(value);
}
