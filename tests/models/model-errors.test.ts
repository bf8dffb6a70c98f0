import assert from "node:assert/strict";
import test from "node:test";
import { type Headscope, HeadscopeError, load } from "headscope";
import { type Model, type OpenModelOptions, openModel } from "headscope/models";
import {
  configJson,
  type GgufOptions,
  ggufModel,
  type SafetensorsOptions,
  safetensorsModel,
} from "./fixtures/model-files.ts";
import { randomModel, type Shape } from "./fixtures/random-model.ts";
import { collect, IDS } from "./fixtures/run-model.ts";
import { bool, f32s } from "./fixtures/vocabularies.ts";
import { f32Bytes, type GgufTensor, strings, text, u32 } from "./write-files.ts";

let loaded: Promise<Headscope> | undefined;
const running = (): Promise<Headscope> => (loaded ??= load({ variant: "simd" }));

/** The error, after which nothing is left behind. */
async function failure(work: (hs: Headscope) => Promise<unknown>): Promise<Error & { code?: string }> {
  const hs = await running();
  const before = hs.memory().liveObjects;
  try {
    await work(hs);
  } catch (error) {
    assert.equal(hs.memory().liveObjects, before, "nothing half-loaded stays");
    return error as Error;
  }
  assert.fail("expected an error");
}

async function refuses(work: (hs: Headscope) => Promise<unknown>, code: string, ...words: string[]): Promise<void> {
  const error = await failure(work);
  assert.ok(error instanceof HeadscopeError, String(error));
  assert.equal(error.code, code, error.message);
  for (const word of words) assert.ok(error.message.includes(word), `${JSON.stringify(word)} in: ${error.message}`);
}

const openGguf = (family: Shape["family"], options: GgufOptions) => (hs: Headscope) =>
  openModel(hs, ggufModel(randomModel(family), options));
const openSafetensors =
  (family: Shape["family"], options: SafetensorsOptions & { config?: unknown; change?: object }) => (hs: Headscope) =>
    openModel(hs, safetensorsModel(randomModel(family), options), {
      config: "config" in options ? options.config : { ...configJson(randomModel(family)), ...options.change },
    });

const without =
  (...names: string[]) =>
  (tensors: GgufTensor[]) =>
    tensors.filter(({ name }) => !names.includes(name));
const changed = (name: string, change: Partial<GgufTensor>) => (tensors: GgufTensor[]) =>
  tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor));
const extra =
  (name: string, size = 64) =>
  (tensors: GgufTensor[]) => [
    ...tensors,
    { name, ne: [size], type: 0, data: f32Bytes(new Array<number>(size).fill(1)) },
  ];

test("openModel: an architecture that is not known is named", async () => {
  await refuses(openGguf("gpt2", { kind: "gemma2" }), "unsupported", "general.architecture", '"gemma2"', "llama");
  await refuses(openGguf("gpt2", { without: ["general.architecture"] }), "format", "general.architecture");
  await refuses(openSafetensors("gpt2", { change: { model_type: "t5" } }), "unsupported", "model_type", '"t5"');
  const other = (tensors: object) => Object.fromEntries(Object.entries(tensors).map(([name, t]) => [`x.${name}`, t]));
  await refuses(
    openSafetensors("gpt2", { config: {}, tensors: other }),
    "unsupported",
    '"x.wte.weight"',
    "openTensors",
  );
});

test("openModel: a tensor that is missing is named", async () => {
  for (const name of ["token_embd.weight", "blk.1.ffn_up.weight", "output_norm.bias", "position_embd.weight"]) {
    await refuses(openGguf("gpt2", { tensors: without(name) }), "format", `"${name}"`, "none");
  }
  await refuses(openGguf("llama", { tensors: without("blk.2.attn_k.weight") }), "format", '"blk.2.attn_k.weight"');
});

