import { checkInteger } from "../check.js";
import { mismatch, wrongType } from "../errors.js";
import {
  ablationMask,
  compareHidden,
  type HeadRef,
  type Measured,
  type MeasureOptions,
  type ModelTokens,
  measure,
  readMeasure,
} from "./ablation.js";
import type { Model } from "./model.js";
import type { PassOptions } from "./run-options.js";

/**
 * By what heads are judged: `"loss"` is the mean of −ln p of the next token over all tokens of all texts, in nats;
 * `"hidden"`, for models without a next token, how far the stream behind the last block moves, relative to its length.
 */
export type PruneMeasure = "loss" | "hidden";

/** What is left of a model without some heads. */
export interface PruneScore {
  /** In nats; undefined where the measure is `"hidden"`. */
  readonly loss: number | undefined;
  /** Relative change of the stream behind the last block, averaged over the texts. */
  readonly hidden: number;
}

export interface HeadImportance extends HeadRef, PruneScore {
  /** How much worse the model is without this one head: the loss's rise, or the change of the stream. */
  readonly importance: number;
}

export interface ImportanceReport {
  readonly measure: PruneMeasure;
  /** With all heads. */
  readonly baseline: PruneScore;
  /** Every head of the model, the least important first. */
  readonly heads: readonly HeadImportance[];
}

/**
 * Takes every head out by itself and orders them by what that costs (Michel et al. 2019, section 3.2). layers × heads + 1
 * passes for each text.
 *
 * @param texts one or more texts of at least two tokens
 * @param options `keepWeights` is true by default, so that the file is read once
 * @throws as `ablateHeads`; HeadscopeError `"shape"` for no text
 */
export async function headImportance(
  model: Model,
  texts: readonly ModelTokens[],
  options: MeasureOptions = {},
): Promise<ImportanceReport> {
  const { layers, numHeads } = model.config;
  const total = (layers * numHeads + 1) * checkTexts(texts);
  const { pass, progress } = readMeasure(options, total, true);
  const scorer = new Scorer(model, texts, pass, progress);
  const baseline = await scorer.baseline();
  const heads: HeadImportance[] = [];
  for (let layer = 0; layer < layers; ++layer) {
    for (let head = 0; head < numHeads; ++head) {
      const score = await scorer.without([{ layer, head }]);
      heads.push({ layer, head, ...score, importance: costOf(score, baseline) });
    }
  }
  heads.sort((a, b) => a.importance - b.importance || a.layer - b.layer || a.head - b.head);
  return { measure: baseline.loss === undefined ? "hidden" : "loss", baseline, heads };
}

export interface PrunePoint extends PruneScore {
  /** How many heads are out: the first so many of the curve's `order`. */
  readonly removed: number;
  /** `removed` of all heads, 0 to 1. */
  readonly share: number;
}

export interface PruneCurve {
  readonly measure: PruneMeasure;
  /** In this order heads were taken out. */
  readonly order: readonly HeadRef[];
  readonly points: readonly PrunePoint[];
}

export interface PruneOptions extends MeasureOptions {
  /**
   * The order in which heads go, for instance `headImportance(…).heads` of other texts: an order found on the very texts
   * that judge it looks a little better than it is. Default: that of `headImportance` on these texts.
   */
  readonly order?: readonly HeadRef[] | undefined;
  /** Numbers of heads to take out; default 0, all, and at most 32 equal steps between. */
  readonly counts?: readonly number[] | undefined;
}

/**
 * What is left of a model when heads are taken out one after the other, the least important first. Computed, by running
 * the model; what papers say about other models is in `PUBLISHED_PRUNING`.
 *
 * @throws as `headImportance`
 */
export async function pruneCurve(
  model: Model,
  texts: readonly ModelTokens[],
  options: PruneOptions = {},
): Promise<PruneCurve> {
  const { layers, numHeads } = model.config;
  const all = layers * numHeads;
  const textCount = checkTexts(texts);
  if (options.order !== undefined) checkOrder(model, options.order);
  const most = options.order?.length ?? all;
  const counts = options.counts === undefined ? defaultCounts(most) : checkCounts(options.counts, most);
  const searching = options.order === undefined ? (all + 1) * textCount : 0;
  const total = searching + (counts.length + 1) * textCount;
  const { pass, progress } = readMeasure(options, total, true);
  const { order = (await headImportance(model, texts, { ...options, onProgress: progress })).heads } = options;

  const scorer = new Scorer(model, texts, pass, progress);
  const baseline = await scorer.baseline();
  const points: PrunePoint[] = [];
  for (const removed of counts) {
    points.push({ removed, share: removed / all, ...(await scorer.without(order.slice(0, removed))) });
  }
  return {
    measure: baseline.loss === undefined ? "hidden" : "loss",
    order: order.map(({ layer, head }) => ({ layer, head })),
    points,
  };
}

export interface LoneHead extends HeadRef, PruneScore {
  /** How much worse the model is when this is the only head that its layer keeps. */
  readonly cost: number;
}

/**
 * For each layer the one head that serves best alone, all others of the layer out and the other layers whole (Michel et
 * al. 2019, section 3.3).
 *
 * @throws as `headImportance`
 */
