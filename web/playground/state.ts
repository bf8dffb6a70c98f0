/** The one state of the page: everything that a link gives back. */

import type { Spot } from "../elements/attention-view.js";
import type { HeatScale } from "../elements/scale.js";
import type { Language } from "../i18n/index.js";
import { entryById } from "./sources/index.js";
import type { Unit } from "./tokens.js";
import type { Rows } from "./view/groups.js";
import type { Hide } from "./view/layout.js";
import type { Sort } from "./view/sort-heads.js";
import { TEXT_ORDER } from "./view/table-code.js";

export const tabs = ["matrix", "lines", "compare", "numbers"] as const;
export type Tab = (typeof tabs)[number];

/** What the enlarged head is compared with. */
export const againsts = ["head", "off", "text"] as const;
export type Against = (typeof againsts)[number];

/** Lines of several heads: each in its own colour, or one for all. */
export const combines = ["none", "mean", "max"] as const;
export const directions = ["vertical", "horizontal"] as const;

export interface State {
  readonly text: string;
  readonly unit: Unit;
  readonly source: string;
  /** The mask of sources whose mask is free. */
  readonly causal: boolean;
  readonly layer: number;
  readonly head: number;
  /** In rows and columns as they are shown. */
  readonly pinned: Spot | null;
  /** Heads that are switched off, by `headKey`. */
  readonly off: ReadonlySet<number>;
  readonly scale: HeatScale;
  readonly tab: Tab;
  readonly language: Language;
  readonly rows: Rows;
  readonly hide: Hide;
  readonly sort: Sort;
  /** Heads looked at beside the enlarged one: they are drawn as lines too. */
  readonly lines: ReadonlySet<number>;
  /** How many lines a query has at most; 0: all. */
  readonly top: number;
  /** The smallest weight that has a line. */
  readonly threshold: number;
  readonly combine: (typeof combines)[number];
  readonly direction: (typeof directions)[number];
  readonly against: Against;
  readonly otherHead: number;
  readonly otherText: string;
  /** How the table of numbers is sorted, see view/table-code.ts. */
  readonly table: string;
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
    rows: "token",
    hide: "none",
    sort: "index",
    lines: new Set(),
    top: 4,
    threshold: 0.02,
    combine: "none",
    direction: "vertical",
    against: "head",
    otherHead: 0,
    otherText: "",
    table: TEXT_ORDER,
  };
}

/** What is looked at in one source means nothing in another. */
export const ownView: Pick<State, "layer" | "head" | "pinned" | "off" | "lines" | "otherHead"> = {
  layer: 0,
  head: 0,
  pinned: null,
  off: new Set(),
  lines: new Set(),
  otherHead: 0,
};

/** A text field holds no carriage returns, and a link no half of a character. */
export function tidyText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\ud800-\udfff]/gu, "\ufffd");
}
