// Writes build/conformance-native.bin for tests/native/conformance_test.cpp:
//   node --import tsx tests/conformance/export-native.ts [file]
// The golden fixtures are always in it, the conformance cases where their data is.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { type AttentionCase, attentionCases } from "../fixtures/attention-cases.js";
import { type LayerCase, layerCases } from "../fixtures/layer-cases.js";
import { expectedAttention, expectedLayer } from "../fixtures/run-oracle.js";
import { OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE } from "../support/compare.js";
import type { TensorWant } from "../support/tensor.js";
import type { ConformanceCase, LayerCall } from "./cases.js";
import { hasConformance } from "./data.js";
import { CallBuilder, type NativeCall, writeCalls } from "./native-format.js";
import { onnxCase, onnxNames } from "./onnx.js";
import { ortWebCases } from "./ort-web.js";
import { probeCases } from "./probes.js";

function conformanceCalls(c: ConformanceCase): NativeCall[] {
  const calls = c.attention.map(({ q, k, v, options, output, weights, scores }) => {
    const full = [...q.shape.slice(0, 3), k.shape[2] as number];
    return new CallBuilder(c.name, "attention", c.tolerance, c.tolerance)
      .attention(q, k, v)
      .options(options, full, 0)
      .expect({ output, ...(weights ? { weights } : {}), ...(scores ? { scores } : {}) }).call;
  });
  return [...calls, ...c.layer.flatMap((call) => layerCalls(c, call))];
}

/** A past goes into the cache by a call of its own, of which nothing is expected. */
function layerCalls(c: ConformanceCase, call: LayerCall): NativeCall[] {
  const { query, key, value, past, options } = call;
  const batch = query.shape[0] as number;
  const fresh = (key ?? query).shape[1] as number;
  const before = past ? (past.key.shape[1] as number) : 0;
  const heads = call.config.numHeads;
  const capacity = past ? before + fresh : 0;
  const start = (kind: "layer" | "next"): CallBuilder =>
    new CallBuilder(`${c.name} as a layer`, kind, c.tolerance, c.tolerance, capacity).layer(call.config, call.weights);
  const out: NativeCall[] = [];
  if (past) {
    const filler = { data: new Float32Array(batch * call.config.dModel), shape: [batch, 1, call.config.dModel] };
    const full = [batch, heads, 1, before];
    out.push(start("layer").sources(filler, past.key, past.value).options({}, full, 0).call);
  }
  const full = [batch, heads, query.shape[1] as number, before + fresh];
  out.push(
    start(past ? "next" : "layer")
      .sources(query, key, value)
      .options(options, full, before)
      .expect({
        output: call.output,
        ...(call.attention ? { weights: call.attention } : {}),
        ...(call.scores ? { scores: call.scores } : {}),
        ...(call.presentKey ? { k: call.presentKey } : {}),
        ...(call.presentValue ? { v: call.presentValue } : {}),
      }).call,
  );
  return out;
}

const RESULTS: TensorWant[] = ["weights", "scores", "q", "k", "v", "heads", "concat"];

function goldenLayer(c: LayerCase): NativeCall[] {
  const expected = expectedLayer(c, c.weights.wo ? [...RESULTS, "contributions"] : RESULTS);
  let cached = 0;
  return c.steps.map(({ query, key, value, options }, i) => {
    const kind = i > 0 && c.capacity ? "next" : "layer";
    const fresh = (key ?? query).shape[query.shape.length - 2] as number;
    const full = [c.batch, c.config.numHeads, query.shape[query.shape.length - 2] as number, cached + fresh];
    const { call } = new CallBuilder(`golden ${c.name}`, kind, OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE, c.capacity ?? 0)
      .layer(c.config, c.weights)
      .sources(query, key, value)
      .options(options, full, cached)
      .expect(expected[i] ?? {});
    if (c.capacity) cached += fresh;
    return call;
  });
}

function goldenAttention(c: AttentionCase): NativeCall {
  const batched = (t: typeof c.q): typeof c.q => (t.shape.length === 3 ? { ...t, shape: [1, ...t.shape] } : t);
  const [q, k, v] = [batched(c.q), batched(c.k), batched(c.v)];
  const full = [...q.shape.slice(0, 3), k.shape[2] as number];
  return new CallBuilder(`golden ${c.name}`, "attention", OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE)
    .attention(q, k, v)
    .options(c.options, full, 0)
    .expect(expectedAttention(c, RESULTS)).call;
}

const conformance = hasConformance
  ? [
      ...onnxNames().attention.map(onnxCase),
      ...onnxNames().window.map(onnxCase),
      ...["attention", "multihead-attention", "group-query-attention"].flatMap(ortWebCases),
      ...probeCases(),
    ]
  : [];
const calls = [
  ...conformance.flatMap(conformanceCalls),
  ...layerCases().flatMap(goldenLayer),
  ...attentionCases().map(goldenAttention),
];
const file = process.argv[2] ?? fileURLToPath(new URL("../../build/conformance-native.bin", import.meta.url));
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, writeCalls(calls));
console.log(
  `${file}: ${calls.length} calls; ${
    hasConformance ? `${conformance.length} conformance cases` : "conformance data absent, SKIPPED"
  }, the rest golden fixtures`,
);
