import { checkInteger, checkWord } from "../check.js";
import { HeadscopeError } from "../errors.js";
import { attentionTensors } from "../models/layer-names.js";
import type { Model } from "../models/model.js";
import type { Token } from "../models/token.js";
import { stats } from "../stats.js";
import type { HeadStats, Tensor } from "../types.js";
import { type NodeReport, nodeTable } from "./nodes.js";
import { type Comparison, compareWithReference, hasReference, type Numerics } from "./tutorial.js";

export interface InspectPromptOptions {
  /** Which layer, from 0; default 0. Nothing behind it is read. */
  readonly layer?: number | undefined;
  /** Default `"f32"`; `"ggml"` repeats llama.cpp's rounding. */
  readonly numerics?: Numerics | undefined;
  /** Keeps what is read of the file in the wasm heap for the next call. Default false. */
  readonly keepWeights?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PromptReport {
  /** undefined where ids were given. */
  readonly prompt: string | undefined;
  /** Where ids were given, all that is known of each is its id. */
  readonly tokens: readonly (Pick<Token, "id"> & Partial<Token>)[];
  readonly architecture: Model["architecture"];
  readonly layer: number;
  readonly numerics: Numerics;
  readonly nodes: readonly NodeReport[];
  /** `[H,T,S]` */
  readonly weights: Tensor;
  /** `[T,S]`: 1 where a query may see a key. */
  readonly visible: Uint8Array;
  readonly stats: readonly HeadStats[];
  /** Beside numbers that llama.cpp printed, with either numerics; undefined for all but GPT-2 small's block 0 and "How are". */
  readonly reference: readonly Comparison[] | undefined;
}

/**
 * One layer's attention for a text, node by node as llama-eval-callback prints it.
 *
 * @param prompt a text, or the ids of its tokens where a file has no tokenizer
 * @throws as `model.tokenize` and `model.run`; HeadscopeError `"shape"` for a text without tokens
 */
export async function inspectPrompt(
  model: Model,
  prompt: string | readonly number[],
  options: InspectPromptOptions = {},
): Promise<PromptReport> {
  const { layer = 0, numerics = "f32", keepWeights, signal } = options;
  const { config, architecture } = model;
  checkInteger("options.layer", layer, 0, config.layers - 1);
  checkWord("options.numerics", numerics, ["f32", "ggml"]);
  const tokens = typeof prompt === "string" ? model.tokenize(prompt) : prompt.map((id) => ({ id }));
  const ids = tokens.map(({ id }) => id);
  const pass = { layers: layer + 1, numerics, keepWeights, signal };
  const result = await last(
    model.run(ids, { ...pass, want: ["q", "k", "v", "scores", "weights", "heads", "concat"] }),
    model.name,
  );

  const tensors = attentionTensors(model, layer);
  const bias = tensors?.outputBias === undefined ? undefined : await model.read(tensors.outputBias, { signal });
  const { scores, weights } = result;
  const [, queries, keys] = weights.shape as readonly [number, number, number];
  const text = typeof prompt === "string" ? prompt : undefined;
  return {
    prompt: text,
    tokens,
    architecture,
    layer,
    numerics,
    nodes: nodeTable({
      ...result,
      tensors,
      cached: architecture !== "bert",
      rotary: config.rope.dims === 0 ? "none" : config.rope.pairing,
      halfPrecision: numerics === "ggml",
      outputBias: bias?.data,
    }),
    weights,
    visible: Uint8Array.from(scores.data.subarray(0, queries * keys), (score) =>
      score === Number.NEGATIVE_INFINITY ? 0 : 1,
    ),
    stats: stats.heads(weights, ids),
    reference: hasReference(model, text, layer, ids.length) ? await compare(model, ids, pass, weights) : undefined,
  };
}

type Pass = { readonly layers: number; readonly numerics: Numerics; readonly signal: AbortSignal | undefined };

/** With both numerics, of which one has been run already. */
async function compare(model: Model, ids: readonly number[], pass: Pass, weights: Tensor): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const numerics of ["f32", "ggml"] as const) {
    const own =
      numerics === pass.numerics
        ? weights
        : (await last(model.run(ids, { ...pass, numerics, want: ["weights"], output: false }), model.name)).weights;
    comparisons.push(compareWithReference(own, numerics));
  }
  return comparisons;
}

async function last<T>(results: AsyncIterable<T>, name: string): Promise<T> {
  let found: T | undefined;
  for await (const result of results) found = result;
  if (found === undefined) throw new HeadscopeError("shape", `${name}: expected at least one layer, got none`);
  return found;
}
