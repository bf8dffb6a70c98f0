import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type AttentionConfig, load } from "headscope";
import { ablationMask, gqaCurve, gqaCurveOfModel, type Model, openModel } from "headscope/models";
import type { WorkerModel } from "headscope/worker";
import { headKey } from "../../web/playground/head-key.js";
import { percent, threeDigits } from "../../web/playground/labs/drawing.js";
import { layerOfModel, layerOfParts, projectHeads, withLayer } from "../../web/playground/labs/lab-layer.js";
import {
  type Projection,
  projectionOf,
  projections,
  reportOutput,
} from "../../web/playground/labs/output-projection.js";
import { divisors } from "../../web/playground/labs/pooled-heads.js";
import type { LayerParts } from "../../web/playground/shell.js";
import { buildWeights, builtHeads, D, embed } from "../../web/playground/sources/built-heads.js";
import { drawSeed42 } from "../../web/playground/sources/numpy-draw.js";
import { assertValuesClose } from "../support/compare.ts";
import { drawWeights, transposed } from "../support/layer.ts";
import { Random } from "../support/random.ts";

const hs = await load({ variant: "simd" });

const CONFIG: AttentionConfig = { dModel: 24, numHeads: 6, headDim: 4, valueHeadDim: 3, outDim: 20 };
const WEIGHTS = drawWeights(CONFIG, new Random(8));
const X = new Random(9).tensor([7, 24]);
const PARTS: LayerParts = { config: CONFIG, weights: WEIGHTS, x: X, causal: true };

async function withProjection(kind: Projection, parts: LayerParts = PARTS) {
  const layer = layerOfParts(hs, parts);
  const { heads } = await layer.results();
  const own = await layer.projection();
  const wo = projectionOf(kind, own.sizes, own.wo, heads);
  const { contributions, output } = await projectHeads(hs, heads, { ...own, wo });
  return { own, wo, heads, output, contributions, report: reportOutput(contributions, output, own.bo) };
}

for (const kind of projections) {
  test(`W_O ${kind}: A = Σ_h O_h W_O^(h) + b_O is the one product, and the shares sum to 1`, async () => {
    const { report, output, contributions, wo, heads } = await withProjection(kind);
    const largest = Math.max(...contributions.data.map(Math.abs));
    assert.ok(report.difference <= 2e-6 * largest, String(report.difference));
    const shares = report.heads.reduce((sum, { share }) => sum + share, report.biasShare);
    // Where heads cancel, A is small beside what they write.
    assert.ok(Math.abs(shares - 1) < (kind === "cancelling" ? 1e-2 : 1e-5), String(shares));
    assert.ok(Math.abs(report.norm - Math.hypot(...output.data)) < 1e-5);
    for (const [head, { norm, places }] of report.heads.entries()) {
      // Token by token: [T, H, 1, outDim].
      const written = Float32Array.from({ length: 140 }, (_, at) => {
        return contributions.data[(Math.floor(at / 20) * 6 + head) * 20 + (at % 20)] as number;
      });
      assert.ok(Math.abs(norm - Math.hypot(...written)) < 1e-5);
      assert.ok(Math.abs(Math.hypot(...places) - norm) < 1e-5);
      // Each head's product by plain loops, from its own rows of W_O.
      const expected = Float32Array.from({ length: 140 }, (_, at) => {
        const [t, c] = [Math.floor(at / 20), at % 20];
        let sum = 0;
        for (let i = 0; i < 3; i++) {
          sum += (heads.data[(head * 7 + t) * 3 + i] as number) * (wo[(head * 3 + i) * 20 + c] as number);
        }
        return sum;
      });
      assertValuesClose(written, expected, { absolute: 2e-6 * largest }, `head ${head}`);
    }
  });
}

test("W_O identity: head h writes into segment h and nowhere else", async () => {
  const { report } = await withProjection("identity");
  for (const [head, { places }] of report.heads.entries()) {
    for (const [column, length] of places.entries()) {
      assert.equal(length > 0, Math.floor(column / 3) === head, `head ${head}, column ${column}`);
    }
  }
});

