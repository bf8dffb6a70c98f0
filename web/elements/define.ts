/**
 * Registers the elements. A call and not a side effect of importing them: the package says that its modules have none,
 * and bundlers drop imports that nothing is taken from.
 */

import { CostBills } from "./cost-bills.js";
import { HeadCompare } from "./head-compare.js";
import { HeadGrid } from "./head-grid.js";
import { HeadHeatmap } from "./head-heatmap.js";
import { HeadLines } from "./head-lines.js";
import type { ScopeElement } from "./scope-element.js";
import { ShapeTrace } from "./shape-trace.js";
import { TokenStrip } from "./token-strip.js";

/** Tag names and their classes; each element adds itself here. */
export const elements = {
  "cost-bills": CostBills,
  "head-compare": HeadCompare,
  "head-grid": HeadGrid,
  "head-heatmap": HeadHeatmap,
  "head-lines": HeadLines,
  "shape-trace": ShapeTrace,
  "token-strip": TokenStrip,
} as const satisfies Readonly<Record<string, new () => ScopeElement>>;

export type ElementName = keyof typeof elements;

/**
 * `defineElements()` registers all of them, `defineElements(["head-grid"])` some. A name that is taken already keeps what
 * it has. On a server, where nothing can be registered, it does nothing.
 */
export function defineElements(names: readonly ElementName[] = Object.keys(elements) as ElementName[]): void {
  if (!globalThis.customElements) return;
  for (const name of names) {
    const element: CustomElementConstructor | undefined = elements[name];
    if (!element) throw new TypeError(`names: expected some of ${Object.keys(elements).join(", ")}, got "${name}".`);
    if (!customElements.get(name)) customElements.define(name, element);
  }
}
