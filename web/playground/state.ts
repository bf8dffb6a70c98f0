/** The one state of the page, and its form in the address: a link gives back the same view. */

import type { Scale, Spot } from "../elements/attention-view.js";
import type { Language } from "../i18n/index.js";
import { headCode, parseHeadCode } from "./head-key.js";
import { entryById } from "./sources/index.js";
import type { Unit } from "./tokens.js";

export type Tab = "matrix" | "numbers";

export interface State {
  readonly text: string;
  readonly unit: Unit;
  readonly source: string;
  /** The mask of sources whose mask is free. */
  readonly causal: boolean;
  readonly layer: number;
  readonly head: number;
  readonly pinned: Spot | null;
  /** Heads that are switched off, by `headKey`. */
  readonly off: ReadonlySet<number>;
  readonly scale: Scale;
  readonly tab: Tab;
  readonly language: Language;
}

export interface Example {
  readonly text: string;
  readonly unit: Unit;
  readonly head: number;
  readonly pinned: Spot;
}

/** The tutorials' own sentences, and one that shows what repeats do. Each opens with something worth reading picked. */
export const examples: readonly Example[] = [
  { text: "The cat sat on the mat because it was", unit: "character", head: 6, pinned: { query: 7, key: 5 } },
  { text: "小明在北京的大学里学习计算机科学", unit: "word", head: 6, pinned: { query: 6, key: 4 } },
  { text: "a b c d a b c d", unit: "character", head: 4, pinned: { query: 5, key: 2 } },
];

export function initialState(language: Language): State {
  const example = examples[language === "zh" ? 1 : 0] as Example;
  return {
    text: example.text,
    unit: example.unit,
    source: entryById(null).id,
    causal: entryById(null).defaultCausal,
    layer: 0,
    head: example.head,
    pinned: example.pinned,
    off: new Set(),
    scale: "unit",
    tab: "matrix",
    language,
  };
}

/** `#t=…&u=word&s=tiny&c=1&y=2&h=3&q=7&k=1&x=2.1-5&d=head&v=numbers&l=zh`; what is left out has its default. */
export function toFragment(state: State): string {
  const source = entryById(state.source);
  const fields = new URLSearchParams();
  if (source.input === "text") fields.set("t", state.text);
  if (source.input === "text" && state.unit !== "character") fields.set("u", state.unit);
  fields.set("s", state.source);
  if (state.causal !== source.defaultCausal) fields.set("c", state.causal ? "1" : "0");
  if (state.layer > 0) fields.set("y", String(state.layer));
  fields.set("h", String(state.head));
  if (state.pinned) {
    fields.set("q", String(state.pinned.query));
    if (state.pinned.key !== null) fields.set("k", String(state.pinned.key));
  }
  const off = [...state.off].sort((a, b) => a - b);
  if (off.length > 0) fields.set("x", off.map(headCode).join("."));
  if (state.scale !== "unit") fields.set("d", state.scale);
  if (state.tab !== "matrix") fields.set("v", state.tab);
  fields.set("l", state.language);
  return fields.toString();
}

/** Whatever a link holds gives a state that can be shown: unknown or impossible fields fall back to the default. */
export function fromFragment(fragment: string, fallback: State): State {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  if (![...fields.keys()].some((key) => "tush".includes(key) && key.length === 1)) return fallback;
  const { id, defaultCausal, source } = entryById(fields.get("s"));
  // How many layers and heads a model has is known when its file is there; what is too much is cut off then.
  const { layers = 1000, numHeads = 1000 } = source ?? {};
  const query = whole(fields.get("q"));
  const off = (fields.get("x") ?? "").split(".").map(parseHeadCode);
  const language = fields.get("l");
  return {
    text: fields.get("t") ?? fallback.text,
    unit: fields.get("u") === "word" ? "word" : fields.has("t") ? "character" : fallback.unit,
    source: id,
    causal: fields.has("c") ? fields.get("c") === "1" : defaultCausal,
    layer: Math.min(whole(fields.get("y")) ?? 0, layers - 1),
    head: Math.min(whole(fields.get("h")) ?? 0, numHeads - 1),
    pinned: query === null ? null : { query, key: whole(fields.get("k")) },
    off: new Set(off.filter((key): key is number => key !== null && (!source || key < numHeads))),
    scale: fields.get("d") === "head" ? "head" : "unit",
    tab: fields.get("v") === "numbers" ? "numbers" : "matrix",
    language: language === "zh" || language === "en" ? language : fallback.language,
  };
}

function whole(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}
