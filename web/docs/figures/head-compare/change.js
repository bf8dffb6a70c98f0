import { load } from "headscope";

const numbers = (count, seed) => Float32Array.from({ length: count }, (_, i) => 0.35 * Math.sin(seed + i * 12.9898));
const hs = await load({ variant: "simd" });
const layer = hs.multiHeadAttention(
  { dModel: 16, numHeads: 2 },
  { layout: "in-out", wq: numbers(256, 1), wk: numbers(256, 2), wv: numbers(256, 3) },
);
const x = { data: numbers(8 * 16, 5), shape: [8, 16] };
const tokens = [..."ABCDEFGH"];
const [free, causal] = [false, true].map((causal) => layer.forward(x, { causal }).weights);

Object.assign(document.querySelector("#before-after"), {
  tokens,
  left: { weights: free, label: "every key" },
  right: { weights: causal, causal: true, label: "no later key" },
});
