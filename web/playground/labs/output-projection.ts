/**
 * What the output projection does with the heads: A = Σ_h O_h W_O^(h) + b_O, where W_O^(h) are the dv rows of W_O that
 * belong to head h, its "write address".
 */

import type { AttentionConfig, AttentionWeights, Tensor } from "headscope";
import { solveLeastSquares, svd, transpose } from "./svd.js";

/**
 * - `real`: as the layer has it
 * - `identity`: head h writes its numbers into segment h of the output and nowhere else
 * - `shuffled`: head h writes where head h + 1 did
 * - `cancelling`: every second head takes back what the head before it wrote, as far as its own numbers can; heads that
 *   are off write nothing and take nothing back
 */
export const projections = ["real", "identity", "shuffled", "cancelling"] as const;
export type Projection = (typeof projections)[number];

export interface OutputSizes {
  readonly heads: number;
  /** dv */
  readonly width: number;
  readonly outDim: number;
}

export function outputSizes(config: AttentionConfig, weights: AttentionWeights): OutputSizes {
  const headDim = config.headDim ?? config.dModel / config.numHeads;
  const width = config.valueHeadDim ?? headDim;
  const outDim = weights.wo ? weights.wo.length / (config.numHeads * width) : config.numHeads * width;
  return { heads: config.numHeads, width, outDim };
}

/** W_O as [H·dv, outDim]; without one the output is the concatenation, which is the identity. */
export function realProjection(sizes: OutputSizes, weights: AttentionWeights): Float32Array {
  if (!weights.wo) return identityProjection(sizes);
  if (weights.layout === "in-out") return weights.wo;
  return Float32Array.from(transpose(weights.wo, sizes.outDim, sizes.heads * sizes.width));
}

/**
 * @param outputs [H, T, dv], what the heads have read
 * @param off heads that are switched off
 */
export function projectionOf(
  kind: Projection,
  sizes: OutputSizes,
  real: Float32Array,
  outputs: Tensor,
  off: ReadonlySet<number> = new Set(),
): Float32Array {
  if (kind === "real") return real;
  if (kind === "identity") return identityProjection(sizes);
  return kind === "shuffled" ? shuffledProjection(sizes, real) : cancellingProjection(sizes, real, outputs, off);
}

function identityProjection({ heads, width, outDim }: OutputSizes): Float32Array {
  const wo = new Float32Array(heads * width * outDim);
  for (let i = 0; i < Math.min(heads * width, outDim); i++) wo[i * outDim + i] = 1;
  return wo;
}

function shuffledProjection({ heads, width, outDim }: OutputSizes, real: Float32Array): Float32Array {
  const wo = new Float32Array(real.length);
  const block = width * outDim;
  for (let head = 0; head < heads; head++) {
    const from = ((head + 1) % heads) * block;
    wo.set(real.subarray(from, from + block), head * block);
  }
  return wo;
}

/** Smaller singular values would ask for huge numbers in W_O, which float32 then rounds. */
const LEAST = 1e-4;

function cancellingProjection(
  { heads, width, outDim }: OutputSizes,
  real: Float32Array,
  { data, shape }: Tensor,
  off: ReadonlySet<number>,
) {
  const wo = real.slice();
  const rows = shape[1] as number;
  const block = width * outDim;
  const read = (head: number) => data.subarray(head * rows * width, (head + 1) * rows * width);
  const on = Array.from({ length: heads }, (_, head) => head).filter((head) => !off.has(head));
  for (let i = 1; i < on.length; i += 2) {
    const [other, head] = [on[i - 1], on[i]] as [number, number];
    // With the head g before it, O_h W = −O_g W_O^(g), solved for W: first O_h M = −O_g, which is small, then W = M W_O^(g).
    const opposite = read(other).map((value) => -value);
    const m = solveLeastSquares(svd(read(head), rows, width), opposite, width, LEAST);
    const before = real.subarray(other * block, (other + 1) * block);
    wo.set(product(m, before, width, width, outDim), head * block);
  }
  return wo;
}

function product(a: ArrayLike<number>, b: ArrayLike<number>, rows: number, depth: number, columns: number) {
  const c = new Float64Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < depth; i++) {
      const factor = a[r * depth + i] as number;
      for (let j = 0; j < columns; j++) {
        c[r * columns + j] = (c[r * columns + j] as number) + factor * (b[i * columns + j] as number);
      }
    }
  }
  return c;
}

export interface HeadShare {
  /** ‖O_h W_O^(h)‖, all tokens together. */
  readonly norm: number;
  /** How much of A it makes: ⟨O_h W_O^(h), A⟩ / ‖A‖². The shares of all heads and b_O sum to 1; NaN where A is 0. */
  readonly share: number;
  /** [outDim]: ‖column‖ of O_h W_O^(h): where it writes. */
  readonly places: Float64Array;
}

export interface OutputReport {
  readonly heads: readonly HeadShare[];
  readonly biasShare: number;
  /** ‖A‖ */
  readonly norm: number;
  /** The largest difference of a number between Σ_h O_h W_O^(h) + b_O and the one product. */
  readonly difference: number;
}

/**
 * @param contributions each head's own product, H × T × outDim numbers: [H, T, outDim], or token by token [T, H, 1, outDim]
 * @param output the one product of all, T × outDim numbers
 */
export function reportOutput(contributions: Tensor, output: Tensor, bias: Float32Array | undefined): OutputReport {
  const { shape, data } = contributions;
  const outDim = shape[shape.length - 1] as number;
  const byToken = shape.length === 4;
  const [rows, heads] = byToken ? (shape as [number, number]) : ([shape[1], shape[0]] as [number, number]);
  const whole = output.data;
  const area = rows * outDim;
  const at = (head: number, i: number) =>
    byToken ? (Math.floor(i / outDim) * heads + head) * outDim + (i % outDim) : head * area + i;
  const sum = Float64Array.from({ length: area }, (_, i) => bias?.[i % outDim] ?? 0);
  const squares = whole.reduce((total, value) => total + value * value, 0);
  const biasShare = sum.reduce((total, value, i) => total + value * (whole[i] as number), 0) / squares;
  const shares = Array.from({ length: heads }, (_, head): HeadShare => {
    let [own, along] = [0, 0];
    const places = new Float64Array(outDim);
    for (let i = 0; i < area; i++) {
      const value = data[at(head, i)] as number;
      own += value * value;
      along += value * (whole[i] as number);
      sum[i] = (sum[i] as number) + value;
      places[i % outDim] = (places[i % outDim] as number) + value * value;
    }
    return { norm: Math.sqrt(own), share: along / squares, places: places.map(Math.sqrt) };
  });
  const difference = sum.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (whole[i] as number))), 0);
  return { heads: shares, biasShare, norm: Math.sqrt(squares), difference };
}
