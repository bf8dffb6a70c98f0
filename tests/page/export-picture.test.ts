import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttentionView } from "../../web/elements/attention-view.js";
import { ramp } from "../../web/elements/ramp.js";
import { figureOf, shorten } from "../../web/playground/export/figure.js";
import { type HeadFigure, headFigure } from "../../web/playground/export/head-figure.js";
import { escapeXml, toSvg } from "../../web/playground/export/svg.js";
import { Random } from "../support/random.ts";
import { elementsOf, parseXml, type XmlElement } from "./export-readers.ts";

const colors = {
  paper: "#fbfaf7",
  ink: "#1b1d22",
  soft: "#5c6270",
  line: "#e4e1d8",
  picked: "#c8571b",
  hatch: "#f1efe8",
  hatchLine: "#e0dccf",
};

function causalView(texts: readonly string[]): AttentionView {
  const n = texts.length;
  const random = new Random(3);
  const weights = new Float32Array(2 * n * n);
  const scores = new Float32Array(2 * n * n).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < 2 * n; row++) {
    const seen = (row % n) + 1;
    const drawn = Array.from({ length: seen }, () => random.uniform() ** 3);
    const sum = drawn.reduce((total, value) => total + value, 0);
    for (const [key, value] of drawn.entries()) {
      weights[row * n + key] = value / sum;
      scores[row * n + key] = 0;
    }
  }
  return { heads: 2, queries: n, keys: n, weights, scores, queryTexts: texts, keyTexts: texts };
}

function svgOf(texts: readonly string[], change: Partial<HeadFigure> = {}): { root: XmlElement; svg: string } {
  const figure = figureOf(
    headFigure({
      view: causalView(texts),
      head: 1,
      scale: "unit",
      pinned: { query: 2, key: 1 },
      title: "Head 1 · <previous> & co",
      caption: ["“a caption” that says where this is from"],
      theme: "light",
      colors,
      axes: "query ↓ key →",
      hidden: "hidden by the mask",
      notes: ["each row sums to 1"],
      ...change,
    }),
  );
  const svg = toSvg(figure, { title: "Head 1", description: texts.join(" ") });
  return { root: parseXml(svg), svg };
}

const textsOf = (root: XmlElement) => elementsOf(root, "text").map(({ children }) => children.join(""));
const number = (element: XmlElement, name: string) => Number(element.attributes[name]);

test("the SVG has one rectangle for each visible cell, in its colour and at its place, and its number on it", () => {
  const texts = ["The", " cat", " sat", " on"];
  const view = causalView(texts);
  const { root } = svgOf(texts);
  const cells = elementsOf(root, "rect").filter((rect) => rect.attributes["width"] === "43");
  const fills = ramp("light").colors.map((c) => `#${c.map((x) => x.toString(16).padStart(2, "0")).join("")}`);
  const expected: { fill: string | undefined; row: number; column: number }[] = [];
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column <= row; column++) {
      const at = Math.round((view.weights[16 + row * 4 + column] as number) * 255);
      if (at > 0) expected.push({ fill: fills[at], row, column });
    }
  }
  const [x, y] = [Math.min(...cells.map((c) => number(c, "x"))), Math.min(...cells.map((c) => number(c, "y")))];
  assert.deepEqual(
    cells.map((cell) => ({
      fill: cell.attributes["fill"],
      row: Math.round((number(cell, "y") - y) / 44),
      column: Math.round((number(cell, "x") - x) / 44),
    })),
    expected,
  );
  const shown = textsOf(root).filter((text) => /^(1\.000|0\.\d{3}|·)$/.test(text));
  assert.equal(shown.length, 10);
  assert.equal(shown[0], "1.000");
});

