// What Firefox saves: files in a folder, as a visitor has them, opened by readers made from the formats' rules.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import type { Page } from "puppeteer-core";
import { ramp } from "../../../web/elements/ramp.js";
import { elementsOf, parseCsv, parseXml, readNpy } from "../../page/export-readers.ts";
import { readPng } from "../../support/png.ts";
import { expected } from "../heads.js";
import { eventually } from "../until.js";
import { click, settled, text, useFirefox, visit } from "./page.js";

const folder = mkdtempSync(join(tmpdir(), "headscope-downloads-"));
after(() => rmSync(folder, { recursive: true, force: true }));

useFirefox({
  "browser.download.folderList": 2,
  "browser.download.dir": folder,
  "browser.download.useDownloadDir": true,
  "browser.download.always_ask_before_handling_new_types": false,
  "browser.download.alwaysOpenPanel": false,
});

const HOSTILE = '<img src=x onerror=alert(1)> =1+1 "שלום" 小明';
const FRAGMENT = `#t=${encodeURIComponent(HOSTILE)}&s=built&h=6&l=en`;

async function saved(page: Page, id: string, name: string): Promise<Buffer> {
  await click(page, "#export");
  await click(page, `[data-export=${id}]`);
  // A file that is not whole yet is empty, with a second one beside it, whose name ends with "part".
  await eventually(() => {
    const files = readdirSync(folder);
    return (
      files.includes(name) && !files.some((file) => file.endsWith(".part")) && statSync(join(folder, name)).size > 0
    );
  });
  return readFileSync(join(folder, name));
}

visit("Firefox: PNG and SVG are pictures of the head on screen, and typed text is text", FRAGMENT, async ({ page }) => {
  await settled(page);
  const { weight, count } = await expected(HOSTILE);
  const svg = (await saved(page, "svg", "headscope-built-L0-H6.svg")).toString("utf8");
  const root = parseXml(svg);
  assert.equal(root.name, "svg");
  const names = new Set(["rect", "text", "img", "script"].filter((name) => elementsOf(root, name).length > 0));
  assert.deepEqual([...names], ["rect", "text"]);
  const picture = readPng(await saved(page, "png", "headscope-built-L0-H6.png"));
  assert.deepEqual(
    [picture.width, picture.height],
    [2 * Number(root.attributes["width"]), 2 * Number(root.attributes["height"])],
  );
  const cells = elementsOf(root, "rect").filter(({ attributes }) => attributes["width"] === "43");
  const [left, top] = ["x", "y"].map((axis) => Math.min(...cells.map((cell) => Number(cell.attributes[axis])))) as [
    number,
    number,
  ];
  const { colors } = ramp("light");
  for (let query = 0; query < count; query++) {
    for (let key = 0; key <= query; key++) {
      const color = colors[Math.round(weight(6, query, key) * 255)] as readonly number[];
      const at = [left + key * 44 + 5, top + query * 44 + 5].map((pixel) => Math.round(2 * pixel));
      const shown = picture.at(at[0] as number, at[1] as number);
      const far = shown.some((channel, c) => Math.abs(channel - (color[c] as number)) > 1);
      assert.ok(!far, `query ${query}, key ${key}: ${shown}, not ${color}`);
    }
  }
});

visit("Firefox: CSV, JSON and NPY hold the API's weights, number for number", FRAGMENT, async ({ page }) => {
  await settled(page);
  const { run, count } = await expected(HOSTILE);
  const npy = readNpy(await saved(page, "npy", "headscope-built-L0.npy"));
  assert.deepEqual(npy, { shape: [8, count, count], data: run.weights.data });
  const json = JSON.parse((await saved(page, "json", "headscope-built-L0.json")).toString("utf8"));
  assert.deepEqual(Float32Array.from(json.weights.data), run.weights.data);
  assert.equal(json.tokens.join(""), HOSTILE);
  const [, ...rows] = parseCsv((await saved(page, "csv", "headscope-built-L0-H6.csv")).toString("utf8"));
  assert.deepEqual(
    Float32Array.from(rows, (row) => Number(row[7])),
    run.weights.data.subarray(6 * count * count, 7 * count * count),
  );
  assert.ok(rows.every((row) => !/^\s*[=+@-]/.test(row[5] as string)));
  assert.match(await text(page, "#live"), /\w/);
});
