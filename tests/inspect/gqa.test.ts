import assert from "node:assert/strict";
import test from "node:test";
import { type AttentionConfig, type AttentionWeights, cost, load } from "headscope";
import { gqaCurve, gqaCurveOfModel, openModel, poolKVHeads } from "headscope/models";
import { configJson, ggufModel, safetensorsModel } from "../models/fixtures/model-files.ts";
import { type Affine, type RandomModel, randomModel } from "../models/fixtures/random-model.ts";
import { storedOf } from "../models/fixtures/stored.ts";
import { assertValuesClose } from "../support/compare.ts";
import { drawWeights, joined, sideBySide, transposed } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

const CONFIG: AttentionConfig = { dModel: 24, numHeads: 6, headDim: 4, valueHeadDim: 3 };
const random = new Random(8);
const WEIGHTS = drawWeights(CONFIG, random);
const X = random.tensor([5, 24]);

/** The mean of `size` neighbouring blocks of columns, column by column. */
function meanColumns(matrix: Float32Array, rows: number, width: number, size: number): number[] {
  const columns = matrix.length / rows;
  const pooled: number[] = [];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns / size; ++c) {
      const [group, i] = [Math.floor(c / width), c % width];
      let sum = 0;
      for (let h = 0; h < size; ++h) sum += matrix[r * columns + (group * size + h) * width + i] as number;
      pooled.push(sum / size);
    }
  }
  return pooled;
}

test("poolKVHeads averages neighbouring K and V heads, weights and biases, and leaves the rest", () => {
  const { config, weights } = poolKVHeads(CONFIG, WEIGHTS, 2);
  assert.equal(config.numKVHeads, 2);
  const exact = { absolute: 1e-7 };
  assertValuesClose(weights.wk, meanColumns(WEIGHTS.wk, 24, 4, 3), exact, "wk");
  assertValuesClose(weights.wv, meanColumns(WEIGHTS.wv, 24, 3, 3), exact, "wv");
  assertValuesClose(weights.bk as Float32Array, meanColumns(WEIGHTS.bk, 1, 4, 3), exact, "bk");
  assertValuesClose(weights.bv as Float32Array, meanColumns(WEIGHTS.bv, 1, 3, 3), exact, "bv");
  assert.deepEqual([weights.wq, weights.wo, weights.bq, weights.bo], [WEIGHTS.wq, WEIGHTS.wo, WEIGHTS.bq, WEIGHTS.bo]);
});

eachVariant("poolKVHeads: both layouts, fused or apart, make the same layer", (hs) => {
  const { wq, wk, wv, wo, bq, bk, bv, bo } = WEIGHTS;
  const fused = { wqkv: sideBySide(24, wq, wk, wv), bqkv: joined(bq, bk, bv), bo };
  const turned = (m: Float32Array, rows: number) => transposed(m, rows, m.length / rows);
  const all: AttentionWeights[] = [
    WEIGHTS,
    { layout: "in-out", ...fused, wo },
    { ...WEIGHTS, layout: "out-in", wq: turned(wq, 24), wk: turned(wk, 24), wv: turned(wv, 24), wo: turned(wo, 18) },
    { layout: "out-in", ...fused, wqkv: turned(fused.wqkv, 24), wo: turned(wo, 18) },
  ];
  const outputs = all.map((given) => {
    const { config, weights } = poolKVHeads(CONFIG, given, 3);
    const layer = hs.multiHeadAttention(config, weights);
    const { data } = layer.forward(X, { want: [] }).output;
    layer.dispose();
    return data;
  });
  for (const output of outputs) assertValuesClose(output, outputs[0] as Float32Array, { absolute: 1e-6 }, "output");
});

eachVariant("gqaCurve: no error as it is, an error for every divisor below, and the cache in bytes", (hs) => {
  const points = gqaCurve(hs, CONFIG, WEIGHTS, X, { tokens: 100 });
  assert.deepEqual(
    points.map(({ numKVHeads }) => numKVHeads),
    [6, 3, 2, 1],
  );
  assert.deepEqual([points[0]?.error, points[0]?.maxError], [0, 0]);
  const layer = hs.multiHeadAttention(CONFIG, WEIGHTS);
  const whole = layer.forward(X, { causal: true, want: [] }).output.data;
  layer.dispose();
  for (const { numKVHeads, error, maxError, bytesPerToken, cacheBytes } of points) {
    const pooled = poolKVHeads(CONFIG, WEIGHTS, numKVHeads);
    const other = hs.multiHeadAttention(pooled.config, pooled.weights);
    const { data } = other.forward(X, { causal: true, want: [] }).output;
    other.dispose();
    const squares = (values: Float32Array) => values.reduce((sum, x) => sum + x * x, 0);
    const difference = data.map((x, i) => x - (whole[i] as number));
    assert.ok(Math.abs(error - Math.sqrt(squares(difference) / squares(whole))) < 1e-6);
    assert.ok(Math.abs(maxError - Math.max(...difference.map(Math.abs))) < 1e-6);
    assert.ok(numKVHeads === 6 || error > 0.01, `random heads differ: ${error} at ${numKVHeads}`);
    assert.equal(bytesPerToken, numKVHeads * (4 + 3) * 2);
    assert.equal(cacheBytes, bytesPerToken * 100);
  }
  assert.equal(hs.memory().liveObjects, 0);
});

