import assert from "node:assert/strict";
import { test } from "node:test";
import { cost } from "headscope";
import { ExactCache, ExactLayer } from "../support/oracle.js";
import { CASES, type Case, chooseCases, flops, projectionBytes, visiblePairs } from "./cases.ts";
import { errorOf, expect } from "./expected.ts";
import { limitModule, startLimit, streamModule } from "./limit.ts";
import type { Result, Row } from "./measure.ts";
import { memoryWork } from "./memory.ts";
import { parseOptions } from "./options.ts";
import { OnnxModel } from "./peers/onnx-model.ts";
import { plotSvg } from "./plot.ts";
import { makeProblem, type Problem } from "./problem.ts";
import { replaceSection } from "./report.ts";
import { judge, judged, outOfReach, passes, tally, type Verdict, verdictTable } from "./requirements.ts";
import { merge, type Results } from "./results.ts";
import { median, quantile, rotated } from "./statistics.ts";
import { bestRow, resultTable, shareOfLimit, short } from "./table.ts";

test("the median of an even number of samples lies between the middle two, and quantiles between neighbours", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([5, 1, 9]), 5);
  assert.equal(quantile([10, 20, 30, 40, 50], 0.25), 20);
  assert.ok(Number.isNaN(median([])));
});

test("rotated starts with every contender in turn", () => {
  assert.deepEqual(rotated(["a", "b", "c"], 4), ["b", "c", "a"]);
  assert.deepEqual(rotated([], 3), []);
});

test("cases are unique, count FLOPs as the package does, and are found by id, group and beginning", () => {
  assert.equal(new Set(CASES.map((each) => each.id)).size, CASES.length);
  for (const each of CASES) {
    if (each.core || each.cached > 0 || each.causal) continue;
    const exact = cost.flops({ dModel: each.D, numHeads: each.H, T: each.T }).total;
    assert.equal(flops(each), Number(exact), each.id);
  }
  assert.equal(visiblePairs({ T: 4, cached: 0, causal: true }), 10);
  assert.equal(visiblePairs({ T: 1, cached: 128, causal: false }), 129);
  assert.deepEqual(
    chooseCases(["D768 T128*"]).map((each) => each.id),
    ["D768 T128", "D768 T128 weights", "D768 T128 causal", "D768 T128 causal weights"],
  );
  assert.equal(chooseCases(["grouped"]).length, 3);
  assert.equal(chooseCases(["no such"]).length, 0);
});

const small: Case = {
  id: "s",
  group: "short",
  D: 8,
  H: 4,
  G: 2,
  d: 4,
  T: 5,
  cached: 0,
  ...{ causal: true, weights: true, reused: false, core: false },
};

function layerOf(p: Problem): ExactLayer {
  const { wq, wk, wv, wo, bq, bk, bv, bo } = p;
  const { D, H, G, d } = p.case;
  return new ExactLayer(
    { dModel: D, numHeads: H, numKVHeads: G, headDim: d },
    { layout: "in-out", wq, wk, wv, wo, bq, bk, bv, bo },
  );
}

test("the sampled answer is the layer's by its definition: causal, grouped, and behind a cache", () => {
  const past = () => ({ keys: new Float32Array(0), values: new Float32Array(0) });
  for (const c of [small, { ...small, causal: false }, { ...small, T: 1, cached: 6, causal: false }]) {
    const problem = makeProblem(c, past);
    const layer = layerOf(problem);
    const cache = new ExactCache();
    if (c.cached > 0) layer.forward({ data: problem.past, shape: [c.cached, c.D] }, {}, cache);
    const query = { data: problem.x, shape: [c.T, c.D] };
    const exact = layer.forward(query, { causal: c.causal }, c.cached > 0 ? cache : undefined);
    const answer = { output: Float32Array.from(exact.output.data), weights: Float32Array.from(exact.weights.data) };
    const error = errorOf(problem, expect(problem, 3), answer);
    assert.ok(error.output < 1e-6 && error.weights < 1e-7, JSON.stringify(error));
    answer.output[0] = Number.NaN;
    assert.ok(Number.isNaN(errorOf(problem, expect(problem, 3), answer).output), "NaN is an error");
    assert.throws(() => errorOf(problem, expect(problem, 3), { output: new Float32Array(3) }), /3 numbers came/);
  }
});

test("attention alone is checked by head", () => {
  const c: Case = { ...small, G: 4, causal: false, core: true, weights: false };
  const problem = makeProblem(c, () => assert.fail());
  const expected = expect(problem, c.T);
  const answer = { output: Float32Array.from(expected.output) };
  assert.ok(errorOf(problem, expected, answer).output < 1e-6);
});

