import type { ModelConfig } from "../models/model.js";
import type { Tensor } from "../types.js";

/**
 * Weights of two heads of GPT-2 small that a tutorial printed with llama.cpp: block 0, query 1 of the prompt, one number
 * for each of its two keys.
 */
export const REFERENCE_WEIGHTS = /* @__PURE__ */ Object.freeze({
  prompt: "How are",
  layer: 0,
  query: 1,
  program: "llama.cpp b10435, llama-eval-callback, --flash-attn off",
  file: "gpt2.Q8_0.gguf",
  /** Decimals that were printed. */
  decimals: 4,
  heads: [
    { head: 0, weights: [0.9534, 0.0466] },
    { head: 1, weights: [0.0049, 0.9951] },
  ],
});

export type Numerics = "f32" | "ggml";

export interface ComparedWeight {
  readonly head: number;
  readonly key: number;
  readonly reference: number;
  readonly ours: number;
  /** `ours − reference`. */
  readonly difference: number;
  /** Whether ours prints as the same four decimals. */
  readonly same: boolean;
}

export interface Comparison {
  readonly numerics: Numerics;
  readonly weights: readonly ComparedWeight[];
  /** Whether every weight prints the same. */
  readonly same: boolean;
  readonly largestDifference: number;
}

/** Whether the printed weights are of such a model, prompt and layer. Only sizes are compared: a fine-tuned GPT-2 has them too. */
export function hasReference(
  model: { readonly architecture: string; readonly config: Pick<ModelConfig, "dModel" | "numHeads" | "layers"> },
  prompt: string | undefined,
  layer: number,
  tokens: number,
): boolean {
  const { dModel, numHeads, layers } = model.config;
  return (
    model.architecture === "gpt2" &&
    dModel === 768 &&
    numHeads === 12 &&
    layers === 12 &&
    prompt === REFERENCE_WEIGHTS.prompt &&
    layer === REFERENCE_WEIGHTS.layer &&
    tokens === 2
  );
}

/** @param weights `[12,2,2]` of the block */
export function compareWithReference(weights: Tensor, numerics: Numerics): Comparison {
  const { query, decimals, heads } = REFERENCE_WEIGHTS;
  const [, queries, keys] = weights.shape as readonly [number, number, number];
  const compared = heads.flatMap(({ head, weights: references }) =>
    references.map((reference, key): ComparedWeight => {
      const ours = weights.data[(head * queries + query) * keys + key] as number;
      const same = ours.toFixed(decimals) === reference.toFixed(decimals);
      return { head, key, reference, ours, difference: ours - reference, same };
    }),
  );
  return {
    numerics,
    weights: compared,
    same: compared.every((each) => each.same),
    largestDifference: Math.max(...compared.map(({ difference }) => Math.abs(difference))),
  };
}