test("openModel: a tensor of another shape is named with both shapes", async () => {
  const ffn = changed("blk.0.ffn_down.weight", { ne: [64, 160] });
  await refuses(openGguf("gpt2", { tensors: ffn }), "shape", '"blk.0.ffn_down.weight"', "[64, 160]", "[160, 64]");
  const norm = changed("blk.0.attn_norm.weight", { ne: [32], data: f32Bytes(new Array<number>(32).fill(1)) });
  await refuses(openGguf("bert", { tensors: changed("token_embd_norm.weight", { ne: [32, 2] }) }), "shape", "[64]");
  await refuses(openGguf("llama", { tensors: norm }), "shape", '"blk.0.attn_norm.weight"', "[64]", "[32]");
});

test("openModel: a tensor that changes what a block computes is named", async () => {
  for (const name of ["blk.0.attn_q_norm.weight", "blk.1.ffn_gate_inp.weight", "blk.0.attn_post_norm.weight"]) {
    await refuses(openGguf("llama", { tensors: extra(name) }), "unsupported", `"${name}"`);
  }
  const factors = extra("rope_freqs.weight", 7);
  await refuses(openGguf("llama", { tensors: factors }), "shape", '"rope_freqs.weight"', "[8]", "[7]");
  // What stands beside the blocks harms nobody.
  const model = await openGguf("bert", { tensors: extra("pooler.dense.weight") })(await running());
  assert.equal((await collect(model.run(IDS))).length, 2);
  model.dispose();
});

test("openModel: a setting that is missing, wrong or not followed is named", async () => {
  const gguf = (family: Shape["family"], key: string, value: Parameters<typeof u32>[0] | string) =>
    openGguf(family, { without: [key], keys: [[key, typeof value === "string" ? text(value) : u32(value)]] });
  await refuses(openGguf("gpt2", { without: ["gpt2.attention.head_count"] }), "format", '"gpt2.attention.head_count"');
  await refuses(gguf("gpt2", "gpt2.attention.head_count", 5), "format", '"gpt2.attention.head_count"', "64", "5");
  await refuses(gguf("gpt2", "gpt2.attention.head_count", 0), "format", "above 0");
  await refuses(gguf("gpt2", "gpt2.attention.head_count", "four"), "format", '"four"');
  await refuses(gguf("gpt2", "gpt2.embedding_length", 65), "format", '"gpt2.embedding_length"', "64", "65");
  await refuses(gguf("gpt2", "gpt2.block_count", 7), "format", '"blk.3.');
  await refuses(gguf("gpt2", "gpt2.block_count", 4_000_000_000), "format", '"gpt2.block_count"');
  await refuses(gguf("llama", "llama.attention.head_count_kv", 3), "format", '"llama.attention.head_count_kv"', "8");
  await refuses(gguf("llama", "llama.rope.dimension_count", 7), "format", '"llama.rope.dimension_count"');
  await refuses(gguf("llama", "llama.rope.scaling.type", "yarn"), "unsupported", '"llama.rope.scaling.type"', "yarn");
  await refuses(openGguf("llama", { without: ["llama.attention.layer_norm_rms_epsilon"] }), "format", "rms_epsilon");

  await refuses(openSafetensors("gpt2", { config: undefined }), "format", "n_head", "config.json");
  await refuses(openSafetensors("bert", { config: {} }), "format", "num_attention_heads", "options.config");
  await refuses(openSafetensors("bert", { change: { hidden_act: "mish" } }), "unsupported", "hidden_act", '"mish"');
  const relative = { position_embedding_type: "relative_key" };
  await refuses(openSafetensors("bert", { change: relative }), "unsupported", "position_embedding_type");
  const scaling = (rope_scaling: object) => openSafetensors("llama", { change: { rope_scaling } });
  await refuses(scaling({ rope_type: "llama3", factor: 8 }), "format", "rope_scaling", "llama3");
  await refuses(scaling({ type: "yarn", factor: 8 }), "unsupported", "rope_scaling", '"yarn"');
  await refuses(openSafetensors("llama", { change: { partial_rotary_factor: 0.5 } }), "unsupported", "partial_rotary");
  await refuses(openSafetensors("gpt2", { config: "{" }), "format", "options.config", "JSON");
  assert.equal((await failure(openSafetensors("gpt2", { config: 7 }))).name, "TypeError");
});

