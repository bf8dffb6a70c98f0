import assert from "node:assert/strict";
import test from "node:test";
import { HeadscopeError, load, stats } from "headscope";
import {
  ablateHeads,
  ablationMask,
  type HeadRef,
  headImportance,
  headStats,
  loneHeads,
  type Model,
  openModel,
  PUBLISHED_PRUNING,
  pruneCurve,
} from "headscope/models";
import { ggufModel } from "../models/fixtures/model-files.ts";
import { type RandomModel, randomModel, type Shape } from "../models/fixtures/random-model.ts";
import { referenceForward } from "../models/fixtures/reference-forward.ts";
import { assertValuesClose } from "../support/compare.ts";

const IDS = [3, 14, 15, 82, 14, 0, 7, 7, 61];
const OTHER = [5, 5, 8, 13, 21];

async function open(family: Shape["family"], type = "F32", change: Partial<Shape> = {}) {
  const random = randomModel(family, type, change);
  const hs = await load({ variant: "simd" });
  return { random, model: await openModel(hs, ggufModel(random)) };
}

/** Mean −ln p of the next token, and the last stream, by the float64 oracle. */
function oracle(random: RandomModel, ids: readonly number[], out: readonly HeadRef[]) {
  const gates = random.blocks.map((_, layer) =>
    Float64Array.from({ length: random.numHeads }, (_, head) =>
      out.some((each) => each.layer === layer && each.head === head) ? 0 : 1,
    ),
  );
  const { layers, logits } = referenceForward(random, ids, gates);
  const V = random.vocabulary;
  const perToken = ids.slice(1).map((next, t) => {
    const row = logits.subarray(t * V, (t + 1) * V);
    const largest = Math.max(...row);
    return largest + Math.log(row.reduce((sum, x) => sum + Math.exp(x - largest), 0)) - (row[next] as number);
  });
  const hidden = layers.at(-1)?.hidden as Float64Array;
  return { perToken, loss: perToken.reduce((a, b) => a + b, 0) / perToken.length, hidden };
}

const length = (values: ArrayLike<number>) => Math.sqrt(Array.from(values).reduce((sum, x) => sum + x * x, 0));
const near = (actual: number | undefined, expected: number, bound: number, label: string) =>
  assert.ok(Math.abs((actual as number) - expected) <= bound, `${label}: ${actual}, expected ${expected}`);

for (const family of ["gpt2", "llama", "bert"] as const) {
  test(`ablateHeads(${family}) says how far stream and loss move, as a float64 pass does`, async () => {
    const { random, model } = await open(family);
    const heads = [
      { layer: 0, head: 1 },
      { layer: 1, head: 0 },
      { layer: 1, head: 3 },
    ];
    const { hidden, loss, heads: named } = await ablateHeads(model, IDS, heads);
    const before = oracle(random, IDS, []);
    const after = oracle(random, IDS, heads);
    assert.deepEqual(named, heads);
    const D = random.dModel;
    const difference = length(before.hidden.map((x, i) => x - (after.hidden[i] as number)));
    const bound = 1e-4 * length(before.hidden);
    assert.ok(difference > 100 * bound, "taking heads out changes something");
    near(hidden.norm, length(before.hidden), bound, "norm");
    near(hidden.changedNorm, length(after.hidden), bound, "changedNorm");
    near(hidden.difference, difference, bound, "difference");
    near(hidden.relative, difference / length(before.hidden), 1e-4, "relative");
    const cosines = IDS.map((_, t) => {
      const a = before.hidden.subarray(t * D, (t + 1) * D);
      const b = after.hidden.subarray(t * D, (t + 1) * D);
      return a.reduce((sum, x, i) => sum + x * (b[i] as number), 0) / (length(a) * length(b));
    });
    assertValuesClose(hidden.perToken, cosines, { absolute: 1e-4 }, "perToken");
    near(hidden.cosine, cosines.reduce((a, b) => a + b, 0) / IDS.length, 1e-4, "cosine");
    if (family === "bert") {
      assert.equal(loss, undefined);
    } else {
      near(loss?.before, before.loss, 1e-4, "loss before");
      near(loss?.after, after.loss, 1e-4, "loss after");
      near(loss?.change, after.loss - before.loss, 1e-4, "change");
      const changes = after.perToken.map((nats, i) => nats - (before.perToken[i] as number));
      assertValuesClose(loss?.perToken ?? [], changes, { absolute: 2e-4 }, "loss per token");
    }
    model.dispose();
  });
}

