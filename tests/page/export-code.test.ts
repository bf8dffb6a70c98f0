import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load, type Tensor } from "headscope";
import { openModel } from "headscope/models";
import { type CodeView, codeOf, stringCode } from "../../web/playground/export/code.js";
import { headKey } from "../../web/playground/head-key.js";
import { builtHeads } from "../../web/playground/sources/built-heads.js";
import { numpySeed42 } from "../../web/playground/sources/numpy-seed42.js";
import { openTiny } from "../../web/playground/sources/tiny-gpt.js";
import { bertFiles } from "../browser/model-files.ts";
import { collect } from "../models/fixtures/run-model.ts";
import { assertValuesClose } from "../support/compare.ts";
import { inThread } from "../support/in-thread.js";
import { folder, runProgram } from "./export-program.ts";

const MODEL = fileURLToPath(new URL("../../web/models/headscope.gguf", import.meta.url));
const hs = await load({ variant: "simd" });
const core = inThread(hs);

function assertLines(lines: readonly string[], { data, shape }: Tensor, head: number): void {
  const [, T, S] = shape as [number, number, number];
  for (let query = 0; query < T; query++) {
    const row = data.subarray((head * T + query) * S, (head * T + query + 1) * S);
    const numbers = (lines[query] as string).split(" ").slice(-S).map(Number);
    assertValuesClose(Float32Array.from(numbers), row, { absolute: 5.1e-5 }, `line ${query}`);
  }
}

const TEXTS = [
  "The cat sat on the mat because it was",
  "a b c d a b c d",
  "=`$(1)` \"</script><img src=x onerror=alert(1)>' שלום \u202e\u2028 \ud800 小明",
];

for (const [i, text] of TEXTS.entries()) {
  for (const causal of [true, false]) {
    test(`the code of the built heads gives the page's weights: text ${i}, ${causal ? "causal" : "no mask"}`, async () => {
      const { tokens } = builtHeads.tokenize(text, "character");
      const off = i === 0 ? [{ layer: 0, head: 2 }] : [];
      const view: CodeView = { source: { kind: "built" }, tokens, causal, layer: 0, head: 4, off };
      const { weights, lines } = await runProgram(codeOf(view));
      const open = await builtHeads.open(core);
      const page = await open.run(tokens, { causal, layer: 0, off: new Set() });
      assert.deepEqual(weights.shape, page.weights.shape);
      assertValuesClose(weights.data, page.weights.data, { absolute: 1e-5 }, "weights");
      assertLines(lines, weights, 4);
    });
  }
}

test("the code of NumPy's seed 42 gives the page's weights and output, bit for bit", async () => {
  const { tokens } = numpySeed42.tokenize("", "character");
  for (const causal of [true, false]) {
    const view: CodeView = {
      source: { kind: "numpy" },
      tokens,
      causal,
      layer: 0,
      head: 1,
      off: [{ layer: 0, head: 0 }],
    };
    const { weights, lines } = await runProgram(codeOf(view));
    const open = await numpySeed42.open(core);
    const page = await open.run(tokens, { causal, layer: 0, off: new Set([0]) });
    assert.deepEqual(weights, page.weights);
    assertLines(lines, weights, 1);
    assert.equal(lines[4], `output 4,8 ${page.output?.data}`);
  }
});

test("the code of the embedded model fetches it and gives the page's weights, heads left out included", async () => {
  const bytes = readFileSync(MODEL);
  const server = createServer((_, response) => response.end(bytes)).listen(0);
  await new Promise((done) => server.once("listening", done));
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/headscope.gguf`;
    const tiny = await openTiny(core, new Blob([bytes]));
    const text = TEXTS[2] as string;
    const { tokens } = await tiny.tokenize(text);
    const off = new Set([headKey(0, 1), headKey(1, 5)]);
    const places = [...off].map((key) => ({ layer: Math.floor(key / 4096), head: key % 4096 }));
    const source = { kind: "model", from: { address }, beside: false, text } as const;
    const { weights, lines } = await runProgram(
      codeOf({ source, tokens, causal: true, layer: 2, head: 7, off: places }),
    );
    const page = await tiny.run(tokens, { causal: true, layer: 2, off });
    assert.deepEqual(weights, page.weights);
    assertLines(lines, weights, 7);
    tiny.dispose();
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("the code of the visitor's own file opens it by its name", async () => {
  writeFileSync(join(folder, "own.gguf"), readFileSync(MODEL));
  const tiny = await openTiny(core, new Blob([readFileSync(MODEL)]));
  const text = TEXTS[0] as string;
  const { tokens } = await tiny.tokenize(text);
  const source = { kind: "model", from: { fileName: "own.gguf" }, beside: false, text } as const;
  const code = codeOf({ source, tokens, causal: true, layer: 0, head: 0, off: [] });
  assert.match(code, /openAsBlob\("own\.gguf"\)/);
  // Where the program lies is the visitor's choice.
  const { weights } = await runProgram(code.replace('"own.gguf"', JSON.stringify(join(folder, "own.gguf"))));
  const page = await tiny.run(tokens, { causal: true, layer: 0, off: new Set() });
  assert.deepEqual(weights, page.weights);
  tiny.dispose();
});

test("the code of safetensors takes config.json and tokenizer.json from beside them, on disk and at an address", async () => {
  const files = new Map(bertFiles().map(({ name, buffer }) => [name, buffer]));
  for (const [name, content] of files) writeFileSync(join(folder, name), content);
  const text = "the cat sat on the mat";
  const model = await openModel(hs, new Blob([new Uint8Array(files.get("model.safetensors") as Buffer)]), {
    config: String(files.get("config.json")),
    tokenizer: String(files.get("tokenizer.json")),
  });
  const [first] = await collect(model.run(model.tokenize(text), { layers: 1 }));
  const view = { tokens: [], causal: false, layer: 0, head: 1, off: [] };
  const local = { kind: "model", from: { fileName: "model.safetensors" }, beside: true, text } as const;
  const code = codeOf({ ...view, source: local });
  // Where the program lies is the visitor's choice.
  const placed = code.replace(/"(model\.safetensors|\w+\.json)"/g, (_, name: string) =>
    JSON.stringify(join(folder, name)),
  );
  assert.deepEqual((await runProgram(placed)).weights, first?.weights);

  const server = createServer((request, response) => response.end(files.get((request.url ?? "").slice(1))));
  await new Promise<void>((done) => server.listen(0, done));
  try {
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.safetensors`;
    const remote = { ...local, from: { address } };
    assert.deepEqual((await runProgram(codeOf({ ...view, source: remote }))).weights, first?.weights);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  model.dispose();
});

test("stringCode() stays one string in a script of a page, and shows what turns a line round by its number", () => {
  assert.equal(stringCode("</script>"), '"\\u003c/script>"');
  assert.equal(stringCode("a\u202eb\u2028"), '"a\\u202eb\\u2028"');
  assert.equal(stringCode("`$(1)` \\ \" '"), '"`$(1)` \\\\ \\" \'"');
  for (const text of TEXTS) assert.equal(JSON.parse(stringCode(text)), text);
});
