// What <shape-trace> shows, from the trace of real layers (features B2–B4, B9, G2, K3).
import assert from "node:assert/strict";
import test from "node:test";
import { load, type TraceStep } from "headscope";
import { columnMap, joinedMap } from "../../web/elements/trace/index-map.js";
import { contiguous, stages, traceFault } from "../../web/elements/trace/stages.js";

const hs = await load();

function trace(dModel: number, numHeads: number, tokens: number, fused: boolean): readonly TraceStep[] {
  const square = () => new Float32Array(dModel * dModel);
  const weights = fused
    ? { layout: "in-out" as const, wqkv: new Float32Array(3 * dModel * dModel), wo: square() }
    : { layout: "in-out" as const, wq: square(), wk: square(), wv: square(), wo: square() };
  using layer = hs.multiHeadAttention({ dModel, numHeads }, weights);
  const x = { data: new Float32Array(tokens * dModel), shape: [tokens, dModel] };
  const { trace: steps } = layer.forward(x, { want: ["trace"] });
  assert.ok(steps);
  return steps;
}

const step = (steps: readonly TraceStep[], id: string) => {
  const found = steps.find((each) => each.id === id);
  assert.ok(found, id);
  return found;
};

test("stages(): the shape line of GPT-2 at T = 2 with one stage for q, k and v together", () => {
  const line = stages(trace(768, 12, 2, true)).map(({ name, steps }) => {
    const [first] = steps;
    return `${name}: ${steps.length > 1 ? `${steps.length} × ` : ""}[${first?.shape.join(",")}]`;
  });
  assert.deepEqual(line, [
    "input: [2,768]",
    "fused: [2,2304]",
    "split: 3 × [2,12,64]",
    "transpose: 3 × [12,2,64]",
    "scores: [12,2,2]",
    "weights: [12,2,2]",
    "heads: [12,2,64]",
    "back: [2,12,64]",
    "concat: [2,768]",
    "output: [2,768]",
  ]);
});

test("stages(): bytes and FLOPs are the sums of the steps", () => {
  const steps = trace(8, 2, 4, false);
  const found = stages(steps);
  const sum = (of: readonly { flops: number; bytes: number }[]) =>
    of.reduce(({ flops, bytes }, each) => ({ flops: flops + each.flops, bytes: bytes + each.bytes }), {
      flops: 0,
      bytes: 0,
    });
  assert.deepEqual(sum(found), sum(steps));
  assert.equal(found.find(({ name }) => name === "project")?.flops, 3 * 2 * 4 * 8 * 8);
});

test("stages(): steps of other names stand alone under their own formula", () => {
  const other = { id: "novel", formula: "N", shape: [1], strides: [1], copied: false, bytes: 4, flops: 0 };
  assert.deepEqual(
    stages([other, other]).map(({ name, steps }) => [name, steps.length]),
    [
      [null, 1],
      [null, 1],
    ],
  );
});

test("contiguous(): a transpose is a view that is not, whatever an axis of length 1 strides", () => {
  const steps = trace(8, 2, 4, false);
  assert.ok(contiguous(step(steps, "concat")));
  assert.ok(!contiguous(step(steps, "q")));
  assert.ok(contiguous({ shape: [1, 5], strides: [99, 1] }));
});

test("B4: with D = 4 and H = 2 columns 1, 2 are head 1's and 3, 4 head 2's, and are written back there", () => {
  const steps = trace(4, 2, 3, false);
  for (const id of ["qView", "q", "vView"]) assert.deepEqual(columnMap(step(steps, id))?.headOf, [0, 0, 1, 1]);
  assert.deepEqual(joinedMap(step(steps, "heads"), step(steps, "concat"))?.headOf, [0, 0, 1, 1]);
});

test("columnMap() of what has no heads, or too many columns, is null", () => {
  const steps = trace(768, 12, 2, true);
  assert.equal(columnMap(step(steps, "qView")), null);
  assert.equal(columnMap(step(steps, "scores")), null);
  assert.equal(joinedMap(step(steps, "heads"), step(steps, "concat")), null);
});

test("traceFault() says what a value lacks to be a trace", () => {
  assert.equal(traceFault(trace(8, 2, 4, true)), null);
  assert.match(traceFault("trace") ?? "", /an array of steps/);
  assert.match(
    traceFault([{ id: "q", formula: "Q", shape: [1, 2], strides: [1], bytes: 0, flops: 0 }]) ?? "",
    /step 0/,
  );
  assert.match(traceFault([null]) ?? "", /step 0/);
  assert.match(
    traceFault([{ id: "q", shape: [1], strides: [1], bytes: 0, flops: 0 }]) ?? "",
    /id and formula in step 0/,
  );
});