export async function loneHeads(
  model: Model,
  texts: readonly ModelTokens[],
  options: MeasureOptions = {},
): Promise<LoneHead[]> {
  const { layers, numHeads } = model.config;
  const { pass, progress } = readMeasure(options, (layers * numHeads + 1) * checkTexts(texts), true);
  const scorer = new Scorer(model, texts, pass, progress);
  const baseline = await scorer.baseline();
  const best: LoneHead[] = [];
  for (let layer = 0; layer < layers; ++layer) {
    for (let head = 0; head < numHeads; ++head) {
      const others = Array.from({ length: numHeads }, (_, other) => ({ layer, head: other }));
      const score = await scorer.without(others.filter((other) => other.head !== head));
      const cost = costOf(score, baseline);
      if (cost < (best[layer]?.cost ?? Number.POSITIVE_INFINITY)) best[layer] = { layer, head, ...score, cost };
    }
  }
  return best;
}

/** Passes over several texts, held against the whole model's. */
class Scorer {
  readonly #model: Model;
  readonly #texts: readonly ModelTokens[];
  readonly #pass: PassOptions;
  readonly #progress: () => void;
  #whole: readonly Measured[] = [];

  constructor(model: Model, texts: readonly ModelTokens[], pass: PassOptions, progress: () => void) {
    this.#model = model;
    this.#texts = texts;
    this.#pass = pass;
    this.#progress = progress;
  }

  async baseline(): Promise<PruneScore> {
    this.#whole = await this.#run(undefined);
    return this.#score(this.#whole);
  }

  async without(heads: readonly HeadRef[]): Promise<PruneScore> {
    return this.#score(await this.#run(ablationMask(this.#model, heads)));
  }

  async #run(headMask: PassOptions["headMask"]): Promise<Measured[]> {
    const results: Measured[] = [];
    for (const text of this.#texts) {
      results.push(await measure(this.#model, text, { ...this.#pass, headMask }));
      this.#progress();
    }
    return results;
  }

  #score(results: readonly Measured[]): PruneScore {
    let [nats, tokens, hidden] = [0, 0, 0];
    results.forEach((result, i) => {
      hidden += compareHidden((this.#whole[i] as Measured).hidden, result.hidden).relative / results.length;
      for (const value of result.perToken ?? []) nats += value;
      tokens += result.perToken?.length ?? 0;
    });
    return { loss: tokens === 0 ? undefined : nats / tokens, hidden };
  }
}

function costOf(score: PruneScore, baseline: PruneScore): number {
  return score.loss === undefined ? score.hidden : score.loss - (baseline.loss as number);
}

function checkTexts(texts: unknown): number {
  if (!Array.isArray(texts)) throw wrongType("texts", "an array of texts, each an array of tokens or ids", texts);
  if (texts.length === 0) throw mismatch("shape", "texts", "at least one text", "none");
  texts.forEach((text: unknown, i) => {
    if (!Array.isArray(text) && !ArrayBuffer.isView(text)) {
      throw wrongType(`texts[${i}]`, "an array of tokens or of their ids", text);
    }
  });
  return texts.length;
}

function checkOrder(model: Model, order: readonly HeadRef[]): void {
  ablationMask(model, order);
  const seen = new Set<string>();
  order.forEach(({ layer, head }, i) => {
    const name = `layer ${layer}, head ${head}`;
    if (seen.has(name)) throw mismatch("config", `options.order[${i}]`, "every head once", `${name} again`);
    seen.add(name);
  });
}

function checkCounts(counts: unknown, most: number): number[] {
  if (!Array.isArray(counts)) throw wrongType("options.counts", "an array of whole numbers", counts);
  return counts.map((count: unknown, i) => checkInteger(`options.counts[${i}]`, count, 0, most));
}

const DEFAULT_STEPS = 32;

function defaultCounts(most: number): number[] {
  const steps = Math.min(most, DEFAULT_STEPS);
  return [...new Set(Array.from({ length: steps + 1 }, (_, i) => Math.round((i * most) / Math.max(1, steps))))];
}

/** What a paper reports about taking heads out of a model of its own. */
export interface PublishedPruning {
  readonly authors: string;
  readonly year: number;
  readonly title: string;
  readonly arxiv: string;
  readonly model: string;
  /** Heads that were taken out, and of how many, where the paper says so. */
  readonly removed: number | undefined;
  readonly of: number | undefined;
  /** Share of heads that were taken out, 0 to 1. */
  readonly share: number;
  readonly metric: string;
  /** undefined: "no noticeable loss", without a number. */
  readonly change: number | undefined;
}

/** Figures from papers, about their models. Nothing here is computed, and no curve of another model has to follow them. */
export const PUBLISHED_PRUNING: readonly PublishedPruning[] = /* @__PURE__ */ Object.freeze([
  {
    authors: "Michel, Levy & Neubig",
    year: 2019,
    title: "Are Sixteen Heads Really Better than One?",
    arxiv: "1905.10650",
    model: "Transformer, WMT English–French translation",
    removed: undefined,
    of: undefined,
    share: 0.2,
    metric: "BLEU",
    change: undefined,
  },
  {
    authors: "Michel, Levy & Neubig",
    year: 2019,
    title: "Are Sixteen Heads Really Better than One?",
    arxiv: "1905.10650",
    model: "BERT, MultiNLI",
    removed: undefined,
    of: undefined,
    share: 0.4,
    metric: "accuracy",
    change: undefined,
  },
  {
    authors: "Voita, Talbot, Moiseev, Sennrich & Titov",
    year: 2019,
    title: "Analyzing Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned",
    arxiv: "1905.09418",
    model: "Transformer encoder, WMT English–Russian translation",
    removed: 38,
    of: 48,
    share: 38 / 48,
    metric: "BLEU",
    change: -0.15,
  },
]);
