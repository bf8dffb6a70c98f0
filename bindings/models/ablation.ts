import { checkInteger, checkObject } from "../check.js";
import { wrongType } from "../errors.js";
import { stats } from "../stats.js";
import type { HeadStats, Tensor } from "../types.js";
import type { Model } from "./model.js";
import type { PassOptions } from "./run-options.js";
import type { Token } from "./token.js";

/** One head of a model. */
export interface HeadRef {
  readonly layer: number;
  readonly head: number;
}

/** A text as a model takes it: its tokens, or their ids. */
export type ModelTokens = readonly Token[] | ArrayLike<number>;

/** For calls that run a model several times. */
export interface MeasureOptions extends Omit<PassOptions, "headMask"> {
  /** Told of the passes that are done. */
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

/** How far a stream `[T,D]` has moved, all tokens together. */
export interface HiddenChange {
  /** Length of the stream as it was: √Σ x². */
  readonly norm: number;
  /** Length of the changed stream. */
  readonly changedNorm: number;
  /** Length of the difference. */
  readonly difference: number;
  /** `difference / norm`. */
  readonly relative: number;
  /** Cosine between a token's vectors before and after, averaged over the tokens. */
  readonly cosine: number;
  /** `[T]`: the cosine of each token. */
  readonly perToken: Float32Array;
}

/** How the loss on the next token has changed, in nats per token. */
export interface LossChange {
  readonly before: number;
  readonly after: number;
  /** `after − before`: above 0 where the heads helped. */
  readonly change: number;
  /** `[T-1]`: change of each token after the first. */
  readonly perToken: Float32Array;
}

export interface Ablation {
  readonly heads: readonly HeadRef[];
  /** Of the stream behind the last block. */
  readonly hidden: HiddenChange;
  /** undefined for bert, which predicts no next token, and for a single token. */
  readonly loss: LossChange | undefined;
}

/**
 * Takes heads out of a model and runs all of it again, so that everything behind them changes too. A head is taken out by
 * the gate 0 on its output; the biases of W_O stay (Michel et al. 2019, section 2.3).
 *
 * @param heads any number of them, in any layers; a head that is named twice counts once
 * @throws TypeError, RangeError (no such layer or head), and as `model.run`
 */
export async function ablateHeads(
  model: Model,
  tokens: ModelTokens,
  heads: readonly HeadRef[],
  options: MeasureOptions = {},
): Promise<Ablation> {
  const { pass, progress } = readMeasure(options, 2, false);
  const headMask = ablationMask(model, heads);
  const before = await measure(model, tokens, pass);
  progress();
  const after = await measure(model, tokens, { ...pass, headMask });
  progress();
  return {
    heads: heads.map(({ layer, head }) => ({ layer, head })),
    hidden: compareHidden(before.hidden, after.hidden),
    loss: compareLoss(before, after),
  };
}

/**
 * The gates that take these heads out, as `run` and `loss` take them in `headMask`.
 *
 * @throws TypeError, RangeError
 */
export function ablationMask(model: Pick<Model, "config">, heads: readonly HeadRef[]): (Float32Array | undefined)[] {
  const { layers, numHeads } = model.config;
  if (!Array.isArray(heads)) throw wrongType("heads", "an array of { layer, head }", heads);
  const mask = new Array<Float32Array | undefined>(layers).fill(undefined);
  heads.forEach((entry: HeadRef, i) => {
    checkObject(`heads[${i}]`, entry, "{ layer, head }");
    const layer = checkInteger(`heads[${i}].layer`, entry.layer, 0, layers - 1);
    const head = checkInteger(`heads[${i}].head`, entry.head, 0, numHeads - 1);
    let gates = mask[layer];
    if (gates === undefined) {
      gates = new Float32Array(numHeads).fill(1);
      mask[layer] = gates;
    }
    gates[head] = 0;
  });
  return mask;
}

/** What the heads of one layer do with a text. */
export interface LayerHeadStats {
  readonly layer: number;
  readonly heads: readonly HeadStats[];
}

/**
 * `stats.heads` of every layer: who looks at the previous token, the first one, earlier copies, behind them (induction),
 * or the rarest token. One pass.
 *
 * @throws as `model.run`
 */
export async function headStats(
  model: Model,
  tokens: ModelTokens,
  options: MeasureOptions = {},
): Promise<LayerHeadStats[]> {
  const { pass, progress } = readMeasure(options, model.config.layers, false);
  const ids = idsOf(tokens);
  const layers: LayerHeadStats[] = [];
  for await (const { layer, weights } of model.run(tokens, { ...pass, want: ["weights"], output: false })) {
    layers.push({ layer, heads: stats.heads(weights, ids) });
    progress();
  }
  return layers;
}

export function idsOf(tokens: ModelTokens): number[] {
  return Array.from(tokens as ArrayLike<Token | number>, (token) => (typeof token === "number" ? token : token.id));
}

/** What a pass with some heads out is compared by. */
export interface Measured {
  readonly hidden: Tensor;
  readonly nats: number | undefined;
  readonly perToken: Float32Array | undefined;
}

/** One pass: with the loss where the model and the text have one, else to the stream behind the last block. */
export async function measure(model: Model, tokens: ModelTokens, pass: PassOptions): Promise<Measured> {
  if (model.architecture !== "bert" && tokens.length > 1) return model.loss(tokens, pass);
  let hidden: Tensor | undefined;
  for await (const result of model.run(tokens, { ...pass, want: ["hidden"], output: false })) hidden = result.hidden;
  return { hidden: hidden as Tensor, nats: undefined, perToken: undefined };
}

export function compareHidden(before: Tensor, after: Tensor): HiddenChange {
  const [tokens, width] = before.shape as readonly [number, number];
  const perToken = new Float32Array(tokens);
  let [squares, changedSquares, differences, cosines] = [0, 0, 0, 0];
  for (let t = 0; t < tokens; ++t) {
    let [aa, bb, ab, dd] = [0, 0, 0, 0];
    for (let i = t * width; i < (t + 1) * width; ++i) {
      const a = before.data[i] as number;
      const b = after.data[i] as number;
      aa += a * a;
      bb += b * b;
      ab += a * b;
      dd += (a - b) * (a - b);
    }
    squares += aa;
    changedSquares += bb;
    differences += dd;
    // Equal vectors are at 1 whatever the roots round to.
    const cosine = dd === 0 ? 1 : ab / Math.sqrt(aa * bb);
    perToken[t] = cosine;
    cosines += cosine;
  }
  const [norm, changedNorm, difference] = [squares, changedSquares, differences].map(Math.sqrt) as [
    number,
    number,
    number,
  ];
  const relative = difference === 0 ? 0 : difference / norm;
  return { norm, changedNorm, difference, relative, cosine: cosines / tokens, perToken };
}

function compareLoss(before: Measured, after: Measured): LossChange | undefined {
  if (before.perToken === undefined || after.perToken === undefined) return undefined;
  const [a, b] = [before.nats as number, after.nats as number];
  const perToken = after.perToken.map((nats, i) => nats - (before.perToken?.[i] as number));
  return { before: a, after: b, change: b - a, perToken };
}

/** The options of the passes, and a counter of those that are done. */
export function readMeasure(
  options: MeasureOptions,
  total: number,
  keepWeights: boolean,
): { readonly pass: PassOptions; readonly progress: () => void } {
  checkObject("options", options, "an object { numerics, keepWeights, signal, onProgress }");
  const { numerics, signal, onProgress } = options;
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw wrongType("options.onProgress", "a function", onProgress);
  }
  let done = 0;
  return {
    pass: { numerics, keepWeights: options.keepWeights ?? keepWeights, signal },
    progress: () => {
      done += 1;
      onProgress?.({ done, total });
    },
  };
}
