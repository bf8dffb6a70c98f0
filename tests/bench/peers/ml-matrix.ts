import type { Matrix } from "ml-matrix";
import { type Contender, isSlowCase } from "../contender.ts";

/** ml-matrix: float64 matrices in plain JavaScript. Its matrices have two axes, so heads come one after the other. */
export const mlMatrix: Contender = {
  name: "ml-matrix",
  tolerance: 1e-4,
  takes: (c) => !isSlowCase(c),
  async prepare(p) {
    const { Matrix } = await import("ml-matrix");
    const { D, H, d, T, cached, causal, weights } = p.case;
    const S = cached + T;
    const square = (w: Float32Array) => Matrix.from1DArray(D, D, w);
    const [wq, wk, wv, wo] = [square(p.wq), square(p.wk), square(p.wv), square(p.wo)] as const;
    const past = (data: Float32Array, h: number) =>
      Matrix.from1DArray(cached, d, data.subarray(h * cached * d, (h + 1) * cached * d));
    const pastKeys = Array.from({ length: cached > 0 ? H : 0 }, (_, h) => past(p.pastKeys, h));
    const pastValues = Array.from({ length: cached > 0 ? H : 0 }, (_, h) => past(p.pastValues, h));
    /** The head's columns of the new tokens, behind its earlier rows. */
    const rowsOf = (fresh: Matrix, earlier: Matrix | undefined, h: number): Matrix => {
      const part = fresh.subMatrix(0, T - 1, h * d, (h + 1) * d - 1);
      if (!earlier) return part;
      return new Matrix(S, d).setSubMatrix(earlier, 0, 0).setSubMatrix(part, cached, 0);
    };
    const softmax = (scores: Matrix): void => {
      for (let i = 0; i < T; ++i) {
        const seen = causal ? cached + i + 1 : S;
        let largest = Number.NEGATIVE_INFINITY;
        for (let j = 0; j < seen; ++j) largest = Math.max(largest, scores.get(i, j));
        let sum = 0;
        for (let j = 0; j < S; ++j) {
          const e = j < seen ? Math.exp(scores.get(i, j) - largest) : 0;
          scores.set(i, j, e);
          sum += e;
        }
        for (let j = 0; j < seen; ++j) scores.set(i, j, scores.get(i, j) / sum);
      }
    };
    return {
      run() {
        const x = Matrix.from1DArray(T, D, p.x);
        const q = x.mmul(wq).addRowVector(p.bq);
        const k = x.mmul(wk).addRowVector(p.bk);
        const v = x.mmul(wv).addRowVector(p.bv);
        const concat = new Matrix(T, D);
        const all = weights ? new Float32Array(H * T * S) : undefined;
        for (let h = 0; h < H; ++h) {
          const keys = rowsOf(k, pastKeys[h], h);
          const scores = rowsOf(q, undefined, h)
            .mmul(keys.transpose())
            .mul(1 / Math.sqrt(d));
          softmax(scores);
          concat.setSubMatrix(scores.mmul(rowsOf(v, pastValues[h], h)), 0, h * d);
          all?.set(scores.to1DArray(), h * T * S);
        }
        return { output: Float32Array.from(concat.mmul(wo).addRowVector(p.bo).to1DArray()), weights: all };
      },
      dispose() {},
    };
  },
};
