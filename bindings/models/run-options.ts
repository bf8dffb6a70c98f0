import { checkBoolean, checkInteger, checkLength, checkNames, checkObject, checkWord } from "../check.js";
import { HeadscopeError, mismatch, wrongType } from "../errors.js";
import { suggest } from "../suggest.js";
import type { AttentionResult, ResultBuffers, Tensor, Want } from "../types.js";
import type { ModelPlan } from "./plan.js";
import type { Token } from "./token.js";

/** What a layer of a model can return: a layer's results, and the stream behind the whole block. */
export type ModelWant = Want | "hidden";

/** For every pass through a model. */
export interface PassOptions {
  /** For each layer `[H]` gates on its heads, or undefined; 0 takes a head out, and all that follows changes with it. */
  headMask?: readonly (Float32Array | undefined)[] | undefined;
  /**
   * `"f32"` (default), or `"ggml"`: llama.cpp's rounding, which quantises the other side of a product with quantised
   * weights and keeps K and V in half precision.
   */
  numerics?: "f32" | "ggml" | undefined;
  /**
   * true: what is read stays in the wasm heap, in the precision of the file, until `dispose()`, and later passes read
   * only what is missing. Default false: each block is let go before the next one is read.
   */
  keepWeights?: boolean | undefined;
  /** Stops reading and running; the pass then throws code `"aborted"`. */
  signal?: AbortSignal | undefined;
}

export interface RunOptions<W extends ModelWant = ModelWant, O extends boolean = boolean> extends PassOptions {
  /** How many layers to run, default all. Nothing of a later block is read. */
  layers?: number | undefined;
  /**
   * What to return besides `output`, default `["weights"]`. Of the last layer only what this needs is read: its
   * feed-forward network for `"hidden"` alone.
   */
  want?: readonly W[] | undefined;
  /** Which scores `scores` returns, default `"masked"`. */
  scoresStage?: "scaled" | "capped" | "masked" | undefined;
  /**
   * false: results have no `output`, and the last layer's output projection is not read unless something else needs it.
   * Default true.
   */
  output?: O | undefined;
  /**
   * Memory of yours for results, as in a layer's `forward`: an array for the output, or an object with an array for any
   * of the results but `hidden`. Every layer writes to the same arrays, so what one step of the loop gave is gone with
   * the next: copy what has to stay.
   */
  out?: Float32Array | ResultBuffers | undefined;
}

/**
 * A layer's results, without a batch axis. `output` `[T,D]` is what its attention adds to the stream (in BERT: before
 * the norm), `hidden` `[T,D]` the stream behind the whole block.
 */
export type LayerResult<W extends ModelWant = ModelWant, O extends boolean = boolean> = { layer: number } & Omit<
  AttentionResult<Exclude<W, "hidden">>,
  "output"
> &
  (O extends false ? unknown : { output: Tensor }) &
  ("hidden" extends W ? { hidden: Tensor } : unknown);

export interface CheckedPass {
  readonly ids: readonly number[];
  readonly headMask: readonly (Float32Array | undefined)[];
  readonly numerics: number;
  readonly keep: boolean;
  readonly signal: AbortSignal | undefined;
}

export interface CheckedRun extends CheckedPass {
  readonly layers: number;
  readonly want: readonly Want[];
  readonly hidden: boolean;
  readonly output: boolean;
  readonly scoresStage: "scaled" | "capped" | "masked" | undefined;
  readonly out: Float32Array | ResultBuffers | undefined;
}

const PASS_NAMES = ["headMask", "numerics", "keepWeights", "signal"] as const;
const RUN_NAMES = [...PASS_NAMES, "layers", "want", "scoresStage", "output", "out"] as const;
const BUFFERS = "a Float32Array or an object of them such as { weights }";
const WANTS: readonly ModelWant[] = [
  ...(["weights", "scores", "q", "k", "v", "heads", "concat", "contributions", "trace"] as const),
  "hidden",
];

