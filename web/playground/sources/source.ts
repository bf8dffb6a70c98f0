/**
 * Where heads come from. The playground knows sources only through this: a name, how text becomes tokens, and a
 * layer to run. Trained models join the list in sources/index.ts by implementing it; nothing else has to change.
 */

import type { AttentionConfig, Headscope, Tensor, TraceStep } from "headscope";
import type { MessageKey } from "../../i18n/index.js";
import type { Token, Tokenization, Unit } from "../tokens.js";

export interface HeadSource {
  /** In the permalink: never rename. */
  readonly id: string;
  readonly name: MessageKey;
  /** What these heads are, in a sentence or two; shown under the input. */
  readonly about: MessageKey;
  /** "text": what is typed. A source with its own fixed input gives the code or text to show in its place. */
  readonly input: "text" | { readonly code: string };
  readonly maxTokens: number;
  readonly numHeads: number;
  readonly defaultCausal: boolean;
  tokenize(text: string, unit: Unit): Tokenization;
  open(hs: Headscope): OpenSource | Promise<OpenSource>;
}

export interface OpenSource {
  readonly config: AttentionConfig;
  readonly heads: readonly HeadNote[];
  run(tokens: readonly Token[], options: RunOptions): LayerRun | Promise<LayerRun>;
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
  /** One gate per head; 0 leaves the head out of the output. */
  readonly gate: Float32Array;
}

export interface LayerRun {
  /** [H, T, S] */
  readonly weights: Tensor;
  /** [H, T, S], −Infinity where hidden. */
  readonly scores: Tensor;
  /** [T, D] with the gates applied. */
  readonly output: Tensor;
  readonly trace: readonly TraceStep[];
  /** How far the gates moved the output; null when every head is on. */
  readonly change: OutputChange | null;
  readonly milliseconds: number;
}

export interface OutputChange {
  /** ‖output − output of the whole layer‖ / ‖output of the whole layer‖, Frobenius. */
  readonly relative: number;
  /** The token whose row moved most, by its own relative change. */
  readonly query: number;
  readonly queryRelative: number;
}
