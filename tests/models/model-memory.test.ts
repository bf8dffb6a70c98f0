import assert from "node:assert/strict";
import test from "node:test";
import { load } from "headscope";
import { openModel } from "headscope/models";
import { assertSameBits } from "../support/compare.ts";
import { eachVariant } from "../variants.ts";
import { Gpt2Small } from "./fixtures/gpt2-small.ts";
import { ggufModel } from "./fixtures/model-files.ts";
import { randomModel } from "./fixtures/random-model.ts";
import { referenceForward } from "./fixtures/reference-forward.ts";
import { assertLayers, collect, IDS, runAll } from "./fixtures/run-model.ts";
import { serve } from "./range-server.ts";

const MB = 1e6;
const HOW_ARE = [2437, 389];
const source = (matrix?: "F32" | "Q8_0") => new Gpt2Small(matrix) as unknown as Blob;

test("run: the first block's maps of two tokens of GPT-2 small in Q8_0 take 1.9 MB of 177", async () => {
  const hs = await load();
  const file = new Gpt2Small();
  assert.ok(file.size > 170 * MB && file.size < 180 * MB, `${file.size} bytes`);
  const model = await openModel(hs, file as unknown as Blob);
  assert.ok(model.bytesRead <= 65536, `${model.bytesRead} bytes of header`);
  const before = model.bytesRead;
  const [layer] = await collect(model.run(HOW_ARE, { layers: 1, output: false }));
  const read = model.bytesRead - before;
  // q, k and v: 3 · 768² values of 34/32 bytes and 3 · 768 biases; two embedding rows, two positions, one norm.
  const needed = (3 * 768 * 768 * 34) / 32 + 3 * 768 * 4 + (2 * 768 * 34) / 32 + 2 * 768 * 4 + 2 * 768 * 4;
  // The positions lie behind the header and have come with it.
  assert.equal(read, needed - 2 * 768 * 4);
  assert.ok(read < 1.9 * MB, `${read} bytes`);
  assert.deepEqual(layer?.weights.shape, [12, 2, 2]);
  // With the output projection, and then with the rest of the block.
  const more = async (options: Parameters<typeof model.run>[1]) => {
    const start = model.bytesRead;
    await collect(model.run(HOW_ARE, { layers: 1, ...options }));
    return model.bytesRead - start - read;
  };
  const projection = await more({});
  assert.ok(projection >= (768 * 768 * 34) / 32 && projection < 0.7 * MB, `${projection} bytes`);
  const whole = await more({ want: ["hidden"] });
  assert.ok(whole >= (9 * 768 * 768 * 34) / 32 && whole < 6 * MB, `${whole} bytes`);
});

test("run: ending the loop early reads nothing more", async () => {
  const model = await openModel(await load(), source());
  const before = model.bytesRead;
  for await (const { layer } of model.run(HOW_ARE)) if (layer === 1) break;
  const block = (12 * 768 * 768 * 34) / 32;
  const read = model.bytesRead - before;
  assert.ok(read > 2 * block && read < 2.05 * block, `${read} bytes`);
});

for (const matrix of ["Q8_0", "F32"] as const) {
  eachVariant(`run: GPT-2 small in ${matrix} at T = 128 stays under 150 MB of heap`, async (hs, t) => {
    const model = await openModel(hs, source(matrix));
    const ids = Array.from({ length: 128 }, (_, t) => (t * 397) % 50257);
    let layers = 0;
    for await (const { weights } of model.run(ids)) {
      assert.deepEqual(weights.shape, [12, 128, 128]);
      assert.equal(hs.memory().liveObjects, 1, "a block is let go before its results are handed out");
      layers += 1;
    }
    assert.equal(layers, 12);
    const { heapBytes } = hs.memory();
    t.diagnostic(`${(heapBytes / MB).toFixed(1)} MB of heap`);
    assert.ok(heapBytes < (matrix === "Q8_0" ? 60 : 100) * MB, `${heapBytes} bytes of heap`);
  });
}

