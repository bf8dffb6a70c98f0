/**
 * An app that runs a layer on the page and in a worker and compares the bits.
 *
 * @param worker the expression that names the worker's script, which is all that differs between bundlers
 */
export const workerApp = (imports: string, worker: string): string => `
import { HeadscopeError, load } from "headscope";
import { loadWorker } from "headscope/worker";
${imports}
const hs = await load();
const remote = await loadWorker({ worker: ${worker} });
const values = (count, seed) => Float32Array.from({ length: count }, (_, i) => Math.sin(seed + i * 12.9898));
const x = { data: values(6 * 32, 1), shape: [6, 32] };
const config = { dModel: 32, numHeads: 4, numKVHeads: 2, rope: { pairing: "adjacent" } };
const weights = { layout: "in-out", wq: values(1024, 2), wk: values(512, 3), wv: values(512, 4), wo: values(1024, 5) };
const here = hs.multiHeadAttention(config, weights).forward(x, { causal: true, want: ["weights", "contributions"] });
const layer = await remote.multiHeadAttention(config, weights);
const there = await layer.forward(x, { causal: true, want: ["weights", "contributions"] });
const bits = (result) => [result.output, result.weights, result.contributions].map(({ data }) => [...new Uint32Array(data.buffer)]);
const refusal = await layer.forward({ data: x.data, shape: [32, 6] }).catch((error) => error);
console.log(JSON.stringify({
  variants: [hs.variant, remote.variant],
  equal: JSON.stringify(bits(here)) === JSON.stringify(bits(there)),
  whole: x.data.length,
  refusal: [refusal instanceof HeadscopeError, refusal.code, refusal.argument],
}));
`;

/** What it prints. */
export const EXPECTED = {
  variants: ["relaxed", "relaxed"],
  equal: true,
  whole: 192,
  refusal: [true, "shape", "query.shape"],
};

/** For bundlers that know workers, and need nothing set. */
export const NEW_URL = 'new Worker(new URL("headscope/worker-script", import.meta.url), { type: "module" })';
