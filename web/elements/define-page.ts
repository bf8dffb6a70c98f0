/**
 * Registers the playground's own elements: those of one page, and the ones that `index.ts` has a successor for until the
 * playground has moved over. A call and not a side effect of importing them: the package says that its modules have none,
 * and bundlers drop imports that nothing is taken from.
 */

import { CostCards } from "./cost-cards.js";
import { HeadCards } from "./head-cards.js";
import { HeadMatrix } from "./head-matrix.js";
import { HeadReadings } from "./head-readings.js";
import { NumberTable } from "./number-table.js";
import { TokenChips } from "./token-chips.js";
import { TraceCards } from "./trace-cards.js";

const elements: Readonly<Record<string, CustomElementConstructor>> = {
  "cost-cards": CostCards,
  "head-grid": HeadCards,
  "head-matrix": HeadMatrix,
  "head-readings": HeadReadings,
  "number-table": NumberTable,
  "shape-trace": TraceCards,
  "token-strip": TokenChips,
};

export function definePageElements(): void {
  for (const [name, element] of Object.entries(elements)) {
    if (!customElements.get(name)) customElements.define(name, element);
  }
}