test("W_O shuffled: each head has the rows of the next", async () => {
  const { wo } = await withProjection("shuffled");
  const real = WEIGHTS.wo as Float32Array;
  assert.deepEqual(wo.subarray(0, 300), real.subarray(60));
  assert.deepEqual(wo.subarray(300), real.subarray(0, 60));
});

test("W_O cancelling: with no more tokens than dv, two heads take each other back and little but b_O is left", async () => {
  const short = { ...PARTS, x: new Random(2).tensor([3, 24]), causal: false };
  const { report, output } = await withProjection("cancelling", short);
  for (const [head, { norm }] of report.heads.entries()) {
    assert.ok(norm > 0.1);
    if (head % 2 === 1) assert.ok(Math.abs(norm / (report.heads[head - 1]?.norm as number) - 1) < 1e-3);
  }
  const bias = Float32Array.from(output.data, (_, i) => WEIGHTS.bo?.[i % 20] as number);
  assertValuesClose(output.data, bias, { absolute: 1e-3 }, "A");
  assert.ok(Math.abs(report.biasShare - 1) < 1e-2);
});

test("the layer's own W_O gives the layer's own output and contributions", async () => {
  const { output, contributions } = await withProjection("real");
  const whole = await withLayer(hs, CONFIG, WEIGHTS, (layer) =>
    layer.forward(X, { causal: true, want: ["contributions"] }),
  );
  assertValuesClose(output.data, whole.output.data, { absolute: 2e-5 }, "A");
  for (const [i, value] of contributions.data.entries()) {
    const [t, head, column] = [Math.floor(i / 120), Math.floor(i / 20) % 6, i % 20];
    assert.ok(Math.abs(value - (whole.contributions.data[(head * 7 + t) * 20 + column] as number)) < 2e-5);
  }
});

test("W_O is read in both layouts, and no W_O is the identity", async () => {
  const real = WEIGHTS.wo as Float32Array;
  const turned = { ...WEIGHTS, layout: "out-in" as const, wo: transposed(real, 18, 20) };
  const { wo, bo } = await layerOfParts(hs, { ...PARTS, weights: turned }).projection();
  assert.deepEqual(wo, real);
  assert.equal(bo, WEIGHTS.bo);
  const { wo: _none, bo: _bias, ...bare } = WEIGHTS;
  const none = await layerOfParts(hs, { ...PARTS, weights: bare }).projection();
  assert.equal(none.sizes.outDim, 18);
  assert.deepEqual(none.wo, projectionOf("identity", none.sizes, real, X));
});

