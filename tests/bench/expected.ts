import type { Answer } from "./contender.ts";
import type { Problem } from "./problem.ts";

/** Some query rows of the right answer in float64. */
export interface Expected {
  readonly rows: readonly number[];
  /** [rows, D]; of attention alone [H, rows, d] */
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
  if (problem.case.core) return expectCore(problem, count);
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

function expectCore({ case: c, q, k, v }: Problem, count: number): Expected {
  const { H, T, d } = c;
  const rows = sample(T, count);
  const output = new Float64Array(H * rows.length * d);
  const weights = new Float64Array(H * rows.length * T);
  for (let h = 0; h < H; ++h) {
    rows.forEach((row, r) => {
      const at = h * rows.length + r;
      const seen = c.causal ? row + 1 : T;
      const p = weights.subarray(at * T, (at + 1) * T);
      const exponents = Array.from({ length: seen }, (_, j) => {
        let dot = 0;
        for (let e = 0; e < d; ++e) dot += (q[(h * T + row) * d + e] as number) * (k[(h * T + j) * d + e] as number);
        return dot / Math.sqrt(d);
      });
      const largest = exponents.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY);
      const powers = exponents.map((each) => Math.exp(each - largest));
      const total = powers.reduce((sum, each) => sum + each, 0);
      powers.forEach((power, j) => {
        p[j] = power / total;
        for (let e = 0; e < d; ++e) {
          output[at * d + e] = (output[at * d + e] as number) + (p[j] as number) * (v[(h * T + j) * d + e] as number);
        }
      });
    });
  }
  return { rows, output, weights };
}

/** Largest differences: of the output relative to its largest number, of weights as they are. */
export function errorOf(problem: Problem, expected: Expected, answer: Answer): { output: number; weights: number } {
  const { D, H, T, d, cached, weights, core } = problem.case;
  // Both outputs as rows of numbers that belong to a query: one for each token, or one for each head and token.
  const [count, width] = core ? [H, d] : [1, D];
  const output = compare(answer.output, expected.output, count, T, width, expected.rows);
  const largest = expected.output.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!weights) return { output: output / largest, weights: 0 };
  if (!answer.weights) throw new Error("there are no weights");
  return {
    output: output / largest,
    weights: compare(answer.weights, expected.weights, H, T, cached + T, expected.rows),
  };
}

/** The largest difference between [count, T, width] and the `rows` of it in [count, rows, width]; NaN where one is. */
function compare(
  actual: Float32Array,
  expected: Float64Array,
  count: number,
  T: number,
  width: number,
  rows: readonly number[],
): number {
  if (actual.length !== count * T * width) {
    throw new Error(`${actual.length} numbers came, not ${count} × ${T} × ${width}`);
  }
  let most = 0;
  for (let h = 0; h < count; ++h) {
    rows.forEach((row, r) => {
      for (let i = 0; i < width; ++i) {
        const a = actual[(h * T + row) * width + i] as number;
        const e = expected[(h * rows.length + r) * width + i] as number;
        most = Math.max(most, Math.abs(a - e));
      }
    });
  }
  return most;
}
