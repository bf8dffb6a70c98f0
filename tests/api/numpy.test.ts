import assert from "node:assert/strict";
import type { Tensor } from "headscope";
import { assertValuesClose } from "../support/compare.ts";
import { eachVariant } from "../variants.ts";
import { NumpyRandom } from "./numpy-random.ts";

// The NumPy reference of the second tutorial: seed 42, T=4, D=8, h=2. Expected values are NumPy's, in double precision,
// rounded to six decimals (weights) or as the tutorial prints them.

const HEAD_1 = [
  0.239867, 0.253281, 0.232732, 0.27412, 0.251004, 0.248395, 0.240625, 0.259975, 0.270394, 0.248689, 0.249463, 0.231453,
  0.236235, 0.263387, 0.259972, 0.240407,
];
const HEAD_2 = [
  0.237872, 0.265981, 0.262063, 0.234084, 0.258286, 0.230032, 0.250392, 0.26129, 0.25516, 0.241349, 0.255823, 0.247668,
  0.252554, 0.248661, 0.237736, 0.261048,
];
const OUTPUT = [
  -0.027567, -0.013464, -0.0535, -0.033562, -0.014716, 0.013335, 0.067172, -0.026077, -0.021876, -0.010962, -0.054477,
  -0.025754, -0.016007, 0.012537, 0.051527, -0.023008, -0.021653, -0.012259, -0.049011, -0.025349, -0.018604, 0.015008,
  0.05146, -0.02276, -0.022927, -0.008778, -0.060314, -0.029095, -0.01246, 0.012565, 0.053584, -0.02483,
];
const CAUSAL_HEAD_1 = [1, 0, 0, 0, 0.503, 0.497, 0, 0, 0.352, 0.324, 0.325, 0, 0.236, 0.263, 0.26, 0.24];
const CAUSAL_HEAD_2 = [1, 0, 0, 0, 0.529, 0.471, 0, 0, 0.339, 0.321, 0.34, 0, 0.253, 0.249, 0.238, 0.261];

function example() {
  const random = new NumpyRandom(42);
  const query: Tensor = { data: random.randn(32), shape: [4, 8] };
  const [wq, wk, wv, wo] = [0, 1, 2, 3].map(() => random.randn(64, 0.1)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  return { query, weights: { layout: "in-out", wq, wk, wv, wo } as const };
}

eachVariant("F1, F2: seed 42 gives NumPy's weights and output to six decimals", (hs) => {
  const { query, weights } = example();
  const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, weights);
  const result = layer.forward(query);
  assert.deepEqual(result.weights.shape, [2, 4, 4]);
  assertValuesClose(result.weights.data, [...HEAD_1, ...HEAD_2], { absolute: 1e-6 }, "weights");
  assertValuesClose(result.output.data, OUTPUT, { absolute: 1e-6 }, "output");
  const printed = (head: number) =>
    [...result.weights.data.subarray(head * 16, head * 16 + 4)].map((w) => w.toFixed(3));
  assert.deepEqual(printed(0), ["0.240", "0.253", "0.233", "0.274"]);
  assert.deepEqual(printed(1), ["0.238", "0.266", "0.262", "0.234"]);
});

eachVariant("F3: the random weights all lie between .230 and .274", (hs) => {
  const { query, weights } = example();
  const { data } = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, weights).forward(query).weights;
  assert.equal(Math.min(...data).toFixed(3), "0.230");
  assert.equal(Math.max(...data).toFixed(3), "0.274");
});

eachVariant("F1: causal, and the lower triangle as a mask, give NumPy's masked weights", (hs) => {
  const { query, weights } = example();
  const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, weights);
  const lower = Uint8Array.from({ length: 16 }, (_, at) => (at % 4 <= Math.floor(at / 4) ? 1 : 0));
  for (const options of [{ causal: true }, { mask: { data: lower, shape: [4, 4] } }]) {
    const result = layer.forward(query, options);
    const expected = [...CAUSAL_HEAD_1, ...CAUSAL_HEAD_2];
    assertValuesClose(result.weights.data, expected, { absolute: 0.0005 + 1e-6 }, Object.keys(options).join());
  }
});
