/** What the parts of the page know of each other: the state, what is shown, and how to change it. */

import type { AttentionConfig, AttentionWeights, Tensor } from "headscope";
import type { AttentionView, Spot } from "../elements/attention-view.js";
import { strongestKey } from "../elements/attention-view.js";
import type { Answer } from "./answer.js";
import type { HeadWords } from "./describe-heads.js";
import type { FetchState } from "./library.js";
import type { Measuring } from "./measuring.js";
import type { Core, HeadLosses, HeadSource, ModelEffect } from "./sources/source.js";
import type { State } from "./state.js";
import type { Tokenization } from "./tokens.js";
import type { Layout } from "./view/layout.js";

export interface Shell {
  readonly state: State;
  update(change: Partial<State>): void;
  /** Where the pointer or the keyboard is; null when it has left. */
  preview(spot: Spot | null): void;
  /** Enlarges a head and says what it does. */
  selectHead(head: number): void;
  /** Measures what heads are worth, where that takes so long that somebody has to say so. */
  measure(): void;
  /** To the live region, for screen readers. */
  announce(text: string): void;
  /** A part of the page could not be fetched. */
  missed(error: unknown): void;
  /** The module that computes. */
  core(): Promise<Core>;
  /** Another text through the same source, layer and heads, for comparing. Null when that question has been replaced. */
  ask(text: string, change: { readonly off?: ReadonlySet<number> }, signal: AbortSignal): Promise<Answer | null>;
}

/** The text as it stands, and what is wrong with it. */
export interface Input {
  /** Whose tokens these are: the chosen source, or the one that stands in for it. */
  readonly source: HeadSource;
  readonly wait: Wait | null;
  /** The visitor's own file, by its name. */
  readonly file: HeadSource | null;
  readonly tokenization: Tokenization;
  readonly problem: Problem | null;
  readonly answer: Answer | null;
}

/** Why what was asked for is not on screen yet. */
export type Wait =
  | { readonly for: "tiny"; readonly state: FetchState | null }
  /** A link to somebody's own file. */
  | { readonly for: "file" }
  /** A model that takes its time, and the bytes of its file that it has taken so far for this layer. */
  | { readonly for: "run"; readonly layer: number; readonly read: number };

export interface Problem {
  readonly key: "input.failed" | "input.loadFailed" | "input.tinyFailed" | "input.linkFailed" | "page.missed";
  readonly reason: string;
}

/** The answer as it is drawn. */
export interface Scene {
  readonly answer: Answer;
  readonly view: AttentionView;
  /** Which tokens each row stands for. */
  readonly layout: Layout;
  /** [heads]: how much weight lay on the rows that are left out; null where none is. */
  readonly share: Float64Array | null;
  readonly captions: readonly HeadWords[];
  /** Heads in the order in which they are shown. */
  readonly order: readonly number[];
  /** What is lost without each head of this layer; null where nobody wants to know. */
  readonly importance: Measuring<HeadLosses> | null;
  readonly layer: number;
  /** What the model loses without the heads that are off; undefined until that is known. */
  readonly effect: ModelEffect | undefined;
  /** The enlarged head. */
  readonly head: number;
  readonly pinned: Spot | null;
  /** The pointer's cell, else the pinned one. */
  readonly given: Spot | null;
  /** The same, where a row alone stands for its strongest key. */
  readonly spot: Spot | null;
  /** Whether the key of `spot` was filled in. */
  readonly strongest: boolean;
}

/** A layer that can be computed with: its weights and what it reads. */
export interface LayerParts {
  readonly config: AttentionConfig;
  readonly weights: AttentionWeights;
  /** [T, D] */
  readonly x: Tensor;
  readonly causal: boolean;
}

/** A spot as far as it lies in the matrix that is shown: the text may have become shorter since. */
export function inside(spot: Spot | null, { queries, keys }: AttentionView): Spot | null {
  if (!spot || spot.query >= queries) return null;
  return spot.key !== null && spot.key >= keys ? { query: spot.query, key: null } : spot;
}

export function withKey(spot: Spot | null, view: AttentionView, head: number): Spot | null {
  if (!spot || spot.key !== null) return spot;
  return { query: spot.query, key: strongestKey(view, head, spot.query) };
}

// biome-ignore lint/suspicious/noExplicitAny: the elements' events carry plain objects, described at each element.
export function on(target: EventTarget, type: string, listener: (event: CustomEvent<any>) => void): void {
  target.addEventListener(type, listener as EventListener);
}

/** Checks the radio button of that value in a group. */
export function choose(group: HTMLElement, value: string): void {
  for (const input of group.querySelectorAll<HTMLInputElement>("input")) input.checked = input.value === value;
}
