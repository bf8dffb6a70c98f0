/**
 * The view as a program: JavaScript for the npm package that computes the same weights. It runs as it is, in Node as an
 * .mjs file; tests run it.
 */

import { drawSeed42 } from "../sources/numpy-draw.js";
import { rarityRanks } from "../sources/rarity.js";
import type { Token } from "../tokens.js";
import { wordOf } from "../tokens.js";
import { floatText } from "./float-text.js";
import { tokenText } from "./token-text.js";

export interface CodeView {
  readonly source: CodeSource;
  readonly tokens: readonly Token[];
  readonly causal: boolean;
  readonly layer: number;
  readonly head: number;
  /** Heads that are left out. */
  readonly off: readonly { readonly layer: number; readonly head: number }[];
  /** Whether rows on the page stand for several tokens, or some are left out. */
  readonly regrouped?: boolean;
}

export type CodeSource =
  | { readonly kind: "numpy" }
  | { readonly kind: "built" }
  | {
      readonly kind: "model";
      /** Where it was fetched from, or the name of the visitor's file. */
      readonly from: { readonly address: string } | { readonly fileName: string };
      /** Whether config.json and tokenizer.json came with it. */
      readonly beside: boolean;
      /** The text as far as it was read. */
      readonly text: string;
    };

export function codeOf(view: CodeView): string {
  const { source } = view;
  const lines =
    source.kind === "numpy" ? numpyCode(view) : source.kind === "built" ? builtCode(view) : modelCode(view, source);
  return `${lines.join("\n")}\n`;
}

/**
 * A string in JavaScript that stays one wherever it is pasted: in a script element of a page no typed text ends the
 * script, and characters that would turn the line round are written by their numbers.
 */
export function stringCode(text: string): string {
  return JSON.stringify(text).replace(/[<\u2028\u2029]|\p{Cf}/gu, (found) =>
    Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
  );
}

function stringsCode(texts: readonly string[]): string {
  return `[${texts.map(stringCode).join(", ")}]`;
}

function floatsCode(name: string, values: ArrayLike<number>): string {
  return `const ${name} = Float32Array.of(${Array.from(values, (value) => floatText(Math.fround(value))).join(", ")});`;
}

function headMask({ off, layer }: CodeView, heads: number): string {
  const out = off.filter((place) => place.layer === layer).map(({ head }) => head);
  if (out.length === 0) return "";
  return `, headMask: Float32Array.of(${Array.from({ length: heads }, (_, head) => (out.includes(head) ? 0 : 1)).join(", ")})`;
}

/** What every program ends with. */
function print({ head, regrouped }: CodeView): string[] {
  return [
    "",
    "// Rows are queries, columns are keys.",
    ...(regrouped ? ["// All tokens, one by one: the page shows some of them together, or leaves some out."] : []),
    "const [, T, S] = weights.shape;",
    `const head = ${head};`,
    "for (let query = 0; query < T; ++query) {",
    "  const row = weights.data.subarray((head * T + query) * S, (head * T + query + 1) * S);",
    '  console.log(tokens[query], Array.from(row, (weight) => weight.toFixed(4)).join(" "));',
    "}",
  ];
}

function numpyCode(view: CodeView): string[] {
  const { x, wq, wk, wv, wo } = drawSeed42();
  return [
    'import { load } from "headscope";',
    "",
    "// np.random.seed(42): X = randn(4, 8), then W_Q, W_K, W_V, W_O = 0.1 * randn(8, 8), in float32.",
    floatsCode("x", x),
    floatsCode("wq", wq),
    floatsCode("wk", wk),
    floatsCode("wv", wv),
    floatsCode("wo", wo),
    `const tokens = ${stringsCode(view.tokens.map(({ text }) => text))};`,
    "",
    'const hs = await load({ variant: "simd" });',
    'const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, { layout: "in-out", wq, wk, wv, wo });',
    `const { weights, output } = layer.forward({ data: x, shape: [4, 8] }, { causal: ${view.causal}${headMask(view, 2)} });`,
    ...print(view),
    'console.log("output", output.shape, output.data);',
  ];
}