test("what the mask hides is hatched and explained; without a mask nothing is", () => {
  const { root } = svgOf(["a", "b", "c"]);
  const hatched = elementsOf(root, "rect").filter(({ attributes }) => attributes["fill"] === "url(#hatch)");
  assert.equal(hatched.length, 2);
  assert.ok(textsOf(root).includes("hidden by the mask"));
  const open = { ...causalView(["a", "b", "c"]), scores: null };
  const plain = svgOf(["a", "b", "c"], { view: open }).root;
  assert.ok(elementsOf(plain, "rect").every(({ attributes }) => attributes["fill"] !== "url(#hatch)"));
  assert.ok(!textsOf(plain).includes("hidden by the mask"));
});

test("typed text is text in the SVG, whatever it looks like, and the file opens", () => {
  const texts = [
    "<img src=x onerror=alert(1)>",
    "]]>&amp;",
    "\u0000\u0007\ud800",
    "שלום",
    "\"'",
    "\u202eabc",
    "e\u0301",
  ];
  const { root, svg } = svgOf(texts);
  assert.doesNotMatch(svg, /<(img|script|style|foreignObject)|onerror="|href=/i);
  const shown = textsOf(root);
  assert.ok(shown.includes("<img␣src=x␣onerro…"));
  assert.ok(shown.includes("]]>&amp;"));
  assert.ok(shown.includes("‹U+0000›‹U+0007›‹…"));
  assert.ok(shown.includes("שלום"));
  assert.ok(shown.includes("‹U+202E›abc"));
  assert.ok(shown.includes("Head 1 · <previous> & co"));
});

test("labels stand where they belong in every script: left to right as a whole, each by itself", () => {
  const { root } = svgOf(["שלום", "عربي", "cat"]);
  assert.equal(root.attributes["direction"], "ltr");
  const texts = elementsOf(root, "text");
  assert.ok(texts.length > 6);
  for (const { attributes } of texts) assert.equal(attributes["unicode-bidi"], "isolate");
  const rows = texts.filter(({ attributes }) => attributes["text-anchor"] === "end" && !attributes["transform"]);
  assert.equal(new Set(rows.slice(0, 3).map(({ attributes }) => attributes["x"])).size, 1);
});

test("512 tokens: no numbers, labels that do not touch, and fewer rectangles than cells", () => {
  const texts = Array.from({ length: 512 }, (_, i) => ` w${i}`);
  const { root, svg } = svgOf(texts, { pinned: { query: 100, key: 7 } });
  const labels = elementsOf(root, "text").filter(({ children }) => /^␣w\d+$/.test(children.join("")));
  const rows = labels.filter(({ attributes }) => !attributes["transform"]).map((label) => number(label, "y"));
  rows.sort((a, b) => a - b);
  for (let i = 1; i < rows.length; i++) assert.ok((rows[i] as number) - (rows[i - 1] as number) > 13.9);
  assert.ok(
    labels.some(({ attributes, children }) => attributes["fill"] === colors.picked && `${children}` === "␣w100"),
  );
  assert.ok(elementsOf(root, "rect").length < 60_000);
  assert.ok(svg.length < 6e6);
});

test("every scale has its own legend", () => {
  for (const [scale, last] of [
    ["unit", "1"],
    ["log", "0.01"],
    ["uniform", "1/n"],
  ] as const) {
    assert.ok(textsOf(svgOf(["a", "b", "c"], { scale }).root).includes(last), scale);
  }
});

test("a long caption is broken into lines, in Chinese too", () => {
  const { root } = svgOf(["a", "b", "c"], { caption: ["很长的说明".repeat(30), "word ".repeat(60).trim()] });
  const lines = textsOf(root).filter((text) => /^(很|长|的|说|明|word)/.test(text));
  assert.ok(lines.length >= 6);
  assert.equal(lines.filter((line) => line.startsWith("word")).join(" "), "word ".repeat(60).trim());
});

test("shorten() cuts between graphemes", () => {
  const family = "👨‍👩‍👧";
  assert.equal(shorten(family.repeat(3), 3), family.repeat(3));
  assert.equal(shorten(family.repeat(4), 3), `${family.repeat(2)}…`);
});

test("escapeXml() leaves whole characters beyond 16 bits alone and replaces halves", () => {
  assert.equal(escapeXml("𝒳<\ud835>"), "𝒳&lt;\ufffd&gt;");
});
