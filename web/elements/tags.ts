/** Types of the tags, for TypeScript and for the frameworks (frameworks/). Nothing of this exists at run time. */

import type { CostBills, CostConfig } from "./cost-bills.js";
import type { HeadCompare } from "./head-compare.js";
import type { AblateDetail, SpotDetail } from "./head-element.js";
import type { HeadGrid } from "./head-grid.js";
import type { HeadHeatmap } from "./head-heatmap.js";
import type { HeadLines } from "./head-lines.js";
import type { LineChoices } from "./lines/controls.js";
import type { HeatScale } from "./scale.js";
import type { ShapeTrace } from "./shape-trace.js";
import type { TokenStrip } from "./token-strip.js";

/** The element of each tag; the same as in define.ts, from which TypeScript cannot derive it without going in circles. */
export interface ElementTags {
  "cost-bills": CostBills;
  "head-compare": HeadCompare;
  "head-grid": HeadGrid;
  "head-heatmap": HeadHeatmap;
  "head-lines": HeadLines;
  "shape-trace": ShapeTrace;
  "token-strip": TokenStrip;
}

/** The events that the elements have besides those of every HTML element. */
export interface ElementEvents {
  preview: CustomEvent<SpotDetail>;
  pick: CustomEvent<SpotDetail>;
  ablate: CustomEvent<AblateDetail>;
  scale: CustomEvent<{ readonly scale: HeatScale }>;
  filter: CustomEvent<LineChoices>;
  heads: CustomEvent<{ readonly left: number; readonly right: number }>;
  open: CustomEvent<{ readonly stage: string | null }>;
  sizes: CustomEvent<CostConfig>;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type WritableKeys<T> = {
  [Key in keyof T]-?: T[Key] extends (...values: never[]) => unknown
    ? never
    : Same<{ [P in Key]: T[Key] }, { -readonly [P in Key]: T[Key] }> extends true
      ? Key
      : never;
}[keyof T];

/** What can be set on an element beyond what every HTML element has. */
export type ElementProperties<T> = { [Key in Exclude<WritableKeys<T>, keyof HTMLElement>]?: T[Key] | undefined };

declare global {
  interface HTMLElementTagNameMap extends ElementTags {}
  interface HTMLElementEventMap extends ElementEvents {}
}
