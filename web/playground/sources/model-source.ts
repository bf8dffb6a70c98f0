/** Heads of a model in a file: any layer of it, and what the model loses without some of them. */

import type { AttentionConfig, HeadStats, Tensor, TraceStep } from "headscope";
import { stats } from "headscope";
import type { FileSource } from "headscope/models";
import type { WorkerHeadscope, WorkerModel } from "headscope/worker";
import { gatesOfLayers, headPlace } from "../head-key.js";
import type { LayerParts } from "../shell.js";
import type { Token, Tokenization } from "../tokens.js";
import type { HeadWorth } from "./head-worth.js";
import { tokenizeFor } from "./model-tokens.js";
import type {
  CausalRule,
  HeadLosses,
  HeadSource,
  LayerRun,
  Measurement,
  ModelEffect,
  OpenSource,
  PruneReport,
  RunOptions,
  WorthOfModel,
} from "./source.js";

/** More rows than this are no picture any more, whatever the model's context is. */
const MOST_TOKENS = 512;
/** Up to this size all layers are run for a text, so that another layer is there at once. */
const RUN_WHOLE = 64 * 2 ** 20;
/** Up to this size weights stay in the heap as they are stored, so that a keystroke reads nothing. */
const KEEP_WEIGHTS = 512 * 2 ** 20;
/** Of a text's maps, scores included. The layer that is asked for is always kept. */
const KEEP_MAPS = 64 * 2 ** 20;
interface LayerMaps {
  readonly weights: Tensor;
  readonly scores: Tensor;
  readonly trace: readonly TraceStep[];
}

/** The layers of one text with one choice of heads, as far as they have been computed. */
interface Pass {
  readonly key: string;
  readonly maps: Map<number, LayerMaps>;
  bytes: number;
  effect: Promise<ModelEffect> | null;
  layersRun: number;
  milliseconds: number;
}

export interface ModelSourceWords {
  readonly id: string;
  title(): string;
  about(): string;
}

export class ModelSource implements HeadSource, OpenSource {
  readonly id: string;
  readonly title: () => string;
  readonly about: () => string;
  readonly input = "text";
  readonly maxTokens: number;
  readonly layers: number;
  readonly numHeads: number;
  readonly causal: CausalRule;
  readonly splits = false;
  readonly config: AttentionConfig;
  readonly heads = [];
  readonly file: NonNullable<OpenSource["file"]>;
  private readonly model: WorkerModel;
  private readonly keepWeights: boolean;
  private readonly whole: boolean;
  private pass: Pass | null = null;
  private worth: { readonly tokens: string; readonly known: HeadWorth } | null = null;
  private readonly bytes: number;
  /** A run of the whole model, the loss included, for a run of its blocks. */
  private readonly wholeShare: number;

  constructor(core: WorkerHeadscope, model: WorkerModel, origin: FileSource, { id, title, about }: ModelSourceWords) {
    this.id = id;
    this.title = title;
    this.about = about;
    this.model = model;
    this.file = { core, model, origin };
    const { layers, contextLength, vocabularySize: _vocabulary, ...config } = model.config;
    this.config = config;
    this.layers = layers;
    this.numHeads = config.numHeads;
    this.maxTokens = Math.min(contextLength, MOST_TOKENS);
    this.causal = model.architecture === "bert" ? "never" : "always";
    let bytes = 0;
    for (const tensor of model.tensors.values()) bytes += tensor.bytes;
    this.keepWeights = bytes <= KEEP_WEIGHTS;
    this.whole = bytes <= RUN_WHOLE;
    this.bytes = bytes;
    this.wholeShare = wholeShare(model);
  }

  tokenize(text: string): Promise<Tokenization> {
    return tokenizeFor(this.model, text, this.maxTokens);
  }

  open(): OpenSource {
    return this;
  }

  async run(tokens: readonly Token[], options: RunOptions): Promise<LayerRun> {
    const key = `${keyOf(tokens)};${[...options.off].sort((a, b) => a - b).join()}`;
    const pass: Pass =
      this.pass?.key === key
        ? this.pass
        : { key, maps: new Map(), bytes: 0, effect: null, layersRun: 0, milliseconds: 0 };
    const maps = pass.maps.get(options.layer) ?? (await this.compute(pass, tokens, options));
    return this.answer(pass, maps, tokens, options);
  }

