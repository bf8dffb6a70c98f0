/** The lines of the export menu, in their order. What writes is fetched when the first of them is chosen. */

import type { ExportEntry } from "../lab.js";

const writers = () => import("./writers.js");

export const exports: readonly ExportEntry[] = [
  { id: "png", title: "export.png", load: async () => (await writers()).png },
  { id: "svg", title: "export.svg", load: async () => (await writers()).svg },
  { id: "csv", title: "export.csv", load: async () => (await writers()).csv },
  { id: "json", title: "export.json", load: async () => (await writers()).json },
  { id: "npy", title: "export.npy", load: async () => (await writers()).npy },
  { id: "code", title: "export.code", load: async () => (await writers()).code },
];
