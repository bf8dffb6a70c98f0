// The parts that print, from their sources: a child process has no terminal.
import assert from "node:assert/strict";
import test from "node:test";
import { escapeLine, escapeText, escapeToken } from "../../bindings/cli/escape.ts";
import { formatWeight } from "../../bindings/cli/format.ts";
import { drawHeatmap, heatmapStyle } from "../../bindings/cli/heatmap.ts";
import { table } from "../../bindings/cli/table.ts";
import { cutTo, displayWidth, padEnd, padStart } from "../../bindings/cli/width.ts";

test("displayWidth counts columns: wide characters two, combining marks none", () => {
  const widths: [string, number][] = [
    ["", 0],
    ["are", 3],
    ["注意力", 6],
    ["ａ", 2],
    ["한글", 4],
    ["🦙", 2],
    ["e\u0301", 1],
    ["␣", 1],
    ["…", 1],
    ["𠮷", 2],
  ];
  for (const [text, width] of widths) assert.equal(displayWidth(text), width, JSON.stringify(text));
  assert.equal(padEnd("注", 4), "注  ");
  assert.equal(padStart("注", 4), "  注");
});

test("cutTo never exceeds its columns and never cuts a character in half", () => {
  assert.equal(cutTo("注意力", 6), "注意力");
  assert.equal(cutTo("注意力", 5), "注意…");
  assert.equal(cutTo("注意力", 4), "注…");
  assert.equal(cutTo("🦙🦙", 3), "🦙…");
  for (let width = 1; width < 9; ++width) assert.ok(displayWidth(cutTo("a注b意c力", width)) <= width);
});

test("escapes show what would act", () => {
  assert.equal(escapeText("a\u001b[31mb\u009bc\u202ed\u200be"), "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{200b}e");
  assert.equal(escapeText("\ud800"), "\\u{d800}");
  assert.equal(escapeText("注意 🦙 é"), "注意 🦙 é");
  assert.equal(escapeToken(" a\n\tb\r"), "␣a↵⇥b\\u{d}");
  assert.equal(escapeLine("one\n  two\r\nthree"), "one two three");
});

test("table: columns stand under each other, numbers to the right", () => {
  assert.deepEqual(
    table(
      [{ title: "token" }, { title: "id", right: true }],
      [
        ["注意", "7"],
        ["a", "1234"],
      ],
    ),
    ["token    id", "注意      7", "a      1234"],
  );
});

test("weights: four decimals, never 0.0000, hidden as —", () => {
  assert.equal(formatWeight(0.95341, true), "0.9534");
  assert.equal(formatWeight(0.00004, true), "<0.0001");
  assert.equal(formatWeight(0, false), "—");
  assert.equal(formatWeight(Number.NaN, true), "NaN");
});

test("heatmapStyle: colour on terminals, shades under NO_COLOR, digits elsewhere", () => {
  const terminal = { isTTY: true, columns: 80, env: {} };
  assert.equal(heatmapStyle(terminal), "color");
  assert.equal(heatmapStyle({ ...terminal, env: { NO_COLOR: "1" } }), "blocks");
  assert.equal(heatmapStyle({ ...terminal, env: { NO_COLOR: "" } }), "color");
  assert.equal(heatmapStyle({ ...terminal, env: { TERM: "dumb" } }), "digits");
  assert.equal(heatmapStyle({ ...terminal, isTTY: false }), "digits");
});

const MAP = {
  weights: Float32Array.of(1, 0, 0, 0.25, 0.75, 0, 0.05, 0.35, 0.6),
  visible: Uint8Array.of(1, 0, 0, 1, 1, 0, 1, 1, 1),
  queries: 3,
  keys: 3,
  labels: ["注意", "a", "b"],
};

test("drawHeatmap in digits: rows are queries, hidden cells are -, small weights .", () => {
  assert.deepEqual(drawHeatmap(MAP, "digits", 80), [
    "rows: queries, columns: keys",
    "                 0 1 2",
    "0 注意           9 - -",
    "1 a              2 7 -",
    "2 b              . 3 6",
    "digits: tenths of a weight, . below 0.1, - hidden by the mask",
  ]);
});

test("drawHeatmap in shades: five of them, and no escape sequence", () => {
  const lines = drawHeatmap(MAP, "blocks", 80);
  assert.equal(lines[2], "0 注意           ██- -");
  assert.equal(lines[3], "1 a              ░░▓▓-");
  assert.ok(lines.every((line) => !line.includes("\u001b")));
});

test("drawHeatmap in colour: one background per cell, lighter for more weight, always reset", () => {
  const lines = drawHeatmap(MAP, "color", 80);
  const esc = String.fromCharCode(27);
  const cell = new RegExp(`${esc}\\[48;2;(\\d+);(\\d+);(\\d+)m {2}${esc}\\[0m`, "g");
  const cells = (line: string) => [...line.matchAll(cell)];
  const light = ([, r, g, b]: RegExpMatchArray) => Number(r) + Number(g) + Number(b);
  assert.equal(cells(lines[2] as string).length, 1);
  const [low, middle, high] = cells(lines[4] as string).map(light) as [number, number, number];
  assert.ok(low < middle && middle < high, `${low} ${middle} ${high}`);
  const legend = cells(lines.at(-1) as string).map(light);
  assert.equal(legend.length, 11);
  assert.deepEqual(
    legend,
    [...legend].sort((a, b) => a - b),
  );
});

test("drawHeatmap keeps to the terminal's columns and says what is missing", () => {
  const n = 120;
  const map = {
    weights: new Float32Array(n * n).fill(1 / n),
    visible: new Uint8Array(n * n).fill(1),
    queries: n,
    keys: n,
    labels: Array.from({ length: n }, () => "注意力注意力注意力"),
  };
  const lines = drawHeatmap(map, "digits", 80);
  assert.ok(lines.slice(0, -2).every((line) => displayWidth(line) <= 80));
  assert.match(lines.at(-2) as string, /^… and 56 more queries and \d+ more keys; --json has them all$/);
});
