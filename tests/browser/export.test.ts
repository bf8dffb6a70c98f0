import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { parseHex, ramp } from "../../web/elements/ramp.js";
import { runProgram } from "../page/export-program.ts";
import { elementsOf, parseCsv, parseXml, readNpy, type XmlElement } from "../page/export-readers.ts";
import { assertValuesClose } from "../support/compare.ts";
import { readPng } from "../support/png.ts";
import { expected } from "./heads.js";
import { settled, text, typeText, useBrowser, visit } from "./page.js";

useBrowser();

const SENTENCE = "The keys to the cabinet";
const HOSTILE = '<img src=x onerror=alert(1)> =1+1 "שלום" 小明';

async function choose(page: Page, id: string): Promise<void> {
  await page.locator("#export").click();
  await page.locator(`[data-export=${id}]`).click();
}

async function saved(page: Page, id: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), choose(page, id)]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

const number = (element: XmlElement, name: string) => Number(element.attributes[name]);
const cellsOf = (root: XmlElement) => elementsOf(root, "rect").filter((rect) => rect.attributes["width"] === "43");

for (const colorScheme of ["light", "dark"] as const) {
  visit(`the PNG is the SVG at twice its size, cell by cell, ${colorScheme}`, { colorScheme }, async ({ page }) => {
    await typeText(page, SENTENCE);
    const png = await saved(page, "png");
    const svg = await saved(page, "svg");
    assert.deepEqual([png.name, svg.name], ["headscope-built-L0-H6.png", "headscope-built-L0-H6.svg"]);
    const root = parseXml(svg.bytes.toString("utf8"));
    const picture = readPng(png.bytes);
    assert.deepEqual([picture.width, picture.height], [2 * number(root, "width"), 2 * number(root, "height")]);
    const { weight, count } = await expected(SENTENCE);
    const cells = cellsOf(root);
    const [left, top] = ["x", "y"].map((axis) => Math.min(...cells.map((cell) => number(cell, axis)))) as [
      number,
      number,
    ];
    const { colors } = ramp(colorScheme);
    for (let query = 0; query < count; query++) {
      for (let key = 0; key <= query; key++) {
        const color = colors[Math.round(weight(6, query, key) * 255)] as readonly number[];
        const at = [left + key * 44 + 5, top + query * 44 + 5].map((pixel) => Math.round(2 * pixel)) as [
          number,
          number,
        ];
        const far = picture.at(...at).some((channel, c) => Math.abs(channel - (color[c] as number)) > 1);
        assert.ok(!far, `query ${query}, key ${key}: ${picture.at(...at)}, not ${color}`);
      }
    }
    for (const cell of cells) {
      const color = parseHex(cell.attributes["fill"] as string);
      const at = [number(cell, "x") + 5, number(cell, "y") + 5].map((pixel) => Math.round(2 * pixel));
      const shown = picture.at(at[0] as number, at[1] as number);
      assert.ok(shown.every((channel, c) => Math.abs(channel - (color[c] as number)) <= 1));
    }
  });
}

visit("the SVG opens in a browser, and typed text is text in it", {}, async ({ page }) => {
  await typeText(page, HOSTILE);
  const { bytes } = await saved(page, "svg");
  const source = bytes.toString("utf8");
  const found = await page.evaluate((given) => {
    const parsed = new DOMParser().parseFromString(given, "image/svg+xml");
    return {
      root: parsed.documentElement.localName,
      errors: parsed.querySelectorAll("parsererror").length,
      names: [...new Set([...parsed.querySelectorAll("*")].map(({ localName }) => localName))].sort(),
      scripts: [...parsed.querySelectorAll("*")].flatMap(({ attributes }) =>
        [...attributes].filter(({ name }) => name.startsWith("on") || name.includes("href")),
      ).length,
      text: parsed.documentElement.textContent,
    };
  }, source);
  assert.deepEqual([found.root, found.errors, found.scripts], ["svg", 0, 0]);
  assert.deepEqual(found.names, ["defs", "desc", "pattern", "rect", "svg", "text", "title"]);
  assert.ok(found.text?.includes("<img src=x onerror=alert(1)> =1+1"));
  assert.ok(found.text?.includes("שלום"));
});

visit("CSV, JSON and NPY hold the API's weights, number for number", {}, async ({ page }) => {
  await typeText(page, HOSTILE);
  const { run, count } = await expected(HOSTILE);
  const npy = await saved(page, "npy");
  assert.equal(npy.name, "headscope-built-L0.npy");
  assert.deepEqual(readNpy(npy.bytes), { shape: [8, count, count], data: run.weights.data });

  const json = JSON.parse((await saved(page, "json")).bytes.toString("utf8"));
  assert.deepEqual(Float32Array.from(json.weights.data), run.weights.data);
  assert.equal(json.tokens.join(""), HOSTILE);
  assert.equal(json.masked.length, count * count);
  for (const [i, hidden] of json.masked.entries()) assert.equal(hidden, i % count > Math.floor(i / count) ? 1 : 0);
  assert.deepEqual([json.meta.source, json.meta.layer, json.meta.causal], ["built", 0, true]);

  const csv = await saved(page, "csv");
  assert.equal(csv.name, "headscope-built-L0-H6.csv");
  const [, ...rows] = parseCsv(csv.bytes.toString("utf8"));
  const weights = Float32Array.from(rows, (row) => Number(row[7]));
  assert.deepEqual(weights, run.weights.data.subarray(6 * count * count, 7 * count * count));
  assert.ok(rows.every((row) => !/^\s*[=+@-]/.test(row[5] as string)));
});

visit(
  "the copied code computes the picture on screen",
  { permissions: ["clipboard-read", "clipboard-write"] },
  async ({ page }) => {
    await typeText(page, HOSTILE);
    await choose(page, "code");
    await settled(page);
    const code = await page.evaluate(() => navigator.clipboard.readText());
    const { run } = await expected(HOSTILE);
    const { weights } = await runProgram(code);
    assert.deepEqual(weights.shape, run.weights.shape);
    assertValuesClose(weights.data, run.weights.data, { absolute: 1e-5 }, "weights");
    assert.match(await text(page, "#live"), /\w/);
  },
);

visit(
  "where the clipboard is refused the program is saved instead, and that is said",
  { init: "navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));" },
  async ({ page }) => {
    const { name, bytes } = await saved(page, "code");
    assert.equal(name, "headscope-built-L0-H6.mjs");
    assert.match(bytes.toString("utf8"), /^import \{ load \} from "headscope";/);
    await page.locator("#export-problem:not([hidden])").waitFor();
    assert.match(await text(page, "#export-problem"), /headscope-built-L0-H6\.mjs/);
  },
);

visit(
  "the scale and the text on screen are those of the drawing",
  { fragment: "t=a-b+c-d&s=built&h=0&l=en" },
  async ({ page }) => {
    await page.locator("#scale").selectOption("log");
    const svg = parseXml((await saved(page, "svg")).bytes.toString("utf8"));
    const words = elementsOf(svg, "text").map(({ children }) => children.join(""));
    assert.ok(words.includes("≤0.0001"));
    assert.ok(words.some((line) => line.includes("a-b c-d")));
  },
);
