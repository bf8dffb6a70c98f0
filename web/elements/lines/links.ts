/**
 * Which lines are drawn between queries and keys: of some heads, or of their mean or maximum, the strongest of each
 * query that reach a threshold. Chosen once per filter, so that a moving pointer only looks up what is there.
 */

import { type AttentionView, cellIndex, isHidden } from "../attention-view.js";

export type Combine = "none" | "mean" | "max";

export interface LinkFilter {
  readonly heads: readonly number[];
  readonly combine: Combine;
  /** Lines of one query and one series at most; null for all. */
  readonly top: number | null;
  /** The smallest weight that is drawn. */
  readonly threshold: number;
}

/** Lines in the order of their queries, those of one query in the order of series, strongest first. */
export interface Links {
  readonly count: number;
  readonly query: Uint32Array;
  readonly key: Uint32Array;
  /** Place in `filter.heads`; 0 where heads are combined. */
  readonly series: Uint16Array;
  readonly weight: Float32Array;
  /** Lines of query q are those from `firstOf[q]` to `firstOf[q + 1]`, not included. */
  readonly firstOf: Uint32Array;
  /** Lines of key k: `ofKey[i]` for i from `firstOfKey[k]` to `firstOfKey[k + 1]`. */
  readonly firstOfKey: Uint32Array;
  readonly ofKey: Uint32Array;
  readonly strongest: number;
  /** Cells that are not numbers: no line can say so, the text must. */
  readonly notNumbers: number;
}

/** One row of what is drawn: the weights of a head, or of all chosen heads together. A hidden key gives 0. */
export function combinedRow(
  view: AttentionView,
  heads: readonly number[],
  combine: Combine,
  query: number,
  into: Float32Array,
): Float32Array {
  const { keys, weights } = view;
  into.fill(0);
  for (const head of heads) {
    const start = cellIndex(view, head, query, 0);
    for (let key = 0; key < keys; key++) {
      const weight = weights[start + key] as number;
      // Most hidden cells are 0 already; some sources leave other numbers there.
      if (weight === 0 || isHidden(view, head, query, key)) continue;
      const before = into[key] as number;
      // Both keep a NaN.
      into[key] = combine === "max" ? Math.max(before, weight) : before + weight;
    }
  }
  if (combine === "mean") for (let key = 0; key < keys; key++) into[key] = (into[key] as number) / heads.length;
  return into;
}

/** The places of the `top` largest entries that reach the threshold, largest first, the earlier first on a tie. */
export function strongestOf(row: Float32Array, top: number | null, threshold: number): number[] {
  const chosen: number[] = [];
  for (let key = 0; key < row.length; key++) {
    const weight = row[key] as number;
    if (!(weight > 0) || weight < threshold) continue;
    if (top === null) {
      chosen.push(key);
      continue;
    }
    if (chosen.length === top && weight <= (row[chosen[top - 1] as number] as number)) continue;
    let at = Math.min(chosen.length, top - 1);
    while (at > 0 && (row[chosen[at - 1] as number] as number) < weight) {
      chosen[at] = chosen[at - 1] as number;
      at--;
    }
    chosen[at] = key;
  }
  if (top === null) chosen.sort((a, b) => (row[b] as number) - (row[a] as number));
  return chosen;
}

export function selectLinks(view: AttentionView, filter: LinkFilter): Links {
  const { queries, keys } = view;
  const heads = filter.heads.filter((head) => head >= 0 && head < view.heads);
  const groups = filter.combine === "none" ? heads.map((head) => [head]) : heads.length > 0 ? [heads] : [];
  const top = filter.top === 0 ? null : filter.top;
  const query: number[] = [];
  const key: number[] = [];
  const series: number[] = [];
  const weight: number[] = [];
  const firstOf = new Uint32Array(queries + 1);
  const perKey = new Uint32Array(keys + 1);
  const row = new Float32Array(keys);
  let strongest = 0;
  let notNumbers = 0;
  for (let q = 0; q < queries; q++) {
    firstOf[q] = query.length;
    for (const [s, group] of groups.entries()) {
      combinedRow(view, group, filter.combine, q, row);
      for (let k = 0; k < keys; k++) if (Number.isNaN(row[k])) notNumbers++;
      for (const k of strongestOf(row, top, filter.threshold)) {
        const value = row[k] as number;
        query.push(q);
        key.push(k);
        series.push(s);
        weight.push(value);
        perKey[k + 1] = (perKey[k + 1] as number) + 1;
        if (value > strongest) strongest = value;
      }
    }
  }
  firstOf[queries] = query.length;
  for (let k = 0; k < keys; k++) perKey[k + 1] = (perKey[k + 1] as number) + (perKey[k] as number);
  const ofKey = new Uint32Array(query.length);
  const next = perKey.slice(0, keys);
  for (const [i, k] of key.entries()) {
    const at = next[k] as number;
    ofKey[at] = i;
    next[k] = at + 1;
  }
  return {
    count: query.length,
    query: Uint32Array.from(query),
    key: Uint32Array.from(key),
    series: Uint16Array.from(series),
    weight: Float32Array.from(weight),
    firstOf,
    firstOfKey: perKey,
    ofKey,
    strongest,
    notNumbers,
  };
}

/** The lines that end in one token, as places in `links`. */
export function linksAt(links: Links, side: "query" | "key", token: number): number[] {
  const [from, to] =
    side === "query"
      ? [links.firstOf[token] ?? 0, links.firstOf[token + 1] ?? 0]
      : [links.firstOfKey[token] ?? 0, links.firstOfKey[token + 1] ?? 0];
  const found: number[] = [];
  for (let i = from; i < to; i++) found.push(side === "query" ? i : (links.ofKey[i] as number));
  return found;
}
