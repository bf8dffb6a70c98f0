import type { ModelFile } from "./model-tensors.js";
import { ModelTensors } from "./model-tensors.js";
import type { BlockPlan, ModelPlan } from "./plan.js";
import { readRope } from "./rope-scaling.js";
import type { Key, Settings } from "./settings.js";
import { readSizes } from "./sizes.js";

const KV_HEADS: Key = { gguf: "attention.head_count_kv", json: ["num_key_value_heads"] };
const KEY_LENGTH: Key = { gguf: "attention.key_length", json: ["head_dim"] };
const VALUE_LENGTH: Key = { gguf: "attention.value_length", json: ["head_dim"] };
const EPSILON: Key = { gguf: "attention.layer_norm_rms_epsilon", json: ["rms_norm_eps"] };
const ACTIVATION: Key = { json: ["hidden_act"] };
const SCALE: Key = { gguf: "attention.scale", json: [] };
const WINDOW: Key = { json: ["sliding_window"] };
const USES_WINDOW: Key = { json: ["use_sliding_window"] };

/**
 * Llama (Touvron et al. 2023) and what is built like it (Mistral, Qwen2, SmolLM2): RMS norm, rotary positions, grouped
 * K/V heads, SwiGLU.
 *
 * Hugging Face turns the halves of a head. GGUF files of architecture "llama" have the rows of q and k permuted so that
 * adjacent pairs turn instead; those of "qwen2" have not.
 */
export function llama(file: ModelFile, settings: Settings, kind: string): ModelPlan {
  const tensors = new ModelTensors(file);
  const gguf = file.format === "gguf";
  const prefix = !gguf && tensors.has("model.embed_tokens.weight") ? "model." : "";
  const names = gguf ? GGUF_NAMES : HUGGING_FACE_NAMES;
  const tokenEmbedding = gguf ? "token_embd.weight" : `${prefix}embed_tokens.weight`;
  const blockPrefix = gguf ? "blk." : `${prefix}layers.`;
  const inBlock = new RegExp(`^${blockPrefix.replaceAll(".", "\\.")}(\\d+)\\.`);
  const sizes = readSizes(file, settings, tensors, tokenEmbedding, inBlock, false);
  const { dModel, layers, numHeads, vocabularySize } = sizes;
  const rows = tensors.size(`${blockPrefix}0.${names.query}.weight`, 0, 2);
  const headDim = settings.count(KEY_LENGTH, rows / numHeads);
  const valueHeadDim = settings.count(VALUE_LENGTH, headDim);
  const keyRows = tensors.size(`${blockPrefix}0.${names.key}.weight`, 0, 2);
  // GGUF: absent means as many as query heads. config.json may be absent as a whole, and then the tensor tells.
  const kvHeads = settings.counts(KV_HEADS, layers, gguf ? numHeads : keyRows / headDim);

  const blocks: BlockPlan[] = [];
  for (let i = 0; i < layers; ++i) {
    const block = `${blockPrefix}${i}.`;
    const numKVHeads = kvHeads[i] as number;
    if (numHeads % numKVHeads !== 0) {
      throw settings.wrong(KV_HEADS, `a divisor of the ${numHeads} query heads`, numKVHeads);
    }
    const linear = (name: string, columns: number, depth = dModel) =>
      tensors.linear(`${block}${name}`, "out-in", depth, columns);
    const inner = tensors.size(`${block}${names.up}.weight`, 0, 2);
    const widths = [numHeads * headDim, numKVHeads * headDim, numKVHeads * valueHeadDim] as const;
    blocks.push({
      numKVHeads,
      scale: settings.value(SCALE) === undefined ? 1 / Math.sqrt(headDim) : settings.positive(SCALE),
      attentionNorm: tensors.norm(`${block}${names.attentionNorm}`, dModel, false),
      ffnNorm: tensors.norm(`${block}${names.ffnNorm}`, dModel, false),
      query: linear(names.query, widths[0]),
      key: linear(names.key, widths[1]),
      value: linear(names.value, widths[2]),
      output: linear(names.output, dModel, numHeads * valueHeadDim),
      gate: linear(names.gate, inner),
      up: linear(names.up, inner),
      down: linear(names.down, dModel, inner),
    });
  }
  tensors.refuseUnknown(inBlock, /rotary_emb\.inv_freq$|\.attn_rot_embd\.weight$/);

  const head = gguf ? "output" : "lm_head";
  return {
    architecture: "llama",
    ...sizes,
    headDim,
    valueHeadDim,
    causal: true,
    windowLeft: readWindow(settings, kind),
    rope: { ...readRope(tensors, settings, headDim), pairing: gguf && kind === "llama" ? "adjacent" : "halves" },
    norm: "rms",
    postNorm: false,
    epsilon: settings.positive(EPSILON, gguf ? undefined : 1e-6),
    activation: settings.activation(ACTIVATION, "silu"),
    blocks,
    tokenEmbedding: tensors.use(tokenEmbedding, [vocabularySize, dModel]),
    finalNorm: tensors.norm(gguf ? "output_norm" : `${prefix}norm`, dModel, false),
    head: tensors.has(`${head}.weight`)
      ? { weight: tensors.use(`${head}.weight`, [vocabularySize, dModel]), bias: tensors.optional(`${head}.bias`) }
      : { weight: tokenEmbedding },
  };
}

/** Mistral's sliding window w: a query sees w keys, its own among them. Qwen2 has the number and leaves it unused. */
function readWindow(settings: Settings, kind: string): number | undefined {
  if (kind === "qwen2") settings.refuse(USES_WINDOW, [false]);
  if (kind !== "mistral" || settings.value(WINDOW) === undefined) return undefined;
  return settings.count(WINDOW) - 1;
}

const GGUF_NAMES = {
  attentionNorm: "attn_norm",
  ffnNorm: "ffn_norm",
  query: "attn_q",
  key: "attn_k",
  value: "attn_v",
  output: "attn_output",
  gate: "ffn_gate",
  up: "ffn_up",
  down: "ffn_down",
};

const HUGGING_FACE_NAMES = {
  attentionNorm: "input_layernorm",
  ffnNorm: "post_attention_layernorm",
  query: "self_attn.q_proj",
  key: "self_attn.k_proj",
  value: "self_attn.v_proj",
  output: "self_attn.o_proj",
  gate: "mlp.gate_proj",
  up: "mlp.up_proj",
  down: "mlp.down_proj",
};
