import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "headscope";
import { type HeadRef, headImportance, type Model, openModel, pruneCurve } from "headscope/models";
import type { WorkerModel } from "headscope/worker";
import { loadLanguage, withWords } from "../../web/i18n/index.js";
import { Measuring, timeOf } from "../../web/playground/measuring.js";
import { HeadWorth } from "../../web/playground/sources/head-worth.js";
import type { Measurement, MeasureProgress } from "../../web/playground/sources/source.js";
import { ggufModel } from "../models/fixtures/model-files.ts";
import { randomModel, type Shape } from "../models/fixtures/random-model.ts";

await loadLanguage("en");
await withWords(Promise.resolve());

const IDS = [3, 14, 15, 82, 14, 0, 7, 7, 61];
const hs = await load({ variant: "simd" });

interface Counted {
  readonly model: Model;
  readonly worth: HeadWorth;
  /** Runs of the whole model. */
  runs(): number;
}

async function worthOf(family: Shape["family"], ids = IDS, quick = false): Promise<Counted> {
  const model = await openModel(hs, ggufModel(randomModel(family)));
  let runs = 0;
  const remote = {
    ...{ architecture: model.architecture, config: model.config },
    loss: (...given: Parameters<Model["loss"]>) => {
      runs++;
      return model.loss(...given);
    },
    run: (...given: Parameters<Model["run"]>) => {
      runs++;
      return model.run(...given);
    },
  } as unknown as WorkerModel;
  const reading = { bytes: 1e8, each: false, network: false };
  const worth = new HeadWorth({ model: remote, ids, keepWeights: true, guess: 1000, reading, quick });
  return { model, worth, runs: () => runs };
}

const never = () => new AbortController().signal;
const close = (actual: number | undefined, expected: number) =>
  assert.ok(Math.abs((actual as number) - expected) < 1e-6, `${actual}, expected ${expected}`);

for (const family of ["gpt2", "bert"] as const) {
  test(`ofLayer(${family}) is headImportance of that layer, in as many runs as it said`, async () => {
    const { model, worth, runs } = await worthOf(family);
    const { numHeads } = model.config;
    const measurement = worth.ofLayer(1);
    assert.equal(measurement.quick(), false);
    const { passes, milliseconds, reading } = measurement.estimate();
    assert.deepEqual([passes, milliseconds, reading?.bytes], [numHeads + 1, 1000 * (numHeads + 1), 1e8]);
    const told: MeasureProgress[] = [];
    const { measure, values } = await measurement.run({ signal: never(), onProgress: (at) => told.push(at) });
    assert.equal(runs(), passes);
    assert.deepEqual(
      told.map(({ done, total }) => [done, total]),
      Array.from({ length: passes + 1 }, (_, done) => [done, passes]),
    );
    assert.equal(told[0]?.left, 1000 * passes);
    assert.equal(told.at(-1)?.left, 0);
    assert.ok((told[2]?.left as number) < 1000, "after a run or two the guess is forgotten");
    const report = await headImportance(model, [IDS]);
    assert.equal(measure, report.measure);
    for (const { layer, head, importance } of report.heads) if (layer === 1) close(values[head], importance);
    // All of it is known now.
    assert.equal(worth.ofLayer(1).quick(), true);
    assert.deepEqual(worth.ofLayer(1).estimate(), { passes: 0, milliseconds: 0, reading: null });
    model.dispose();
  });
}

test("curve(null) is pruneCurve of all heads, curve(layer) that of one layer's", async () => {
  const { model, worth, runs } = await worthOf("gpt2");
  const { layers, numHeads } = model.config;
  const all = layers * numHeads;
  const ofLayer = await worth.curve(2).run({ signal: never(), onProgress: () => {} });
  assert.deepEqual([ofLayer.heads, ofLayer.layer, ofLayer.points.length], [numHeads, 2, numHeads + 1]);
  const order = (await headImportance(model, [IDS])).heads.filter(({ layer }) => layer === 2);
  const same = (a: readonly HeadRef[], b: readonly HeadRef[]) =>
    assert.deepEqual(
      a.map(({ layer, head }) => `${layer}.${head}`),
      b.map(({ layer, head }) => `${layer}.${head}`),
    );
  same(ofLayer.order, order);
  const expected = await pruneCurve(model, [IDS], { order, counts: ofLayer.points.map(({ removed }) => removed) });
  const whole = expected.points[0]?.loss as number;
  for (const [i, { cost }] of ofLayer.points.entries()) close(cost, (expected.points[i]?.loss as number) - whole);

  const before = runs();
  const measurement = worth.curve(null);
  const { passes } = measurement.estimate();
  const report = await measurement.run({ signal: never(), onProgress: () => {} });
  assert.equal(runs() - before, passes, "the layer's heads are known already");
  assert.deepEqual([report.heads, report.layer, report.points.at(-1)?.removed], [all, null, all]);
  const curve = await pruneCurve(model, [IDS], { counts: report.points.map(({ removed }) => removed) });
  same(report.order, curve.order);
  for (const [i, { cost }] of report.points.entries()) close(cost, (curve.points[i]?.loss as number) - whole);
  assert.equal(worth.curve(null).estimate().passes, 0);
  model.dispose();
});