  private async compute(pass: Pass, tokens: readonly Token[], options: RunOptions): Promise<LayerMaps> {
    const { layer, off, signal } = options;
    const started = performance.now();
    const results = this.model.run(idsOf(tokens), {
      layers: this.whole ? this.layers : layer + 1,
      want: ["weights", "scores", "trace"],
      // Of the last layer no more than its queries and keys is read.
      output: false,
      headMask: gatesOfLayers(off, this.layers, this.numHeads),
      keepWeights: this.keepWeights,
      signal,
    });
    let layersRun = 0;
    for await (const { layer: at, weights, scores, trace } of results) {
      layersRun++;
      const bytes = 2 * weights.data.byteLength;
      if (pass.maps.has(at) || (at !== layer && pass.bytes + bytes > KEEP_MAPS)) continue;
      pass.maps.set(at, { weights, scores, trace });
      pass.bytes += bytes;
    }
    pass.layersRun = layersRun;
    pass.milliseconds = performance.now() - started;
    this.pass = pass;
    return pass.maps.get(layer) as LayerMaps;
  }

  private answer(pass: Pass, maps: LayerMaps, tokens: readonly Token[], { off, signal }: RunOptions): LayerRun {
    const { layersRun, milliseconds } = pass;
    const effect = off.size > 0 ? () => this.effectOf(pass, tokens, off, signal) : null;
    return { ...maps, output: null, change: null, layersRun, milliseconds, effect };
  }

  private effectOf(
    pass: Pass,
    tokens: readonly Token[],
    off: ReadonlySet<number>,
    signal: AbortSignal | undefined,
  ): Promise<ModelEffect> {
    pass.effect ??= this.measure(tokens, off, signal).catch((error: unknown) => {
      // Asked again, it is measured again.
      pass.effect = null;
      throw error;
    });
    return pass.effect;
  }

  private async measure(
    tokens: readonly Token[],
    off: ReadonlySet<number>,
    signal: AbortSignal | undefined,
  ): Promise<ModelEffect> {
    const { keepWeights } = this;
    const heads = [...off].map(headPlace);
    const { hidden, loss } = await this.model.ablateHeads(idsOf(tokens), heads, { keepWeights, signal });
    return { hidden: hidden.relative, loss: loss ? { before: loss.before, after: loss.after } : null };
  }

  importance(tokens: readonly Token[], { layer }: RunOptions, ofModel: WorthOfModel): Measurement<HeadLosses> {
    return this.worthOf(tokens, ofModel).ofLayer(layer);
  }

  prune(tokens: readonly Token[], layer: number | null, ofModel: WorthOfModel): Measurement<PruneReport> {
    return this.worthOf(tokens, ofModel).curve(layer);
  }

  private worthOf(tokens: readonly Token[], ofModel: WorthOfModel): HeadWorth {
    const { model, keepWeights, whole, pass, layers, bytes } = this;
    const key = keyOf(tokens);
    if (this.worth?.tokens !== key) {
      const perLayer = pass && pass.layersRun > 0 ? pass.milliseconds / pass.layersRun : null;
      const known = new ofModel({
        ...{ model, ids: idsOf(tokens), keepWeights, quick: whole },
        guess: perLayer === null ? null : perLayer * layers * this.wholeShare,
        reading: whole ? null : { bytes, each: !keepWeights, network: !(this.file.origin instanceof Blob) },
      });
      this.worth = { tokens: key, known };
    }
    return this.worth.known;
  }

  async parts(): Promise<LayerParts | null> {
    // What a layer reads is behind its norm, and not handed out; laboratories ask the model itself.
    return null;
  }

  /** The clearest head for what repeats, else for the token before. */
  suggest(tokens: readonly Token[]): { layer: number; head: number } | null {
    let best: { layer: number; head: number; merit: number } | null = null;
    for (const [layer, { weights }] of this.pass?.maps ?? []) {
      for (const [head, found] of stats.heads(weights, idsOf(tokens)).entries()) {
        const merit = meritOf(found);
        if (!best || merit > best.merit) best = { layer, head, merit };
      }
    }
    return best && { layer: best.layer, head: best.head };
  }

  dispose(): void {
    this.pass = null;
    // Of a worker that has ended nobody waits for the answer.
    this.model.dispose().catch(() => {});
  }
}

function meritOf({ previous, duplicate, induction }: HeadStats): number {
  const known = (share: number) => (Number.isNaN(share) ? 0 : share);
  return Math.max(known(previous), 1.2 * known(duplicate), 1.4 * known(induction));
}

/** From the numbers in its matrices: those of the vocabulary are multiplied once, those of the blocks in every run. */
function wholeShare({ tensors, config, architecture }: WorkerModel): number {
  const { vocabularySize, dModel } = config;
  let blocks = 0;
  for (const { shape } of tensors.values()) {
    if (shape.length < 2 || shape.includes(vocabularySize)) continue;
    blocks += shape.reduce((product, size) => product * size, 1);
  }
  return architecture === "bert" || blocks === 0 ? 1 : 1 + (vocabularySize * dModel) / blocks;
}

function idsOf(tokens: readonly Token[]): number[] {
  return tokens.map(({ id }) => id);
}

function keyOf(tokens: readonly Token[]): string {
  return tokens.map(({ id }) => id).join();
}
