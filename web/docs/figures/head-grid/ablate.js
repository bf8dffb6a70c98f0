import { load } from "headscope";

const numbers = (count, seed) => Float32Array.from({ length: count }, (_, i) => Math.sin(seed + i * 12.9898));
const hs = await load({ variant: "simd" });
const layer = hs.multiHeadAttention(
  { dModel: 16, numHeads: 4 },
  { layout: "in-out", wq: numbers(256, 1), wk: numbers(256, 2), wv: numbers(256, 3), wo: numbers(256, 4) },
);
const x = { data: numbers(12 * 16, 5), shape: [12, 16] };
const whole = layer.forward(x, { causal: true });

const grid = document.querySelector("#switches");
Object.assign(grid, { weights: whole.weights, causal: true });
grid.state.addEventListener("change", () => {
  const headMask = Float32Array.from({ length: 4 }, (_, head) => (grid.state.off.has(head) ? 0 : 1));
  const { output } = layer.forward(x, { causal: true, headMask, want: [] });
  let [difference, length] = [0, 0];
  output.data.forEach((value, i) => {
    difference += (value - whole.output.data[i]) ** 2;
    length += whole.output.data[i] ** 2;
  });
  document.querySelector("#change").value = `${(100 * Math.sqrt(difference / length)).toFixed(1)} %`;
});
