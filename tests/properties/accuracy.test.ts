import { assertValuesClose, OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { Random } from "../support/random.js";
import { eachVariant } from "../variants.js";

// The design's bound where it is hardest to hold: D = 1024, T = 1024, 16 heads of 64. Keys and values of all tokens in
// float64 are 2 · 10⁹ multiply-adds, so two heads are followed through the attention, for some of the queries, and the
// output projection's bound is held through those heads' contributions.

const D = 1024;
const T = 1024;
const HEADS = 16;
const DK = 64;
const FOLLOWED = [0, 11];
const QUERIES = [0, 1, 500, 511, 512, 1023];

interface Exact {
  weights: Map<string, Float64Array>;
  heads: Map<string, Float64Array>;
  contributions: Map<string, Float64Array>;
}

const random = new Random(130);
const config = { dModel: D, numHeads: HEADS };
const weights = drawWeights(config, random);
const x = random.tensor([T, D]);
let cached: Exact | undefined;

/** Columns first..first + 64 of x · w + b for one row. */
function projectRow(row: number, w: Float32Array, b: Float32Array, first: number): Float64Array {
  const out = Float64Array.from(b.subarray(first, first + DK));
  for (let i = 0; i < D; ++i) {
    const xi = x.data[row * D + i] as number;
    for (let o = 0; o < DK; ++o) out[o] = (out[o] as number) + xi * (w[i * D + first + o] as number);
  }
  return out;
}

function exact(): Exact {
  const result: Exact = { weights: new Map(), heads: new Map(), contributions: new Map() };
  for (const h of FOLLOWED) {
    const keys = Array.from({ length: T }, (_, j) => projectRow(j, weights.wk, weights.bk, h * DK));
    const values = Array.from({ length: T }, (_, j) => projectRow(j, weights.wv, weights.bv, h * DK));
    for (const i of QUERIES) {
      const q = projectRow(i, weights.wq, weights.bq, h * DK);
      const scores = keys.map((key) => key.reduce((sum, kd, d) => sum + kd * (q[d] as number), 0) / 8);
      const largest = Math.max(...scores);
      const powers = scores.map((s) => Math.exp(s - largest));
      const total = powers.reduce((a, b) => a + b, 0);
      const row = Float64Array.from(powers, (p) => p / total);
      const head = new Float64Array(DK);
      values.forEach((value, j) => {
        for (let d = 0; d < DK; ++d) head[d] = (head[d] as number) + (row[j] as number) * (value[d] as number);
      });
      const contribution = new Float64Array(D);
      for (let d = 0; d < DK; ++d)
        for (let e = 0; e < D; ++e) {
          contribution[e] =
            (contribution[e] as number) + (head[d] as number) * (weights.wo[(h * DK + d) * D + e] as number);
        }
      result.weights.set(`${h},${i}`, row);
      result.heads.set(`${h},${i}`, head);
      result.contributions.set(`${h},${i}`, contribution);
    }
  }
  return result;
}

eachVariant(
  "accuracy: D 1024, T 1024 against float64, weights within 1e-6 and the rest within 4e-6 of the largest",
  (hs) => {
    cached ??= exact();
    const layer = hs.multiHeadAttention(config, weights);
    const result = layer.forward(x, { want: ["weights", "heads"] });
    // A head alone is its contribution and the bias.
    for (const h of FOLLOWED) {
      const headMask = new Float32Array(HEADS);
      headMask[h] = 1;
      const { output } = layer.forward(x, { headMask, want: [] });
      for (const i of QUERIES) {
        const label = `head ${h}, query ${i}`;
        const key = `${h},${i}`;
        const part = (t: { data: Float32Array }, width: number, row: number) =>
          t.data.subarray(row * width, (row + 1) * width);
        const expected = cached.contributions.get(key)?.map((c, e) => c + (weights.bo[e] as number)) ?? [];
        assertValuesClose(
          part(result.weights, T, h * T + i),
          cached.weights.get(key) ?? [],
          WEIGHTS_TOLERANCE,
          `${label}: weights`,
        );
        assertValuesClose(
          part(result.heads, DK, h * T + i),
          cached.heads.get(key) ?? [],
          OUTPUT_TOLERANCE,
          `${label}: head`,
        );
        assertValuesClose(part(output, D, i), expected, OUTPUT_TOLERANCE, `${label}: output`);
      }
    }
    layer.dispose();
  },
);