/** Everything is looked at here, and copied where the caller could change it while the pass waits for its file. */
export function checkPass(
  plan: ModelPlan,
  tokens: unknown,
  options: unknown,
  names: readonly string[] = PASS_NAMES,
): CheckedPass {
  const given = checkObject("options", options ?? {}, `an object { ${names.join(", ")} }`);
  checkNames("options", given, names);
  const { numerics = "f32", keepWeights = false, signal } = given;
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function") {
    throw wrongType("signal", "an AbortSignal", signal);
  }
  return {
    ids: checkTokens(plan, tokens),
    headMask: checkHeadMask(plan, given.headMask),
    numerics: checkWord("numerics", numerics, ["f32", "ggml"]) === "ggml" ? 1 : 0,
    keep: checkBoolean("keepWeights", keepWeights),
    signal: signal as AbortSignal | undefined,
  };
}

export function checkRun(plan: ModelPlan, tokens: unknown, options: unknown): CheckedRun {
  const pass = checkPass(plan, tokens, options, RUN_NAMES);
  const { layers, want = ["weights"], scoresStage, output = true, out } = (options ?? {}) as Record<string, unknown>;
  const wanted = checkWant(want);
  const stage =
    scoresStage === undefined ? undefined : checkWord("scoresStage", scoresStage, ["scaled", "capped", "masked"]);
  const count = plan.blocks.length;
  return {
    ...pass,
    layers: layers === undefined ? count : checkInteger("layers", layers, 1, count),
    want: wanted.filter((name) => name !== "hidden"),
    hidden: wanted.includes("hidden"),
    output: checkBoolean("output", output),
    scoresStage: stage,
    out: readOut(out, output === true),
  };
}

/** The arrays by name, as a copy: what is in them is looked at with each layer's sizes. */
function readOut(out: unknown, output: boolean): CheckedRun["out"] {
  if (out === undefined) return undefined;
  const buffers = ArrayBuffer.isView(out) ? out : ({ ...checkObject("out", out, BUFFERS) } as Record<string, unknown>);
  if (!output && (ArrayBuffer.isView(buffers) || buffers.output !== undefined)) {
    throw mismatch("config", "out", "no array for the output where `output` is false", "one");
  }
  return buffers as CheckedRun["out"];
}

function checkWant(want: unknown): ModelWant[] {
  if (!Array.isArray(want)) throw wrongType("want", 'an array of result names such as ["weights"]', want);
  return want.map((name: unknown, i) => {
    if (WANTS.includes(name as ModelWant)) return name as ModelWant;
    const hint = typeof name === "string" ? suggest(name, WANTS) : undefined;
    throw wrongType(`want[${i}]`, `one of ${WANTS.join(", ")}`, name, hint);
  });
}

function checkTokens(plan: ModelPlan, tokens: unknown): number[] {
  const isList = Array.isArray(tokens) || (ArrayBuffer.isView(tokens) && "length" in tokens);
  if (!isList) throw wrongType("tokens", "an array of tokens or of their ids", tokens);
  const ids = Array.from(tokens as ArrayLike<Token | number>, (token: unknown, i) => {
    const isToken = typeof token === "object" && token !== null;
    const id = isToken ? (token as Token).id : token;
    const name = isToken ? `tokens[${i}].id` : `tokens[${i}]`;
    return checkInteger(name, id, 0, plan.vocabularySize - 1);
  });
  if (ids.length === 0) throw mismatch("shape", "tokens", "at least one token", "none");
  if (ids.length > plan.contextLength) {
    const expected = `at most ${plan.contextLength} tokens, the model's context`;
    throw mismatch("shape", "tokens", expected, String(ids.length), "cut the text");
  }
  return ids;
}

function checkHeadMask(plan: ModelPlan, value: unknown): (Float32Array | undefined)[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongType("headMask", "an array with a Float32Array or undefined per layer", value);
  if (value.length > plan.blocks.length) {
    const expected = `at most ${plan.blocks.length} entries, one per layer`;
    throw mismatch("shape", "headMask", expected, String(value.length));
  }
  return Array.from(value, (gates: unknown, layer) =>
    gates === undefined ? undefined : checkLength(`headMask[${layer}]`, gates, plan.numHeads, "numHeads").slice(),
  );
}

export function checkLossTokens(ids: readonly number[]): void {
  if (ids.length < 2) throw mismatch("shape", "tokens", "at least two tokens, as each predicts the next", "one");
}

export function noHead(architecture: string): HeadscopeError {
  const message = `loss: expected a model that predicts the next token, got ${architecture}`;
  return new HeadscopeError("unsupported", message, { argument: "this", actual: architecture });
}
