// The playground in Firefox: the walks of the tests in Chromium, the short way.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "headscope";
import { openModel } from "headscope/models";
import type { Page } from "puppeteer-core";
import { formatWeight } from "../../../web/elements/format.js";
import { ramp, rampIndex } from "../../../web/elements/ramp.js";
import { expected } from "../heads.js";
import { until } from "../until.js";
import {
  choose,
  click,
  one,
  pixels,
  press,
  sentence,
  settled,
  text,
  texts,
  tokens,
  type,
  useFirefox,
  visit,
} from "./page.js";

useFirefox({ "dom.serviceWorkers.enabled": true });

const SENTENCE = "The cat sat on the mat because it was";
const BUILT = `#t=${SENTENCE.replaceAll(" ", "+")}&s=built&h=6&q=7&k=5&l=en`;

async function thumbnailsAreTheApis(page: Page, typed: string): Promise<void> {
  const { count, weight } = await expected(typed);
  const { colors } = ramp("light");
  for (let head = 0; head < 8; head++) {
    const { width, height, data } = await pixels(page, "#heads >>> canvas", head);
    assert.deepEqual([width, height], [count, count]);
    for (let query = 0; query < count; query++) {
      for (let key = 0; key < count; key++) {
        const pixel = data.slice(4 * (query * count + key), 4 * (query * count + key + 1));
        const color = key > query ? [0, 0, 0, 0] : [...(colors[rampIndex(weight(head, query, key), 1)] ?? []), 255];
        const far = pixel.some((value, c) => Math.abs(value - (color[c] as number)) > 2);
        assert.ok(!far, `head ${head}, query ${query}, key ${key}: ${pixel}, not ${color}`);
      }
    }
  }
}

async function numbersAreTheApis(page: Page, typed: string, head: number): Promise<void> {
  const { count, weight } = await expected(typed);
  const shown = await texts(page, "#numbers table:not(.output) tbody td");
  const wanted = Array.from({ length: count * count }, (_, cell) => {
    const [query, key] = [Math.floor(cell / count), cell % count];
    return key > query ? "—" : formatWeight(weight(head, query, key));
  });
  assert.deepEqual(shown, wanted);
}

visit("Firefox: every head is drawn, and the numbers are the API's", BUILT, async ({ page }) => {
  await settled(page);
  assert.equal((await page.$$("#heads >>> .card")).length, 8);
  await thumbnailsAreTheApis(page, SENTENCE);
  await click(page, "#tab-numbers");
  await settled(page);
  await numbersAreTheApis(page, SENTENCE, 6);
  await click(page, "#next-head");
  await settled(page);
  await numbersAreTheApis(page, SENTENCE, 7);
});

visit("Firefox: typing key by key ends in the picture of what stands there", BUILT, async ({ page }) => {
  await settled(page);
  const typed = "to be or not to be, that is";
  await type(page, typed);
  assert.equal((await tokens(page)).join("").replaceAll("␣", " "), typed);
  await until(
    page,
    (count) => document.querySelector("#heads")?.shadowRoot?.querySelector("canvas")?.width === count,
    (await tokens(page)).length,
  );
  await thumbnailsAreTheApis(page, typed);
});

visit("Firefox: the pointer reads a cell, a click keeps it, the keyboard moves on", BUILT, async ({ page }) => {
  await settled(page);
  const { weight, count } = await expected(SENTENCE);
  const labels = await tokens(page);
  const box = await (await one(page, "#matrix >>> .box")).boundingBox();
  assert.ok(box);
  const at = (query: number, key: number) =>
    [box.x + ((key + 0.5) * box.width) / count, box.y + ((query + 0.5) * box.height) / count] as const;
  const said = (query: number, key: number) =>
    `query ${labels[query]} reads key ${labels[key]} with weight ${formatWeight(weight(6, query, key))} · head 6`;
  await page.mouse.move(...at(8, 2));
  await settled(page);
  assert.equal(await sentence(page), said(8, 2));
  await page.mouse.click(...at(5, 4));
  await page.mouse.move(5, 5);
  await settled(page);
  assert.equal(await sentence(page), said(5, 4));
  await (await one(page, "#matrix >>> .cursor")).focus();
  await press(page, "Home");
  await press(page, "ArrowRight");
  await settled(page);
  assert.equal(await sentence(page), said(5, 1));
});

