import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttentionView, isHidden } from "../../web/elements/attention-view.js";
import { readHeads } from "../../web/elements/head-data.js";
import { byteMark } from "../../web/elements/token-label.js";
import { field, toCsv } from "../../web/playground/export/csv.js";
import { fileName } from "../../web/playground/export/file-name.js";
import { floatText } from "../../web/playground/export/float-text.js";
import { toJson } from "../../web/playground/export/json.js";
import { toNpy } from "../../web/playground/export/npy.js";
import { Random } from "../support/random.ts";
import { parseCsv, readNpy } from "./export-readers.ts";

const HIDDEN = Number.NEGATIVE_INFINITY;
const TEXTS = ["=1+1", ' "say"', "line\nbreak", "小明", "'tis", "<img src=x onerror=alert(1)>"];
const view = viewOf(TEXTS, 2);

function viewOf(texts: readonly string[], heads: number): AttentionView {
  const n = texts.length;
  const random = new Random(5);
  const weights = random.values(heads * n * n).map(Math.abs);
  const scores = random.values(heads * n * n).map((score, i) => (i % n > Math.floor(i / n) % n ? HIDDEN : score));
  for (const [i, score] of scores.entries()) if (score === HIDDEN) weights[i] = 0;
  return { heads, queries: n, keys: n, weights, scores, queryTexts: texts, keyTexts: texts };
}

test("toNpy() is read back by NumPy's rules: shape, order and every number", () => {
  for (const shape of [[2, 6, 6], [7], [1, 512, 3], [12, 31, 31]]) {
    const data = new Random(1).values(shape.reduce((product, size) => product * size, 1));
    const bytes = toNpy({ data, shape });
    const found = readNpy(bytes);
    assert.deepEqual(found.shape, shape);
    assert.deepEqual(found.data, data);
    assert.equal((bytes.length - 4 * data.length) % 64, 0);
  }
});

test("toNpy() of a [2, 3] tensor, byte for byte as NumPy writes it", () => {
  const bytes = toNpy({ data: Float32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] });
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".padEnd(117);
  const expected = Buffer.concat([
    Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 0x76, 0]),
    Buffer.from(`${header}\n`, "latin1"),
    Buffer.from("0000803f00000040000040400000804000 00a0400000c040".replaceAll(" ", ""), "hex"),
  ]);
  assert.deepEqual(Buffer.from(bytes), expected);
});

test("toJson() is what the elements read, and every float32 comes back as it was", () => {
  const found = JSON.parse(toJson(view, { source: "built", layer: 0 }));
  assert.deepEqual(found.tokens, TEXTS);
  assert.deepEqual(found.weights.shape, [2, 6, 6]);
  assert.deepEqual(Float32Array.from(found.weights.data), view.weights);
  assert.deepEqual(found.meta, { source: "built", layer: 0 });
  assert.equal(found.keyTokens, undefined);
  const cross = { ...view, keyTexts: ["a", "b", "c", "d", "e", "f"] };
  assert.deepEqual(JSON.parse(toJson(cross, {})).keyTokens, cross.keyTexts);
});

test("toJson() is read by the elements as the same view, hidden keys included", () => {
  const { tokens, weights, masked } = JSON.parse(toJson(view, {}));
  const none = { keyTokens: null, scores: null, causal: false };
  const read = readHeads({ tokens, weights, masked, ...none });
  assert.ok(read);
  assert.deepEqual([read.heads, read.queries, read.keys], [2, 6, 6]);
  assert.deepEqual(read.weights, view.weights);
  assert.deepEqual(read.queryTexts, TEXTS);
  for (let query = 0; query < 6; query++) {
    for (let key = 0; key < 6; key++) assert.equal(isHidden(read, 1, query, key), key > query);
  }
});

test("toJson() writes null for what is not a number, and stays JSON", () => {
  const broken = { ...viewOf(["a"], 3), weights: Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, 0.25) };
  assert.deepEqual(JSON.parse(toJson(broken, {})).weights.data, [null, null, 0.25]);
});