test("run: a type that cannot be decoded is named, and only where it is needed", async () => {
  // IQ2_XXS has blocks of 256 values: the feed-forward network's rows are 256 long here.
  const random = randomModel("gpt2", "F32", { dModel: 256, headDim: 64, inner: 256, layers: 2 });
  const iq2 = { type: 16, data: new Uint8Array(256 * 66) };
  const hs = await running();
  const before = hs.memory().liveObjects;
  const source = ggufModel(random, { tensors: changed("blk.1.ffn_up.weight", iq2) });
  const model = await openModel(hs, source);
  const layers = await collect(model.run(IDS));
  assert.equal(layers.length, 2, "the maps of both layers need no feed-forward network of the last");
  await refuses(() => collect(model.run(IDS, { want: ["hidden"] })), "unsupported", '"blk.1.ffn_up.weight"', "IQ2_XXS");
  await refuses(() => model.loss(IDS), "unsupported", '"blk.1.ffn_up.weight"');
  assert.equal((await collect(model.run(IDS))).length, 2, "and the model goes on");
  model.dispose();
  assert.equal(hs.memory().liveObjects, before);
});

test("run: a file that ends too soon is found out when its end is read", async () => {
  const whole = ggufModel(randomModel("gpt2"));
  await refuses((hs) => openModel(hs, whole.slice(0, whole.length - 4)), "format");
});

test("run: tokens that the model does not have, and too many or none of them", async () => {
  const hs = await running();
  const open = (family: Shape["family"]) => openModel(hs, ggufModel(randomModel(family)));
  const gpt2 = await open("gpt2");
  const many = (count: number) => new Array<number>(count).fill(1);
  for (const [ids, name, message] of [
    [[1, 83], "RangeError", /tokens\[1\].*82.*83/],
    [[-1], "RangeError", /tokens\[0\]/],
    [[1.5], "RangeError", /tokens\[0\]/],
    [["1"], "TypeError", /tokens\[0\]/],
    [[{ id: 1e9 }], "RangeError", /tokens\[0\]\.id/],
    ["How are", "TypeError", /tokens/],
    [undefined, "TypeError", /tokens/],
    [[], "HeadscopeError", /at least one token/],
    [many(25), "HeadscopeError", /at most 24 tokens.*25/],
  ] as const) {
    assert.throws(() => gpt2.run(ids as never), { name, message });
    await assert.rejects(gpt2.loss(ids as never), { name, message });
  }
  assert.equal((await collect(gpt2.run(many(24)))).length, 3);
  assert.equal((await collect((await open("bert")).run(Int32Array.from(many(20))))).length, 2);
  // What the file says is the limit for models without a table of positions.
  await assert.rejects(async () => collect((await open("llama")).run(many(65))), {
    code: "shape",
    message: /at most 64/,
  });
});

test("run: options are checked before anything is read", async () => {
  const model: Model = await openModel(await running(), ggufModel(randomModel("gpt2")));
  const before = model.bytesRead;
  for (const [options, message] of [
    [{ layers: 0 }, /layers.*1 to 3/],
    [{ layers: 4 }, /layers/],
    [{ want: "weights" }, /want/],
    [{ want: ["wieghts"] }, /want\[0\].*did you mean/],
    [{ numerics: "f16" }, /numerics/],
    [{ keepWeights: 1 }, /keepWeights/],
    [{ output: 0 }, /output/],
    [{ signal: {} }, /signal/],
    [{ headMask: new Float32Array(4) }, /headMask/],
    [{ headMask: [new Float32Array(3)] }, /headMask\[0\].*4.*3/],
    [{ headMask: [undefined, undefined, undefined, undefined] }, /headMask.*3/],
    [{ headMask: [[1, 1, 1, 1]] }, /headMask\[0\]/],
    [{ scoresStage: "raw" }, /scoresStage/],
    [{ head_mask: [] }, /head_mask/],
    [7, /options/],
  ] as const) {
    assert.throws(() => model.run(IDS, options as never), message);
  }
  assert.equal(model.bytesRead, before);
  const open = (options: object) => openModelWith(options as OpenModelOptions);
  for (const [options, message] of [
    [{ tokeniser: {} }, /tokeniser/],
    [{ tokenizer: 7 }, /options\.tokenizer/],
    [{ tokenizer: "{" }, /options\.tokenizer/],
    [{ tokenizer: {} }, /options\.tokenizer/],
    [{ format: "onnx" }, /format/],
  ] as const) {
    await assert.rejects(open(options), message);
  }
  await assert.rejects(openModel({} as Headscope, new ArrayBuffer(8)), /hs/);
});

