import type { ModelFile } from "./model-tensors.js";
import { ModelTensors } from "./model-tensors.js";
import type { BlockPlan, ModelPlan } from "./plan.js";
import type { Key, Settings } from "./settings.js";
import { readSizes } from "./sizes.js";

const EPSILON: Key = { gguf: "attention.layer_norm_epsilon", json: ["layer_norm_eps"] };
const ACTIVATION: Key = { json: ["hidden_act"] };
const CAUSAL: Key = { gguf: "attention.causal", json: ["is_decoder"] };
const POSITIONS: Key = { json: ["position_embedding_type"] };

/** BERT (Devlin et al. 2019), MiniLM (Wang et al. 2020): post-norm, learned positions, token types, erf gelu. */
export function bert(file: ModelFile, settings: Settings): ModelPlan {
  const tensors = new ModelTensors(file);
  const gguf = file.format === "gguf";
  const prefix = !gguf && tensors.has("bert.embeddings.word_embeddings.weight") ? "bert." : "";
  const names = gguf ? GGUF_NAMES : HUGGING_FACE_NAMES;
  const tokenEmbedding = `${prefix}${names.tokenEmbedding}.weight`;
  const positionEmbedding = `${prefix}${names.positionEmbedding}.weight`;
  const tokenTypeEmbedding = `${prefix}${names.tokenTypeEmbedding}.weight`;
  const blockPrefix = gguf ? "blk." : `${prefix}encoder.layer.`;
  const inBlock = new RegExp(`^${blockPrefix.replaceAll(".", "\\.")}(\\d+)\\.`);
  const sizes = readSizes(file, settings, tensors, tokenEmbedding, inBlock);
  const { dModel, layers, numHeads, vocabularySize } = sizes;
  const positions = tensors.size(positionEmbedding, 0, 2);
  const types = tensors.has(tokenTypeEmbedding) ? tensors.size(tokenTypeEmbedding, 0, 2) : 0;
  settings.refuse(POSITIONS, ["absolute"]);

  const blocks: BlockPlan[] = [];
  for (let i = 0; i < layers; ++i) {
    const block = `${blockPrefix}${i}.`;
    const linear = (name: string, columns: number, depth = dModel) =>
      tensors.linear(`${block}${name}`, "out-in", depth, columns);
    const inner = tensors.size(`${block}${names.up}.weight`, 0, 2);
    blocks.push({
      numKVHeads: numHeads,
      scale: 1 / Math.sqrt(sizes.headDim),
      attentionNorm: tensors.norm(`${block}${names.attentionNorm}`, dModel, true),
      ffnNorm: tensors.norm(`${block}${names.ffnNorm}`, dModel, true),
      ...(tensors.has(`${block}attn_qkv.weight`)
        ? tensors.fused(`${block}attn_qkv`, "out-in", dModel, [dModel, dModel, dModel])
        : {
            query: linear(names.query, dModel),
            key: linear(names.key, dModel),
            value: linear(names.value, dModel),
          }),
      output: linear(names.output, dModel),
      up: linear(names.up, inner),
      down: linear(names.down, dModel, inner),
    });
  }
  tensors.refuseUnknown(inBlock, /$^/);

  return {
    architecture: "bert",
    ...sizes,
    contextLength: Math.min(sizes.contextLength, positions),
    causal: settings.flag(CAUSAL, false),
    norm: "layer",
    postNorm: true,
    epsilon: settings.positive(EPSILON, 1e-12),
    activation: settings.activation(ACTIVATION, "gelu_erf"),
    blocks,
    tokenEmbedding: tensors.use(tokenEmbedding, [vocabularySize, dModel]),
    positionEmbedding: tensors.use(positionEmbedding, [positions, dModel]),
    tokenTypeEmbedding: types > 0 ? tensors.use(tokenTypeEmbedding, [types, dModel]) : undefined,
    embeddingNorm: tensors.norm(`${prefix}${names.embeddingNorm}`, dModel, true),
  };
}

const GGUF_NAMES = {
  tokenEmbedding: "token_embd",
  positionEmbedding: "position_embd",
  tokenTypeEmbedding: "token_types",
  embeddingNorm: "token_embd_norm",
  query: "attn_q",
  key: "attn_k",
  value: "attn_v",
  output: "attn_output",
  attentionNorm: "attn_output_norm",
  up: "ffn_up",
  down: "ffn_down",
  ffnNorm: "layer_output_norm",
};

const HUGGING_FACE_NAMES = {
  tokenEmbedding: "embeddings.word_embeddings",
  positionEmbedding: "embeddings.position_embeddings",
  tokenTypeEmbedding: "embeddings.token_type_embeddings",
  embeddingNorm: "embeddings.LayerNorm",
  query: "attention.self.query",
  key: "attention.self.key",
  value: "attention.self.value",
  output: "attention.output.dense",
  attentionNorm: "attention.output.LayerNorm",
  up: "intermediate.dense",
  down: "output.dense",
  ffnNorm: "output.LayerNorm",
};
