/**
 * The NumPy tutorial's own example: four random vectors of eight numbers, two heads, all matrices drawn from seed 42.
 * Nothing here was learned, and the weights show it: every one lies within .230–.274.
 */

import type { Tensor } from "headscope";
import { say } from "../../i18n/index.js";
import type { Token, Unit } from "../tokens.js";
import { LegacyRandom } from "./numpy-random.js";
import { openLayer } from "./run-layer.js";
import type { HeadSource } from "./source.js";

const T = 4;
const D = 8;
const HEADS = 2;

export interface Seed42 {
  /** Double precision, in the order the tutorial draws them. */
  readonly x: Float64Array;
  readonly wq: Float64Array;
  readonly wk: Float64Array;
  readonly wv: Float64Array;
  readonly wo: Float64Array;
}

export function drawSeed42(): Seed42 {
  const random = new LegacyRandom(42);
  const x = random.randn(T * D);
  const [wq, wk, wv, wo] = Array.from({ length: 4 }, () => random.randn(D * D).map((value) => value * 0.1)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { x, wq, wk, wv, wo };
}

const tokens: readonly Token[] = Array.from({ length: T }, (_, i) => ({ text: `x${i}`, start: 0, end: 0, id: i }));

export const numpySeed42 = {
  id: "numpy",
  title: () => say("source.numpy"),
  about: () => say("source.numpy.about"),
  input: {
    code: "np.random.seed(42)\nT, d_model, h = 4, 8, 2\nX = np.random.randn(T, d_model)\nW_Q, W_K, W_V, W_O = (np.random.randn(d_model, d_model) * 0.1 for _ in range(4))",
  },
  maxTokens: T,
  layers: 1,
  numHeads: HEADS,
  causal: "free",
  splits: false,
  tokenize: (_text: string, _unit: Unit) => ({ tokens, cutAt: null }),
  open(core) {
    const drawn = drawSeed42();
    const weights = {
      layout: "in-out",
      wq: Float32Array.from(drawn.wq),
      wk: Float32Array.from(drawn.wk),
      wv: Float32Array.from(drawn.wv),
      wo: Float32Array.from(drawn.wo),
    } as const;
    const x: Tensor = { data: Float32Array.from(drawn.x), shape: [T, D] };
    return openLayer(core, { dModel: D, numHeads: HEADS }, weights, [{}, {}], () => x);
  },
} as const satisfies HeadSource;
