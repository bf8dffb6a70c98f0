import type { Case } from "./cases.ts";

/** The numbers of a case, the same in every run and engine. Weights are [in, out], row by row. */
export interface Problem {
  readonly case: Case;
  /** [T, D] */
  readonly x: Float32Array;
  /** The earlier tokens behind a K/V cache, [cached, D], and their keys and values, [G, cached, d]. */
  readonly past: Float32Array;
  readonly pastKeys: Float32Array;
  readonly pastValues: Float32Array;
  /** Projected heads where the case is attention alone, [H, T, d]; the rest is empty then, and these otherwise. */
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly wv: Float32Array;
  readonly wo: Float32Array;
  readonly bq: Float32Array;
  readonly bk: Float32Array;
  readonly bv: Float32Array;
  readonly bo: Float32Array;
}

/** Keys and values of earlier tokens, projected by whoever can do that fast. */
export type ProjectPast = (problem: Omit<Problem, "pastKeys" | "pastValues">) => {
  keys: Float32Array;
  values: Float32Array;
};

/** Evenly spread numbers of variance scale², as activations and trained weights roughly are. */
function source(seed: number): (length: number, scale: number) => Float32Array {
  let state = seed;
  return (length, scale) =>
    Float32Array.from({ length }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state / 2 ** 31 - 1) * Math.sqrt(3) * scale;
    });
}

export function makeProblem(c: Case, projectPast: ProjectPast): Problem {
  const draw = source(12345);
  const matrix = (rows: number, columns: number) => draw(rows * columns, 1 / Math.sqrt(rows));
  const queries = c.H * c.d;
  const keys = c.G * c.d;
  const none = new Float32Array(0);
  if (c.core) {
    const [q, k, v] = [0, 1, 2].map(() => draw(c.H * c.T * c.d, 1)) as [Float32Array, Float32Array, Float32Array];
    const weights = { wq: none, wk: none, wv: none, wo: none, bq: none, bk: none, bv: none, bo: none };
    return { case: c, x: none, past: none, pastKeys: none, pastValues: none, ...weights, q, k, v };
  }
  const given = {
    case: c,
    ...{ q: none, k: none, v: none },
    x: draw(c.T * c.D, 1),
    past: draw(c.cached * c.D, 1),
    wq: matrix(c.D, queries),
    wk: matrix(c.D, keys),
    wv: matrix(c.D, keys),
    wo: matrix(queries, c.D),
    bq: draw(queries, 0.1),
    bk: draw(keys, 0.1),
    bv: draw(keys, 0.1),
    bo: draw(c.D, 0.1),
  };
  const projected = c.cached > 0 ? projectPast(given) : { keys: none, values: none };
  return { ...given, pastKeys: projected.keys, pastValues: projected.values };
}
