import assert from "node:assert/strict";
import type { Want } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { Random } from "../support/random.js";
import { eachVariant } from "../variants.js";

const ALL: Want[] = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions", "trace"];

eachVariant("asking for more outputs changes nothing: every want alone, all, and random sets", (hs) => {
  const random = new Random(81);
  const config = { dModel: 20, numHeads: 4, numKVHeads: 2, headDim: 6, valueHeadDim: 7 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  for (const length of [1, 6, 37]) {
    const x = random.tensor([2, length, 20]);
    for (const options of [{}, { causal: true, headMask: Float32Array.of(1, 0, 0.5, 2) }]) {
      const everything = layer.forward(x, { ...options, want: ALL });
      const sets: Want[][] = ALL.map((w) => [w]);
      for (let i = 0; i < 12; ++i) sets.push(ALL.filter(() => random.uniform() < 0.5));
      for (const want of sets) {
        const some = layer.forward(x, { ...options, want });
        const label = `${length} tokens, want [${want}]`;
        assertClose(some.output, everything.output, { absolute: 1e-6, relative: 1e-6 }, `${label}: output`);
        for (const name of want) {
          if (name === "trace") continue;
          const [a, b] = [some[name], everything[name]];
          assert.ok(a && b, `${label}: ${name}`);
          assertClose(a, b, { absolute: 1e-6, relative: 1e-6 }, `${label}: ${name}`);
        }
      }
      // The same path serves these, so not even the last bit may move.
      const weightsOnly = layer.forward(x, { ...options, want: ["weights"] });
      assertSameBits(weightsOnly.output.data, everything.output.data, `${length} tokens: output beside weights`);
      assertSameBits(weightsOnly.weights.data, everything.weights.data, `${length} tokens: weights`);
    }
  }
  layer.dispose();
});

eachVariant("contributions and the output bias add up to the output; concat is the gated heads", (hs) => {
  const random = new Random(82);
  const config = { dModel: 18, numHeads: 3, valueHeadDim: 5, outDim: 11 };
  const weights = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, weights);
  const x = random.tensor([2, 9, 18]);
  const { output, contributions, concat, heads } = layer.forward(x, { want: ["contributions", "concat", "heads"] });
  const sum = new Float64Array(2 * 9 * 11);
  for (let b = 0; b < 2; ++b)
    for (let h = 0; h < 3; ++h)
      for (let i = 0; i < 99; ++i) {
        const at = b * 99 + i;
        sum[at] = (sum[at] as number) + (contributions.data[(b * 3 + h) * 99 + i] as number);
      }
  const expected = sum.map((c, at) => c + (weights.bo[at % 11] as number));
  assertClose(
    output,
    { data: expected, shape: [2, 9, 11] },
    { absolute: 2e-6, relative: 2e-6 },
    "sum of contributions",
  );
  concat.data.forEach((value, at) => {
    const [b, i, h, d] = [Math.floor(at / 135), Math.floor(at / 15) % 9, Math.floor(at / 5) % 3, at % 5];
    assert.equal(value, heads.data[((b * 3 + h) * 9 + i) * 5 + d]);
  });
  layer.dispose();
});