test("the chains of the limit are modules that engines take and that count what they do", async () => {
  for (const kind of ["simd", "loads"] as const) {
    assert.ok(WebAssembly.validate(limitModule(kind)), kind);
    const limit = await startLimit(kind);
    assert.ok((limit?.measure() ?? 0) > 0.1, kind);
  }
});

test("an ONNX model holds its nodes, constants and operator set", () => {
  const model = new OnnxModel();
  const x = model.input("x", [2, 3]);
  model.node("MatMul", [x, model.constant(new Float32Array([1, 2, 3]), [3, 1])], { perm: [1, 0] }, ["y"]);
  model.output("y", [2, 1]);
  const bytes = Buffer.from(model.bytes());
  assert.deepEqual([...bytes.subarray(0, 2)], [8, 10], "IR version 10");
  assert.ok(bytes.includes(Buffer.from([0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x00, 0x40])), "raw floats");
  assert.ok(bytes.includes("MatMul") && bytes.includes("perm"));
  assert.equal(bytes.at(-1), 23, "operator set 23");
});

function row(who: string, ms: number): Row {
  return { who, ms, low: ms, high: ms, best: ms, calls: 9, disturbed: false, error: { output: 0, weights: 0 } };
}
const result = (id: string, ...rows: Row[]): Result => ({
  ...{ engine: "node24", case: id, flops: 654311424, rounds: 9, limit: { relaxed: 50, simd: 40 }, rows, failures: [] },
});
const t128 = result("D768 T128", row("relaxed", 14), row("ORT matmul", 30), row("ORT Attention", 28));
const results: Results = { machine: "m", engines: { node24: "Node.js 24" }, results: [t128] };

test("new results replace those of the same engine and case only", () => {
  const again = result("D768 T128", row("relaxed", 13));
  const other = result("D768 T64", row("relaxed", 7));
  const merged = merge({ ...results, first: { node20: [] } }, { ...results, results: [again, other] });
  assert.deepEqual(merged.results, [again, other]);
  assert.deepEqual(Object.keys(merged.first ?? {}), ["node20"]);
});

test("the table says time, GFLOP/s, share of the limit and ratios", () => {
  const line = resultTable([t128]).split("\n")[2] ?? "";
  assert.match(line, /14\.0 ms, 46\.7 GFLOP\/s, 93 %/);
  assert.match(line, /28\.0 ms \(2\.00×\)/);
  assert.equal(bestRow(t128, "ORT")?.who, "ORT Attention");
  assert.equal(short(0.001234), "0.00123");
  assert.equal(short(1234.5), "1235");
});

test("a bound is kept, missed, or not measured, and only the first passes", () => {
  const verdicts = judge(results, ["node24"]);
  const of = (what: string) => verdicts.find((each) => each.what === what);
  const share = of("relaxed, T 128");
  assert.ok(share && passes(share) && Math.abs((share.value ?? 0) - 93.47) < 0.01);
  assert.equal(of("relaxed, T 128, ORT")?.value, 2);
  const simd = of("simd, T 128");
  assert.ok(simd && simd.value === undefined && !passes(simd));
  assert.match(verdictTable(verdicts), /\| simd, T 128 \| ≥ 77 % of the limit \| not measured \|/);
  const slow = result("D768 T128", row("relaxed", 20), row("ORT matmul", 30));
  const missed = judge({ ...results, results: [slow] }, ["node24"]);
  assert.match(verdictTable(missed), /\| relaxed, T 128, ORT \| ≥ 1\.75 × \| \*\*1\.50\*\* of /);
});

test("a number that nothing was asked of stands in the table and is not judged", () => {
  const again = result("D768 T1024 weights reused", row("relaxed", 100), row("ORT matmul", 150));
  const verdicts = judge({ ...results, results: [again] }, ["node24"]);
  const shown = verdicts.find(({ bound }) => bound === undefined) as Verdict;
  assert.equal(shown.value, 1.5);
  assert.ok(verdictTable([shown]).includes("| relaxed, T 1024 with weights into used arrays, ORT | — | 1.50 |"));
  assert.ok(!judged(verdicts).includes(shown) && judged(verdicts).length === verdicts.length - 2);
});

