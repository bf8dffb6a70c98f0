// The same numbers, bit for bit, as on the page: it is the same code.
import assert from "node:assert/strict";
import test from "node:test";
import { type AttentionConfig, load, stats, type Want } from "headscope";
import { inspectPrompt } from "headscope/inspect";
import {
  ablateHeads,
  gqaCurve,
  gqaCurveOfModel,
  headStats,
  openModel,
  openTensors,
  pruneCurve,
} from "headscope/models";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";
import { MODEL, startWorker } from "./start.ts";

const WANT = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions", "trace"] as const;
const config: AttentionConfig = {
  dModel: 24,
  numHeads: 4,
  numKVHeads: 2,
  headDim: 8,
  rope: { pairing: "halves" },
  softcap: 20,
};

eachVariant("a layer's results and its cache are those of the page", async (hs) => {
  const worker = await startWorker({ variant: hs.variant });
  assert.equal(worker.variant, hs.variant);
  assert.equal(worker.version, hs.version);
  const random = new Random(5);
  const weights = drawWeights(config, random);
  const here = hs.multiHeadAttention(config, weights);
  const there = await worker.multiHeadAttention(config, weights);
  assert.deepEqual(there.config, here.config);
  assert.ok(Object.isFrozen(there.config) && Object.isFrozen(there.config.rope));
  assert.equal(there.parameterCount, here.parameterCount);

  const x = { data: random.values(2 * 7 * 24), shape: [2, 7, 24] };
  const options = {
    want: WANT,
    causal: true,
    window: { left: 4 },
    keyPadding: new Int32Array([7, 5]),
    headMask: new Float32Array([1, 0, 0.5, 1]),
    mask: { blocked: { data: new Uint8Array(49).fill(1, 3, 5), shape: [7, 7] } },
    bias: { data: random.values(7), shape: [1, 7] },
  };
  assert.deepEqual(await there.forward(x, options), here.forward(x, options));
  assert.deepEqual(await there.forward(x), here.forward(x));

  const cacheHere = here.createCache({ capacity: 12, batch: 2 });
  const cacheThere = await there.createCache({ capacity: 12, batch: 2 });
  const { capacity, batch, bytes, bytesPerToken, length } = cacheThere;
  assert.deepEqual(
    { capacity, batch, bytes, bytesPerToken, length },
    { capacity: 12, batch: 2, bytes: cacheHere.bytes, bytesPerToken: cacheHere.bytesPerToken, length: 0 },
  );
  for (const rows of [7, 1, 2]) {
    const step = { data: random.values(2 * rows * 24), shape: [2, rows, 24] };
    assert.deepEqual(
      await there.forward(step, { causal: true, cache: cacheThere }),
      here.forward(step, { causal: true, cache: cacheHere }),
    );
    assert.equal(cacheThere.length, cacheHere.length);
  }
  await cacheThere.truncate(3);
  assert.equal(cacheThere.length, 3);
});

eachVariant("attention, statistics and the GQA curve are those of the page", async (hs) => {
  const worker = await startWorker({ variant: hs.variant });
  const random = new Random(6);
  const tensor = (...shape: number[]) => ({ data: random.values(shape.reduce((a, b) => a * b)), shape });
  const [q, k, v] = [tensor(4, 9, 8), tensor(2, 11, 8), tensor(2, 11, 5)];
  const options = { want: ["weights", "scores", "heads"], causal: { offset: 2 } } as const;
  const here = hs.attention(q, k, v, options);
  const there = await worker.attention(q, k, v, options);
  assert.deepEqual(there, here);
  const { weights } = hs.attention(q, q, q);
  assert.deepEqual(
    await worker.stats.heads(weights, [1, 2, 3, 1, 2, 3, 1, 2, 3]),
    stats.heads(weights, [1, 2, 3, 1, 2, 3, 1, 2, 3]),
  );
  assert.deepEqual(await worker.stats.similarity(weights), stats.similarity(weights));
  const plain = { dModel: 24, numHeads: 4 };
  const drawn = drawWeights(plain, random);
  const x = tensor(6, 24);
  assert.deepEqual(await worker.gqaCurve(plain, drawn, x), gqaCurve(hs, plain, drawn, x));
});

