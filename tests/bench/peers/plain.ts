import type { AttentionConfig } from "headscope";

/** Projection matrices as x W takes them, [in, out] row by row. */
export interface PlainWeights {
  wq: Float32Array;
  wk: Float32Array;
  wv: Float32Array;
  wo: Float32Array;
}

/** y = x W in the order of loops that suits a cache: rows of W are read along. */
function multiply(x: Float32Array, w: Float32Array, rows: number, depth: number, columns: number): Float32Array {
  const y = new Float32Array(rows * columns);
  for (let i = 0; i < rows; ++i) {
    for (let k = 0; k < depth; ++k) {
      const a = x[i * depth + k] as number;
      for (let j = 0; j < columns; ++j)
        y[i * columns + j] = (y[i * columns + j] as number) + a * (w[k * columns + j] as number);
    }
  }
  return y;
}

/** Multi-head self-attention as one would write it in JavaScript without a library: the yardstick of the benchmark. */
export function plainAttention(
  x: Float32Array,
  T: number,
  config: AttentionConfig,
  weights: PlainWeights,
): Float32Array {
  const { dModel: D, numHeads: H } = config;
  const d = D / H;
  const q = multiply(x, weights.wq, T, D, D);
  const k = multiply(x, weights.wk, T, D, D);
  const v = multiply(x, weights.wv, T, D, D);
  const concat = new Float32Array(T * D);
  const row = new Float32Array(T);
  for (let h = 0; h < H; ++h) {
    for (let i = 0; i < T; ++i) {
      let largest = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < T; ++j) {
        let score = 0;
        for (let c = h * d; c < (h + 1) * d; ++c) score += (q[i * D + c] as number) * (k[j * D + c] as number);
        score /= Math.sqrt(d);
        row[j] = score;
        if (score > largest) largest = score;
      }
      let sum = 0;
      for (let j = 0; j < T; ++j) {
        const e = Math.exp((row[j] as number) - largest);
        row[j] = e;
        sum += e;
      }
      for (let j = 0; j < T; ++j) {
        const weight = (row[j] as number) / sum;
        for (let c = h * d; c < (h + 1) * d; ++c) {
          concat[i * D + c] = (concat[i * D + c] as number) + weight * (v[j * D + c] as number);
        }
      }
    }
  }
  return multiply(concat, weights.wo, T, D, D);
}
