import { type Contender, isSlowCase } from "../contender.ts";

/** y = x W + b in the order of loops that suits a cache: rows of W are read along. */
function multiply(
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array,
  rows: number,
  y = new Float32Array(rows * bias.length),
): Float32Array {
  const columns = bias.length;
  const depth = w.length / columns;
  for (let i = 0; i < rows; ++i) {
    y.set(bias, i * columns);
    for (let k = 0; k < depth; ++k) {
      const a = x[i * depth + k] as number;
      for (let j = 0; j < columns; ++j)
        y[i * columns + j] = (y[i * columns + j] as number) + a * (w[k * columns + j] as number);
    }
  }
  return y;
}

/** Multi-head attention as one would write it in JavaScript without a library. Earlier keys and values lie in arrays. */
export const plain: Contender = {
  name: "plain JS",
  tolerance: 1e-4,
  takes: (c) => !isSlowCase(c),
  async prepare(p) {
    const { D, H, d, T, cached, causal, weights, reused } = p.case;
    const S = cached + T;
    const makeWeights = () => (weights ? new Float32Array(H * T * S) : undefined);
    const givenOutput = reused ? new Float32Array(T * D) : undefined;
    const givenWeights = reused ? makeWeights() : undefined;
    const run = () => {
      const q = multiply(p.x, p.wq, p.bq, T);
      const k = multiply(p.x, p.wk, p.bk, T);
      const v = multiply(p.x, p.wv, p.bv, T);
      const concat = new Float32Array(T * D);
      const all = givenWeights ?? makeWeights(); // what a mask hides is 0 in it from the beginning
      const row = new Float32Array(S);
      const scale = 1 / Math.sqrt(d);
      for (let h = 0; h < H; ++h) {
        for (let i = 0; i < T; ++i) {
          const seen = causal ? cached + i + 1 : S;
          let largest = Number.NEGATIVE_INFINITY;
          for (let j = 0; j < seen; ++j) {
            const old = j < cached;
            const keys = old ? p.pastKeys : k;
            const at = old ? (h * cached + j) * d : (j - cached) * D + h * d;
            let score = 0;
            for (let c = 0; c < d; ++c) score += (q[i * D + h * d + c] as number) * (keys[at + c] as number);
            score *= scale;
            row[j] = score;
            if (score > largest) largest = score;
          }
          let sum = 0;
          for (let j = 0; j < seen; ++j) {
            const e = Math.exp((row[j] as number) - largest);
            row[j] = e;
            sum += e;
          }
          for (let j = 0; j < seen; ++j) {
            const weight = (row[j] as number) / sum;
            row[j] = weight;
            const old = j < cached;
            const values = old ? p.pastValues : v;
            const at = old ? (h * cached + j) * d : (j - cached) * D + h * d;
            for (let c = 0; c < d; ++c) {
              const to = i * D + h * d + c;
              concat[to] = (concat[to] as number) + weight * (values[at + c] as number);
            }
          }
          all?.set(row.subarray(0, seen), (h * T + i) * S);
        }
      }
      return { output: multiply(concat, p.wo, p.bo, T, givenOutput), weights: all };
    };
    return { run, dispose() {} };
  },
};
