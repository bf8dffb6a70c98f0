/**
 * Where heads come from. The playground knows sources only through this: a name, how text becomes tokens, and layers
 * to run. sources/index.ts lists them; a source made from a model file joins when the file is there.
 */

import type { AttentionConfig, Headscope, Tensor, TraceStep } from "headscope";
import type { FileSource, Model } from "headscope/models";
import type { MessageKey } from "../../i18n/index.js";
import type { Token, Tokenization, Unit } from "../tokens.js";

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
  tokenize(text: string, unit: Unit): Tokenization;
  open(hs: Headscope): OpenSource | Promise<OpenSource>;
}

export interface OpenSource {
  readonly config: AttentionConfig;
  readonly heads: readonly HeadNote[];
  /** The model behind the heads, and the file it is in, for the inspector. */
  readonly file?: ModelFile;
  run(tokens: readonly Token[], options: RunOptions): LayerRun | Promise<LayerRun>;
  /** A head of this text that is worth opening on, among those that have been computed. */
  suggest?(tokens: readonly Token[]): { readonly layer: number; readonly head: number } | null;
}

export interface ModelFile {
  readonly hs: Headscope;
  readonly model: Model;
  readonly origin: FileSource;
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
  readonly signal?: AbortSignal;
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
  readonly effect: (() => ModelEffect | Promise<ModelEffect>) | null;
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
