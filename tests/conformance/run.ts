import type { TestContext } from "node:test";
import type { ForwardOptions, Headscope, Tensor, Want } from "headscope";
import { assertClose, type Tolerance } from "../support/compare.js";
import type { AttentionCall, ConformanceCase, LayerCall } from "./cases.js";

/** Through hs.attention(): with the weights, and again output only, which takes the streaming path. */
function runAttention(hs: Headscope, name: string, call: AttentionCall, tolerance: Tolerance): void {
  const want: Want[] = ["weights", "scores"];
  const result = hs.attention(call.q, call.k, call.v, { ...call.options, want });
  assertClose(result.output, call.output, tolerance, `${name}: output`);
  if (call.weights) assertClose(result.weights, call.weights, tolerance, `${name}: weights`);
  if (call.scores) assertClose(result.scores, call.scores, tolerance, `${name}: scores`);
  const alone = hs.attention(call.q, call.k, call.v, { ...call.options, want: [] });
  assertClose(alone.output, call.output, tolerance, `${name}: output alone`);
}

/** Through a layer, its past in a KVCache. */
function runLayer(hs: Headscope, name: string, call: LayerCall, tolerance: Tolerance): void {
  const layer = hs.multiHeadAttention(call.config, call.weights);
  const batch = call.query.shape[0] as number;
  const fresh = (call.key ?? call.query).shape[1] as number;
  const pastLength = call.past ? (call.past.key.shape[1] as number) : 0;
  const cache = call.past ? layer.createCache({ batch, capacity: pastLength + fresh }) : undefined;
  try {
    if (call.past && cache) {
      const filler: Tensor = {
        data: new Float32Array(batch * call.config.dModel),
        shape: [batch, 1, call.config.dModel],
      };
      layer.forward(filler, { ...call.past, cache, want: [] });
    }
    const want: Want[] = ["weights", "scores", "k", "v"];
    const options: ForwardOptions<Want> = { ...call.options, want };
    if (call.key) options.key = call.key;
    if (call.value) options.value = call.value;
    if (cache) options.cache = cache;
    const result = layer.forward(call.query, options);
    assertClose(result.output, call.output, tolerance, `${name}: output`);
    if (call.attention) assertClose(result.weights, call.attention, tolerance, `${name}: weights`);
    if (call.scores) assertClose(result.scores, call.scores, tolerance, `${name}: scores`);
    if (call.presentKey) assertClose(result.k, call.presentKey, {}, `${name}: present key`);
    if (call.presentValue) assertClose(result.v, call.presentValue, {}, `${name}: present value`);
  } finally {
    cache?.dispose();
    layer.dispose();
  }
}

export function runCase(hs: Headscope, c: ConformanceCase): void {
  for (const call of c.attention) runAttention(hs, c.name, call, c.tolerance);
  for (const call of c.layer) runLayer(hs, `${c.name} as a layer`, call, c.tolerance);
}

/** A subtest for each case over one instance: hundreds of calls of ever changing shapes share its memory. */
export async function runCases(hs: Headscope, t: TestContext, cases: Iterable<ConformanceCase>): Promise<void> {
  for (const c of cases) await t.test(c.name, () => runCase(hs, c));
}
