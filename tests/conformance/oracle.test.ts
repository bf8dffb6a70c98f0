import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose } from "../support/compare.js";
import { ExactCache, ExactLayer, exactAttention, rotate } from "../support/oracle.js";
import { decodeTensor, type Exact } from "../support/tensor.js";
import type { AttentionCall, ConformanceCase, LayerCall } from "./cases.js";
import { readJson, withConformance } from "./data.js";
import { type NodeCase, onnxCase, onnxNames } from "./onnx.js";
import { ortWebCases } from "./ort-web.js";
import { probeCases } from "./probes.js";

// The float64 oracle of our own tests, held against the expected values of others before anything is held against it.

function oracleAttention(name: string, call: AttentionCall, tolerance: ConformanceCase["tolerance"]): void {
  const result = exactAttention(call.q, call.k, call.v, call.options);
  assertClose(result.output, call.output, tolerance, `${name}: output`);
  if (call.weights) assertClose(result.weights, call.weights, tolerance, `${name}: weights`);
  if (call.scores) assertClose(result[call.options.scoresStage ?? "masked"], call.scores, tolerance, `${name}: scores`);
}

function oracleLayer(name: string, call: LayerCall, tolerance: ConformanceCase["tolerance"]): void {
  const layer = new ExactLayer(call.config, call.weights);
  const cache = call.past ? new ExactCache() : undefined;
  if (call.past) layer.forward({ data: new Float32Array(0), shape: emptyQuery(call) }, call.past, cache);
  const { query, key, value, options } = call;
  const result = layer.forward(query, { ...options, ...(key ? { key } : {}), ...(value ? { value } : {}) }, cache);
  assertClose(result.output, call.output, tolerance, `${name}: output`);
  if (call.attention) assertClose(result.weights, call.attention, tolerance, `${name}: weights`);
  if (call.scores) assertClose(result[options.scoresStage ?? "masked"], call.scores, tolerance, `${name}: scores`);
  if (call.presentKey) assertClose(result.k, call.presentKey, {}, `${name}: present key`);
  if (call.presentValue) assertClose(result.v, call.presentValue, {}, `${name}: present value`);
}

function emptyQuery(call: LayerCall): number[] {
  return [call.query.shape[0] as number, 0, call.query.shape[2] as number];
}

function check(cases: ConformanceCase[]): void {
  for (const c of cases) {
    for (const call of c.attention) oracleAttention(c.name, call, c.tolerance);
    for (const call of c.layer) oracleLayer(`${c.name} as a layer`, call, c.tolerance);
  }
}

withConformance("the oracle against the data of others", () => {
  test("oracle: ONNX Attention 76 and window 11", () => {
    const names = onnxNames();
    assert.equal(names.attention.length, 76);
    assert.equal(names.window.length, 11);
    check([...names.attention, ...names.window].map(onnxCase));
  });

  test("oracle: ONNX Runtime Web, fused Attention 10, MultiHeadAttention 16, GroupQueryAttention 17", () => {
    const files = ["attention", "multihead-attention", "group-query-attention"].map(ortWebCases);
    assert.deepEqual(
      files.map((f) => f.length),
      [10, 16, 17],
    );
    check(files.flat());
  });

  test("oracle: probes 41", () => {
    const cases = probeCases();
    assert.equal(cases.length, 41);
    check(cases);
  });

  test("oracle: both pairings of the rotary embedding against ONNX RotaryEmbedding 8", () => {
    const index = readJson<{ case: string; op: string }[]>("onnx/index.json");
    const names = index.filter((c) => c.op === "RotaryEmbedding").map((c) => c.case);
    assert.equal(names.length, 8);
    for (const name of names) rotaryCase(readJson<NodeCase>(`onnx/${name}.json`));
  });
});

/** X [B,H,T,d] or [B,T,H·d], cos and sin [positions,pairs] picked by position_ids [B,T], or [B,T,pairs]. */
function rotaryCase(node: NodeCase): void {
  const [x, cos, sin, positions] = node.inputs.map((t) => (t ? decodeTensor(t) : undefined)) as [
    Exact,
    Exact,
    Exact,
    Exact?,
  ];
  const expected = decodeTensor(node.outputs[0] as NonNullable<NodeCase["outputs"][0]>);
  const flat = x.shape.length === 3;
  const batch = x.shape[0] as number;
  const rows = (flat ? x.shape[1] : x.shape[2]) as number;
  const heads = flat ? (node.attributes.num_heads as number) : (x.shape[1] as number);
  const width = flat ? (x.shape[2] as number) / heads : (x.shape[3] as number);
  const pairs = cos.shape[cos.shape.length - 1] as number;
  const pairing = node.attributes.interleaved ? "adjacent" : "halves";
  const data = x.data.slice();
  for (let b = 0; b < batch; ++b)
    for (let r = 0; r < rows; ++r) {
      const row = positions ? (positions.data[b * rows + r] as number) : b * rows + r;
      const pick = (t: Exact): Float64Array => t.data.subarray(row * pairs, (row + 1) * pairs);
      for (let h = 0; h < heads; ++h) {
        const at = flat ? (b * rows + r) * heads * width + h * width : ((b * heads + h) * rows + r) * width;
        rotate(data, at, pick(cos), pick(sin), pairing);
      }
    }
  assertClose({ data, shape: x.shape }, expected, { absolute: 1e-6 }, node.case);
}