test("keepWeights: weights stay as they are stored, and a second pass reads nothing", async () => {
  const hs = await load();
  const model = await openModel(hs, source());
  const ids = Array.from({ length: 128 }, (_, t) => (t * 397) % 50257);
  const first = await collect(model.run(ids, { keepWeights: true, want: ["hidden"] }));
  const read = model.bytesRead;
  // 85 million values in blocks: 90 MB as they are stored, 340 MB as float32.
  const { heapBytes } = hs.memory();
  assert.ok(heapBytes > 88 * MB && heapBytes < 150 * MB, `${heapBytes} bytes of heap`);
  const second = await collect(model.run(ids, { keepWeights: true, want: ["hidden"] }));
  assert.equal(model.bytesRead, read);
  assertSameBits(second[11]?.hidden.data as Float32Array, first[11]?.hidden.data as Float32Array, "hidden");
  // Less of a block than is kept, and without keeping: still nothing to read, and the same answer.
  const [last] = (await collect(model.run(ids, { want: ["weights"] }))).slice(-1);
  const [bare] = (await collect(model.run(ids, { output: false, want: ["weights"] }))).slice(-1);
  assert.equal(model.bytesRead, read);
  assertSameBits(bare?.weights.data as Float32Array, last?.weights.data as Float32Array, "weights");
  assert.equal(hs.memory().heapBytes, heapBytes, "the heap has not grown");
  model.dispose();
  assert.equal(hs.memory().liveObjects, 0);
});

test("keepWeights: what a first pass left out is read by the second", async () => {
  const hs = await load();
  const random = randomModel("gpt2");
  const kept = await openModel(hs, ggufModel(random));
  const fresh = await openModel(hs, ggufModel(random));
  await collect(kept.run(IDS, { layers: 1, output: false, keepWeights: true }));
  await collect(kept.run(IDS.slice(2), { layers: 2, keepWeights: true }));
  const [one, two] = [await runAll(kept, { keepWeights: true }), await runAll(fresh)];
  one.forEach(({ hidden }, i) => {
    assertSameBits(hidden?.data as Float32Array, two[i]?.hidden?.data as Float32Array, `layer ${i}`);
  });
  const loss = await kept.loss(IDS, { keepWeights: true });
  const read = kept.bytesRead;
  assert.deepEqual((await kept.loss(IDS, { keepWeights: true })).perToken, loss.perToken);
  assert.equal(kept.bytesRead, read);
  // Two at once keep each thing once.
  const both = await openModel(hs, ggufModel(random));
  const before = hs.memory().liveObjects;
  await Promise.all([1, 2].map(() => both.loss(IDS, { keepWeights: true })));
  assert.equal(hs.memory().liveObjects - before, 3 + 1, "three blocks and the head");
});

test("memory: passes, failed ones too, leave the heap and the objects as they were", async () => {
  const hs = await load();
  const model = await openModel(hs, ggufModel(randomModel("llama", "Q8_0")));
  const pass = async () => {
    await runAll(model);
    await model.loss(IDS);
    const stopped = new AbortController();
    await assert.rejects(
      (async () => {
        for await (const _ of model.run(IDS, { signal: stopped.signal })) stopped.abort();
      })(),
      { code: "aborted" },
    );
  };
  await pass();
  const { heapBytes } = hs.memory();
  for (let i = 0; i < 30; ++i) await pass();
  assert.deepEqual(hs.memory(), { heapBytes, liveObjects: 1 });
  for (let i = 0; i < 10; ++i) {
    const other = await openModel(hs, ggufModel(randomModel("bert")));
    await collect(other.run(IDS, { keepWeights: true }));
    other.dispose();
    other.dispose();
  }
  assert.equal(hs.memory().liveObjects, 1);
});