test("a model's tokens, layers, loss, measures and reports are those of the page", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const here = await openModel(hs, new Blob([MODEL]));
  const loaded: number[] = [];
  const there = await worker.openModel(new Blob([MODEL]), { onProgress: (progress) => loaded.push(progress.loaded) });
  assert.ok(loaded.length > 0 && loaded.at(-1) === there.bytesRead, `${loaded} of ${there.bytesRead}`);
  assert.equal(there.bytesRead, here.bytesRead);
  for (const name of ["architecture", "config", "format", "metadata", "tensors", "name"] as const) {
    assert.deepEqual(there[name], here[name], name);
  }

  const tokens = here.tokenize("the cat saw the dog and the cat ran");
  assert.deepEqual(await there.tokenize("the cat saw the dog and the cat ran"), tokens);
  const options = {
    want: ["weights", "hidden", "trace"] as const,
    headMask: [undefined, new Float32Array(8).fill(0.5)],
  };
  const layers = there.run(tokens, options);
  let count = 0;
  for await (const expected of here.run(tokens, options)) {
    assert.deepEqual((await layers.next()).value, expected);
    count += 1;
  }
  assert.equal(count, here.config.layers);
  assert.equal(loaded.at(-1), there.bytesRead, "what is read after the opening is told too");
  assert.deepEqual(await layers.next(), { done: true, value: undefined });
  assert.equal(there.bytesRead, here.bytesRead);

  assert.deepEqual(await there.loss(tokens), await here.loss(tokens));
  assert.deepEqual(await there.logits(tokens), await here.logits(tokens));
  assert.deepEqual(await there.headStats(tokens), await headStats(here, tokens));
  const heads = [{ layer: 1, head: 2 }];
  assert.deepEqual(await there.ablateHeads(tokens, heads), await ablateHeads(here, tokens, heads));
  const curve = { order: heads, counts: [0, 1] };
  const done: number[] = [];
  const onProgress = (progress: { done: number; total: number }) => done.push(progress.done / progress.total);
  assert.deepEqual(await there.pruneCurve([tokens], { ...curve, onProgress }), await pruneCurve(here, [tokens], curve));
  assert.equal(done.at(-1), 1);
  assert.deepEqual(await there.gqaCurve(tokens, { layer: 1 }), await gqaCurveOfModel(hs, here, tokens, { layer: 1 }));
  assert.deepEqual(
    await there.inspectPrompt("the cat", { layer: 1 }),
    await inspectPrompt(here, "the cat", { layer: 1 }),
  );
});

test("a file's tensors are those of the page, from a buffer that stays whole", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const buffer = new Uint8Array(MODEL).buffer;
  const here = await openTensors(hs, buffer);
  const there = await worker.openTensors(buffer);
  assert.equal(buffer.byteLength, MODEL.length);
  new Uint8Array(buffer).fill(0);
  for (const name of ["format", "version", "size", "metadata", "metadataTypes", "tensors", "dataOffset"] as const) {
    assert.deepEqual(there[name], here[name], name);
  }
  const [name = ""] = here.tensors.keys();
  assert.deepEqual(await there.read(name, { rows: [1, 3] }), await here.read(name, { rows: [1, 3] }));
});

test("arguments are copied before the call returns, views alone without what is around them, and nothing is detached", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const around = new Float32Array(1 << 20);
  const data = around.subarray(1000, 1012);
  data.set(new Random(7).values(12));
  const q = { data, shape: [1, 4, 3] };
  const expected = hs.attention(q, q, q);
  // Node's Buffers share one pool, which must neither travel nor go away.
  const mask = { data: Buffer.from([1, 1, 0, 1]), shape: [4] };
  const masked = hs.attention(q, q, q, { mask });
  const first = worker.attention(q, q, q);
  const second = worker.attention(q, q, q, { mask });
  data.fill(9);
  mask.data.fill(0);
  assert.deepEqual(await first, expected);
  assert.deepEqual(await second, masked);
  assert.equal(around.length, 1 << 20);
  assert.equal(mask.data.length, 4);
  // A tensor of another library, whose values are behind getters of its class.
  class Foreign {
    get data() {
      return new Float32Array([1, 0, 0, 1]);
    }
    get shape() {
      return [1, 2, 2];
    }
  }
  const foreign = new Foreign();
  assert.deepEqual(await worker.attention(foreign, foreign, foreign), hs.attention(foreign, foreign, foreign));
});

test("results arrive in memory of their own", async () => {
  const worker = await startWorker({ variant: "simd" });
  const q = { data: new Float32Array(12), shape: [1, 4, 3] };
  const result = await worker.attention(q, q, q, { want: ["weights", "heads"] satisfies Want[] });
  const buffers = [result.output, result.weights, result.heads].map(({ data }) => data.buffer);
  assert.equal(new Set(buffers).size, 3);
  assert.deepEqual(
    buffers.map((buffer) => buffer.byteLength),
    [48, 64, 48],
  );
});