visit("Firefox: Lines and Compare draw, and a head out changes the output as the API says", BUILT, async ({ page }) => {
  await settled(page);
  for (const tab of ["lines", "compare"] as const) {
    await click(page, `#tab-${tab}`);
    await settled(page);
    // A picture, not a blank: Compare has heatmaps in its shadow tree.
    const least = { lines: 1, compare: 3 }[tab];
    await until(
      page,
      ([id, least]) => {
        const root = document.querySelector(`#${id}`)?.shadowRoot;
        const inner = [...(root?.querySelectorAll(".map > *") ?? [])].map((each) => each.shadowRoot);
        const pictures = [root, ...inner].flatMap((each) => [...(each?.querySelectorAll("canvas") ?? [])]);
        const drawn = pictures.filter((canvas) => {
          const { width, height } = canvas;
          const image = width > 99 && height > 99 && canvas.getContext("2d")?.getImageData(0, 0, width, height);
          return image && new Set(new Uint32Array(image.data.buffer)).size > 8;
        });
        return drawn.length >= least;
      },
      [tab, least] as const,
    );
  }
  await click(page, "#heads >>> .card input", 3);
  await settled(page);
  const { run } = await expected(SENTENCE, { off: [3] });
  const percent = ((run.change?.relative ?? 0) * 100).toFixed(1);
  assert.ok((await text(page, "#change")).startsWith(`Without H3 the layer's output changes by ${percent} %`));
});

visit("Firefox: a link opens the same view", BUILT, async ({ page }) => {
  await settled(page);
  await type(page, "a <b>&</b> 100% #1 小明");
  await click(page, "#heads >>> .card", 3);
  await click(page, "#heads >>> .card input", 5);
  await choose(page, "#scale", "head");
  const look = async () => ({
    tokens: await tokens(page),
    typed: await page.$eval("#text", (field) => (field as HTMLTextAreaElement).value),
    title: await text(page, "#detail-title"),
    change: await text(page, "#change"),
    scale: await page.$eval("#scale", (field) => (field as HTMLSelectElement).value),
    matrix: (await pixels(page, "#matrix >>> canvas.cells")).data,
  });
  await page.mouse.move(5, 5);
  await until(page, () => location.hash.includes("d=head"));
  const sent = await look();
  assert.match(sent.change, /^Without H5 /);
  const url = page.url();
  await page.goto("about:blank");
  await page.goto(url);
  await settled(page);
  assert.deepEqual(await look(), sent);
});

visit("Firefox: the trained model opens by itself, with the numbers of its file", "", async ({ page }) => {
  await until(page, () => document.querySelector<HTMLElement>("#layers")?.hidden === false);
  await settled(page);
  const typed = await page.$eval("#text", (field) => (field as HTMLTextAreaElement).value);
  const bytes = readFileSync(fileURLToPath(new URL("../../../web/models/headscope.gguf", import.meta.url)));
  const model = await openModel(await load({ variant: "simd" }), bytes);
  const list = model.tokenize(typed);
  const head = Number(/head (\d+)/.exec(await text(page, "#detail-title"))?.[1]);
  const layer = Number(/^Layer (\d+)/.exec(await text(page, "#detail-title"))?.[1]);
  let data = new Float32Array();
  for await (const { weights } of model.run(list, { layers: layer + 1 })) data = weights.data as typeof data;
  await click(page, "#tab-numbers");
  await settled(page);
  const count = list.length;
  const wanted = Array.from({ length: count * count }, (_, cell) => {
    const hidden = cell % count > Math.floor(cell / count);
    return hidden ? "—" : formatWeight(data[head * count * count + cell] as number);
  });
  assert.deepEqual(await texts(page, "#numbers table:not(.output) tbody td"), wanted);
});

visit("Firefox: ? lists the keys, Escape closes; language and theme change", BUILT, async ({ page }) => {
  await settled(page);
  await (await one(page, "#tab-matrix")).focus();
  await press(page, "?");
  const open = () => page.$eval("#keys", (dialog) => (dialog as HTMLDialogElement).open);
  assert.equal(await open(), true);
  await press(page, "Escape");
  assert.equal(await open(), false);
  await click(page, "#language");
  await settled(page);
  assert.equal(await text(page, "#heads-title"), "8 个头");
  const pixel = async () => (await pixels(page, "#heads >>> canvas")).data.slice(0, 3);
  assert.deepEqual(await pixel(), [10, 31, 78]);
  const isDark = () => document.documentElement.dataset["theme"] === "dark";
  for (let i = 0; i < 3 && !(await page.evaluate(isDark)); i++) await click(page, "#theme");
  await settled(page);
  assert.deepEqual(await pixel(), [253, 245, 211]);
});

visit("Firefox: after one visit the page opens without a network", "#s=built&l=en", async ({ page, site }) => {
  await settled(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await site.close();
  await page.goto("about:blank");
  await page.goto(`${site.url}#t=still+here&s=built&h=0&q=1&k=0&l=en`);
  await settled(page);
  assert.deepEqual(await tokens(page), ["still", "␣here"]);
  assert.match(await text(page, "#sentence"), /^query ␣here reads key still with weight 0\.9895/);
});

visit("Firefox: a visit that the network leaves opens the trained model", "#s=built&l=en", async ({ page, site }) => {
  await settled(page);
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((done) => setTimeout(done, 50));
  });
  await site.close();
  await click(page, '#source input[value="tiny"]');
  await until(page, () => document.querySelector<HTMLElement>("fieldset#layers")?.hidden === false);
});