test("NumPy's seed 42 and the built heads through their own W_O", async () => {
  const { x, wq, wk, wv, wo } = drawSeed42();
  const [q, k, v, o] = [wq, wk, wv, wo].map((matrix) => Float32Array.from(matrix)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const numpy = {
    config: { dModel: 8, numHeads: 2 },
    weights: { layout: "in-out" as const, wq: q, wk: k, wv: v, wo: o },
    x: { data: Float32Array.from(x), shape: [4, 8] },
    causal: false,
  };
  const { tokens } = await builtHeads.tokenize("a b c d a b c d", "character");
  const built = { config: { dModel: D, numHeads: 8 }, weights: buildWeights(), x: embed(tokens), causal: true };
  for (const parts of [numpy, built]) {
    const { report } = await withProjection("real", parts);
    assert.ok(report.difference < 1e-6);
    assert.equal(report.biasShare, 0);
    assert.ok(Math.abs(report.heads.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-5);
  }
});

const SOME_OFF = new Set([1, 2, 5]);

for (const kind of projections) {
  test(`W_O ${kind} with heads off: they write nothing, and the shares of the others sum to 1`, async () => {
    const layer = layerOfParts(hs, PARTS, SOME_OFF);
    const { heads } = await layer.results();
    const own = await layer.projection();
    const wo = projectionOf(kind, own.sizes, own.wo, heads, layer.off);
    const { contributions, output } = await projectHeads(hs, heads, { ...own, wo }, layer.off);
    const report = reportOutput(contributions, output, own.bo);
    for (const [head, { norm, share, places }] of report.heads.entries()) {
      assert.equal(norm > 0, !SOME_OFF.has(head), `head ${head}`);
      if (SOME_OFF.has(head)) assert.deepEqual([share, Math.max(...places)], [0, 0]);
    }
    const shares = report.heads.reduce((sum, { share }) => sum + share, report.biasShare);
    assert.ok(Math.abs(shares - 1) < (kind === "cancelling" ? 1e-2 : 1e-5), String(shares));
    if (kind !== "real") return;
    const headMask = Float32Array.from({ length: 6 }, (_, head) => (SOME_OFF.has(head) ? 0 : 1));
    const gated = await withLayer(hs, CONFIG, WEIGHTS, (layer) => layer.forward(X, { causal: true, headMask }));
    assertValuesClose(output.data, gated.output.data, { absolute: 2e-5 }, "A");
  });
}

test("W_O cancelling passes over heads that are off: 0 takes nothing back, 4 takes back what 3 wrote", async () => {
  const layer = layerOfParts(hs, { ...PARTS, x: new Random(2).tensor([3, 24]), causal: false }, SOME_OFF);
  const { heads } = await layer.results();
  const own = await layer.projection();
  const wo = projectionOf("cancelling", own.sizes, own.wo, heads, layer.off);
  const block = 3 * 20;
  for (const head of [0, 1, 2, 4, 5]) {
    assert.deepEqual(wo.subarray(head * block, (head + 1) * block), own.wo.subarray(head * block, (head + 1) * block));
  }
  const { contributions } = await projectHeads(hs, heads, { ...own, wo }, layer.off);
  const of = (head: number, t: number, c: number) => contributions.data[(t * 6 + head) * 20 + c] as number;
  for (let t = 0; t < 3; t++) {
    for (let c = 0; c < 20; c++) assert.ok(Math.abs(of(0, t, c) + of(3, t, c)) < 1e-3);
  }
});

function embedded() {
  const file = new URL("../../web/models/headscope.gguf", import.meta.url);
  return openModel(hs, new Blob([readFileSync(file)]));
}

function remoteOf(model: Model): WorkerModel {
  return {
    ...{ config: model.config, name: model.name, tensors: model.tensors },
    run: (...given: Parameters<typeof model.run>) => model.run(...given),
    read: (...given: Parameters<typeof model.read>) => model.read(...given),
    gqaCurve: (...[tokens, options]: Parameters<WorkerModel["gqaCurve"]>) =>
      gqaCurveOfModel(hs, model, tokens, options),
  } as unknown as WorkerModel;
}

test("a layer of a model with heads off, here and before: what it reads, its output and its curve are those of the gated run", async () => {
  const model = await embedded();
  const ids = model.tokenize("The cat sat on the mat because it was").map(({ id }) => id);
  const off = new Set([headKey(0, 1), headKey(0, 3), headKey(1, 2), headKey(3, 0)]);
  const layer = layerOfModel(remoteOf(model), ids, { layer: 1, off });
  assert.deepEqual([...layer.off], [2]);
  const { weights, heads } = await layer.results();
  const { output } = await projectHeads(hs, heads, await layer.projection(), layer.off);
  const heads3 = [
    { layer: 0, head: 1 },
    { layer: 0, head: 3 },
    { layer: 1, head: 2 },
  ];
  for await (const result of model.run(ids, { layers: 2, headMask: ablationMask(model, heads3) })) {
    if (result.layer !== 1) continue;
    assert.deepEqual(weights, result.weights);
    assertValuesClose(output.data, result.output.data, { absolute: 1e-4 }, "A");
  }
  const errors = (await layer.pooled(2)).map(({ error }) => error);
  const whole = (await layerOfModel(remoteOf(model), ids, { layer: 1, off: new Set() }).pooled(2)).map(
    ({ error }) => error,
  );
  assert.equal(errors[0], 0);
  for (const [i, error] of errors.entries()) if (i > 0) assert.ok(Math.abs(error - (whole[i] as number)) > 1e-4);
  model.dispose();
});

test("work on a layer ends with its signal, and is done when it is asked for again", async () => {
  const model = await embedded();
  const ids = model.tokenize("The cat sat").map(({ id }) => id);
  const stop = new AbortController();
  const layer = layerOfModel(remoteOf(model), ids, { layer: 3, off: new Set(), signal: stop.signal });
  const asked = layer.results();
  stop.abort();
  await assert.rejects(asked, { code: "aborted" });
  await assert.rejects(layer.pooled(2), { code: "aborted" });
  model.dispose();
});

test("a layer of the embedded model: its heads, W_O and b_O make its own output", async () => {
  const model = await embedded();
  const ids = model.tokenize("The cat sat on the mat because it was").map(({ id }) => id);
  const layer = layerOfModel(remoteOf(model), ids, { layer: 1, off: new Set() });
  const { q, k, weights, heads } = await layer.results();
  const own = await layer.projection();
  assert.deepEqual(own.sizes, { heads: 8, width: 16, outDim: 128 });
  assert.deepEqual(q.shape, [8, ids.length, 16]);
  assert.deepEqual(k.shape, q.shape);
  const { output, contributions } = await projectHeads(hs, heads, own);
  for await (const result of model.run(ids, { layers: 2 })) {
    if (result.layer !== 1) continue;
    assert.deepEqual(weights, result.weights);
    // The file's matrix is quantised; decoded first or panel by panel it is the same.
    assertValuesClose(output.data, result.output.data, { absolute: 1e-4 }, "A");
  }
  const { difference, norm } = reportOutput(contributions, output, own.bo);
  assert.ok(difference < 1e-6 * norm);
  const points = await layer.pooled(2);
  assert.deepEqual(
    points.map(({ numKVHeads, bytesPerToken }) => [numKVHeads, bytesPerToken]),
    [
      [8, 512],
      [4, 256],
      [2, 128],
      [1, 64],
    ],
  );
  model.dispose();
});

test("pooled() is the package's own curve, with the bytes of the cache", async () => {
  const points = await layerOfParts(hs, PARTS).pooled(2);
  const expected = gqaCurve(hs, CONFIG, WEIGHTS, X, { causal: true });
  assert.deepEqual(
    points.map(({ numKVHeads }) => numKVHeads),
    [6, 3, 2, 1],
  );
  for (const [i, point] of points.entries()) {
    const { error, bytesPerToken } = expected[i] as (typeof expected)[number];
    assert.ok(Math.abs(point.error - error) < 1e-6);
    assert.equal(point.bytesPerToken, bytesPerToken);
  }
  assert.equal(points[0]?.error, 0);
  assert.equal(points[0]?.bytesPerToken, 84); // (4 + 3) numbers × 6 heads × 2 bytes
  assert.ok(points.slice(1).every(({ error }) => error > 0.05));
});

test("what a laboratory takes it gives back, also when a layer is refused", async () => {
  const before = hs.memory().liveObjects;
  const layer = layerOfParts(hs, PARTS);
  await layer.results();
  await layer.pooled(4);
  await assert.rejects(layerOfParts(hs, { ...PARTS, x: new Random(1).tensor([7, 23]) }).results());
  assert.equal(hs.memory().liveObjects, before);
  assert.equal(layer.results(), layer.results());
});

test("divisors() are the places of the slider, the largest first", () => {
  assert.deepEqual(divisors(12), [12, 6, 4, 3, 2, 1]);
  assert.deepEqual(divisors(1), [1]);
});

test("threeDigits() and percent(): as many digits as say something", () => {
  for (const [value, written] of [
    [0, "0"],
    [1.23e-7, "1.2e-7"],
    [0.0012345, "0.00123"],
    [2, "2.00"],
    [14.159, "14.2"],
    [-95.79, "−95.8"],
    [1250.4, "1250"],
    [2e7, "2.0e7"],
  ] as const) {
    assert.equal(threeDigits(value), written);
  }
  assert.deepEqual([0.1234, -0.06, 1, 0.9996, Number.NaN].map(percent), ["12.3 %", "−6.0 %", "100 %", "100 %", "—"]);
});
