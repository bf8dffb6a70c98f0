/** The list the page offers, in its order. A source for trained models is added here. */

import { builtHeads } from "./built-heads.js";
import { numpySeed42 } from "./numpy-seed42.js";
import type { HeadSource } from "./source.js";

export const sources: readonly [HeadSource, ...HeadSource[]] = [builtHeads, numpySeed42];

export function sourceById(id: string | null): HeadSource {
  return sources.find((source) => source.id === id) ?? sources[0];
}
