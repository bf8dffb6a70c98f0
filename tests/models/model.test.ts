import assert from "node:assert/strict";
import test from "node:test";
import { type Headscope, load } from "headscope";
import { openModel } from "headscope/models";
import { assertSameBits, assertValuesClose } from "../support/compare.ts";
import { fromFloat16, toFloat16 } from "../support/float16.ts";
import { eachVariant } from "../variants.ts";
import { configJson, type GgufOptions, ggufModel, safetensorsModel } from "./fixtures/model-files.ts";
import { type RandomModel, randomModel } from "./fixtures/random-model.ts";
import { type Reference, referenceForward } from "./fixtures/reference-forward.ts";
import { assertLayers, collect, IDS, runAll } from "./fixtures/run-model.ts";
import { GGML_NUMBERS } from "./fixtures/stored.ts";

const FAMILIES = ["gpt2", "bert", "llama"] as const;

let simd: Promise<Headscope> | undefined;
const running = (): Promise<Headscope> => (simd ??= load({ variant: "simd" }));

async function fromGguf(random: RandomModel, options?: GgufOptions, hs?: Headscope) {
  return openModel(hs ?? (await running()), ggufModel(random, options));
}

async function fromSafetensors(random: RandomModel, prefix = "", gammaBeta = false) {
  const source = safetensorsModel(random, { prefix, gammaBeta });
  return openModel(await running(), source, { config: configJson(random) });
}

for (const family of FAMILIES) {
  eachVariant(`run: every intermediate of a ${family} in GGUF and in safetensors is the float64 pass's`, async (hs) => {
    const random = randomModel(family);
    const expected = referenceForward(random, IDS);
    const gguf = await openModel(hs, ggufModel(random));
    assertLayers(random, await runAll(gguf), expected, "GGUF", { adjacent: family === "llama" });
    const safetensors = await openModel(hs, safetensorsModel(random), { config: configJson(random) });
    assertLayers(random, await runAll(safetensors), expected, "safetensors");
  });
}

/** Rows of 256 values, as the K types need them. */
const WIDE = { dModel: 256, headDim: 32, numHeads: 8, inner: 256, layers: 2, vocabulary: 64 };

for (const type of Object.keys(GGML_NUMBERS)) {
  eachVariant(`run: matrices of type ${type} in a GGUF file, with many tokens and with one`, async (hs) => {
    const random = randomModel("gpt2", type, { ...WIDE, numKVHeads: 8 });
    // The rows that rotary turns are permuted in the file, block by block.
    const llama = randomModel("llama", type, { ...WIDE, numKVHeads: 2, ropeDims: 32 });
    for (const ids of [IDS, IDS.slice(0, 1)]) {
      const all = await runAll(await fromGguf(random, undefined, hs), {}, ids);
      assertLayers(random, all, referenceForward(random, ids), type);
      const other = await runAll(await fromGguf(llama, undefined, hs), {}, ids);
      assertLayers(llama, other, referenceForward(llama, ids), `${type}, llama`, { adjacent: true });
    }
  });
}

for (const type of ["F16", "BF16"]) {
  for (const family of FAMILIES) {
    test(`run: a ${family} in ${type} safetensors`, async () => {
      const random = randomModel(family, type);
      assertLayers(random, await runAll(await fromSafetensors(random)), referenceForward(random, IDS), type);
    });
  }
}

test("run: a file may mix types", async () => {
  const random = randomModel("gpt2", "Q4_0", { ...WIDE, numKVHeads: 8 });
  const other = randomModel("gpt2", "Q6_K", { ...WIDE, numKVHeads: 8 }, 6);
  const third = randomModel("gpt2", "F16", { ...WIDE, numKVHeads: 8 }, 7);
  const blocks = random.blocks.map((block, i) => ({
    ...block,
    down: other.blocks[i]?.down ?? block.down,
    output: third.blocks[i]?.output ?? block.output,
  }));
  const mixed = { ...random, tokens: other.tokens, blocks };
  assertLayers(mixed, await runAll(await fromGguf(mixed)), referenceForward(mixed, IDS), "mixed");
});

for (const family of ["llama", "qwen2"] as const) {
  test(`run: 32 heads over 4 K/V heads give the same maps from GGUF ("${family}") and safetensors`, async () => {
    const shape = { dModel: 128, numHeads: 32, numKVHeads: 4, headDim: 8, ropeDims: 8, layers: 2 };
    const random = randomModel("llama", "F32", { ...shape, qkvBias: family === "qwen2", ropeBase: 500 });
    const expected = referenceForward(random, IDS);
    const gguf = await fromGguf(random, { kind: family });
    assert.equal(gguf.config.rope.pairing, family === "llama" ? "adjacent" : "halves");
    const one = await runAll(gguf);
    const two = await runAll(await fromSafetensors(random, "model."));
    assertLayers(random, one, expected, "GGUF", { adjacent: family === "llama" });
    assertLayers(random, two, expected, "safetensors");
    one.forEach(({ weights }, i) => {
      assertValuesClose(weights?.data ?? [], two[i]?.weights?.data ?? [], { absolute: 2e-6 }, `maps of layer ${i}`);
    });
  });
}

