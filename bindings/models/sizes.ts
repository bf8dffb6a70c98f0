import { fileError } from "./file-error.js";
import type { ModelFile, ModelTensors } from "./model-tensors.js";
import type { Key, Settings } from "./settings.js";

const HEADS: Key = { gguf: "attention.head_count", json: ["num_attention_heads", "n_head"] };
const WIDTH: Key = { gguf: "embedding_length", json: ["hidden_size", "n_embd"] };
const LAYERS: Key = { gguf: "block_count", json: ["num_hidden_layers", "n_layer"] };
const CONTEXT: Key = { gguf: "context_length", json: ["max_position_embeddings", "n_positions", "n_ctx"] };

export interface Sizes {
  readonly dModel: number;
  readonly layers: number;
  readonly numHeads: number;
  /** D / H; where a model has another one, its architecture says so. */
  readonly headDim: number;
  readonly valueHeadDim: number;
  /** Infinity where neither the settings nor a table of positions limits it. */
  readonly contextLength: number;
  readonly vocabularySize: number;
}

/** What every architecture has. Sizes that the tensors show are taken from them and compared with the settings. */
export function readSizes(
  file: ModelFile,
  settings: Settings,
  tensors: ModelTensors,
  tokenEmbedding: string,
  block: RegExp,
  evenHeads = true,
): Sizes {
  const vocabularySize = tensors.size(tokenEmbedding, 0, 2);
  const dModel = tensors.size(tokenEmbedding, 1, 2);
  const said = settings.count(WIDTH, dModel);
  if (said !== dModel) throw settings.wrong(WIDTH, `${dModel}, as the embedding's rows are`, said);
  let blocks = 0;
  for (const name of file.tensors.keys()) blocks = Math.max(blocks, Number(block.exec(name)?.[1] ?? -1) + 1);
  if (blocks === 0) throw fileError(file.name, "the tensors", "those of at least one block", "none");
  const layers = settings.count(LAYERS, blocks);
  if (layers > file.tensors.size) throw settings.wrong(LAYERS, `at most ${file.tensors.size}`, layers);
  const numHeads = settings.counts(HEADS, layers);
  const [heads] = numHeads as [number, ...number[]];
  if (numHeads.some((count) => count !== heads)) {
    throw settings.wrong(HEADS, "as many heads in every block", settings.value(HEADS), "unsupported");
  }
  if (evenHeads && dModel % heads !== 0) throw settings.wrong(HEADS, `a divisor of the width ${dModel}`, heads);
  const headDim = dModel / heads;
  const contextLength = settings.value(CONTEXT) === undefined ? Number.POSITIVE_INFINITY : settings.count(CONTEXT);
  return { dModel, layers, numHeads: heads, headDim, valueHeadDim: headDim, contextLength, vocabularySize };
}
