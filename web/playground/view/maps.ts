/** The weights of a layer as they are drawn, and what can be done to them on the way from the layer to the screen. */

import type { Groups } from "./groups.js";

export interface Maps {
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  /** [heads, queries, keys] */
  readonly weights: Float32Array;
  /** Not 0 where the query cannot see the key; null where every query sees every key. */
  readonly hidden: Uint8Array | null;
}

export function mapsOf(weights: { data: Float32Array; shape: readonly number[] }, scores: Float32Array | null): Maps {
  const [heads, queries, keys] = weights.shape as [number, number, number];
  let hidden: Uint8Array | null = null;
  if (scores) {
    hidden = new Uint8Array(scores.length);
    for (let i = 0; i < scores.length; i++) hidden[i] = scores[i] === Number.NEGATIVE_INFINITY ? 1 : 0;
  }
  return { heads, queries, keys, weights: weights.data, hidden };
}

/**
 * Several tokens in one row and column: the weights on the keys of a group are summed, those of its queries averaged,
 * so that a row still sums to 1. A cell is hidden where all of it was.
 */
export function mergeMaps({ heads, queries, keys, weights, hidden }: Maps, groups: Groups): Maps {
  const size = groups.length;
  const merged = new Float32Array(heads * size * size);
  const mergedHidden = hidden && new Uint8Array(merged.length).fill(1);
  const place = new Int32Array(keys);
  for (const [g, group] of groups.entries()) for (const i of group) place[i] = g;
  const row = new Float64Array(size);
  for (let head = 0; head < heads; head++) {
    for (const [g, group] of groups.entries()) {
      row.fill(0);
      const to = (head * size + g) * size;
      for (const query of group) {
        const from = (head * queries + query) * keys;
        for (let key = 0; key < keys; key++) {
          const column = place[key] as number;
          row[column] = (row[column] as number) + (weights[from + key] as number);
          if (hidden && mergedHidden && hidden[from + key] === 0) mergedHidden[to + column] = 0;
        }
      }
      for (let column = 0; column < size; column++) merged[to + column] = (row[column] as number) / group.length;
    }
  }
  return { heads, queries: size, keys: size, weights: merged, hidden: mergedHidden };
}

export interface Without {
  readonly maps: Maps;
  /** The rows and columns that are left, by their index before. */
  readonly kept: readonly number[];
  /** [heads]: how much of a kept row's weight lay on what was taken out, on average. */
  readonly share: Float64Array;
}

/**
 * Takes rows and columns out and divides what is left of each row by its sum. A row of which nothing is left is marked
 * as hidden throughout: it has no weights that could be shown.
 */
export function withoutRows({ heads, queries, keys, weights, hidden }: Maps, out: ReadonlySet<number>): Without {
  const kept = Array.from({ length: queries }, (_, i) => i).filter((i) => !out.has(i));
  const size = kept.length;
  const left = new Float32Array(heads * size * size);
  const leftHidden = new Uint8Array(left.length);
  const share = new Float64Array(heads);
  for (let head = 0; head < heads; head++) {
    let rows = 0;
    for (const [r, query] of kept.entries()) {
      const from = (head * queries + query) * keys;
      const to = (head * size + r) * size;
      let sum = 0;
      let all = 0;
      for (let key = 0; key < keys; key++) {
        const weight = weights[from + key] as number;
        all += weight;
        if (!out.has(key)) sum += weight;
      }
      if (all > 0) {
        share[head] = (share[head] as number) + (all - sum) / all;
        rows++;
      }
      const empty = sum === 0;
      for (const [c, key] of kept.entries()) {
        const gone = empty || (hidden !== null && hidden[from + key] !== 0);
        leftHidden[to + c] = gone ? 1 : 0;
        left[to + c] = gone ? 0 : (weights[from + key] as number) / sum;
      }
    }
    if (rows > 0) share[head] = (share[head] as number) / rows;
  }
  return { maps: { heads, queries: size, keys: size, weights: left, hidden: leftHidden }, kept, share };
}
