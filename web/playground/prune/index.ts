import type { LabEntry } from "../lab.js";

export const pruneLab: LabEntry = {
  id: "prune",
  title: "prune.name",
  load: () => import("./prune-lab.js"),
  fits: ({ answer }) => answer.open.prune !== null,
};
