/**
 * What a head of width d_k can aim at: QKᵀ of n tokens has rank d_k at most, so that with d_k < n it cannot make every
 * n × n pattern of scores (Bhojanapalli et al. 2020). The nearest it can come is the best approximation of that rank.
 */

import type { Tensor } from "headscope";
import type { Svd } from "./svd.js";
import { bestOfRank, svd } from "./svd.js";

export interface Target {
  readonly n: number;
  /** [n, n] */
  readonly scores: Float64Array;
  readonly svd: Svd;
}

/** Random scores, the same for the same seed: standard normal times `spread`. */
export function randomTarget(n: number, seed: number, spread = 2): Target {
  const next = mulberry32(seed);
  const scores = Float64Array.from({ length: n * n }, () => {
    // Box and Muller 1958; 1 − u is never 0.
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    return spread * radius * Math.cos(2 * Math.PI * next());
  });
  return { n, scores, svd: svd(scores, n, n) };
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Reach {
  /** [n, n]: the weights of the best scores of that rank. */
  readonly weights: Float32Array;
  /** The largest difference of a weight from the wanted ones. */
  readonly worst: number;
}

/** What a head of width `rank` makes of the target at best. */
export function reachOf({ n, scores, svd: parts }: Target, rank: number): Reach {
  const wanted = softmaxRows(scores, n);
  const weights = rank >= n ? wanted : softmaxRows(bestOfRank(parts, rank), n);
  const worst = weights.reduce((most, weight, i) => Math.max(most, Math.abs(weight - (wanted[i] as number))), 0);
  return { weights, worst };
}

export function softmaxRows(scores: ArrayLike<number>, columns: number): Float32Array {
  const weights = new Float32Array(scores.length);
  for (let row = 0; row < scores.length; row += columns) {
    const line = Array.from({ length: columns }, (_, c) => scores[row + c] as number);
    const top = Math.max(...line);
    const powers = line.map((score) => Math.exp(score - top));
    const sum = powers.reduce((total, power) => total + power, 0);
    for (const [c, power] of powers.entries()) weights[row + c] = power / sum;
  }
  return weights;
}

/** Q Kᵀ of one head, unscaled and unmasked, in double. [n, n], of the first `most` tokens. */
export function scoreProduct(q: Tensor, k: Tensor, head: number, most: number): { n: number; scores: Float64Array } {
  const [heads, queries, width] = q.shape as [number, number, number];
  const [groups, keys] = k.shape as [number, number];
  const n = Math.min(queries, keys, most);
  const shared = Math.floor(head / (heads / groups));
  const scores = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let c = 0; c < width; c++) {
        const a = q.data[(head * queries + i) * width + c] as number;
        sum += a * (k.data[(shared * keys + j) * width + c] as number);
      }
      scores[i * n + j] = sum;
    }
  }
  return { n, scores };
}
