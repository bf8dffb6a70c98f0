import { load } from "headscope";

const hs = await load({ variant: "simd" });
const layer = hs.multiHeadAttention(
  { dModel: 8, numHeads: 4, numKVHeads: 2 },
  {
    layout: "out-in",
    wq: new Float32Array(64),
    wk: new Float32Array(32),
    wv: new Float32Array(32),
    wo: new Float32Array(64),
  },
);
const { trace } = layer.forward({ data: new Float32Array(24), shape: [3, 8] }, { causal: true, want: ["trace"] });

document.querySelector("#grouped").trace = trace;
