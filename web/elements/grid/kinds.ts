/** What a head does most plainly, from its weights alone: enough for a caption where nobody gave one. */

import { type AttentionView, weightAt } from "../attention-view.js";

export type Kind = "previous" | "self" | "next" | "first";

export interface KindShare {
  readonly kind: Kind;
  /** Mean weight on the key of that kind, over the queries that have one. */
  readonly share: number;
}

/** From this share on a head is called by what it reads. */
const CLEAR = 0.5;

/** Null for a head that does nothing of the kind. Positions of queries and keys are compared only where they are the same. */
export function kindOf(view: AttentionView, head: number): KindShare | null {
  const along = (offset: number): number => {
    let sum = 0;
    let rows = 0;
    for (let query = Math.max(0, -offset); query < view.queries && query + offset < view.keys; query++) {
      sum += weightAt(view, head, query, query + offset);
      rows++;
    }
    return rows === 0 ? 0 : sum / rows;
  };
  let first = 0;
  for (let query = 0; query < view.queries; query++) first += weightAt(view, head, query, 0) / view.queries;
  const shares: KindShare[] = [{ kind: "first", share: first }];
  if (view.queries === view.keys && view.keys > 1) {
    const near = { previous: -1, self: 0, next: 1 } as const;
    for (const kind of ["previous", "self", "next"] as const) shares.push({ kind, share: along(near[kind]) });
  }
  const best = shares.reduce((a, b) => (b.share > a.share ? b : a));
  return best.share >= CLEAR && view.keys > 1 ? best : null;
}
