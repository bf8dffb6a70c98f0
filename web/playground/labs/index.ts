/** The laboratories below the costs, in their order. Each is fetched when somebody opens it. */

import type { LabEntry } from "../lab.js";

export const labs: readonly LabEntry[] = [
  { id: "wo", title: "lab.wo.title", load: () => import("./output-lab.js") },
  { id: "gqa", title: "lab.gqa.title", load: () => import("./pooled-lab.js") },
  { id: "rank", title: "lab.rank.title", load: () => import("./rank-lab.js") },
  { id: "same", title: "lab.same.title", load: () => import("./same-lab.js") },
];