/** The heads of sources/built-heads.ts, which writes them as matrices, by what these come to: a query and a key vector. */
function builtCode(view: CodeView): string[] {
  const { tokens, causal } = view;
  return [
    'import { load } from "headscope";',
    "",
    `const tokens = ${stringsCode(tokens.map(({ text }) => tokenText(text)))};`,
    "// What counts as the same word, and how rare each is: 0 is the rarest.",
    `const words = ${stringsCode(tokens.map(({ text }) => wordOf(text)))};`,
    `const rarity = [${rarityRanks(tokens).join(", ")}];`,
    "const n = tokens.length;",
    "",
    "// A query and a key of 64 numbers for each head and token; scores are q·k / 8.",
    "const q = new Float32Array(8 * n * 64);",
    "const k = new Float32Array(8 * n * 64);",
    "const set = (to, head, t, i, value) => { to[(head * n + t) * 64 + i] = value; };",
    "",
    "// 32 clock hands that turn with the position, from a quarter turn a token to 1/1024 of a turn.",
    "const speeds = Array.from({ length: 32 }, (_, i) => (Math.PI / 2) * (4 / 1024) ** (i / 31));",
    "const compareHands = (head, shift, weigh) => {",
    "  for (let t = 0; t < n; ++t) {",
    "    speeds.forEach((speed, i) => {",
    "      const size = Math.sqrt(8 * weigh(speed));",
    "      // The query's hands show the time of the token that it looks for.",
    "      set(q, head, t, 2 * i, size * Math.cos(speed * (t + shift)));",
    "      set(q, head, t, 2 * i + 1, size * Math.sin(speed * (t + shift)));",
    "      set(k, head, t, 2 * i, size * Math.cos(speed * t));",
    "      set(k, head, t, 2 * i + 1, size * Math.sin(speed * t));",
    "    });",
    "  }",
    "};",
    "",
    "// 60 signs from a hash of the word: equal for equal words, nearly orthogonal for others.",
    "const identity = (word) => {",
    "  let state = 0x811c9dc5;",
    "  for (let i = 0; i < word.length; ++i) state = Math.imul(state ^ word.charCodeAt(i), 0x01000193);",
    "  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b) >>> 0 || 1;",
    "  return Array.from({ length: 60 }, () => {",
    "    state ^= state << 13;",
    "    state ^= state >>> 17;",
    "    state ^= state << 5;",
    "    return ((state >>> 15) & 1 ? 1 : -1) / Math.sqrt(60);",
    "  });",
    "};",
    "const compareWords = (head, back, score) => {",
    "  for (let t = 0; t < n; ++t) {",
    "    identity(words[t]).forEach((sign, i) => set(q, head, t, i, Math.sqrt(8 * score) * sign));",
    "    if (t < back) continue;",
    "    identity(words[t - back]).forEach((sign, i) => set(k, head, t, i, Math.sqrt(8 * score) * sign));",
    "  }",
    "};",
    "",
    "// The same question from every query: how much of one thing the key has.",
    "const seek = (head, score, has) => {",
    "  for (let t = 0; t < n; ++t) {",
    "    set(q, head, t, 63, Math.sqrt(8 * score));",
    "    set(k, head, t, 63, Math.sqrt(8 * score) * has(t));",
    "  }",
    "};",
    "",
    "compareHands(0, -1, () => 1.25); // previous token",
    "compareHands(1, -2, () => 1.25); // two back",
    "seek(2, 9, (t) => (t === 0 ? 1 : 0)); // first token",
    "compareWords(3, 0, 11); // same token",
    "compareWords(4, 1, 20); // after a copy: what the query is against what came before the key,",
    "seek(4, 12.5, (t) => (t === 0 ? 1 : 0)); // else the first token",
    "seek(5, 10, (t) => -rarity[t]); // rarest token",
    "compareHands(6, 0, (speed) => Math.exp(-((speed / 0.35) ** 2))); // nearby",
    "// Head 7 has zeros: all scores are equal, and it takes the average.",
    "",
    "// Values: what each key is, so that a head's output says what it has read.",
    "const v = new Float32Array(8 * n * 64);",
    "for (let head = 0; head < 8; ++head) {",
    "  for (let t = 0; t < n; ++t) identity(words[t]).forEach((sign, i) => set(v, head, t, i, sign));",
    "}",
    "",
    'const hs = await load({ variant: "simd" });',
    "const of = (data) => ({ data, shape: [8, n, 64] });",
    `const { weights } = hs.attention(of(q), of(k), of(v), { causal: ${causal}${headMask(view, 8)} });`,
    ...print(view),
  ];
}

function modelCode(view: CodeView, source: Extract<CodeSource, { kind: "model" }>): string[] {
  const { layer, off } = view;
  const { from, beside, text } = source;
  const local = "fileName" in from;
  const both = (read: (name: string) => string) =>
    beside ? `, { config: await ${read("config.json")}, tokenizer: await ${read("tokenizer.json")} }` : "";
  const places = off.map((place) => `{ layer: ${place.layer}, head: ${place.head} }`).join(", ");
  const mask = off.length > 0 ? `, headMask: ablationMask(model, [${places}])` : "";
  const opened = local
    ? [
        `const model = await openModel(hs, await openAsBlob(${stringCode(from.fileName)})${both((name) => `readFile("${name}", "utf8")`)});`,
      ]
    : [
        `const address = ${stringCode(from.address)};`,
        ...(beside ? ["const textOf = async (name) => (await fetch(new URL(name, address))).text();"] : []),
        `const model = await openModel(hs, address${both((name) => `textOf("${name}")`)});`,
      ];
  return [
    ...(local ? ['import { openAsBlob } from "node:fs";'] : []),
    ...(local && beside ? ['import { readFile } from "node:fs/promises";'] : []),
    'import { load } from "headscope";',
    `import { ${off.length > 0 ? "ablationMask, openModel" : "openModel"} } from "headscope/models";`,
    "",
    'const hs = await load({ variant: "simd" });',
    ...(local ? ["// In a page: the File of an <input> in place of openAsBlob(…)."] : []),
    ...opened,
    `const read = model.tokenize(${stringCode(text)});`,
    "const tokens = read.map((token) => token.text);",
    "",
    "let weights;",
    `const run = model.run(read, { layers: ${layer + 1}, output: false${mask} });`,
    `for await (const result of run) if (result.layer === ${layer}) ({ weights } = result);`,
    ...print(view),
  ];
}
