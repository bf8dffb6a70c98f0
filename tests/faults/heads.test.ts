import assert from "node:assert/strict";
import type { AttentionConfig } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { Random } from "../support/random.js";
import { slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";

// Group E of the fault list: heads and groups.

eachVariant("E02: head counts that do not divide are refused with the numbers, before any memory is taken", (hs) => {
  const empty = new Float32Array(0);
  const weights = { layout: "in-out", wq: empty, wk: empty, wv: empty, wo: empty } as const;
  const bad: [AttentionConfig, string, RegExp[]][] = [
    [{ dModel: 20, numHeads: 5, numKVHeads: 2 }, "HeadscopeError", [/\b5\b/, /\b2\b/]],
    [{ dModel: 10, numHeads: 3 }, "HeadscopeError", [/\b10\b/, /\b3\b/]],
    [{ dModel: 8, numHeads: 2, numKVHeads: 4 }, "HeadscopeError", [/\b2\b/, /\b4\b/]],
    [{ dModel: 8, numHeads: 0 }, "RangeError", [/numHeads/, /\b0\b/]],
    [{ dModel: 8, numHeads: -2 }, "RangeError", [/numHeads/, /-2/]],
    [{ dModel: 8, numHeads: 2.5 }, "RangeError", [/numHeads/, /2\.5/]],
    [{ dModel: 8, numHeads: 2, numKVHeads: 0 }, "RangeError", [/numKVHeads/, /\b0\b/]],
    [{ dModel: 8, numHeads: 2 ** 31 }, "RangeError", [/numHeads/, /2147483648/]],
  ];
  const before = hs.memory();
  for (const [config, name, patterns] of bad) {
    assert.throws(
      () => hs.multiHeadAttention(config, weights),
      (error: Error) => {
        assert.equal(error.name, name, error.message);
        for (const pattern of patterns) assert.match(error.message, pattern);
        return true;
      },
    );
  }
  assert.deepEqual(hs.memory(), before);
});

eachVariant("E02: in attention() too: 5 query heads do not read 2 K/V heads", (hs) => {
  const random = new Random(51);
  assert.throws(
    () => hs.attention(random.tensor([1, 5, 3, 4]), random.tensor([1, 2, 3, 4]), random.tensor([1, 2, 3, 4])),
    (error: Error) => error.name === "HeadscopeError" && /\b5\b/.test(error.message) && /\b2\b/.test(error.message),
  );
});

eachVariant("E02: head h reads K/V head ⌊h / (H/G)⌋: repeated, not tiled", (hs) => {
  const random = new Random(52);
  const q = random.tensor([1, 6, 4, 5]);
  for (const groups of [1, 2, 3]) {
    const k = random.tensor([1, groups, 7, 5]);
    const v = random.tensor([1, groups, 7, 3]);
    const grouped = hs.attention(q, k, v);
    for (let h = 0; h < 6; ++h) {
      const g = Math.floor(h / (6 / groups));
      const alone = hs.attention(slice(q, 1, h, h + 1), slice(k, 1, g, g + 1), slice(v, 1, g, g + 1));
      assertClose(slice(grouped.output, 1, h, h + 1), alone.output, { absolute: 1e-6 }, `G ${groups}, head ${h}`);
      assertClose(slice(grouped.weights, 1, h, h + 1), alone.weights, { absolute: 1e-6 }, `G ${groups}, head ${h}`);
    }
  }
});

eachVariant("E02: a gate of 0 takes a head out exactly, and the gates act on the output", (hs) => {
  const random = new Random(53);
  const config = { dModel: 12, numHeads: 3 };
  const weights = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, weights);
  const x = random.tensor([4, 12]);
  const plain = layer.forward(x, { want: ["heads", "contributions", "weights"] });
  const gates = Float32Array.of(1, 0, 2);
  const gated = layer.forward(x, { headMask: gates, want: ["heads", "contributions", "concat", "weights"] });
  assertSameBits(gated.weights.data, plain.weights.data, "weights are as before");
  assertSameBits(gated.heads.data, plain.heads.data, "heads are before the gates");
  for (let i = 0; i < 4; ++i)
    for (let e = 0; e < 12; ++e) {
      const at = i * 12 + e;
      const column = e % 4;
      const head = Math.floor(e / 4);
      const value = plain.heads.data[(head * 4 + i) * 4 + column] as number;
      assert.ok(Math.abs((gated.concat.data[at] as number) - (gates[head] as number) * value) < 1e-6, "concat");
      let sum = weights.bo[e] as number;
      for (let h = 0; h < 3; ++h) sum += (gates[h] as number) * (plain.contributions.data[h * 48 + at] as number);
      assert.ok(Math.abs((gated.output.data[at] as number) - sum) < 1e-5, "output");
    }
  assert.ok(slice(gated.contributions, 0, 1, 2).data.every((c) => c === 0));
  layer.dispose();
});
