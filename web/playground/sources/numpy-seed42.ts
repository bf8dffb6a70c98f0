/**
 * The NumPy tutorial's own example: four random vectors of eight numbers, two heads, all matrices drawn from seed 42.
 * Nothing here was learned, and the weights show it: every one lies within .230–.274.
 */

import { say } from "../../i18n/index.js";
import type { Token, Unit } from "../tokens.js";
import type { HeadSource } from "./source.js";

export const T = 4;
export const HEADS = 2;

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
  // What draws the numbers is fetched with the first look at them.
  open: async (core) => (await import("./numpy-draw.js")).openSeed42(core),
} as const satisfies HeadSource;
