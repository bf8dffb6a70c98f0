/**
 * Where heads come from. The playground knows sources only through this: a name, how text becomes tokens, and layers
 * to run. sources/index.ts lists them; a source made from a model file joins when the file is there.
 */

import type {
  AttentionConfig,
  AttentionResult,
  AttentionWeights,
  ForwardOptions,
  Tensor,
  TraceStep,
  Want,
} from "headscope";
import type { FileSource } from "headscope/models";
import type { WorkerHeadscope, WorkerModel } from "headscope/worker";
import type { MessageKey } from "../../i18n/index.js";
import type { LayerParts } from "../shell.js";
import type { Token, Tokenization, Unit } from "../tokens.js";
import type { HeadWorth } from "./head-worth.js";

/** "text": what is typed. A source with its own fixed input gives the code or text to show in its place. */
export type SourceInput = "text" | { readonly code: string };

/** "free": the visitor switches the mask. Models were trained with it or without it, and keep it so. */
export type CausalRule = "free" | "always" | "never";

/** A place in the page's list of sources. */
export interface SourceEntry {
  /** In the permalink: never rename. */
  readonly id: string;
  readonly name: MessageKey;
  readonly input: SourceInput;
  readonly defaultCausal: boolean;
  /** Null where it is made from a model file: it is there when the file is. */
  readonly source: HeadSource | null;
}

/** What computes: the module in its worker, or, in tests, one in the same thread. */
export interface Core {
  multiHeadAttention(config: AttentionConfig, weights: AttentionWeights): CoreLayer | Promise<CoreLayer>;
}

export interface CoreLayer {
  forward<const W extends Want>(
    x: Tensor,
    options: Pick<ForwardOptions<W>, "causal" | "want" | "headMask"> & { readonly signal?: AbortSignal | undefined },
  ): AttentionResult<W> | Promise<AttentionResult<W>>;
}

export interface HeadSource {
  readonly id: string;
  title(): string;
  /** What these heads are, in a sentence or two; shown under the input. */
  about(): string;
  readonly input: SourceInput;
  readonly maxTokens: number;
  readonly layers: number;
  readonly numHeads: number;
  readonly causal: CausalRule;
  /** Whether it matters how Chinese is cut: a model's own tokenizer cuts as it was trained. */
  readonly splits: boolean;
  /** At once where the source has no tokenizer of its own. */
  tokenize(text: string, unit: Unit): Tokenization | Promise<Tokenization>;
  open(core: Core): OpenSource | Promise<OpenSource>;
}

export interface OpenSource {
  readonly config: AttentionConfig;
  readonly heads: readonly HeadNote[];
  /** The model behind the heads, and the file it is in, for the inspector. */
  readonly file?: ModelFile;
  run(tokens: readonly Token[], options: RunOptions): Promise<LayerRun>;
  /** What is lost without each head of a layer, alone, all others switched on. */
  importance(tokens: readonly Token[], options: RunOptions, ofModel: WorthOfModel): Measurement<HeadLosses>;
  /** Heads taken out one after the other, of a layer or (null) of the whole model; null for a lone layer. */
  readonly prune: Prune | null;
  /** Weights and input of a layer; null where they are too large to hand out. */
  parts(tokens: readonly Token[], options: RunOptions): Promise<LayerParts | null>;
  /** A head of this text that is worth opening on, among those that have been computed. */
  suggest?(tokens: readonly Token[]): { readonly layer: number; readonly head: number } | null;
}

/** What measures heads of a model. It is fetched by those who measure, and handed to what is measured. */
export type WorthOfModel = typeof HeadWorth;

export type Prune = (tokens: readonly Token[], layer: number | null, ofModel: WorthOfModel) => Measurement<PruneReport>;

export interface ModelFile {
  readonly core: WorkerHeadscope;
  readonly model: WorkerModel;
  readonly origin: FileSource;
}

/** Something that is known after some runs. A new one of the same goes on where the last one stopped. */
export interface Measurement<T> {
  /** Whether it takes so little that nobody has to be asked before. */
  quick(): boolean;
  /** What is still to be done. */
  estimate(): Estimate;
  run(options: MeasureOptions): Promise<T>;
}

export interface Estimate {
  /** Runs of the whole layer or model. */
  readonly passes: number;
  /** About, of all of them together, without what has to be read first; null where nobody knows. */
  readonly milliseconds: number | null;
  readonly reading: Reading | null;
}

/** What of the file a run reads. */
export interface Reading {
  /** At most. */
  readonly bytes: number;
  /** Every run, not the first alone: more than memory keeps. */
  readonly each: boolean;
  /** From an address. */
  readonly network: boolean;
}

export interface MeasureOptions {
  readonly signal: AbortSignal;
  onProgress(progress: MeasureProgress): void;
}

export interface MeasureProgress {
  readonly done: number;
  readonly total: number;
  /** Milliseconds, about; null where nobody knows. */
  readonly left: number | null;
}

export interface HeadLosses {
  /** Nats a token, the change of the model's last state, or that of the layer's output. */
  readonly measure: "loss" | "hidden" | "output";
  /** For each head of the layer. */
  readonly values: readonly number[];
}

export interface PruneReport {
  /** How many heads are out, and how much worse the model is then. */
  readonly points: readonly { readonly removed: number; readonly cost: number }[];
  readonly measure: "loss" | "hidden";
  /** The order in which heads went. */
  readonly order: readonly { readonly layer: number; readonly head: number }[];
  /** Of which these were taken. */
  readonly heads: number;
  /** Whose heads; null: all layers'. */
  readonly layer: number | null;
}

/** What is known of a head beforehand. Learned and random heads have none of it and are described by their weights. */
export interface HeadNote {
  readonly name?: MessageKey;
  /** How it works, in a sentence. */
  readonly how?: MessageKey;
  /** The keys the head was made to read at query i; null where it has nothing to aim at. */
  readonly target?: (tokens: readonly Token[], query: number, causal: boolean) => readonly number[] | null;
}

export interface RunOptions {
  readonly causal: boolean;
  readonly layer: number;
  /** Heads that are left out, by `headKey`. */
  readonly off: ReadonlySet<number>;
  /** Stops a run that nobody waits for any more. */
  readonly signal?: AbortSignal | undefined;
}

export interface LayerRun {
  /** [H, T, S] */
  readonly weights: Tensor;
  /** [H, T, S], −Infinity where hidden. */
  readonly scores: Tensor;
  /** [T, D] with the gates applied; null where nobody looks at it. */
  readonly output: Tensor | null;
  readonly trace: readonly TraceStep[];
  /** How far the gates moved the output; null when every head is on, and for models. */
  readonly change: OutputChange | null;
  /** Layers that the time was spent on. */
  readonly layersRun: number;
  readonly milliseconds: number;
  /** For models with heads off: runs the whole model with them and without, unless that is known already. */
  readonly effect: (() => Promise<ModelEffect>) | null;
}

export interface OutputChange {
  /** ‖output − output of the whole layer‖ / ‖output of the whole layer‖, Frobenius. */
  readonly relative: number;
  /** The token whose row moved most, by its own relative change. */
  readonly query: number;
  readonly queryRelative: number;
}

/** What a model loses without some heads. */
export interface ModelEffect {
  /** Relative change of the stream behind the last block. */
  readonly hidden: number;
  /** Nats per token; null for a model that predicts no next token, and for a single token. */
  readonly loss: { readonly before: number; readonly after: number } | null;
}