test("ablateHeads without heads changes nothing, and a single token has no loss", async () => {
  const { model } = await open("gpt2");
  const none = await ablateHeads(model, IDS, []);
  assert.deepEqual([none.hidden.difference, none.hidden.relative, none.hidden.cosine, none.loss?.change], [0, 0, 1, 0]);
  const single = await ablateHeads(model, [4], [{ layer: 0, head: 0 }]);
  assert.equal(single.loss, undefined);
  assert.ok(single.hidden.relative > 0);
  model.dispose();
});

test("ablationMask gates each named head once and leaves whole layers out", async () => {
  const { model } = await open("gpt2");
  const heads = [
    { layer: 2, head: 1 },
    { layer: 2, head: 1 },
    { layer: 0, head: 3 },
  ];
  assert.deepEqual(ablationMask(model, heads), [Float32Array.of(1, 1, 1, 0), undefined, Float32Array.of(1, 0, 1, 1)]);
  const wrong: [unknown, ErrorConstructor | RangeErrorConstructor, RegExp][] = [
    [undefined, TypeError, /heads: expected an array/],
    [[{ layer: 3, head: 0 }], RangeError, /heads\[0\]\.layer: expected a whole number from 0 to 2, got 3/],
    [
      [
        { layer: 0, head: 0 },
        { layer: 0, head: 4 },
      ],
      RangeError,
      /heads\[1\]\.head/,
    ],
    [[3], TypeError, /heads\[0\]/],
  ];
  for (const [value, type, message] of wrong) {
    assert.throws(
      () => ablationMask(model, value as HeadRef[]),
      (error: Error) => {
        assert.ok(error instanceof type);
        assert.match(error.message, message);
        return true;
      },
    );
    await assert.rejects(ablateHeads(model, IDS, value as HeadRef[]), type);
  }
  model.dispose();
});

test("headStats is stats.heads of every layer, with ids or tokens", async () => {
  const { model } = await open("llama");
  const layers = await headStats(model, IDS);
  let layer = 0;
  for await (const { weights } of model.run(IDS)) {
    assert.deepEqual(layers[layer], { layer, heads: stats.heads(weights, IDS) });
    layer += 1;
  }
  assert.equal(layers.length, layer);
  assert.ok(
    layers.every(({ heads }) => heads.every(({ induction }) => induction > 0)),
    "the ids repeat",
  );
  const tokens = IDS.map((id) => ({
    ...{ id, piece: "", text: "", bytes: new Uint8Array(0), start: 0, end: 0, partial: false, special: false },
  }));
  assert.deepEqual(await headStats(model, tokens), layers);
  model.dispose();
});

test("headImportance is what each head's absence costs by itself, the least first", async () => {
  const { random, model } = await open("gpt2", "Q8_0");
  const texts = [IDS, OTHER];
  const report = await headImportance(model, texts);
  const mean = (out: readonly HeadRef[]) => {
    const nats = texts.flatMap((ids) => oracle(random, ids, out).perToken);
    return nats.reduce((a, b) => a + b, 0) / nats.length;
  };
  assert.equal(report.measure, "loss");
  near(report.baseline.loss, mean([]), 1e-4, "baseline");
  assert.equal(report.baseline.hidden, 0);
  assert.equal(report.heads.length, 12);
  assert.equal(new Set(report.heads.map(({ layer, head }) => `${layer} ${head}`)).size, 12);
  for (const { layer, head, loss, importance, hidden } of report.heads) {
    near(loss, mean([{ layer, head }]), 1e-4, `loss without ${layer}.${head}`);
    near(importance, (loss as number) - (report.baseline.loss as number), 1e-12, `importance of ${layer}.${head}`);
    assert.ok(hidden > 0);
  }
  const order = report.heads.map(({ importance }) => importance);
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  );
  model.dispose();
});

test("headImportance of bert goes by the stream", async () => {
  const { model } = await open("bert");
  const report = await headImportance(model, [IDS]);
  assert.equal(report.measure, "hidden");
  assert.equal(report.baseline.loss, undefined);
  for (const { layer, head, importance } of report.heads) {
    const { hidden } = await ablateHeads(model, IDS, [{ layer, head }]);
    near(importance, hidden.relative, 1e-12, `${layer}.${head}`);
  }
  model.dispose();
});

