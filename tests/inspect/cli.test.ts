import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { load } from "headscope";
import { openModel } from "headscope/models";
import { displayWidth } from "../../bindings/cli/width.ts";
import { configJson, ggufModel, safetensorsModel } from "../models/fixtures/model-files.ts";
import { randomModel } from "../models/fixtures/random-model.ts";
import { serve } from "../models/range-server.ts";
import { text } from "../models/write-files.ts";
import { assertValuesClose } from "../support/compare.ts";
import { CLI, HOW_ARE, headscope, structureOf, TOKENIZER_KEYS, temporaryFolder, VOCABULARY } from "./files.ts";

const file = temporaryFolder();
const gpt2 = randomModel("gpt2", "Q8_0", { vocabulary: VOCABULARY });
const gpt2Bytes = ggufModel(gpt2, { keys: TOKENIZER_KEYS });
const gpt2File = file("gpt2.gguf", gpt2Bytes);
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

async function json(args: readonly string[]) {
  const { code, stdout, stderr } = await headscope([...args, "--json"]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

test("--help goes to stdout and names every option; --version is the package's", async () => {
  const help = await headscope(["--help"]);
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  for (const option of ["prompt", "tokens", "layer", "head", "numerics", "config", "tokenizer", "json", "version"]) {
    assert.match(help.stdout, new RegExp(`--${option}\\b`));
  }
  assert.deepEqual(await headscope(["-h"]), help);
  assert.deepEqual(await headscope(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" });
});

test("a wrong call is one line on stderr and exit code 2", async () => {
  const calls: [string[], RegExp][] = [
    [[], /expected a command/],
    [["look", gpt2File], /got "look"/],
    [["inspect"], /expected a FILE/],
    [["inspect", gpt2File, "more"], /"more" as well/],
    [["inspect", gpt2File, "--promt", "x"], /unknown option "--promt"; did you mean "prompt"/],
    [["inspect", gpt2File, "-x"], /unknown option "-x"/],
    [["inspect", gpt2File, "--prompt"], /--prompt: expected a value/],
    [["inspect", gpt2File, "--prompt", "How", "--layer", "--json"], /--layer: expected a value/],
    [["inspect", gpt2File, "--prompt="], /--prompt: expected a text/],
    [["inspect", gpt2File, "--prompt", "a", "--prompt", "b"], /once, got it twice/],
    [["inspect", gpt2File, "--json=yes"], /--json: expected no value/],
    [["inspect", gpt2File, "--layer", "1"], /--layer: expected a --prompt/],
    [["inspect", gpt2File, "--prompt", "How", "--layer", "-1"], /--layer: expected a whole number from 0, got "-1"/],
    [["inspect", gpt2File, "--prompt", "How", "--layer", "3"], /--layer: expected 0 to 2, the model's layers, got 3/],
    [["inspect", gpt2File, "--prompt", "How", "--head=4"], /--head: expected 0 to 3, its heads, got 4/],
    [["inspect", gpt2File, "--tokens", "1,two"], /--tokens: expected a whole number from 0, got "two"/],
    [["inspect", gpt2File, "--tokens", "1,9999"], /--tokens: expected 0 to 260, its vocabulary, got 9999/],
    [["inspect", gpt2File, "--tokens", "1", "--prompt", "How"], /got both/],
    [["inspect", gpt2File, "--prompt", "x".repeat(40)], /expected at most 24 tokens, the model's context, got 40/],
    [["inspect", gpt2File, "--prompt", "How", "--numerics", "f16"], /expected f32 or ggml, got "f16"/],
  ];
  for (const [args, message] of calls) {
    const { code, stdout, stderr } = await headscope(args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, message);
    assert.match(stderr, /^headscope: [^\n]+\n$/);
  }
});

test("a file that cannot be read is one line on stderr and exit code 1", async () => {
  const files: [string, RegExp][] = [
    [`${gpt2File}.missing`, /there is no such file/],
    [gpt2File.replace(/\/[^/]*$/, ""), /expected a file, got a folder/],
    [file("page.gguf", "<!doctype html><title>Sign in</title>"), /page\.gguf.*HTML page/],
    [file("pointer.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"), /Git LFS pointer/],
    [file("empty.gguf", ""), /empty file/],
    [file("cut.gguf", gpt2Bytes.subarray(0, 2000)), /cut\.gguf/],
    ["http://127.0.0.1:9/model.gguf", /127\.0\.0\.1:9/],
  ];
  for (const [path, message] of files) {
    const { code, stdout, stderr } = await headscope(["inspect", path]);
    assert.deepEqual([code, stdout], [1, ""], path);
    assert.match(stderr, message);
    assert.match(stderr, /^headscope: [^\n]+\n$/);
  }
});

test("inspect FILE --json has summary, metadata and tensors, and the offsets point at the tensors' bytes", async () => {
  const report = await json(["inspect", gpt2File]);
  assert.deepEqual(structureOf(report), {
    headscope: "string",
    file: {
      name: "string",
      format: "string",
      version: "number",
      size: "number",
      dataOffset: "number",
      architecture: "string",
      title: "null",
      layers: "number",
      heads: "number",
      kvHeads: "number",
      headWidth: "number",
      width: "number",
      feedForwardWidth: "number",
      contextLength: "number",
      vocabularySize: "number",
      parameters: "number",
      tensorBytes: "number",
      types: [{ dtype: "string", tensors: "number", elements: "number", bytes: "number" }],
    },
    metadata: [{ key: "string", type: "string", count: "null", characters: "null", value: "string" }],
    tensors: [
      {
        name: "string",
        dtype: "string",
        shape: ["number"],
        ne: ["number"],
        elements: "number",
        bytes: "number",
        offset: "number",
        byteLayout: "string",
      },
    ],
    bytesRead: "number",
  });
  const { file: summary } = report;
  assert.equal(summary.size, gpt2Bytes.length);
  assert.deepEqual(
    [summary.architecture, summary.layers, summary.heads, summary.width, summary.headWidth, summary.vocabularySize],
    ["gpt2", 3, 4, 64, 16, VOCABULARY],
  );
  const merges = report.metadata.find(({ key }: { key: string }) => key === "tokenizer.ggml.merges");
  assert.deepEqual(merges, {
    key: "tokenizer.ggml.merges",
    type: "string[]",
    count: 5,
    characters: null,
    value: ["H o", "Ho w", "Ġ a", "Ġa r", "Ġar e"],
  });
  const bias = report.tensors.find(({ name }: { name: string }) => name === "blk.1.attn_output.bias");
  const stored = gpt2.blocks[1]?.output.bias?.bytes as Uint8Array;
  assert.deepEqual(bias.ne, [64, 1, 1, 1]);
  assert.deepEqual(gpt2Bytes.subarray(bias.offset, bias.offset + bias.bytes), new Uint8Array(stored));
  const qkv = report.tensors.find(({ name }: { name: string }) => name === "blk.0.attn_qkv.weight");
  assert.deepEqual([qkv.shape, qkv.ne, qkv.byteLayout], [[192, 64], [64, 192, 1, 1], "[out][in]"]);
  assert.equal(qkv.bytes, (192 * 64 * 34) / 32);
});

test("--prompt --json: the nodes of a layer hold what Model.run answers, in ggml's order", async () => {
  const report = await json(["inspect", gpt2File, "--prompt", "How are!", "--layer", "1"]);
  assert.deepEqual(
    report.prompt.tokens.map(({ id, text: piece, bytes, start, end, partial, special }: Record<string, unknown>) => ({
      ...{ id, piece, bytes, start, end, partial, special },
    })),
    [
      { id: 257, piece: "How", bytes: [72, 111, 119], start: 0, end: 3, partial: false, special: false },
      { id: 260, piece: " are", bytes: [32, 97, 114, 101], start: 3, end: 7, partial: false, special: false },
      { id: 33, piece: "!", bytes: [33], start: 7, end: 8, partial: false, special: false },
    ],
  );
  type Node = { name: string; shape: number[]; ne: number[]; first: number[]; last: number[]; sum: number };
  const nodes = new Map<string, Node & { printed: number; weight: string | null }>(
    report.prompt.nodes.map((node: Node) => [node.name, node]),
  );
  assert.deepEqual(
    [...nodes.values()].map(({ name, shape, ne }) => [name, shape, ne]),
    [
      ["wqkv_b-1", [3, 192], [192, 3, 1, 1]],
      ["Qcur-1", [4, 3, 16], [16, 4, 3, 1]],
      ["Kcur-1", [4, 3, 16], [16, 4, 3, 1]],
      ["Vcur-1", [4, 3, 16], [16, 4, 3, 1]],
      ["kq-1", [4, 3, 3], [256, 3, 4, 1]],
      ["kq_soft_max-1", [4, 3, 3], [256, 3, 4, 1]],
      ["kqv-1", [4, 3, 16], [16, 3, 4, 1]],
      ["kqv_out-1", [3, 64], [64, 3, 1, 1]],
      ["MUL_MAT(blk.1.attn_output.weight, kqv_out-1)", [3, 64], [64, 3, 1, 1]],
      ["ADD(…, blk.1.attn_output.bias)", [3, 64], [64, 3, 1, 1]],
    ],
  );
  const order = ["Qcur-1", "Vcur-1", "Kcur-1"].map((name) => nodes.get(name)?.printed);
  assert.deepEqual(order, [...order].sort(), "llama.cpp prints Q, V, K");
  const sources = report.prompt.nodes.map(({ source }: { source: Record<string, unknown> }) => source);
  assert.deepEqual(
    sources.slice(1, 4).map(({ operations, offset }: Record<string, unknown>) => [operations, offset]),
    [0, 64, 128].map((column) => [["ggml_view_3d"], column * 4]),
    "q, k and v are views into the fused rows",
  );
  assert.deepEqual(
    sources.map(({ builder }: Record<string, unknown>) => builder),
    [...new Array(4).fill("build_qkv"), ...new Array(4).fill("build_attn_mha"), ...new Array(2).fill("build_attn")],
  );
  assert.equal(nodes.get("wqkv_b-1")?.weight, "blk.1.attn_qkv.weight");

  const hs = await load({ variant: "simd" });
  using model = await openModel(hs, gpt2Bytes.buffer);
  const want = ["q", "k", "v", "weights", "heads", "concat"] as const;
  const results = [];
  for await (const result of model.run([...HOW_ARE, 33], { layers: 2, want })) results.push(result);
  const { q, k, v, weights, heads, concat, output } = results[1] as (typeof results)[number];
  const head = (name: string, values: ArrayLike<number>, tolerance = 0) => {
    const node = nodes.get(name) as Node;
    const all = Array.from(values);
    const absolute = { absolute: tolerance };
    assertValuesClose(node.first, all.slice(0, 3), absolute, `${name}: first`);
    assertValuesClose(node.last, all.slice(-3), absolute, `${name}: last`);
    const sum = all.reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(node.sum - sum) <= 1e-9 + tolerance * all.length, `${name}: sum ${node.sum}, expected ${sum}`);
  };
  // {16, 4, 3}: component, then head, then token.
  const byToken = (values: Float32Array) =>
    Float32Array.from({ length: values.length }, (_, i) => {
      const [c, h, t] = [i % 16, Math.floor(i / 16) % 4, Math.floor(i / 64)];
      return values[(h * 3 + t) * 16 + c] as number;
    });
  head("Qcur-1", byToken(q.data));
  head("Kcur-1", byToken(k.data));
  head("Vcur-1", byToken(v.data));
  head("kq_soft_max-1", weights.data);
  head("kqv-1", heads.data);
  head("kqv_out-1", concat.data);
  head("ADD(…, blk.1.attn_output.bias)", output.data);
  const rows = [0, 1, 2].flatMap((t) =>
    [q, k, v].flatMap(({ data }) => [...byToken(data).subarray(t * 64, (t + 1) * 64)]),
  );
  head("wqkv_b-1", rows);
  const dots = Array.from({ length: 36 }, (_, i) => {
    const [s, t, h] = [i % 3, Math.floor(i / 3) % 3, Math.floor(i / 9)];
    let sum = 0;
    for (let c = 0; c < 16; ++c)
      sum += (q.data[(h * 3 + t) * 16 + c] as number) * (k.data[(h * 3 + s) * 16 + c] as number);
    return sum;
  });
  head("kq-1", dots, 1e-5);
  const matrix = gpt2.blocks[1]?.output.weight.values as Float32Array;
  const product = Array.from({ length: 3 * 64 }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < 64; ++j) {
      sum += (concat.data[Math.floor(i / 64) * 64 + j] as number) * (matrix[(i % 64) * 64 + j] as number);
    }
    return sum;
  });
  head("MUL_MAT(blk.1.attn_output.weight, kqv_out-1)", product, 1e-5);

  assert.equal(report.prompt.heads.length, 4);
  report.prompt.heads.forEach((each: { head: number; weights: (number | null)[][] }, h: number) => {
    assert.equal(each.head, h);
    each.weights.forEach((row, t) => {
      const expected = [0, 1, 2].map((s) => (s > t ? null : weights.data[(h * 3 + t) * 3 + s]));
      assert.deepEqual(row, expected, `head ${h}, query ${t}`);
    });
  });
});

test("--head with --json answers that head's weights alone; --tokens stands for the text of the same ids", async () => {
  const [byText, byIds] = await Promise.all([
    json(["inspect", gpt2File, "--prompt", "How are", "--head", "3"]),
    json(["inspect", gpt2File, "--tokens", HOW_ARE.join(","), "--head", "3"]),
  ]);
  assert.deepEqual(
    byText.prompt.heads.map(({ head }: { head: number }) => head),
    [3],
  );
  assert.deepEqual(byIds.prompt.heads, byText.prompt.heads);
  assert.deepEqual(
    byIds.prompt.tokens,
    HOW_ARE.map((id) => ({ id, bytes: null })),
  );
  assert.deepEqual([byText.prompt.text, byIds.prompt.text], ["How are", null]);
});

test("--numerics ggml repeats llama.cpp's rounding and says so", async () => {
  const [f32, ggml] = await Promise.all(
    ["f32", "ggml"].map((numerics) => json(["inspect", gpt2File, "--prompt", "How are", "--numerics", numerics])),
  );
  assert.deepEqual([f32.prompt.numerics, ggml.prompt.numerics], ["f32", "ggml"]);
  assert.notDeepEqual(f32.prompt.heads, ggml.prompt.heads);
  type Node = { id: string; notes: string[] };
  const rounded = ({ prompt }: { prompt: { nodes: Node[] } }) =>
    prompt.nodes.filter(({ notes }) => notes.includes("half-precision")).map(({ id }) => id);
  assert.deepEqual(rounded(f32), []);
  assert.deepEqual(rounded(ggml), ["qkv", "q", "k", "v"]);
});

test("safetensors: settings come from config.json beside the file, and in-out matrices are told apart", async () => {
  const model = randomModel("gpt2", "F32");
  const path = file("model.safetensors", safetensorsModel(model, { prefix: "transformer." }));
  const config = JSON.stringify(configJson(model));
  const without = await json(["inspect", path, "--config", file("only.json", '{"model_type":"gpt2","n_head":4}')]);
  assert.equal(without.file.heads, 4);

  file("config.json", config);
  const report = await json(["inspect", path, "--tokens", "3,1,4", "--layer", "2"]);
  assert.deepEqual([report.file.format, report.file.architecture, report.file.heads], ["safetensors", "gpt2", 4]);
  const layouts = new Map(report.tensors.map(({ name, byteLayout }: Record<string, string>) => [name, byteLayout]));
  assert.equal(layouts.get("transformer.h.0.attn.c_attn.weight"), "[in][out]");
  assert.equal(layouts.get("transformer.wte.weight"), "[token][width]");
  assert.equal(layouts.get("transformer.wpe.weight"), "[position][width]");
  assert.equal(layouts.get("transformer.h.0.ln_1.bias"), null);

  // The same model as GGUF gives the same numbers under the same names.
  const gguf = await json(["inspect", file("same.gguf", ggufModel(model)), "--tokens", "3,1,4", "--layer", "2"]);
  type Node = { name: string; ne: number[]; first: number[]; sum: number };
  report.prompt.nodes.forEach((node: Node, i: number) => {
    const same = gguf.prompt.nodes[i] as Node;
    assert.deepEqual([node.name, node.ne], [same.name, same.ne]);
    assertValuesClose(node.first, same.first, { absolute: 1e-4 }, node.name);
  });
  const product = report.prompt.nodes.find(({ id }: { id: string }) => id === "product");
  assert.equal(product.weight, "transformer.h.2.attn.c_proj.weight");
});

test("a model that cannot be run is shown all the same, and refused with a prompt", async () => {
  const path = file("other.gguf", ggufModel(gpt2, { kind: "gemma" }));
  const shown = await headscope(["inspect", path]);
  assert.deepEqual([shown.code, shown.stderr], [0, ""]);
  assert.match(shown.stdout, /Architecture +gemma/);
  assert.match(shown.stdout, /Heads +4\n/);
  assert.match(shown.stdout, /cannot be run: .*"gemma"/);
  const refused = await headscope(["inspect", path, "--tokens", "1"]);
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(refused.stderr, /^headscope: [^\n]*"gemma"[^\n]*\n$/);
  const speechless = await headscope(["inspect", file("mute.gguf", ggufModel(gpt2)), "--prompt", "How are"]);
  assert.equal(speechless.code, 1);
  assert.match(speechless.stderr, /tokenizer/);
});

test("llama: grouped keys, no bias to add, rotary nodes; bert: no cache to pad", async () => {
  const llama = randomModel("llama", "Q4_0");
  const path = file("llama.gguf", ggufModel(llama));
  const { prompt, file: summary } = await json(["inspect", path, "--tokens", "5,6,7,8"]);
  assert.deepEqual([summary.heads, summary.kvHeads, summary.headWidth], [8, 2, 16]);
  type Node = { name: string; ne: number[]; shape: number[]; notes: string[]; validColumns: number | null };
  const node = (name: string, nodes: Node[] = prompt.nodes) => nodes.find((each) => each.name === name) as Node;
  assert.deepEqual(
    prompt.nodes.map(({ id }: { id: string }) => id),
    ["q", "k", "v", "scores", "weights", "heads", "concat", "product"],
  );
  assert.deepEqual(
    [node("Qcur-0").ne, node("Kcur-0").ne],
    [
      [16, 8, 4, 1],
      [16, 2, 4, 1],
    ],
  );
  assert.deepEqual(node("Kcur-0").notes, ["last-of-name"]);
  assert.deepEqual(node("kq-0").notes, ["unscaled", "flash-attention-off", "padded-keys"]);
  assert.equal(node("kq-0").validColumns, 4);

  const qwen = await json(["inspect", file("qwen.gguf", ggufModel(llama, { kind: "qwen2" })), "--tokens", "5,6,7,8"]);
  assert.deepEqual(node("Kcur-0", qwen.prompt.nodes).notes, ["last-of-name", "rotary-order"]);

  const bert = randomModel("bert", "F32");
  const answer = await json(["inspect", file("bert.gguf", ggufModel(bert)), "--tokens", "5,6,7", "--layer", "1"]);
  const scores = node("kq-1", answer.prompt.nodes);
  assert.deepEqual(
    [scores.ne, scores.validColumns, scores.notes],
    [[3, 3, 4, 1], null, ["unscaled", "flash-attention-off"]],
  );
  const [first] = answer.prompt.heads[0].weights;
  assert.ok(
    first.every((weight: number | null) => weight !== null && weight > 0),
    "bert sees the keys behind a query",
  );
});

test("text: tables, heatmap and numbers of a prompt", async () => {
  const { code, stdout, stderr } = await headscope(["inspect", gpt2File, "--prompt", "How are", "--head", "2"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = stdout.split("\n");
  for (const start of ["Architecture  gpt2", "Metadata: ", "Tensors: ", "Tokens: 2", "Head 2 of layer 0"]) {
    assert.ok(
      lines.some((line) => line.startsWith(start)),
      start,
    );
  }
  const at = lines.indexOf("rows: queries, columns: keys");
  assert.match(lines[at + 2] as string, /^0 How +9 -$/);
  assert.match(lines[at + 3] as string, /^1 ␣are +[0-9.] [0-9.]$/);
  assert.match(stdout, /\{256, 2, 4, 1\} 2 valid/);
  assert.match(stdout, /^How +1\.0000 +—$/m);
  assert.match(stdout, /^kqv_out-0 +build_attn_mha\(\) +ggml_permute\(\) → ggml_cont_2d\(\)/m);
  assert.match(stdout, /llama\.cpp prints Qcur-0, Vcur-0, Kcur-0/);
  assert.doesNotMatch(stdout, /GPT-2 small/, "other sizes have no reference");
});

test("text: cells stand under each other beside wide characters", async () => {
  const prompt = "注意 a 力";
  const { code, stdout } = await headscope(["inspect", gpt2File, "--prompt", prompt]);
  assert.equal(code, 0);
  const lines = stdout.split("\n");
  const at = lines.indexOf("rows: queries, columns: keys");
  const tokens = Number(/^Tokens: (\d+)$/m.exec(stdout)?.[1]);
  assert.ok(tokens > 8, "every character of three bytes is three pieces");
  const rows = lines.slice(at + 2, at + 2 + tokens);
  const widths = rows.map((row) => displayWidth(row));
  assert.deepEqual(
    widths,
    widths.map(() => widths[0]),
  );
});

test("what a file or a prompt says cannot drive the terminal", async () => {
  const evil = "\u001b[2J\u0007\u009b31m\u202egnp\u2028";
  const bytes = ggufModel(gpt2, {
    keys: [...TOKENIZER_KEYS, ["general.name", text(`evil ${evil}`)], [`key ${evil}`, text(evil)]],
    tensors: (tensors) => [...tensors, { name: `x${evil}`, ne: [1], type: 0, data: new Uint8Array(4) }],
  });
  const { code, stdout, stderr } = await headscope(["inspect", file("evil.gguf", bytes), "--prompt", `a${evil}b`]);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /\\u\{1b\}/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
  const refused = await headscope(["inspect", `missing${evil}`]);
  assert.equal(refused.code, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
  assert.doesNotMatch(refused.stderr.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
});

test("an address is read by ranges, and what a layer does not need is not read", async (t) => {
  const large = randomModel("gpt2", "F32", { vocabulary: VOCABULARY, layers: 10, inner: 640 });
  const bytes = ggufModel(large, { keys: TOKENIZER_KEYS });
  const server = await serve(t, bytes);
  const report = await json(["inspect", server.url, "--prompt", "How are"]);
  const local = await json(["inspect", file("large.gguf", bytes), "--prompt", "How are"]);
  assert.deepEqual(report.prompt, local.prompt);
  // Header twice, block 0's attention, a few rows.
  for (const { bytesRead } of [report, local]) assert.ok(bytesRead < bytes.length / 8, `${bytesRead} bytes`);
  assert.ok(server.requests.length > 0 && server.requests.every(({ range }) => range !== undefined));
});

test("a reader that closes the pipe early ends the program quietly", async () => {
  const child = spawn(process.execPath, [CLI, "inspect", gpt2File, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  child.stdout.destroy();
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual([code, stderr], [0, ""]);
});
