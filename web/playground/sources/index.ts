/** The list the page offers, in its order. */

import { builtHeads } from "./built-heads.js";
import { numpySeed42 } from "./numpy-seed42.js";
import type { HeadSource, SourceEntry } from "./source.js";

export type SourceId = "built" | "tiny" | "numpy" | "file";

/** What a visit without a link opens with. A source that has yet to be fetched has STAND_IN in its place until then. */
export const DEFAULT_SOURCE: SourceId = "tiny";

/** Needs no file: on screen at once, and while a model is on its way. */
export const STAND_IN: HeadSource = builtHeads;

export const entries: readonly SourceEntry[] = [
  { id: "built", name: "source.built", input: "text", defaultCausal: true, source: builtHeads },
  { id: "tiny", name: "source.tiny", input: "text", defaultCausal: true, source: null },
  { id: "numpy", name: "source.numpy", input: numpySeed42.input, defaultCausal: false, source: numpySeed42 },
  { id: "file", name: "source.file", input: "text", defaultCausal: true, source: null },
];

/** The entry of that name, else the default one. */
export function entryById(id: string | null): SourceEntry {
  const byId = (wanted: string | null) => entries.find((entry) => entry.id === wanted);
  return byId(id) ?? (byId(DEFAULT_SOURCE) as SourceEntry);
}