test("a missed ratio stands beside what the limit allows", () => {
  const near = result("D768 T128", row("relaxed", 15), row("ORT matmul", 20));
  const [verdict] = judge({ ...results, results: [near] }, ["node24"]).filter(
    ({ what }) => what === "relaxed, T 128, ORT",
  );
  const allowed = 1 / shareOfLimit(near, row("ORT matmul", 20));
  assert.ok(allowed < 1.75 && Math.abs((verdict?.ceiling ?? 0) - allowed) < 1e-12);
  assert.ok(verdictTable([verdict as Verdict]).includes(`**1.33** of ${short(allowed)}`));
  const kept = { ...(verdict as Verdict), value: 2 };
  const missed = { ...(verdict as Verdict), ceiling: 1.9 };
  assert.deepEqual([verdict as Verdict, kept, missed].map(outOfReach), [true, false, false]);
  assert.match(tally([verdict as Verdict, kept, missed]), /^1 of 3 bounds are kept; 1 ask/);

  // simd: its own chain is the limit, of its share and of its ratios.
  const simd = result("D768 T128", row("simd", 17), row("ORT matmul", 20));
  const verdicts = judge({ ...results, results: [simd] }, ["node24"]);
  const of = (what: string) => verdicts.find((each) => each.what === what)?.ceiling ?? 0;
  assert.equal(of("simd, T 128"), 80);
  assert.ok(Math.abs(of("simd, T 128, ORT") - 20 / (654311424 / 40e6)) < 1e-9);
});

test("what memory alone takes counts: beside computing where it is read, on top of it where it is copied", () => {
  const rows = [row("relaxed", 200), row("ORT matmul", 300)];
  const ceiling = (id: string, what: string, memoryMs: number) => {
    const one = { ...result(id, ...rows), flops: 5e9, memoryMs }; // 100 ms at 50 GFLOP/s
    return judge({ ...results, results: [one] }, ["node24"]).find((each) => each.what === what)?.ceiling;
  };
  assert.equal(ceiling("D768 T1024 weights", "relaxed, T 1024 with weights, ORT", 20), 2.5);
  assert.equal(ceiling("D768 decode128", "decode, 128 cached, ORT", 20), 3);
  assert.equal(ceiling("D768 decode128", "decode, 128 cached, ORT", 150), 2);
});

test("memory's share of a case is every byte that decoding reads, or the results of long inputs", async () => {
  const decoding = CASES.find(({ id }) => id === "D768 decode128") as Case;
  assert.equal(projectionBytes(decoding), 4 * 4 * 768 * 768);
  const { module, turns, bytes } = streamModule(1_000_000);
  assert.ok(bytes >= 1_000_000 && bytes < 1_001_000);
  const { instance } = await WebAssembly.instantiate(module);
  const floats = new Float32Array((instance.exports.memory as WebAssembly.Memory).buffer);
  const read = instance.exports.run as (turns: number) => number;
  // Lane 0 of all that is read is added up: every vector once, and nothing behind them.
  floats.fill(Number.NaN).fill(0, 0, bytes / 4);
  const start = read(turns);
  for (let i = 0; i < bytes / 4; i += 4) floats[i] = 1;
  assert.equal(read(turns), start + bytes / 16);
  assert.equal(await memoryWork(CASES.find(({ id }) => id === "D768 T128 weights") as Case), undefined);
  const copies = (await memoryWork(CASES.find(({ id }) => id === "D768 T512 weights") as Case))?.() as Float32Array[];
  assert.deepEqual(
    copies.map(({ length }) => length),
    [512 * 768, 12 * 512 * 512],
  );
});

test("a plot has a line for each name and one for the limit", () => {
  const svg = plotSvg("a < b", [result("D768 T64", row("relaxed", 7)), t128], ["relaxed", "ORT", "nobody"]);
  assert.equal(svg.match(/<path d="M/g)?.length, 3);
  assert.ok(svg.includes("a &lt; b") && !svg.includes("NaN") && !svg.includes("nobody"));
});

test("options name what they do not know", () => {
  assert.throws(() => parseOptions(["--engine", "node18"]), /no engine node18/);
  const options = parseOptions(["--engine", "all", "--cases", "decode, D768 T16", "--check"]);
  assert.equal(options.engines.length, 5);
  assert.deepEqual(options.cases, ["decode", "D768 T16"]);
  assert.ok(options.check && !options.quick);
});

test("replaceSection changes what lies between its marks and nothing else", () => {
  assert.equal(replaceSection("a <!-- x -->old<!-- /x --> b", "x", "new"), "a <!-- x -->\nnew\n<!-- /x --> b");
  assert.throws(() => replaceSection("a", "x", "new"), /no section x/);
});