eachVariant("gqaCurve: equal K/V heads can be pooled for nothing", (hs) => {
  const one = drawWeights({ ...CONFIG, numKVHeads: 1 }, new Random(4));
  const six = <T>(value: T): T[] => Array.from({ length: 6 }, () => value);
  const same = {
    ...one,
    wk: sideBySide(24, ...six(one.wk)),
    wv: sideBySide(24, ...six(one.wv)),
    bk: joined(...six(one.bk)),
    bv: joined(...six(one.bv)),
  };
  for (const { numKVHeads, error } of gqaCurve(hs, CONFIG, same, X)) {
    assert.ok(error < 1e-6, `${error} at ${numKVHeads}`);
  }
});

test("what does not divide, does not fit or is no number of heads is refused", async () => {
  const hs = await load({ variant: "simd" });
  assert.throws(
    () => poolKVHeads(CONFIG, WEIGHTS, 4),
    /numKVHeads: expected a divisor of the layer's 6 K\/V heads, got 4/,
  );
  assert.throws(() => poolKVHeads(CONFIG, WEIGHTS, 0), RangeError);
  assert.throws(() => poolKVHeads(CONFIG, { ...WEIGHTS, wk: WEIGHTS.wk.slice(1) }, 2), /weights/);
  assert.throws(() => gqaCurve(hs, CONFIG, WEIGHTS, { data: X.data, shape: [4, 24] }), /x\.data/);
  using model = await openModel(hs, ggufModel(randomModel("gpt2")));
  await assert.rejects(gqaCurveOfModel(hs, model, [1, 2], { layer: 3 }), /options\.layer/);
});

/** A llama whose first block has its K and V heads averaged. */
function pooledModel(model: RandomModel, groups: number): RandomModel {
  const size = model.numKVHeads / groups;
  const pool = ({ weight }: Affine): Affine => {
    const { values, columns } = weight;
    const turned = transposed(values, weight.rows, columns);
    const pooled = Float32Array.from(meanColumns(turned, columns, model.headDim, size));
    const rows = groups * model.headDim;
    return { weight: storedOf("F32", rows, columns, transposed(pooled, columns, rows)) };
  };
  const [block] = model.blocks;
  if (block === undefined) throw new Error("no block");
  const changed = { ...block, key: pool(block.key), value: pool(block.value) };
  return { ...model, numKVHeads: groups, layers: 1, blocks: [changed] };
}

eachVariant("gqaCurveOfModel: errors as of a model whose K/V heads are averaged in its file", async (hs) => {
  const random = randomModel("llama", "F32", { numKVHeads: 8, layers: 2 });
  const ids = [4, 8, 15, 16, 23, 42];
  using model = await openModel(hs, ggufModel(random));
  const points = await gqaCurveOfModel(hs, model, ids, { tokens: 64, bytesPerElement: 4 });
  assert.deepEqual(
    points.map(({ numKVHeads }) => numKVHeads),
    [8, 4, 2, 1],
  );
  assert.deepEqual([points[0]?.error, points[0]?.maxError], [0, 0]);

  const first = async (file: Uint8Array<ArrayBuffer>): Promise<Float32Array> => {
    using opened = await openModel(hs, file);
    for await (const { output } of opened.run(ids, { layers: 1, want: [] })) return output.data;
    throw new Error("no layer");
  };
  const whole = await first(ggufModel(random));
  const squares = (values: Float32Array) => values.reduce((sum, x) => sum + x * x, 0);
  for (const { numKVHeads, error, maxError, bytesPerToken, cacheBytes } of points.slice(1)) {
    const pooled = await first(ggufModel(pooledModel(random, numKVHeads)));
    const difference = pooled.map((x, i) => x - (whole[i] as number));
    assert.ok(Math.abs(error - Math.sqrt(squares(difference) / squares(whole))) < 1e-5, `error at ${numKVHeads}`);
    assert.ok(Math.abs(maxError - Math.max(...difference.map(Math.abs))) < 1e-4, `largest error at ${numKVHeads}`);
    const bill = cost.kvCache({ layers: 2, numKVHeads, headDim: 16, bytesPerElement: 4, tokens: 64 });
    assert.deepEqual([bytesPerToken, cacheBytes], [Number(bill.bytesPerToken), Number(bill.total)]);
  }
});

