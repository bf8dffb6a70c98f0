import assert from "node:assert/strict";
import type { KVCache, MultiHeadAttention, Tensor } from "headscope";
import { assertClose, assertSameBits, assertValuesClose } from "../support/compare.ts";
import { drawWeights, joined } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { slice } from "../support/rows.ts";
import { eachVariant } from "../variants.ts";

const NEAR = { absolute: 1e-6, relative: 1e-6 };
const CONFIG = { dModel: 12, numHeads: 4, numKVHeads: 2, headDim: 6, rope: { pairing: "halves" } } as const;

function feed(layer: MultiHeadAttention, cache: KVCache, x: Tensor, from: number, to: number) {
  return layer.forward(slice(x, 0, from, to), { cache, causal: true });
}

eachVariant("E3: 8 tokens at once, 3+1+4 and one by one through a cache give the same rows", (hs) => {
  const random = new Random(1);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([8, 12]);
  const full = layer.forward(x, { causal: true });
  for (const cuts of [
    [0, 8],
    [0, 3, 4, 8],
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
  ]) {
    const cache = layer.createCache({ capacity: 8 });
    const outputs: Float32Array[] = [];
    cuts.slice(1).forEach((to, step) => {
      const from = cuts[step] as number;
      const { output, weights } = feed(layer, cache, x, from, to);
      assert.deepEqual(weights.shape, [4, to - from, to]);
      for (let h = 0; h < 4; ++h) {
        const rows = slice(slice(slice(full.weights, 0, h, h + 1), 1, from, to), 2, 0, to);
        assertClose(slice(weights, 0, h, h + 1), rows, NEAR, `${cuts}: weights of head ${h}, ${from} to ${to}`);
      }
      outputs.push(output.data);
      assert.equal(cache.length, to);
    });
    assertValuesClose(joined(...outputs), full.output.data, NEAR, `${cuts}: output`);
  }
});

eachVariant("a cache with an empty past is a call without a cache", (hs) => {
  const random = new Random(2);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([5, 12]);
  const cache = layer.createCache({ capacity: 5 });
  assert.equal(cache.length, 0);
  assertClose(feed(layer, cache, x, 0, 5).output, layer.forward(x, { causal: true }).output, NEAR, "output");
});

eachVariant("truncate forgets: going on from 3 tokens, and from none, as if the rest had never been there", (hs) => {
  const random = new Random(3);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([6, 12]);
  const cache = layer.createCache({ capacity: 6 });
  const first = feed(layer, cache, x, 0, 6).output;
  cache.truncate(3);
  assert.equal(cache.length, 3);
  assertClose(feed(layer, cache, x, 3, 6).output, slice(first, 0, 3, 6), NEAR, "from 3");
  cache.truncate(6); // as long as it is: nothing changes
  assert.equal(cache.length, 6);
  cache.truncate(0);
  assertSameBits(feed(layer, cache, x, 0, 6).output.data, first.data, "from the start");
});

eachVariant("two caches of one layer are two sequences: steps in turn do not touch each other", (hs) => {
  const random = new Random(4);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const [a, b] = [random.tensor([4, 12]), random.tensor([4, 12])];
  const [cacheA, cacheB] = [layer.createCache({ capacity: 4 }), layer.createCache({ capacity: 9 })];
  for (let t = 0; t < 4; ++t) {
    const rowA = feed(layer, cacheA, a, t, t + 1).output;
    const rowB = feed(layer, cacheB, b, t, t + 1).output;
    assertClose(rowA, slice(layer.forward(a, { causal: true }).output, 0, t, t + 1), NEAR, `first, token ${t}`);
    assertClose(rowB, slice(layer.forward(b, { causal: true }).output, 0, t, t + 1), NEAR, `second, token ${t}`);
  }
});

