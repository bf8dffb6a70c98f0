import { load } from "headscope";

const keys = ["le", " petit", " chat", " noir", " dort"];
const queries = ["the", " small", " cat"];
const numbers = (count, seed) => Float32Array.from({ length: count }, (_, i) => 1.5 * Math.sin(seed + i * 12.9898));

const hs = await load({ variant: "simd" });
const layer = hs.multiHeadAttention(
  { dModel: 8, numHeads: 2 },
  { layout: "in-out", wq: numbers(64, 1), wk: numbers(64, 2), wv: numbers(64, 3) },
);
const { weights } = layer.forward(
  { data: numbers(queries.length * 8, 4), shape: [queries.length, 8] },
  { key: { data: numbers(keys.length * 8, 5), shape: [keys.length, 8] } },
);

Object.assign(document.querySelector("#cross"), { weights, tokens: queries, keyTokens: keys });
