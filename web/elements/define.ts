/**
 * Registers the elements. A call and not a side effect of importing them: the package says that its modules have none,
 * and bundlers drop imports that nothing is taken from.
 */

import { CostCards } from "./cost-cards.js";
import { HeadGrid } from "./head-grid.js";
import { HeadMatrix } from "./head-matrix.js";
import { HeadReadings } from "./head-readings.js";
import { NumberTable } from "./number-table.js";
import { ShapeTrace } from "./shape-trace.js";
import { TokenStrip } from "./token-strip.js";

const elements: Readonly<Record<string, CustomElementConstructor>> = {
  "cost-cards": CostCards,
  "head-grid": HeadGrid,
  "head-matrix": HeadMatrix,
  "head-readings": HeadReadings,
  "number-table": NumberTable,
  "shape-trace": ShapeTrace,
  "token-strip": TokenStrip,
};

export function defineElements(): void {
  for (const [name, element] of Object.entries(elements)) {
    if (!customElements.get(name)) customElements.define(name, element);
  }
}
