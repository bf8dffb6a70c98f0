// GPT-2 small's printed weights beside those of a file: by the sizes alone, so a random file of these sizes is told apart.
import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import test from "node:test";
import { load, type Tensor } from "headscope";
import { inspectPrompt, REFERENCE_WEIGHTS } from "headscope/inspect";
import { openModel } from "headscope/models";
import { openSource } from "../../bindings/cli/source.ts";
import { compareWithReference, hasReference } from "../../bindings/inspect/tutorial.ts";
import { randomStored } from "../models/fixtures/stored.ts";
import { f32Bytes, type GgufTensor, type GgufValue, text, u32, writeGguf } from "../models/write-files.ts";
import { Random } from "../support/random.ts";
import { headscope, TOKENIZER_KEYS, temporaryFolder, VOCABULARY } from "./files.ts";

const file = temporaryFolder();
const D = 768;

/** GPT-2 small's shape in Q8_0, with holes where no byte is needed: what is not block 0's attention is zeros on disk. */
function sparseGpt2(): string {
  const random = new Random(3);
  const f32 =
    (value: number): GgufValue =>
    (to) =>
      to.u32(6).f32(value);
  const tensors: (GgufTensor & { length: number })[] = [];
  let offset = 0;
  const add = (name: string, ne: number[], type: 0 | 8, data: Uint8Array = new Uint8Array(0)) => {
    const elements = ne.reduce((a, b) => a * b, 1);
    const length = type === 0 ? elements * 4 : (elements / 32) * 34;
    tensors.push({ name, ne, type, data, offset, length });
    offset += Math.ceil(length / 32) * 32;
  };
  const q8 = (rows: number, columns: number, deviation: number) =>
    randomStored(random, "Q8_0", rows, columns, deviation).bytes;
  add("token_embd.weight", [D, VOCABULARY], 8, q8(VOCABULARY, D, 1));
  add("position_embd.weight", [D, 1024], 8, q8(2, D, 0.3));
  for (let layer = 0; layer < 12; ++layer) {
    const first = layer === 0;
    const vector = (size: number, mean: number) =>
      first ? f32Bytes([...random.values(size, 0.1)].map((value) => value + mean)) : new Uint8Array(0);
    const matrix = (rows: number, columns: number) =>
      first ? q8(rows, columns, 1.5 / Math.sqrt(D)) : new Uint8Array(0);
    const blk = `blk.${layer}`;
    add(`${blk}.attn_norm.weight`, [D], 0, vector(D, 1));
    add(`${blk}.attn_norm.bias`, [D], 0, vector(D, 0));
    add(`${blk}.attn_qkv.weight`, [D, 3 * D], 8, matrix(3 * D, D));
    add(`${blk}.attn_qkv.bias`, [3 * D], 0, vector(3 * D, 0));
    add(`${blk}.attn_output.weight`, [D, D], 8, matrix(D, D));
    add(`${blk}.attn_output.bias`, [D], 0, vector(D, 0));
    add(`${blk}.ffn_norm.weight`, [D], 0);
    add(`${blk}.ffn_norm.bias`, [D], 0);
    add(`${blk}.ffn_up.weight`, [D, 4 * D], 8);
    add(`${blk}.ffn_up.bias`, [4 * D], 0);
    add(`${blk}.ffn_down.weight`, [4 * D, D], 8);
    add(`${blk}.ffn_down.bias`, [D], 0);
  }
  add("output_norm.weight", [D], 0);
  add("output_norm.bias", [D], 0);
  const header = writeGguf({
    keys: [
      ["general.architecture", text("gpt2")],
      ["gpt2.context_length", u32(1024)],
      ["gpt2.embedding_length", u32(D)],
      ["gpt2.feed_forward_length", u32(4 * D)],
      ["gpt2.block_count", u32(12)],
      ["gpt2.attention.head_count", u32(12)],
      ["gpt2.attention.layer_norm_epsilon", f32(1e-5)],
      ...TOKENIZER_KEYS,
    ],
    tensors: tensors.map((tensor) => ({ ...tensor, data: new Uint8Array(0) })),
  });
  const path = file("gpt2-small.gguf", header);
  const descriptor = openSync(path, "r+");
  ftruncateSync(descriptor, header.length + offset);
  for (const { data, offset: at = 0 } of tensors) {
    if (data.length > 0) writeSync(descriptor, data, 0, data.length, header.length + at);
  }
  closeSync(descriptor);
  return path;
}

const path = sparseGpt2();