test("gqaCurve, gqaCurveOfModel: heads that are out are out on both sides", async () => {
  const hs = await load({ variant: "simd" });
  const gates = Float32Array.of(0, 1, 1, 0, 1, 0);
  const none = gqaCurve(hs, CONFIG, WEIGHTS, X, { headMask: new Float32Array(6) });
  assert.ok(none.every(({ error, maxError }) => error === 0 && maxError === 0));
  const forward = (config: AttentionConfig, weights: AttentionWeights) => {
    const layer = hs.multiHeadAttention(config, weights);
    const { data } = layer.forward(X, { causal: true, headMask: gates, want: [] }).output;
    layer.dispose();
    return data;
  };
  const whole = forward(CONFIG, WEIGHTS);
  for (const { numKVHeads, error } of gqaCurve(hs, CONFIG, WEIGHTS, X, { headMask: gates })) {
    const pooled = poolKVHeads(CONFIG, WEIGHTS, numKVHeads);
    const difference = forward(pooled.config, pooled.weights).map((x, i) => x - (whole[i] as number));
    assert.ok(Math.abs(error - Math.hypot(...difference) / Math.hypot(...whole)) < 1e-6);
  }

  const random = randomModel("llama", "F32", { numKVHeads: 8, layers: 2 });
  const ids = [4, 8, 15, 16, 23, 42];
  using model = await openModel(hs, ggufModel(random));
  const { numHeads } = model.config;
  const headMask = [Float32Array.from({ length: numHeads }, (_, i) => i % 2), new Float32Array(numHeads)];
  const alone = await gqaCurveOfModel(hs, model, ids, { layer: 1, headMask });
  assert.ok(alone.every(({ error }) => error === 0));
  const [gated, plain] = [
    await gqaCurveOfModel(hs, model, ids, { headMask }),
    await gqaCurveOfModel(hs, model, ids, {}),
  ];
  // Heads 0, 2, … out: only what the others read through pooled heads counts.
  using other = await openModel(hs, ggufModel(pooledModel(random, numHeads / 2)));
  const outputs: Float32Array[] = [];
  for (const each of [model, other]) {
    for await (const { output } of each.run(ids, {
      layers: 1,
      want: [],
      headMask: headMask.slice(0, each.config.layers),
    })) {
      outputs.push(output.data);
    }
  }
  const [before, after] = outputs as [Float32Array, Float32Array];
  const expected = Math.hypot(...before.map((x, i) => x - (after[i] as number))) / Math.hypot(...before);
  assert.ok(Math.abs((gated[1]?.error as number) - expected) < 1e-5);
  assert.ok(Math.abs((gated[1]?.error as number) - (plain[1]?.error as number)) > 1e-3);
});

test("gqaCurveOfModel: the same from either format, in any layer, and from grouped heads on", async () => {
  const hs = await load({ variant: "simd" });
  const gpt2 = randomModel("gpt2");
  using gguf = await openModel(hs, ggufModel(gpt2));
  using torch = await openModel(hs, safetensorsModel(gpt2), { config: configJson(gpt2) });
  const [a, b] = [
    await gqaCurveOfModel(hs, gguf, [1, 2, 3], { layer: 2 }),
    await gqaCurveOfModel(hs, torch, [1, 2, 3], { layer: 2 }),
  ];
  a.forEach(({ numKVHeads, error }, i) => {
    assert.equal(b[i]?.numKVHeads, numKVHeads);
    assert.ok(Math.abs(error - (b[i]?.error as number)) < 1e-5);
  });
  using llama = await openModel(hs, ggufModel(randomModel("llama")));
  const points = await gqaCurveOfModel(hs, llama, [1, 2, 3]);
  assert.deepEqual(
    points.map(({ numKVHeads }) => numKVHeads),
    [2, 1],
  );
  using bert = await openModel(hs, ggufModel(randomModel("bert")));
  const [whole, ...others] = await gqaCurveOfModel(hs, bert, [1, 2, 3], { layer: 1 });
  assert.equal(whole?.error, 0);
  assert.ok(others.every(({ error }) => error > 0.01));
});
