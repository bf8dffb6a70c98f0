import { load } from "headscope";
import { defineElements } from "headscope/elements";

defineElements();

const numbers = (count, seed) => Float32Array.from({ length: count }, (_, i) => Math.sin(seed + i * 12.9898));
const hs = await load({ variant: "simd" });
const layer = hs.multiHeadAttention(
  { dModel: 8, numHeads: 2 },
  { layout: "in-out", wqkv: numbers(8 * 24, 1), wo: numbers(64, 2) },
);
const { trace } = layer.forward({ data: numbers(32, 3), shape: [1, 4, 8] }, { want: ["trace"] });

document.querySelector("#shapes").trace = trace;