test("a GPT-2-small-shaped file: llama.cpp's weights stand beside ours, with the difference and both numerics", async () => {
  const { code, stdout, stderr } = await headscope(["inspect", path, "--prompt", "How are", "--json"]);
  assert.equal(code, 0, stderr);
  const { prompt, bytesRead, file: summary } = JSON.parse(stdout);
  const { comparisons, ...reference } = prompt.reference;
  assert.deepEqual(reference, JSON.parse(JSON.stringify(REFERENCE_WEIGHTS)));
  assert.deepEqual(
    comparisons.map(({ numerics }: { numerics: string }) => numerics),
    ["f32", "ggml"],
  );
  type Row = { head: number; key: number; reference: number; ours: number; difference: number; same: boolean };
  for (const { weights, same, largestDifference } of comparisons) {
    assert.deepEqual(
      weights.map(({ head, key, reference: printed }: Row) => [head, key, printed]),
      [
        [0, 0, 0.9534],
        [0, 1, 0.0466],
        [1, 0, 0.0049],
        [1, 1, 0.9951],
      ],
    );
    for (const { ours, reference: printed, difference } of weights as Row[]) {
      assert.ok(Math.abs(ours - printed - difference) < 1e-9);
    }
    assert.equal(same, false, "a random file has other weights");
    assert.ok(largestDifference > 1e-3);
  }
  const [f32, ggml] = comparisons;
  (f32.weights as Row[]).forEach(({ head, key, ours }, i) => {
    const inTable = prompt.heads[head].weights[1][key];
    assert.equal(ours, inTable, "the same numbers as in the head's weights");
    assert.ok(Math.abs(ours - ggml.weights[i].ours) < 0.05, "the two numerics are near each other");
  });
  // Header twice, then block 0's attention once for each numerics: a small part of a hundred megabytes.
  assert.ok(summary.size > 90e6 && bytesRead < 8e6, `${bytesRead} of ${summary.size} bytes`);

  const printed = await headscope(["inspect", path, "--prompt", "How are"]);
  assert.match(printed.stdout, /^numerics +head +key +llama\.cpp +here +difference +same$/m);
  assert.match(printed.stdout, /^f32 +0 +0 +0\.9534 +\d\.\d{4} +[+-]0\.\d{6} +no$/m);
  assert.match(printed.stdout, /^ggml +1 +1 +0\.9951 +\d\.\d{4} +[+-]0\.\d{6} +no$/m);
  assert.match(printed.stdout, /^Qcur-0 +\[12, 2, 64\] +\{64, 12, 2, 1\}/m);
  assert.match(printed.stdout, /^kq_soft_max-0 +\[12, 2, 2\] +\{256, 2, 12, 1\} 2 valid/m);
});

test("other prompts and layers, and ids in place of the text, have nothing beside them", async () => {
  const hs = await load({ variant: "simd" });
  using model = await openModel(hs, await openSource(path));
  assert.equal((await inspectPrompt(model, "How are", { layer: 1 })).reference, undefined);
  assert.equal((await inspectPrompt(model, "How are!")).reference, undefined);
  assert.equal((await inspectPrompt(model, [257, 260])).reference, undefined);
  const { reference } = await inspectPrompt(model, "How are", { numerics: "ggml" });
  assert.deepEqual(
    reference?.map(({ numerics }) => numerics),
    ["f32", "ggml"],
  );
});

/** [12,2,2] with these two rows of query 1 in heads 0 and 1. */
function weightsWith(...rows: readonly (readonly [number, number])[]): Tensor {
  const data = new Float32Array(48);
  rows.forEach((row, head) => {
    data.set([1, 0, ...row], head * 4);
  });
  return { data, shape: [12, 2, 2] };
}

test("compareWithReference: same means the same four printed decimals", () => {
  const same = compareWithReference(weightsWith([0.95343, 0.04657], [0.004949, 0.995051]), "ggml");
  assert.equal(same.same, true);
  assert.ok(same.largestDifference < 6e-5);
  const other = compareWithReference(weightsWith([0.95346, 0.04654], [0.0049, 0.9951]), "f32");
  assert.deepEqual(
    other.weights.map((each) => each.same),
    [false, false, true, true],
  );
  assert.equal(other.same, false);
});

test("hasReference asks for all of GPT-2 small's sizes", () => {
  const config = { dModel: 768, numHeads: 12, layers: 12 };
  const model = { architecture: "gpt2", config };
  assert.equal(hasReference(model, "How are", 0, 2), true);
  assert.equal(hasReference({ ...model, config: { ...config, layers: 24 } }, "How are", 0, 2), false);
  assert.equal(hasReference({ ...model, config: { ...config, dModel: 1024 } }, "How are", 0, 2), false);
  assert.equal(hasReference({ ...model, architecture: "llama" }, "How are", 0, 2), false);
  assert.equal(hasReference(model, "How are ", 0, 2), false);
  assert.equal(hasReference(model, undefined, 0, 2), false);
  assert.equal(hasReference(model, "How are", 0, 3), false, "another tokenizer");
});
