import type { ModelFile } from "./model-tensors.js";
import { ModelTensors } from "./model-tensors.js";
import type { BlockPlan, ModelPlan } from "./plan.js";
import type { Key, Settings } from "./settings.js";
import { readSizes } from "./sizes.js";

const EPSILON: Key = { gguf: "attention.layer_norm_epsilon", json: ["layer_norm_epsilon"] };
const ACTIVATION: Key = { json: ["activation_function"] };
const SCALED: Key = { json: ["scale_attn_weights"] };
const SCALED_BY_LAYER: Key = { json: ["scale_attn_by_inverse_layer_idx"] };
const CROSS: Key = { json: ["add_cross_attention"] };

/**
 * GPT-2 (Radford et al. 2019): pre-norm, learned positions, tanh gelu, causal.
 *
 * Hugging Face keeps its weights as Conv1D, [in, out]; `attn.c_proj` is square, so that only the name says so. `attn.bias`
 * [1, 1, P, P] there is the causal mask, no bias. GGUF has them transposed.
 */
export function gpt2(file: ModelFile, settings: Settings): ModelPlan {
  const tensors = new ModelTensors(file);
  const gguf = file.format === "gguf";
  const prefix = !gguf && tensors.has("transformer.wte.weight") ? "transformer." : "";
  const tokenEmbedding = gguf ? "token_embd.weight" : `${prefix}wte.weight`;
  const positionEmbedding = gguf ? tensors.pick("position_embd.weight", "pos_embd.weight") : `${prefix}wpe.weight`;
  const sizes = readSizes(file, settings, tensors, tokenEmbedding, gguf ? /^blk\.(\d+)\./ : blockPattern(prefix));
  const { dModel, layers, numHeads, vocabularySize } = sizes;
  const positions = tensors.size(positionEmbedding, 0, 2);
  settings.refuse(CROSS, [false]);

  const names = gguf ? GGUF_NAMES : HUGGING_FACE_NAMES;
  const layout = gguf ? "out-in" : "in-out";
  const scaled = settings.flag(SCALED, true);
  const byLayer = settings.flag(SCALED_BY_LAYER, false);
  const blocks: BlockPlan[] = [];
  for (let i = 0; i < layers; ++i) {
    const block = gguf ? `blk.${i}.` : `${prefix}h.${i}.`;
    const scale = scaled ? 1 / Math.sqrt(sizes.headDim) : 1;
    const separate = tensors.has(`${block}attn_q.weight`);
    const linear = (name: string, columns: number) => tensors.linear(`${block}${name}`, layout, dModel, columns);
    const heads = dModel;
    const up = `${block}${names.up}`;
    const inner = tensors.size(`${up}.weight`, gguf ? 0 : 1, 2);
    blocks.push({
      numKVHeads: numHeads,
      scale: byLayer ? scale / (i + 1) : scale,
      attentionNorm: tensors.norm(`${block}${names.attentionNorm}`, dModel, true),
      ffnNorm: tensors.norm(`${block}${names.ffnNorm}`, dModel, true),
      ...(separate
        ? { query: linear("attn_q", heads), key: linear("attn_k", heads), value: linear("attn_v", heads) }
        : tensors.fused(`${block}${names.qkv}`, layout, dModel, [heads, heads, heads])),
      output: linear(names.output, dModel),
      up: tensors.linear(up, layout, dModel, inner),
      down: tensors.linear(`${block}${names.down}`, layout, inner, dModel),
    });
  }
  tensors.refuseUnknown(gguf ? /^blk\./ : blockPattern(prefix), /\.attn\.(masked_)?bias$/);

  const head = gguf ? "output.weight" : "lm_head.weight";
  return {
    architecture: "gpt2",
    ...sizes,
    contextLength: Math.min(sizes.contextLength, positions),
    vocabularySize,
    causal: true,
    norm: "layer",
    postNorm: false,
    epsilon: settings.positive(EPSILON, 1e-5),
    activation: settings.activation(ACTIVATION, "gelu_tanh"),
    blocks,
    tokenEmbedding: tensors.use(tokenEmbedding, [vocabularySize, dModel]),
    positionEmbedding: tensors.use(positionEmbedding, [positions, dModel]),
    finalNorm: tensors.norm(gguf ? "output_norm" : `${prefix}ln_f`, dModel, true),
    head: { weight: tensors.has(head) ? tensors.use(head, [vocabularySize, dModel]) : tokenEmbedding },
  };
}

function blockPattern(prefix: string): RegExp {
  return new RegExp(`^${prefix.replace(".", "\\.")}h\\.(\\d+)\\.`);
}

const GGUF_NAMES = {
  attentionNorm: "attn_norm",
  ffnNorm: "ffn_norm",
  qkv: "attn_qkv",
  output: "attn_output",
  up: "ffn_up",
  down: "ffn_down",
};

const HUGGING_FACE_NAMES = {
  attentionNorm: "ln_1",
  ffnNorm: "ln_2",
  qkv: "attn.c_attn",
  output: "attn.c_proj",
  up: "mlp.c_fc",
  down: "mlp.c_proj",
};