async function openModelWith(options: OpenModelOptions): Promise<Model> {
  return openModel(await running(), ggufModel(randomModel("gpt2")), options);
}

test("tokenize: a tokenizer that is missing, broken or unknown is named", async () => {
  const hs = await running();
  const gguf = (keys: NonNullable<GgufOptions["keys"]>) => openModel(hs, ggufModel(randomModel("gpt2"), { keys }));
  const none = await gguf([]);
  assert.throws(() => none.tokenize("a"), {
    code: "unsupported",
    message: /tokenizer\.ggml\.model.*options\.tokenizer/,
  });
  const safetensors = await openModel(hs, safetensorsModel(randomModel("gpt2")), { config: { n_head: 4 } });
  assert.throws(() => safetensors.tokenize("a"), { code: "unsupported", message: /options\.tokenizer/ });
  const model = ["tokenizer.ggml.model", text("gpt2")] as [string, ReturnType<typeof text>];
  const tokens = ["tokenizer.ggml.tokens", strings(["a", "b", "ab"])] as typeof model;
  for (const [keys, code, message] of [
    [[["tokenizer.ggml.model", text("rwkv")]], "unsupported", /"rwkv"/],
    [[model], "format", /tokenizer\.ggml\.tokens/],
    [[model, tokens], "format", /tokenizer\.ggml\.merges/],
    [[model, tokens, ["tokenizer.ggml.merges", strings(["a b", "ab"])]], "format", /merge 1/],
    [[model, tokens, ["tokenizer.ggml.pre", text("tekken")]], "unsupported", /tokenizer\.ggml\.pre.*"tekken"/],
    [[["tokenizer.ggml.model", text("llama")], tokens], "format", /tokenizer\.ggml\.scores/],
  ] as const) {
    const broken = await gguf(keys as unknown as NonNullable<GgufOptions["keys"]>);
    assert.throws(() => broken.tokenize("a"), { name: "HeadscopeError", code, message });
    assert.equal((await collect(broken.run([1]))).length, 3, "its maps are there all the same");
  }
  const quantum = { model: { type: "Quantum", vocab: {} } };
  await refuses(() => openModelWith({ tokenizer: quantum }), "unsupported", "options.tokenizer", '"Quantum"');
  const odd = await openModelWith({ tokenizer: { model: { type: "BPE", vocab: {} } } });
  assert.throws(() => odd.tokenize("a"), {
    name: "HeadscopeError",
    code: "unsupported",
    message: /options\.tokenizer/,
  });
  assert.throws(() => none.tokenize(7 as never), { name: "TypeError", message: /text/ });
});

test("tokenize: __proto__ and its like are pieces as any other", async () => {
  const words = ["__proto__", "constructor"];
  const tokens = ["<unk>"];
  for (const word of words) {
    for (let end = 1; end <= word.length; ++end) {
      for (const piece of [word.slice(end - 1, end), word.slice(0, end)])
        if (!tokens.includes(piece)) tokens.push(piece);
    }
  }
  const keys: NonNullable<GgufOptions["keys"]> = [
    ["tokenizer.ggml.model", text("llama")],
    ["tokenizer.ggml.tokens", strings(tokens)],
    ["tokenizer.ggml.scores", f32s(tokens.map((_, id) => -id))],
    ["tokenizer.ggml.add_space_prefix", bool(false)],
    ["tokenizer.ggml.add_bos_token", bool(false)],
  ];
  const model = await openModel(await running(), ggufModel(randomModel("gpt2"), { keys }));
  for (const word of words) {
    const shown = model.tokenize(word).map((token) => [token.id, token.text]);
    assert.deepEqual(shown, [[tokens.indexOf(word), word]]);
  }
});