test("pruneCurve takes heads out in the order of their importance, from none to all", async () => {
  const { random, model } = await open("gpt2");
  const seen: { done: number; total: number }[] = [];
  const curve = await pruneCurve(model, [IDS], { onProgress: (progress) => seen.push(progress) });
  const { heads } = await headImportance(model, [IDS]);
  assert.deepEqual(
    curve.order,
    heads.map(({ layer, head }) => ({ layer, head })),
  );
  assert.deepEqual(
    curve.points.map(({ removed }) => removed),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  assert.deepEqual(
    curve.points.map(({ share }) => share),
    curve.points.map(({ removed }) => removed / 12),
  );
  for (const { removed, loss, hidden } of curve.points) {
    near(loss, oracle(random, IDS, curve.order.slice(0, removed)).loss, 1e-4, `without ${removed} heads`);
    assert.equal(hidden === 0, removed === 0);
  }
  assert.deepEqual(
    seen.map(({ done }) => done),
    Array.from({ length: seen.length }, (_, i) => i + 1),
  );
  assert.equal(seen.at(-1)?.done, seen[0]?.total);
  model.dispose();
});

test("pruneCurve takes an order and counts of the caller's", async () => {
  const { random, model } = await open("llama");
  const order = [
    { layer: 2, head: 7 },
    { layer: 0, head: 0 },
    { layer: 1, head: 5 },
  ];
  const curve = await pruneCurve(model, [IDS, OTHER], { order, counts: [3, 1] });
  assert.deepEqual(curve.order, order);
  assert.deepEqual(
    curve.points.map(({ removed, share }) => [removed, share]),
    [
      [3, 3 / 24],
      [1, 1 / 24],
    ],
  );
  const nats = [IDS, OTHER].flatMap((ids) => oracle(random, ids, order).perToken);
  near(curve.points[0]?.loss, nats.reduce((a, b) => a + b, 0) / nats.length, 1e-4, "loss");
  const wrong: [object, RegExp][] = [
    [{ order: [order[0], order[0]] }, /order\[1\]: expected every head once, got layer 2, head 7 again/],
    [{ order, counts: [4] }, /counts\[0\]/],
    [{ order: [{ layer: 9, head: 0 }] }, /heads\[0\]\.layer/],
  ];
  for (const [options, message] of wrong) await assert.rejects(pruneCurve(model, [IDS], options), message);
  await assert.rejects(pruneCurve(model, []), /texts: expected at least one text/);
  await assert.rejects(pruneCurve(model, [7] as never), /texts\[0\]/);
  model.dispose();
});

test("loneHeads: the head of each layer that serves best alone", async () => {
  const { random, model } = await open("gpt2", "F32", { layers: 2 });
  const best = await loneHeads(model, [IDS]);
  assert.deepEqual(
    best.map(({ layer }) => layer),
    [0, 1],
  );
  for (const { layer, head, loss, cost } of best) {
    const losses = [0, 1, 2, 3].map((lone) => {
      const others = [0, 1, 2, 3].filter((other) => other !== lone).map((other) => ({ layer, head: other }));
      return oracle(random, IDS, others).loss;
    });
    near(loss, losses[head] as number, 1e-4, `layer ${layer}`);
    near(cost, (losses[head] as number) - oracle(random, IDS, []).loss, 2e-4, `cost of layer ${layer}`);
    assert.ok(losses.every((other) => other >= (losses[head] as number) - 1e-4));
  }
  model.dispose();
});

test("a signal stops importance and curve between passes, and the model goes on working", async () => {
  const { model } = await open("gpt2");
  for (const run of [headImportance, pruneCurve, loneHeads] as ((
    model: Model,
    texts: readonly number[][],
    options: object,
  ) => Promise<unknown>)[]) {
    const stop = new AbortController();
    let passes = 0;
    const onProgress = ({ done }: { done: number }) => {
      passes = done;
      if (done === 3) stop.abort();
    };
    await assert.rejects(run(model, [IDS], { signal: stop.signal, onProgress }), (error: HeadscopeError) => {
      assert.ok(error instanceof HeadscopeError);
      assert.equal(error.code, "aborted");
      return true;
    });
    assert.equal(passes, 3);
  }
  assert.ok((await model.loss(IDS)).nats > 0);
  await assert.rejects(ablateHeads(model, IDS, [], { onProgress: 3 as never }), /onProgress: expected a function/);
  model.dispose();
});

test("PUBLISHED_PRUNING holds what the papers say, with where they say it", () => {
  assert.ok(Object.isFrozen(PUBLISHED_PRUNING));
  const michel = PUBLISHED_PRUNING.filter(({ authors }) => authors.startsWith("Michel"));
  assert.deepEqual(
    michel.map(({ share, change }) => [share, change]),
    [
      [0.2, undefined],
      [0.4, undefined],
    ],
  );
  const voita = PUBLISHED_PRUNING.find(({ authors }) => authors.startsWith("Voita"));
  assert.deepEqual([voita?.removed, voita?.of, voita?.change, voita?.metric], [38, 48, -0.15, "BLEU"]);
  for (const { arxiv, year } of PUBLISHED_PRUNING) {
    assert.match(arxiv, /^1905\.\d{5}$/);
    assert.equal(year, 2019);
  }
});