test("run: biases of q, k and v in a llama are permuted with their rows", async () => {
  const random = randomModel("llama", "F32", { qkvBias: true });
  assertLayers(random, await runAll(await fromGguf(random)), referenceForward(random, IDS), "bias", { adjacent: true });
});

test("run: rotary positions on a part of a head", async () => {
  const random = randomModel("llama", "F32", { ropeDims: 8 });
  const model = await fromGguf(random);
  assert.equal(model.config.rope.dims, 8);
  assertLayers(random, await runAll(model), referenceForward(random, IDS), "part", { adjacent: true });
});

test("run: rotary frequencies scaled as Llama 3.1 has it, by rope_freqs in GGUF and by config.json", async () => {
  // Waves of 2π · 10000^(i/8) tokens: short ones turn as before, long ones eight times more slowly.
  const scaling = { rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const context = 1600;
  const ropeFactors = Array.from({ length: 8 }, (_, i) => {
    const wave = 2 * Math.PI * 10 ** (i / 2);
    const share = Math.min(1, Math.max(0, (context / wave - 1) / 3));
    return 1 / (share + (1 - share) / 8);
  });
  assert.equal(new Set(ropeFactors).size, 3, "1, 8 and one between");
  const random = randomModel("llama", "F32", { ropeFactors });
  const expected = referenceForward(random, IDS);
  const data = new Uint8Array(Float32Array.from(ropeFactors).buffer);
  const gguf = await fromGguf(random, {
    tensors: (tensors) => [...tensors, { name: "rope_freqs.weight", ne: [8], type: 0, data }],
  });
  assertLayers(random, await runAll(gguf), expected, "rope_freqs", { adjacent: true });
  for (const change of [
    { rope_scaling: { ...scaling, original_max_position_embeddings: context } },
    { rope_theta: null, rope_parameters: { ...scaling, original_max_position_embeddings: context, rope_theta: 10000 } },
  ]) {
    const config = { ...configJson(random), ...change };
    const safetensors = await openModel(await running(), safetensorsModel(random), { config });
    assertLayers(random, await runAll(safetensors), expected, "config.json");
  }
  const linear = randomModel("llama", "F32", { ropeFactors: new Array<number>(8).fill(4) });
  const config = { ...configJson(linear), rope_scaling: { type: "linear", factor: 4 } };
  const model = await openModel(await running(), safetensorsModel(linear), { config });
  assertLayers(linear, await runAll(model), referenceForward(linear, IDS), "linear");
});

test("run: as many K/V heads as heads where the key is absent, and an array of them", async () => {
  const equal = randomModel("llama", "F32", { numKVHeads: 8 });
  const absent = await fromGguf(equal, { without: ["llama.attention.head_count_kv"] });
  assert.equal(absent.config.numKVHeads, 8);
  assertLayers(equal, await runAll(absent), referenceForward(equal, IDS), "absent", { adjacent: true });
  const random = randomModel("llama");
  const array = await fromGguf(random, {
    without: ["llama.attention.head_count_kv"],
    keys: [
      [
        "llama.attention.head_count_kv",
        (to) => to.u32(9).u32(4).u64(3).u32(random.numKVHeads).u32(random.numKVHeads).u32(random.numKVHeads),
      ],
    ],
  });
  assertLayers(random, await runAll(array), referenceForward(random, IDS), "array", { adjacent: true });
});

for (const [family, prefix] of [
  ["gpt2", "transformer."],
  ["bert", "bert."],
  ["llama", "model."],
] as const) {
  test(`run: ${family}'s names in safetensors with "${prefix}" in front`, async () => {
    const random = randomModel(family);
    const plain = await runAll(await fromSafetensors(random));
    const prefixed = await runAll(await fromSafetensors(random, prefix, family === "bert"));
    plain.forEach(({ hidden }, i) => {
      assertSameBits(prefixed[i]?.hidden?.data as Float32Array, hidden?.data as Float32Array, `layer ${i}`);
    });
  });
}

test("D05: the causal mask's buffer h.N.attn.bias is not taken for a bias", async () => {
  const random = randomModel("gpt2");
  const model = await fromSafetensors(random);
  // It stands in the file beside the true bias, whose name differs by one word.
  const { context } = random;
  assert.deepEqual(model.tensors.get("h.0.attn.bias")?.shape, [1, 1, context, context]);
  assert.deepEqual(model.tensors.get("h.0.attn.c_attn.bias")?.shape, [3 * random.dModel]);
  assertLayers(random, await runAll(model), referenceForward(random, IDS), "with the buffer");
});

test("run: q, k and v apart in a GPT-2's GGUF", async () => {
  const random = randomModel("gpt2");
  assertLayers(
    random,
    await runAll(await fromGguf(random, { separate: true })),
    referenceForward(random, IDS),
    "apart",
  );
});

test("openModel: safetensors without config.json need no more than what the file cannot tell", async () => {
  const gpt2 = randomModel("gpt2");
  const model = await openModel(await running(), safetensorsModel(gpt2), { config: { n_head: 4 } });
  assert.deepEqual([model.architecture, model.config.layers, model.config.contextLength], ["gpt2", 3, 24]);
  assertLayers(gpt2, await runAll(model), referenceForward(gpt2, IDS), "gpt2");
  const llama = randomModel("llama");
  const config = { num_attention_heads: 8, rms_norm_eps: llama.epsilon };
  const other = await openModel(await running(), safetensorsModel(llama), { config: JSON.stringify(config) });
  assert.deepEqual([other.config.numKVHeads, other.config.headDim], [2, 16]);
  assertLayers(llama, await runAll(other), referenceForward(llama, IDS), "llama");
});

test("run: Mistral's sliding window", async () => {
  const random = randomModel("llama");
  const model = await openModel(await running(), safetensorsModel(random), {
    config: { ...configJson(random), model_type: "mistral", sliding_window: 3 },
  });
  const [first] = await runAll(model, { layers: 1 });
  const data = first?.weights?.data ?? new Float32Array(0);
  const T = IDS.length;
  for (let t = 0; t < T; ++t) {
    for (let s = 0; s < T; ++s) {
      assert.equal((data[t * T + s] as number) > 0, s <= t && s > t - 3, `weight ${t}, ${s}`);
    }
  }
});

for (const family of FAMILIES) {
  test(`run: gates on heads of a ${family} change all that follows, and nothing before`, async () => {
    const random = randomModel(family);
    const gates = Float32Array.from({ length: random.numHeads }, (_, h) => (h === 1 ? 0 : h === 2 ? 0.5 : 1));
    const headMask = [undefined, gates];
    const model = await fromSafetensors(random);
    const gated = await runAll(model, { headMask });
    assertLayers(random, gated, referenceForward(random, IDS, headMask), "gated");
    const plain = await runAll(model);
    assertSameBits(gated[0]?.hidden?.data as Float32Array, plain[0]?.hidden?.data as Float32Array, "layer 0");
    assertSameBits(gated[1]?.weights?.data as Float32Array, plain[1]?.weights?.data as Float32Array, "layer 1's maps");
    assert.notDeepEqual(gated[1]?.hidden?.data, plain[1]?.hidden?.data);
  });
}

function referenceLoss(random: RandomModel, { logits }: Reference, ids: readonly number[]): number[] {
  const V = random.vocabulary;
  return ids.slice(1).map((id, t) => {
    const row = logits.subarray(t * V, (t + 1) * V);
    const largest = Math.max(...row);
    return largest + Math.log(row.reduce((sum, value) => sum + Math.exp(value - largest), 0)) - (row[id] as number);
  });
}

for (const [family, tied] of [
  ["gpt2", true],
  ["gpt2", false],
  ["llama", true],
  ["llama", false],
] as const) {
  test(`loss, logits: a ${family} with its head ${tied ? "tied" : "apart"}`, async () => {
    const random = randomModel(family, "F32", { tied });
    const gates = [undefined, new Float32Array(random.numHeads)];
    for (const headMask of [[], gates]) {
      const reference = referenceForward(random, IDS, headMask);
      const expected = referenceLoss(random, reference, IDS);
      for (const model of [await fromGguf(random), await fromSafetensors(random, family === "gpt2" ? "" : "model.")]) {
        const loss = await model.loss(IDS, { headMask });
        assertValuesClose(loss.perToken, expected, { relative: 1e-5 }, "nats per token");
        assert.ok(Math.abs(loss.nats - expected.reduce((a, b) => a + b, 0) / expected.length) < 1e-5);
        const last = reference.logits.subarray((IDS.length - 1) * random.vocabulary);
        assertValuesClose(loss.logits.data, last, { relative: 1e-5 }, "logits");
        assert.deepEqual(loss.logits.shape, [random.vocabulary]);
        assertValuesClose(loss.hidden.data, reference.layers.at(-1)?.hidden ?? [], { relative: 1e-5 }, "hidden");
        const logits = await model.logits(IDS, { headMask });
        assertValuesClose(logits.data, last, { relative: 1e-5 }, "logits alone");
      }
    }
  });
}

test("loss: a vocabulary of several parts", async () => {
  const random = randomModel("gpt2", "F32", { vocabulary: 9001, layers: 1 });
  const ids = [0, 8999, 8191, 8192, 9000, 4, 8191];
  const expected = referenceForward(random, ids);
  const loss = await (await fromGguf(random)).loss(ids);
  assertValuesClose(loss.perToken, referenceLoss(random, expected, ids), { relative: 1e-5 }, "nats per token");
});

test("loss: refused where there is no next token to predict", async () => {
  const bert = await fromGguf(randomModel("bert"));
  await assert.rejects(bert.loss(IDS), { name: "HeadscopeError", code: "unsupported", message: /bert/ });
  const gpt2 = await fromGguf(randomModel("gpt2"));
  await assert.rejects(gpt2.loss([1]), { name: "HeadscopeError", code: "shape", message: /two tokens/ });
});

test('numerics "ggml": rounds as llama.cpp does, and the next pass does not', async () => {
  const model = await fromGguf(randomModel("gpt2", "Q8_0"));
  const [plain] = await runAll(model, { layers: 1 });
  const [rounded] = await runAll(model, { layers: 1, numerics: "ggml" });
  for (const name of ["q", "k", "v"] as const) {
    const data = rounded?.[name]?.data as Float32Array;
    for (const value of data) assert.equal(value, fromFloat16(toFloat16(value)), `${name} is in half precision`);
    assertValuesClose(data, plain?.[name]?.data as Float32Array, { relative: 0.02 }, name);
    assert.notDeepEqual(data, plain?.[name]?.data);
  }
  const [again] = await runAll(model, { layers: 1 });
  assertSameBits(again?.weights?.data as Float32Array, plain?.weights?.data as Float32Array, "f32 again");
});

test("run: want decides what comes, and changes nothing else", async () => {
  const model = await fromGguf(randomModel("gpt2"));
  const usual = await collect(model.run(IDS));
  assert.deepEqual(Object.keys(usual[0] ?? {}).sort(), ["layer", "output", "weights"]);
  const bare = await collect(model.run(IDS, { want: [], output: false }));
  assert.deepEqual(Object.keys(bare[0] ?? {}), ["layer"]);
  const all = await runAll(model);
  const last = await collect(model.run(IDS, { want: ["hidden"] }));
  last.forEach(({ hidden, output }, i) => {
    assertSameBits(hidden.data, all[i]?.hidden?.data as Float32Array, `hidden of layer ${i}`);
    assertValuesClose(output.data, all[i]?.output?.data ?? [], { relative: 1e-6 }, `output of layer ${i}`);
  });
  // Typed results: what was not asked for is not there.
  // @ts-expect-error scores were not asked for
  assert.equal(usual[0]?.scores, undefined);
  const scaled = await collect(model.run(IDS, { layers: 1, want: ["scores"], scoresStage: "scaled" }));
  assert.ok(scaled[0]?.scores.data.every(Number.isFinite));
});

test("run: the trace has the names of llama.cpp's graph in that block", async () => {
  const model = await fromGguf(randomModel("gpt2"));
  const results = await collect(model.run([1, 2], { want: ["trace"] }));
  const names = results[2]?.trace.map(({ ggml }) => ggml?.name).filter((name) => name !== undefined) ?? [];
  for (const name of ["attn_norm-2", "wqkv_b-2", "Qcur-2", "kq_soft_max-2", "kqv_out-2"]) {
    assert.ok(names.includes(name), `${name} in ${names.join(", ")}`);
  }
});

test("run: two runs of two models at once are as they are alone", async () => {
  const one = randomModel("gpt2");
  const two = randomModel("llama");
  const [a, b, c] = await Promise.all([
    fromSafetensors(one).then((model) => runAll(model)),
    fromSafetensors(two).then((model) => runAll(model, { keepWeights: true })),
    fromSafetensors(one).then((model) => runAll(model, {}, [5, 6, 7])),
  ]);
  assertLayers(one, a, referenceForward(one, IDS), "first");
  assertLayers(two, b, referenceForward(two, IDS), "second");
  assertLayers(one, c, referenceForward(one, [5, 6, 7]), "third");
});

test("run: the caller's tokens and gates may change while it runs", async () => {
  const random = randomModel("gpt2");
  const model = await fromSafetensors(random);
  const ids = [...IDS];
  const gates = new Float32Array(random.numHeads).fill(1);
  const running = model.run(ids, { want: ["hidden"], headMask: [gates, gates, gates] });
  ids.fill(0);
  gates.fill(0);
  const results = await collect(running);
  const expected = referenceForward(random, IDS).layers.at(-1)?.hidden ?? [];
  assertValuesClose(results.at(-1)?.hidden.data ?? [], expected, { relative: 1e-5 }, "hidden");
});
