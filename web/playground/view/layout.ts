/** Which rows and columns there are, before any weight is known: tokens, or several in one, and some left out. */

import type { AttentionView } from "../../elements/attention-view.js";
import type { Token } from "../tokens.js";
import type { Rows } from "./groups.js";
import { groupText, groupTokens, merges } from "./groups.js";
import { mapsOf, mergeMaps, withoutRows } from "./maps.js";

export const hides = ["none", "special", "first"] as const;
export type Hide = (typeof hides)[number];

export interface Layout {
  readonly tokens: readonly Token[];
  /** The tokens of each row before any is left out, by index. */
  readonly groups: readonly (readonly number[])[];
  /** Rows that are left out, by index into `groups`. */
  readonly out: ReadonlySet<number>;
  /** Rows that are shown, by index into `groups`. */
  readonly kept: readonly number[];
  /** The text of each row that is shown. */
  readonly texts: readonly string[];
  /** Whether some row has more than one token. */
  readonly merged: boolean;
}

export function layOut(text: string, tokens: readonly Token[], rows: Rows, hide: Hide): Layout {
  const groups = groupTokens(text, tokens, rows);
  const wanted = (group: readonly number[], at: number) =>
    hide === "first" ? at > 0 : hide === "none" || !group.every((i) => tokens[i]?.special);
  const kept = groups.map((_, at) => at).filter((at) => wanted(groups[at] as readonly number[], at));
  // A text of one token has nothing but its first.
  const shown = kept.length > 0 ? kept : groups.map((_, at) => at);
  const texts = shown.map((at) => groupText(text, tokens, groups[at] as readonly number[]));
  const out = new Set(groups.map((_, at) => at).filter((at) => !shown.includes(at)));
  return { tokens, groups, out, kept: shown, texts, merged: merges(groups) };
}

/** The row that shows a token, or null. */
export function rowOf({ groups, kept }: Layout, token: number): number | null {
  const row = kept.findIndex((at) => groups[at]?.includes(token));
  return row < 0 ? null : row;
}

/** The first token of a row that is shown. */
export function tokenOf({ groups, kept }: Layout, row: number): number | null {
  return groups[kept[row] ?? -1]?.[0] ?? null;
}

export interface Drawn {
  readonly view: AttentionView;
  /** [heads]: how much weight lay on what is left out; null where nothing is. */
  readonly share: Float64Array | null;
}

/** The weights in this layout. `scores` come along only where every row is one token and none is left out. */
export function draw(
  { groups, out, texts, merged }: Layout,
  weights: { readonly data: Float32Array; readonly shape: readonly number[] },
  scores: Float32Array | null,
): Drawn {
  // The elements read from the scores what is hidden, and a long text need not be gone through twice.
  const plain = !merged && out.size === 0;
  const whole = mapsOf(weights, plain ? null : scores);
  const together = merged ? mergeMaps(whole, groups) : whole;
  const rest = out.size > 0 ? withoutRows(together, out) : null;
  const { heads, queries, keys, weights: data, hidden } = rest?.maps ?? together;
  const kept = plain ? scores : null;
  const view = { heads, queries, keys, weights: data, scores: kept, hidden, queryTexts: texts, keyTexts: texts };
  return { view, share: rest?.share ?? null };
}
