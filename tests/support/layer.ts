import type { AttentionConfig } from "headscope";
import type { Random } from "./random.js";

export interface DrawnWeights {
  layout: "in-out" | "out-in";
  wq: Float32Array;
  wk: Float32Array;
  wv: Float32Array;
  wo: Float32Array;
  bq: Float32Array;
  bk: Float32Array;
  bv: Float32Array;
  bo: Float32Array;
}

/** Weights of unit gain and biases for a configuration, in-out unless said. */
export function drawWeights(c: AttentionConfig, random: Random, layout: "in-out" | "out-in" = "in-out"): DrawnWeights {
  const dk = c.headDim ?? c.dModel / c.numHeads;
  const dv = c.valueHeadDim ?? dk;
  const groups = c.numKVHeads ?? c.numHeads;
  const keyDim = c.keyDim ?? c.dModel;
  const outDim = c.outDim ?? c.dModel;
  const matrix = (inputs: number, outputs: number): Float32Array =>
    random.values(inputs * outputs, 1 / Math.sqrt(inputs));
  return {
    layout,
    wq: matrix(c.dModel, c.numHeads * dk),
    wk: matrix(keyDim, groups * dk),
    wv: matrix(c.valueDim ?? keyDim, groups * dv),
    wo: matrix(c.numHeads * dv, outDim),
    bq: random.values(c.numHeads * dk),
    bk: random.values(groups * dk),
    bv: random.values(groups * dv),
    bo: random.values(outDim),
  };
}

/** [rows,columns] to [columns,rows]. */
export function transposed(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(matrix.length);
  for (let r = 0; r < rows; ++r)
    for (let c = 0; c < columns; ++c) out[c * rows + r] = matrix[r * columns + c] as number;
  return out;
}

/** Matrices of equal height side by side: the fused in-out weight. */
export function sideBySide(rows: number, ...parts: Float32Array[]): Float32Array {
  const widths = parts.map((p) => p.length / rows);
  const total = widths.reduce((a, b) => a + b, 0);
  const out = new Float32Array(rows * total);
  for (let r = 0; r < rows; ++r) {
    let at = r * total;
    parts.forEach((p, i) => {
      const width = widths[i] as number;
      out.set(p.subarray(r * width, (r + 1) * width), at);
      at += width;
    });
  }
  return out;
}

export function joined(...parts: Float32Array[]): Float32Array {
  const out = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}
