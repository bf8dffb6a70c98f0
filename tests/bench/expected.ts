import type { Answer } from "./contender.ts";
import type { Problem } from "./problem.ts";

/** Some query rows of the right answer in float64. */
export interface Expected {
  readonly rows: readonly number[];
  /** [rows, D] */
  readonly output: Float64Array;
  /** [H, rows, S] */
  readonly weights: Float64Array;
}

const SAMPLED_ROWS = 12;

/** First, last and rows between them. */
function sample(T: number, count: number): number[] {
  const n = Math.min(T, count);
  return Array.from({ length: n }, (_, i) => (n === 1 ? 0 : Math.round((i * (T - 1)) / (n - 1))));
}

/**
 * The layer's definition for a few queries, in another order than any contender has: a query is taken back through W_k
 * (q · (x W_k) = (W_k q) · x), and the values are mixed before W_v instead of behind it. So no row needs all keys and
 * values, and the check takes a second where the whole answer would take ten.
 */
export function expect(problem: Problem, count = SAMPLED_ROWS): Expected {
  const { case: c, x, past, wq, wk, wv, wo, bq, bk, bv, bo } = problem;
  const { D, H, G, d, T } = c;
  const S = c.cached + T;
  const source = new Float64Array(S * D);
  source.set(past);
  source.set(x, c.cached * D);
  const rows = sample(T, count);
  const output = new Float64Array(rows.length * D);
  const weights = new Float64Array(H * rows.length * S);
  const at = (data: Float32Array | Float64Array, i: number) => data[i] as number;
  const query = new Float64Array(d);
  const back = new Float64Array(D);
  const mixed = new Float64Array(D);
  rows.forEach((row, r) => {
    const seen = c.causal ? c.cached + row + 1 : S;
    output.set(bo, r * D);
    for (let h = 0; h < H; ++h) {
      const g = Math.floor(h / (H / G));
      for (let e = 0; e < d; ++e) {
        let sum = at(bq, h * d + e);
        for (let i = 0; i < D; ++i) sum += at(x, row * D + i) * at(wq, i * H * d + h * d + e);
        query[e] = sum;
      }
      let constant = 0;
      for (let e = 0; e < d; ++e) constant += at(query, e) * at(bk, g * d + e);
      for (let i = 0; i < D; ++i) {
        let sum = 0;
        for (let e = 0; e < d; ++e) sum += at(query, e) * at(wk, i * G * d + g * d + e);
        back[i] = sum;
      }
      const p = weights.subarray((h * rows.length + r) * S, (h * rows.length + r + 1) * S);
      let largest = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < seen; ++j) {
        let score = constant;
        for (let i = 0; i < D; ++i) score += at(back, i) * at(source, j * D + i);
        p[j] = score / Math.sqrt(d);
        largest = Math.max(largest, at(p, j));
      }
      let total = 0;
      for (let j = 0; j < seen; ++j) total += p[j] = Math.exp(at(p, j) - largest);
      mixed.fill(0);
      for (let j = 0; j < seen; ++j) {
        const weight = at(p, j) / total;
        p[j] = weight;
        for (let i = 0; i < D; ++i) mixed[i] = at(mixed, i) + weight * at(source, j * D + i);
      }
      for (let e = 0; e < d; ++e) {
        let value = at(bv, g * d + e);
        for (let i = 0; i < D; ++i) value += at(mixed, i) * at(wv, i * G * d + g * d + e);
        for (let i = 0; i < D; ++i) output[r * D + i] = at(output, r * D + i) + value * at(wo, (h * d + e) * D + i);
      }
    }
  });
  return { rows, output, weights };
}

/** Largest differences: of the output relative to its largest number, of weights as they are. */
export function errorOf(problem: Problem, expected: Expected, answer: Answer): { output: number; weights: number } {
  const { D, H, T, cached, weights } = problem.case;
  const S = cached + T;
  const n = expected.rows.length;
  if (answer.output.length !== T * D) throw new Error(`the output has ${answer.output.length} numbers, not ${T * D}`);
  const largest = expected.output.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let ofOutput = 0;
  let ofWeights = 0;
  expected.rows.forEach((row, r) => {
    for (let i = 0; i < D; ++i) {
      const difference = (answer.output[row * D + i] as number) - (expected.output[r * D + i] as number);
      ofOutput = Math.max(ofOutput, Math.abs(difference) / largest);
    }
    if (!weights) return;
    if (answer.weights?.length !== H * T * S) {
      throw new Error(`the weights have ${answer.weights?.length ?? "no"} numbers, not ${H * T * S}`);
    }
    for (let h = 0; h < H; ++h) {
      for (let j = 0; j < S; ++j) {
        const difference =
          (answer.weights[(h * T + row) * S + j] as number) - (expected.weights[(h * n + r) * S + j] as number);
        ofWeights = Math.max(ofWeights, Math.abs(difference));
      }
    }
  });
  return { output: ofOutput, weights: ofWeights };
}
