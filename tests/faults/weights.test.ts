import assert from "node:assert/strict";
import { type Headscope, type HeadscopeError, stats } from "headscope";
import { assertSameBits } from "../support/compare.js";
import { drawWeights, joined, sideBySide } from "../support/layer.js";
import { Random } from "../support/random.js";
import { assertSumsToOne, rowsOf, slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";

// Group C of the fault list: returned weights.

eachVariant("C02: weights come per head, never averaged", (hs) => {
  // Head 0 has keys of 0 and so is uniform; head 1 looks hard at the key that equals its query.
  const n = 4;
  const q = { data: new Float32Array(2 * n * n), shape: [1, 2, n, n] };
  const k = { data: new Float32Array(2 * n * n), shape: [1, 2, n, n] };
  for (let i = 0; i < n; ++i) {
    q.data[n * n + i * n + i] = 100;
    k.data[n * n + i * n + i] = 100;
  }
  const v = new Random(31).tensor([1, 2, n, 3]);
  const { weights } = hs.attention(q, k, v);
  assert.deepEqual(weights.shape, [1, 2, n, n]);
  const rows = rowsOf(weights);
  for (let i = 0; i < n; ++i) {
    assert.deepEqual(Array.from(rows[i] as Float32Array), [0.25, 0.25, 0.25, 0.25]);
    assert.deepEqual(
      Array.from(rows[n + i] as Float32Array),
      Array.from({ length: n }, (_, j) => (j === i ? 1 : 0)),
    );
  }
});

function paths(hs: Headscope): Record<string, () => { weights: unknown; shape: number[] }> {
  const random = new Random(32);
  const config = { dModel: 12, numHeads: 4, numKVHeads: 2 };
  const drawn = drawWeights(config, random);
  const x = random.tensor([2, 5, 12]);
  const key = random.tensor([2, 7, 12]);
  const run = (body: (layer: ReturnType<Headscope["multiHeadAttention"]>) => unknown, fused = false) => {
    const { layout, wq, wk, wv, wo, bq, bk, bv, bo } = drawn;
    const layer = hs.multiHeadAttention(
      config,
      fused ? { layout, wqkv: sideBySide(12, wq, wk, wv), bqkv: joined(bq, bk, bv), wo, bo } : drawn,
    );
    const weights = body(layer);
    layer.dispose();
    return weights;
  };
  return {
    plain: () => ({ weights: run((layer) => layer.forward(x).weights), shape: [2, 4, 5, 5] }),
    "asked for by name": () => ({
      weights: run((layer) => layer.forward(x, { want: ["weights"] }).weights),
      shape: [2, 4, 5, 5],
    }),
    causal: () => ({ weights: run((layer) => layer.forward(x, { causal: true }).weights), shape: [2, 4, 5, 5] }),
    cross: () => ({ weights: run((layer) => layer.forward(x, { key }).weights), shape: [2, 4, 5, 7] }),
    "fused weights": () => ({ weights: run((layer) => layer.forward(x).weights, true), shape: [2, 4, 5, 5] }),
    cache: () => ({
      weights: run((layer) => {
        const cache = layer.createCache({ capacity: 9, batch: 2 });
        layer.forward(slice(x, 1, 0, 4), { cache });
        const { weights } = layer.forward(slice(x, 1, 4, 5), { cache });
        cache.dispose();
        return weights;
      }),
      shape: [2, 4, 1, 5],
    }),
    "without a batch axis": () => ({
      weights: run((layer) => layer.forward({ data: x.data.slice(0, 60), shape: [5, 12] }).weights),
      shape: [4, 5, 5],
    }),
    "batch of none": () => ({
      weights: run((layer) => layer.forward({ data: new Float32Array(0), shape: [0, 5, 12] }).weights),
      shape: [0, 4, 5, 5],
    }),
    "attention()": () => ({
      weights: hs.attention(random.tensor([1, 4, 3, 6]), random.tensor([1, 1, 5, 6]), random.tensor([1, 1, 5, 2]))
        .weights,
      shape: [1, 4, 3, 5],
    }),
  };
}

eachVariant("C03: weights are there on every path", (hs) => {
  for (const [path, run] of Object.entries(paths(hs))) {
    const { weights, shape } = run();
    const tensor = weights as { data: Float32Array; shape: number[] };
    assert.ok(tensor?.data instanceof Float32Array, path);
    assert.deepEqual([...tensor.shape], shape, path);
    assert.equal(
      tensor.data.length,
      shape.reduce((a, b) => a * b, 1),
      path,
    );
    for (const row of rowsOf(tensor)) assertSumsToOne(row, path);
  }
});

eachVariant("C05: cross attention has a row for each query and a column for each key", (hs) => {
  const random = new Random(33);
  const config = { dModel: 8, numHeads: 2, keyDim: 6, valueDim: 10 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const query = random.tensor([3, 8]);
  const key = random.tensor([7, 6]);
  const value = random.tensor([7, 10]);
  const { weights, output } = layer.forward(query, { key, value });
  assert.deepEqual(weights.shape, [2, 3, 7]);
  assert.deepEqual(output.shape, [3, 8]);
  for (const row of rowsOf(weights)) assertSumsToOne(row, "row");

  // A query moves its own row only, a key its own column most, a value no weight at all.
  const moved = { data: query.data.slice(), shape: query.shape };
  moved.data.set(random.values(8), 8);
  const other = layer.forward(moved, { key, value }).weights;
  const [before, after] = [rowsOf(weights), rowsOf(other)];
  for (const row of [0, 2, 3, 5]) assertSameBits(after[row] as Float32Array, before[row] as Float32Array, `row ${row}`);
  for (const row of [1, 4]) assert.notDeepEqual(after[row], before[row]);
  const values = layer.forward(query, { key, value: random.tensor([7, 10]) });
  assertSameBits(values.weights.data, weights.data, "weights under other values");
  assert.notDeepEqual(values.output.data, output.data);
  const keys = layer.forward(query, { key: random.tensor([7, 6]), value });
  assert.notDeepEqual(keys.weights.data, weights.data);
  layer.dispose();
});

eachVariant("C06: a count of tokens that is not the weights' is refused with both numbers", () => {
  const uniform = (shape: number[]) => ({
    data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1 / (shape[shape.length - 1] as number)),
    shape,
  });
  const tokens = Array.from({ length: 12 }, (_, i) => i);
  assert.equal(stats.heads(uniform([2, 12, 12]), tokens).length, 2);
  assert.throws(
    () => stats.heads(uniform([2, 16, 16]), tokens),
    (error: HeadscopeError) => /\b12\b/.test(error.message) && /\b16\b/.test(error.message),
  );
  // A batch is not squeezed away.
  assert.throws(
    () => stats.heads(uniform([2, 3, 12, 12]), tokens),
    (error: HeadscopeError) => /\[2, 3, 12, 12\]/.test(error.message),
  );
});