test("floatText() is the shortest decimal that gives the same float32", () => {
  assert.equal(floatText(Math.fround(0.43)), "0.43");
  assert.equal(floatText(1), "1");
  assert.equal(floatText(Math.fround(1 / 3)), "0.33333334");
  const random = new Random(9);
  for (let i = 0; i < 20_000; i++) {
    const value = Math.fround((random.uniform() - 0.5) * 10 ** Math.floor(random.uniform() * 60 - 38));
    assert.equal(Math.fround(Number(floatText(value))), value);
  }
});

test("toCsv() is parsed back: a row for each query and key, tokens as typed, hidden keys marked", () => {
  const rows = parseCsv(toCsv(view, 3, 1));
  const [headings, ...cells] = rows;
  assert.deepEqual(headings, [
    "layer",
    "head",
    "query",
    "key",
    "query_token",
    "key_token",
    "visible",
    "weight",
    "score",
  ]);
  assert.equal(cells.length, 36);
  for (const [i, row] of cells.entries()) {
    const [query, key] = [Math.floor(i / 6), i % 6];
    assert.deepEqual(row.slice(0, 4), ["3", "1", String(query), String(key)]);
    const typed = [row[4], row[5]].map((text) => (text as string).replace(/^'/, ""));
    assert.deepEqual(typed, [TEXTS[query], TEXTS[key]]);
    assert.equal(row[6], key > query ? "0" : "1");
    assert.equal(Math.fround(Number(row[7])), view.weights[36 + i]);
    assert.equal(row[8] === "" ? HIDDEN : Math.fround(Number(row[8])), view.scores?.[36 + i]);
  }
});

test("toCsv() gives no cell that a spreadsheet would compute", () => {
  const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", '=HYPERLINK("http://x","y")'];
  const rows = parseCsv(toCsv(viewOf(formulas, 1), 0, 0)).slice(1);
  for (const row of rows) for (const text of row.slice(4, 6)) assert.match(text, /^'/);
  assert.equal(rows[8]?.[5], `'${formulas[8]}`);
});

test("field(): one apostrophe taken away gives back every text that has one in front", () => {
  for (const text of ["'", "''", "'=", "=", " -", "plain", "", '"', "a,b\r\nc"]) {
    const [[read = ""] = []] = parseCsv(`${field(text)}\r\n`);
    assert.equal(read.startsWith("'") ? read.slice(1) : read, text);
  }
});

test("pieces of a character leave the page by their bytes, not as characters that nobody knows", () => {
  const pieces = viewOf([`学${byteMark(0xe5)}${byteMark(0xad)}`, byteMark(0xa6)], 1);
  assert.deepEqual(JSON.parse(toJson(pieces, {})).tokens, ["学‹E5 AD›", "‹A6›"]);
  assert.equal(parseCsv(toCsv(pieces, 0, 0))[1]?.[4], "学‹E5 AD›");
});

test("fileName(): source, layer, head; nothing that a system would refuse or take for a folder", () => {
  assert.equal(fileName({ source: "built", layer: 0, head: 3 }, "png"), "headscope-built-L0-H3.png");
  assert.equal(fileName({ source: "gpt2.Q8_0.gguf", layer: 11 }, "npy"), "headscope-gpt2.Q8_0-L11.npy");
  assert.equal(fileName({ source: "../../etc/passwd", layer: 0 }, "csv"), "headscope-etc-passwd-L0.csv");
  assert.equal(fileName({ source: 'a<b>:"|?*\u0000\u202e', layer: 0 }, "csv"), "headscope-a-b-L0.csv");
  assert.equal(fileName({ source: "…", layer: 0 }, "csv"), "headscope-heads-L0.csv");
  assert.equal(fileName({ source: "模型".repeat(60), layer: 0 }, "csv"), `headscope-${"模型".repeat(24)}-L0.csv`);
});
