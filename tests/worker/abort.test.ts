import assert from "node:assert/strict";
import test from "node:test";
import { HeadscopeError } from "headscope";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { MODEL, startWorker } from "./start.ts";

const config = { dModel: 32, numHeads: 4 };
const aborted = (name: string) => (error: unknown) => {
  assert.ok(error instanceof HeadscopeError);
  assert.equal(error.code, "aborted");
  assert.equal(error.message, `${name}: stopped by its signal`);
  assert.equal(error.cause, "newer input");
  return true;
};

test("of five quick calls, each cancelled by the next, the worker computes the first and the last alone", async () => {
  const worker = await startWorker();
  const random = new Random(8);
  const layer = await worker.multiHeadAttention(config, drawWeights(config, random));
  // The cache counts how often the layer was run.
  const cache = await layer.createCache({ capacity: 5 });
  const x = { data: random.values(32), shape: [1, 32] };
  const calls: Promise<unknown>[] = [];
  const outcomes: string[] = [];
  let older: AbortController | undefined;
  for (let i = 0; i < 5; ++i) {
    older?.abort("newer input");
    older = new AbortController();
    const call = layer.forward(x, { cache, causal: true, signal: older.signal });
    calls.push(call);
    call.then(
      () => outcomes.push(`${i} shown`),
      () => outcomes.push(`${i} aborted`),
    );
  }
  const settled = await Promise.allSettled(calls);
  for (const each of settled.slice(0, 4)) aborted("forward")((each as PromiseRejectedResult).reason);
  assert.equal(settled[4]?.status, "fulfilled");
  assert.deepEqual(outcomes, ["0 aborted", "1 aborted", "2 aborted", "3 aborted", "4 shown"]);
  assert.equal(cache.length, 2);
});

test("a signal that was aborted before sends nothing, and one that comes after the answer changes nothing", async () => {
  const worker = await startWorker();
  const weights = drawWeights(config, new Random(9));
  const signal = AbortSignal.abort("newer input");
  await assert.rejects(worker.multiHeadAttention(config, weights, { signal }), aborted("multiHeadAttention"));
  await assert.rejects(worker.memory({ signal }), aborted("memory"));
  assert.equal((await worker.memory()).liveObjects, 0);
  const later = new AbortController();
  const layer = await worker.multiHeadAttention(config, weights, { signal: later.signal });
  later.abort();
  assert.equal((await layer.forward({ data: new Float32Array(32), shape: [1, 32] })).output.data.length, 32);
});

test("what was made for an aborted call is let go of in the worker", async () => {
  const worker = await startWorker();
  const weights = drawWeights(config, new Random(10));
  const controller = new AbortController();
  const call = worker.multiHeadAttention(config, weights, { signal: controller.signal });
  const model = worker.openModel(new Blob([MODEL]), { signal: controller.signal });
  controller.abort("newer input");
  await assert.rejects(call, aborted("multiHeadAttention"));
  await assert.rejects(model, aborted("openModel"));
  let live = 1;
  for (let turn = 0; turn < 200 && live > 0; ++turn) live = (await worker.memory()).liveObjects;
  assert.equal(live, 0);
});

test("an abort stops a model between layers: the weights of later ones are never read", async () => {
  const worker = await startWorker();
  const model = await worker.openModel(new Blob([MODEL]));
  const tokens = await model.tokenize("the cat saw the dog");
  const header = model.bytesRead;
  const measure = async (stop: boolean) => {
    const before = model.bytesRead;
    const controller = new AbortController();
    let layers = 0;
    const run = async () => {
      for await (const { layer } of model.run(tokens, { signal: controller.signal })) {
        assert.equal(layer, layers++);
        if (stop && layer === 0) controller.abort("newer input");
      }
    };
    if (stop) await assert.rejects(run(), aborted("run"));
    else await run();
    await model.tokenize("");
    return { layers, bytes: model.bytesRead - before };
  };
  const whole = await measure(false);
  const part = await measure(true);
  assert.ok(header > 0);
  assert.equal(whole.layers, model.config.layers);
  assert.equal(part.layers, 1);
  assert.ok(part.bytes < whole.bytes / 2, `${part.bytes} of ${whole.bytes} bytes`);
});

test("an abort ends a pass that is on its way in the worker, and the next pass starts", async () => {
  const worker = await startWorker();
  const model = await worker.openModel(new Blob([MODEL]));
  const tokens = await model.tokenize("the cat saw the dog and the dog saw the cat");
  const start = model.bytesRead;
  const expected = await model.loss(tokens);
  const whole = model.bytesRead - start;

  const controller = new AbortController();
  // 33 passes; it tells of each, so the first word of it says that it runs.
  let told = 0;
  const importance = model.headImportance([tokens], {
    keepWeights: false,
    signal: controller.signal,
    onProgress: () => {
      told += 1;
      controller.abort("newer input");
    },
  });
  await assert.rejects(importance, aborted("headImportance"));
  assert.equal(told, 1);
  const between = model.bytesRead;
  assert.deepEqual(await model.loss(tokens), expected);
  assert.ok(model.bytesRead - between < 4 * whole, "the aborted passes went on");
});

test("a loop that is left early reads nothing more, and the model is free for the next", async () => {
  const worker = await startWorker();
  const model = await worker.openModel(new Blob([MODEL]));
  const tokens = await model.tokenize("the cat");
  for await (const { layer } of model.run(tokens)) if (layer === 0) break;
  const before = model.bytesRead;
  await model.tokenize("");
  assert.equal(model.bytesRead, before);
  let layers = 0;
  for await (const _ of model.run(tokens)) layers += 1;
  assert.equal(layers, model.config.layers);
});