test("a measurement that is stopped goes on where it was", async () => {
  const { model, worth, runs } = await worthOf("gpt2");
  const stop = new AbortController();
  const onProgress = ({ done }: MeasureProgress) => {
    if (done === 3) stop.abort();
  };
  await assert.rejects(worth.ofLayer(0).run({ signal: stop.signal, onProgress }), { code: "aborted" });
  const left = worth.ofLayer(0).estimate().passes;
  assert.equal(left, model.config.numHeads - 2);
  const before = runs();
  await worth.ofLayer(0).run({ signal: never(), onProgress: () => {} });
  assert.equal(runs() - before, left);
  model.dispose();
});

test("one token has no loss: heads are judged by the hidden state, and said so", async () => {
  const { model, worth } = await worthOf("gpt2", [5]);
  const { measure, values } = await worth.ofLayer(0).run({ signal: never(), onProgress: () => {} });
  assert.equal(measure, "hidden");
  const { heads } = await headImportance(model, [[5]]);
  for (const { layer, head, importance } of heads) if (layer === 0) close(values[head], importance);
  model.dispose();
});

test("timeOf() has no more digits than an estimate", () => {
  const written = [10, 1400, 19_400, 21_000, 58_000, 200_000, 3_500_000, 5_000_000, 20_000_000].map(timeOf);
  assert.deepEqual(written, ["1 s", "1 s", "19 s", "20 s", "1 min", "3 min", "58 min", "1.5 h", "5.5 h"]);
});

/** A measurement that ends when it is told to. */
function heldMeasurement(quick: boolean) {
  const runs: { done(value: number): void; tell(left: number): void; signal: AbortSignal }[] = [];
  const measurement: Measurement<number> = {
    quick: () => quick,
    estimate: () => ({ passes: 3, milliseconds: 9000, reading: null }),
    run: ({ signal, onProgress }) =>
      new Promise((done) => runs.push({ done, tell: (left) => onProgress({ done: 1, total: 3, left }), signal })),
  };
  return { measurement, runs };
}

test("Measuring: offered, running, stopped, known; a pause is no stop, and what comes after either is dropped", async () => {
  const { measurement, runs } = heldMeasurement(false);
  const changes: string[] = [];
  const measuring: Measuring<number> = new Measuring(measurement, () => changes.push(measuring.now.is));
  assert.deepEqual([measuring.now.is, measuring.worthSaying], ["offered", true]);
  measuring.start();
  measuring.start();
  assert.equal(runs.length, 1);
  measuring.pause();
  assert.deepEqual(measuring.now, { is: "offered", stopped: false });
  measuring.start();
  measuring.stop();
  assert.deepEqual(measuring.now, { is: "offered", stopped: true });
  for (const { done, signal } of runs) {
    assert.ok(signal.aborted);
    done(1);
  }
  await new Promise((turn) => setTimeout(turn));
  assert.equal(measuring.value, undefined);
  measuring.start();
  runs[2]?.done(7);
  await new Promise((turn) => setTimeout(turn));
  assert.deepEqual([measuring.value, measuring.worthSaying], [7, false]);
  assert.deepEqual(changes, ["running", "offered", "running", "offered", "running", "known"]);
});

test("Measuring: what is quick says nothing, unless it takes its time or was stopped", () => {
  const { measurement, runs } = heldMeasurement(true);
  const measuring = new Measuring(measurement, () => {});
  assert.equal(measuring.worthSaying, false);
  measuring.start();
  assert.equal(measuring.worthSaying, false);
  runs[0]?.tell(500);
  assert.equal(measuring.worthSaying, false);
  runs[0]?.tell(9000);
  assert.equal(measuring.worthSaying, true);
  measuring.stop();
  assert.equal(measuring.worthSaying, true);
});
