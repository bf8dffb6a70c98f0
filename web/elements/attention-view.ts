/** What the elements draw: weights of all heads of a layer, from any source, and the labels of both axes. */

export interface AttentionView {
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  /** [heads, queries, keys] */
  readonly weights: Float32Array;
  /** Scaled scores of the same shape with −Infinity where the key is hidden; null when the source has none. */
  readonly scores: Float32Array | null;
  /** Non-zero where the key is hidden, [heads, queries, keys] or [queries, keys] for all heads; instead of scores. */
  readonly hidden?: Uint8Array | null;
  readonly queryTexts: readonly string[];
  readonly keyTexts: readonly string[];
}

/** Where the eye or the pointer is. A null key means the whole row. */
export interface Spot {
  readonly query: number;
  readonly key: number | null;
}

export type Scale = "unit" | "head";

export function cellIndex(view: AttentionView, head: number, query: number, key: number): number {
  return (head * view.queries + query) * view.keys + key;
}

export function isHidden(view: AttentionView, head: number, query: number, key: number): boolean {
  const { scores, hidden } = view;
  const index = cellIndex(view, head, query, key);
  if (hidden) return hidden[hidden.length === view.weights.length ? index : query * view.keys + key] !== 0;
  return scores !== null && scores[index] === Number.NEGATIVE_INFINITY;
}

export function weightAt(view: AttentionView, head: number, query: number, key: number): number {
  return view.weights[cellIndex(view, head, query, key)] as number;
}

/** The key a query reads most; the first one on a tie. */
export function strongestKey(view: AttentionView, head: number, query: number): number {
  const start = cellIndex(view, head, query, 0);
  let best = 0;
  for (let key = 1; key < view.keys; key++) {
    if ((view.weights[start + key] as number) > (view.weights[start + best] as number)) best = key;
  }
  return best;
}

/** Whether what every query of a head sees sums to 1, or it sees nothing; within what four digits for each cell leave. */
export function rowsSumToOne(view: AttentionView, head: number): boolean {
  const { queries, keys, weights, scores, hidden } = view;
  const slack = 0.001 + keys * 0.00005;
  // Of a mask for all heads the first is every head's.
  const shift = hidden && hidden.length !== weights.length ? head * queries * keys : 0;
  for (let row = head * queries; row < (head + 1) * queries; row++) {
    let sum = 0;
    for (let i = row * keys; i < (row + 1) * keys; i++) {
      const isSeen = hidden ? hidden[i - shift] === 0 : scores === null || scores[i] !== Number.NEGATIVE_INFINITY;
      if (isSeen) sum += weights[i] as number;
    }
    if (!(Math.abs(sum - 1) <= slack || sum === 0)) return false;
  }
  return true;
}

/** Upper end of the colour domain. */
export function domainTop(view: AttentionView, head: number, scale: Scale): number {
  if (scale === "unit") return 1;
  let top = 0;
  const start = cellIndex(view, head, 0, 0);
  const end = start + view.queries * view.keys;
  for (let i = start; i < end; i++) {
    const weight = view.weights[i] as number;
    if (weight > top && weight < Infinity) top = weight;
  }
  return top || 1;
}