eachVariant("a batch of two through one cache equals each sequence alone", (hs) => {
  const random = new Random(5);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([2, 5, 12]);
  const cache = layer.createCache({ capacity: 5, batch: 2 });
  assert.equal(cache.batch, 2);
  layer.forward(slice(x, 1, 0, 3), { cache, causal: true, want: [] });
  const { output, weights } = layer.forward(slice(x, 1, 3, 5), { cache, causal: true });
  assert.deepEqual(weights.shape, [2, 4, 2, 5]);
  for (let b = 0; b < 2; ++b) {
    const alone = layer.forward(slice(x, 0, b, b + 1), { causal: true }).output;
    assertClose(slice(output, 0, b, b + 1), slice(alone, 1, 3, 5), NEAR, `item ${b}`);
  }
});

eachVariant("with a cache, masks, padding, k and v are about all S keys", (hs) => {
  const random = new Random(6);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([6, 12]);
  const all = layer.forward(x, { causal: true, want: ["k", "v"] });
  const cache = layer.createCache({ capacity: 6 });
  layer.forward(slice(x, 0, 0, 4), { cache, causal: true, want: [] });
  const mask = { data: [true, false, true, true, true, true], shape: [6] };
  const keyPadding = Uint8Array.of(1, 1, 0, 1, 1, 1);
  const bias = { data: Float32Array.of(0, 0, 0, -Infinity, 0, 0), shape: [1, 6] };
  const step = layer.forward(slice(x, 0, 4, 6), {
    cache,
    causal: true,
    mask,
    keyPadding,
    bias,
    want: ["weights", "k", "v"],
  });
  assertClose(step.k, all.k, NEAR, "k");
  assertClose(step.v, all.v, NEAR, "v");
  for (let row = 0; row < 8; ++row) {
    const seen = [...step.weights.data.subarray(row * 6, row * 6 + 6)].map((w) => w > 0);
    assert.deepEqual(seen, [true, false, false, false, true, row % 2 === 1]);
  }
});

eachVariant("cross-attention through a cache: keys come in parts, the queries once", (hs) => {
  const random = new Random(7);
  const config = { dModel: 8, numHeads: 2, keyDim: 6 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const query = random.tensor([3, 8]);
  const key = random.tensor([7, 6]);
  const cache = layer.createCache({ capacity: 7 });
  const none: Tensor = { data: new Float32Array(0), shape: [0, 8] };
  const empty = layer.forward(none, { key: slice(key, 0, 0, 5), cache });
  assert.deepEqual(empty.output.shape, [0, 8]);
  assert.deepEqual(empty.weights.shape, [2, 0, 5]);
  const { output, weights } = layer.forward(query, { key: slice(key, 0, 5, 7), cache });
  const once = layer.forward(query, { key });
  assertClose(weights, once.weights, NEAR, "weights");
  assertClose(output, once.output, NEAR, "output");
});

eachVariant("a full cache refuses before anything is done; the error names the numbers", (hs) => {
  const random = new Random(8);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([4, 12]);
  const cache = layer.createCache({ capacity: 4 });
  feed(layer, cache, x, 0, 3);
  const out = new Float32Array(24).fill(7);
  assert.throws(() => layer.forward(slice(x, 0, 0, 2), { cache, out }), {
    name: "HeadscopeError",
    code: "memory",
    argument: "cache",
    expected: "room for 2 more tokens",
    actual: "length 3 of capacity 4",
  });
  assert.ok(out.every((value) => value === 7));
  assert.equal(cache.length, 3);
  const last = feed(layer, cache, x, 3, 4).output;
  assertClose(last, slice(layer.forward(x, { causal: true }).output, 0, 3, 4), NEAR, "the token that still fits");
});

eachVariant(
  "a cache says what it takes: length, capacity, bytesPerToken = G·(dk + dv)·4, bytes for all of it",
  (hs) => {
    const config = { dModel: 12, numHeads: 4, numKVHeads: 2, headDim: 8, valueHeadDim: 16 };
    const layer = hs.multiHeadAttention(config, drawWeights(config, new Random(9)));
    const cache = layer.createCache({ capacity: 100, batch: 3 });
    assert.equal(cache.capacity, 100);
    assert.equal(cache.bytesPerToken, 2 * (8 + 16) * 4);
    assert.ok(cache.bytes >= 300 * cache.bytesPerToken, `${cache.bytes} bytes`);
    assert.ok(cache.bytes <= 1.1 * 300 * cache.bytesPerToken, `${cache.bytes} bytes`);
  },
);
