import type { TensorInfo } from "./header.js";

/** The tensors of one layer's attention by the names that its own file has for them. */
export interface AttentionTensors {
  /** Query, key and value in one matrix; undefined where they are apart. */
  readonly qkv: string | undefined;
  readonly qkvBias: string | undefined;
  /** The output projection. */
  readonly output: string;
  readonly outputBias: string | undefined;
  /** How the output projection is stored: Hugging Face's GPT-2 has [in, out], all others [out, in]. */
  readonly outputLayout: "in-out" | "out-in";
}

interface NamedTensors {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
}

/** Of a model, or of any file of a known architecture; undefined where it has no such layer. */
export function attentionTensors({ tensors }: NamedTensors, layer: number): AttentionTensors | undefined {
  const families = [
    { output: `blk.${layer}.attn_output`, qkv: `blk.${layer}.attn_qkv` },
    ...["", "transformer."].map((prefix) => ({
      output: `${prefix}h.${layer}.attn.c_proj`,
      qkv: `${prefix}h.${layer}.attn.c_attn`,
    })),
    ...["", "bert."].map((prefix) => ({ output: `${prefix}encoder.layer.${layer}.attention.output.dense`, qkv: "" })),
    ...["", "model."].map((prefix) => ({ output: `${prefix}layers.${layer}.self_attn.o_proj`, qkv: "" })),
  ];
  const found = families.find(({ output }) => tensors.has(`${output}.weight`));
  if (found === undefined) return undefined;
  const present = (name: string): string | undefined => (tensors.has(name) ? name : undefined);
  return {
    qkv: present(`${found.qkv}.weight`),
    qkvBias: present(`${found.qkv}.bias`),
    output: `${found.output}.weight`,
    outputBias: present(`${found.output}.bias`),
    outputLayout: found.output.endsWith(".c_proj") ? "in-out" : "out-in",
  };
}
