import assert from "node:assert/strict";
import { assertClose } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { Random } from "../support/random.js";
import { rowsOf, slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";

eachVariant("incremental decoding is the full causal pass, for random splits and every kind of layer", (hs) => {
  const random = new Random(91);
  const configs = [
    { dModel: 16, numHeads: 4 },
    { dModel: 12, numHeads: 6, numKVHeads: 2, headDim: 4, valueHeadDim: 3, outDim: 5 },
    { dModel: 10, numHeads: 2, numKVHeads: 1, headDim: 8, rope: { pairing: "adjacent" as const } },
    { dModel: 10, numHeads: 2, headDim: 6, rope: { pairing: "halves" as const, dims: 4, base: 500 } },
  ];
  for (const [at, config] of configs.entries()) {
    const layer = hs.multiHeadAttention(config, drawWeights(config, random));
    for (let round = 0; round < 8; ++round) {
      const batch = 1 + random.below(3);
      const length = 1 + random.below(40);
      const x = random.tensor([batch, length, config.dModel]);
      const options = round % 2 ? { causal: true, window: { left: 1 + random.below(8) } } : { causal: true };
      const whole = layer.forward(x, { ...options, want: ["weights", "k", "v"] });
      const cache = layer.createCache({ batch, capacity: length + random.below(5) });
      for (let from = 0; from < length; ) {
        const to = Math.min(length, from + 1 + random.below(7));
        const part = layer.forward(slice(x, 1, from, to), { ...options, cache, want: ["weights", "k", "v"] });
        const label = `layer ${at}, round ${round}, tokens ${from}..${to} of ${length}`;
        const tolerance = { absolute: 2e-6, relative: 2e-6 };
        assertClose(part.output, slice(whole.output, 1, from, to), tolerance, `${label}: output`);
        const seen = slice(slice(whole.weights, 2, from, to), 3, 0, to);
        assertClose(part.weights, seen, { absolute: 1e-6 }, `${label}: weights`);
        assertClose(part.k, slice(whole.k, 2, 0, to), tolerance, `${label}: k`);
        assertClose(part.v, slice(whole.v, 2, 0, to), tolerance, `${label}: v`);
        from = to;
        assert.equal(cache.length, to);
      }
      cache.dispose();
    }
    layer.dispose();
  }
});

eachVariant("a truncated cache goes on as if the rest had never been", (hs) => {
  const random = new Random(92);
  const config = { dModel: 8, numHeads: 2, rope: { pairing: "adjacent" as const } };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const x = random.tensor([1, 20, 8]);
  const expected = rowsOf(layer.forward(x, { causal: true }).output);
  const cache = layer.createCache({ capacity: 20 });
  layer.forward(slice(x, 1, 0, 6), { cache, causal: true });
  // Wrong tokens, one of them with NaN, taken back again.
  const wrong = random.tensor([1, 9, 8]);
  wrong.data[30] = Number.NaN;
  layer.forward(wrong, { cache, causal: true });
  cache.truncate(6);
  assert.equal(cache.length, 6);
  const rows = rowsOf(layer.forward(slice(x, 1, 6, 20), { cache, causal: true }).output);
  rows.forEach((row, i) => {
    assertClose(
      { data: row, shape: [8] },
      { data: expected[6 + i] as Float32Array, shape: [8] },
      { absolute: 2e-6, relative: 2e-6 },
      `row ${6 + i}`,
    );
  });
  cache.dispose();
  layer.dispose();
});

eachVariant("a long cache over many key blocks gives the full pass, output alone and with weights", (hs) => {
  const random = new Random(93);
  const config = { dModel: 16, numHeads: 4, numKVHeads: 2, rope: { pairing: "halves" as const } };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const length = 700;
  const x = random.tensor([1, length, 16]);
  const expected = layer.forward(x, { causal: true }).output;
  const cache = layer.createCache({ capacity: length });
  let at = 0;
  for (const n of [1, 254, 1, 1, 255, 3, 100, 84, 1]) {
    const want = n % 2 ? ([] as const) : (["weights"] as const);
    const { output } = layer.forward(slice(x, 1, at, at + n), { cache, causal: true, want });
    assertClose(output, slice(expected, 1, at, at + n), { absolute: 2e-6, relative: 2e-6 }, `tokens ${at}..${at + n}`);
    at += n;
  }
  assert.equal(at, length);
  cache.dispose();
  layer.dispose();
});