/** Reads that wait until they are let go. */
class SlowFile {
  readonly size: number;
  waiting: (() => void)[] = [];
  slow = false;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.size = bytes.length;
  }
  slice(begin: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> } {
    const piece = this.#bytes.slice(begin, end).buffer;
    return {
      arrayBuffer: () =>
        this.slow ? new Promise((resolve) => this.waiting.push(() => resolve(piece))) : Promise.resolve(piece),
    };
  }
  arrayBuffer(): Promise<ArrayBuffer> {
    return this.slice(0, this.size).arrayBuffer();
  }
  go(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

test("dispose: ends runs that are under way, whatever they wait for, and leaves nothing", async () => {
  for (const keepWeights of [false, true]) {
    const hs = await load();
    const file = new SlowFile(ggufModel(randomModel("gpt2")));
    const model = await openModel(hs, file as unknown as Blob);
    const running = model.run(IDS, { keepWeights });
    await running.next();
    file.slow = true;
    const next = running.next();
    while (file.waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    model.dispose();
    file.go();
    await assert.rejects(next, { name: "HeadscopeError", code: "disposed" });
    assert.deepEqual(await running.next(), { value: undefined, done: true });
    assert.equal(hs.memory().liveObjects, 0);
    assert.throws(() => model.run(IDS), { code: "disposed" });
    assert.throws(() => model.tokenize("a"), { code: "disposed" });
    await assert.rejects(model.loss(IDS), { code: "disposed" });
    await assert.rejects(model.read("token_embd.weight"), { code: "disposed" });
  }
});

test("signal: stops a read that hangs, and a pass before it begins", async () => {
  const hs = await load();
  const file = new SlowFile(ggufModel(randomModel("gpt2")));
  const model = await openModel(hs, file as unknown as Blob);
  const controller = new AbortController();
  const running = model.run(IDS, { signal: controller.signal });
  await running.next();
  file.slow = true;
  const next = running.next();
  while (file.waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort(new Error("no longer wanted"));
  await assert.rejects(next, (error: Error) => {
    assert.equal((error as { code?: string }).code, "aborted");
    assert.equal((error.cause as Error).message, "no longer wanted");
    return true;
  });
  assert.equal(hs.memory().liveObjects, 1);
  file.slow = false;
  const before = model.bytesRead;
  await assert.rejects(model.run(IDS, { signal: AbortSignal.abort() }).next(), { code: "aborted" });
  await assert.rejects(model.loss(IDS, { signal: AbortSignal.abort() }), { code: "aborted" });
  assert.equal(model.bytesRead, before);
  // And the model goes on.
  assert.equal((await collect(model.run(IDS))).length, 3);
});

test("run: other work has its turn between blocks", async () => {
  const model = await openModel(await load(), ggufModel(randomModel("gpt2")));
  await collect(model.run(IDS, { keepWeights: true }));
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  for (let i = 0; i < 20; ++i) await collect(model.run(IDS, { keepWeights: true }));
  clearImmediate(next);
  assert.ok(turns > 20, `${turns} turns`);
});

test("run: from a server only the ranges that are needed, and a file that changes is found out", async (t) => {
  const hs = await load();
  const random = randomModel("gpt2", "F32", { dModel: 128, headDim: 32, inner: 512, vocabulary: 1200 });
  const server = await serve(t, ggufModel(random));
  const seen: number[] = [];
  const model = await openModel(hs, server.url, { cache: "off", onProgress: ({ loaded }) => seen.push(loaded) });
  const expected = referenceForward(random, IDS);
  const before = model.bytesRead;
  assertLayers(random, (await runAll(model)).slice(0, 1), { ...expected, layers: expected.layers.slice(0, 1) }, "URL");
  // Blocks and the few rows of the embeddings, not the embedding's 600 kB.
  const block = 4 * 128 * 128 + 2 * 128 * 512;
  const read = model.bytesRead - before;
  assert.ok(read > 3 * block * 4 && read < 3.2 * block * 4, `${read} bytes`);
  assert.ok(server.requests.length < 12, `${server.requests.length} requests`);
  assert.equal(seen.at(-1), model.bytesRead);
  const running = model.run(IDS);
  await running.next();
  server.headers = { ETag: '"another"' };
  server.file = ggufModel(randomModel("gpt2", "F32", { dModel: 128, headDim: 32, inner: 544, vocabulary: 1200 }));
  await assert.rejects(running.next(), { name: "HeadscopeError", code: "format", message: /changed/ });
  assert.equal(hs.memory().liveObjects, 1);
});
