/** Two maps of one shape, cell by cell: right minus left. */

export interface MapSide {
  readonly queries: number;
  readonly keys: number;
  /** [queries, keys] */
  readonly weights: Float32Array;
  /** Of the same shape; 1 where the key is hidden from the query. Null where none is. */
  readonly hidden: Uint8Array | null;
  readonly queryTexts: readonly string[];
  readonly keyTexts: readonly string[];
}

/** Why two maps have no difference, to be put into words by whoever shows it. */
export type Obstacle =
  | { readonly reason: "shape"; readonly left: readonly number[]; readonly right: readonly number[] }
  | {
      readonly reason: "queries" | "keys";
      readonly at: number;
      readonly left: string;
      readonly right: string;
    };

export interface Difference {
  readonly queries: number;
  readonly keys: number;
  /** [queries, keys]; a cell that is hidden on one side counts as 0 there. */
  readonly values: Float32Array;
  /** 1 where the cell is hidden on both sides. */
  readonly hidden: Uint8Array | null;
  /** The largest finite |value|, and where it is first found. */
  readonly largest: number;
  readonly query: number;
  readonly key: number;
  /** Per query ½ Σ |value|: the share of its attention that went elsewhere, 0 to 1 where rows sum to 1; NaN with a NaN. */
  readonly moved: Float32Array;
}

/** A difference says something only where the same cell means the same two tokens. */
export function obstacle(left: MapSide, right: MapSide): Obstacle | null {
  if (left.queries !== right.queries || left.keys !== right.keys) {
    return { reason: "shape", left: [left.queries, left.keys], right: [right.queries, right.keys] };
  }
  for (const reason of ["queries", "keys"] as const) {
    const [a, b] = reason === "queries" ? [left.queryTexts, right.queryTexts] : [left.keyTexts, right.keyTexts];
    const at = a.findIndex((text, i) => text !== b[i]);
    if (at >= 0) return { reason, at, left: a[at] as string, right: b[at] as string };
  }
  return null;
}

/** Of two maps of one shape. */
export function difference(left: MapSide, right: MapSide): Difference {
  const { queries, keys } = left;
  const values = new Float32Array(queries * keys);
  const both = left.hidden !== null && right.hidden !== null;
  const hidden = both ? new Uint8Array(queries * keys) : null;
  const moved = new Float32Array(queries);
  let largest = 0;
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    const hiddenLeft = left.hidden?.[i] === 1;
    const hiddenRight = right.hidden?.[i] === 1;
    if (hidden && hiddenLeft && hiddenRight) {
      hidden[i] = 1;
      continue;
    }
    const value = (hiddenRight ? 0 : (right.weights[i] as number)) - (hiddenLeft ? 0 : (left.weights[i] as number));
    values[i] = value;
    const query = Math.floor(i / keys);
    moved[query] = (moved[query] as number) + Math.abs(value) / 2;
    if (Math.abs(value) > largest && Math.abs(value) < Infinity) {
      largest = Math.abs(value);
      at = i;
    }
  }
  return {
    queries,
    keys,
    values,
    hidden,
    largest,
    query: keys > 0 ? Math.floor(at / keys) : 0,
    key: keys > 0 ? at % keys : 0,
    moved,
  };
}
