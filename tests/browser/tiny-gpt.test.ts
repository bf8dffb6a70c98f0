// The model that comes with the page, against the same file run in Node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "headscope";
import { ablateHeads, type LayerResult, type Model, openModel } from "headscope/models";
import type { Page } from "playwright-core";
import { formatWeight } from "../../web/elements/format.js";
import { labelText } from "../../web/elements/token-label.js";
import { DEFAULT_SOURCE } from "../../web/playground/sources/index.js";
import { tokenizeFor } from "../../web/playground/sources/model-tokens.js";
import { violations } from "./axe.js";
import {
  addressed,
  cellAt,
  firstPicture,
  hover,
  pictured,
  sentence,
  settled,
  text,
  tokens,
  typeText,
  useBrowser,
  visit,
} from "./page.js";
import { until } from "./until.js";

useBrowser();

const FILE = fileURLToPath(new URL("../../web/models/headscope.gguf", import.meta.url));
const SENTENCE = "The keys to the cabinet are on the table";

let opened: Promise<Model> | undefined;
const model = () => {
  opened ??= load({ variant: "simd" }).then((hs) => openModel(hs, readFileSync(FILE)));
  return opened;
};

type Maps = LayerResult<"weights", false>;

async function run(typed: string, off: readonly { layer: number; head: number }[] = []) {
  const net = await model();
  const list = net.tokenize(typed);
  const { numHeads, layers } = net.config;
  const headMask = Array.from({ length: layers }, (_, layer) =>
    Float32Array.from({ length: numHeads }, (_, head) =>
      off.some((each) => each.layer === layer && each.head === head) ? 0 : 1,
    ),
  );
  const maps: Maps[] = [];
  for await (const result of net.run(list, { want: ["weights"], output: false, headMask })) maps.push(result as Maps);
  const count = list.length;
  const weight = (layer: number, head: number, query: number, key: number) =>
    (maps[layer] as Maps).weights.data[(head * count + query) * count + key] as number;
  return { net, list, count, weight };
}

async function modelShown(page: Page): Promise<void> {
  await page.locator("fieldset#layers:not([hidden])").waitFor();
  await settled(page);
}

async function pickLayer(page: Page, layer: number): Promise<void> {
  await page.locator(`fieldset#layers input[value="${layer}"]`).check();
  await settled(page);
}

const link = (rest = "") => `t=${encodeURIComponent(SENTENCE)}&s=tiny${rest}&l=en`;
const picture = (page: Page, head: number) =>
  page
    .locator("#heads canvas")
    .nth(head)
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

visit(
  "a visit without a link opens with the default source, the built heads first",
  { fragment: "" },
  async ({ page, site }) => {
    await modelShown(page);
    assert.ok(site.requests.some((path) => path.endsWith(".gguf")));
    assert.match(await text(page, "#about"), /^Learned, not built/);
    // It opens on a head and a query of its own.
    assert.equal(await page.locator("#tokens .chip[data-query]").count(), 1);
    assert.equal(await page.locator("#source input:checked").getAttribute("value"), DEFAULT_SOURCE);
  },
);

/** The model's file waits until the test calls `window.letThrough()`. */
const HOLD_THE_MODEL = `
  const get = window.fetch;
  window.fetch = async (address, ...rest) => {
    if (String(address).endsWith(".gguf")) await new Promise((done) => { window.letThrough = done; });
    return get(address, ...rest);
  };
`;

visit(
  "the built heads are on screen until the model is there, and say so",
  {
    fragment: link("&y=1&h=2"),
    init: HOLD_THE_MODEL,
  },
  async ({ page }) => {
    await page.locator("#wait:not([hidden])").waitFor();
    assert.match(await text(page, "#wait"), /^Until the trained model is here these are the built heads/);
    assert.equal(await page.locator("#heads .card").count(), 8);
    assert.equal(await page.locator("fieldset#layers").isHidden(), true);
    await until(page, "window.letThrough");
    await page.evaluate("window.letThrough()");
    await modelShown(page);
    assert.equal(await page.locator("#wait").isHidden(), true);
    assert.match(await text(page, "#detail-title"), /^Layer 1, head 2 · /);
  },
);

visit(
  "heads that are worked with are not taken away by a model that comes late",
  {
    fragment: link(),
    init: HOLD_THE_MODEL,
  },
  async ({ page }) => {
    await until(page, "window.letThrough");
    await page.locator("#heads .card input").nth(2).uncheck();
    await page.locator("#change:not([hidden])").waitFor();
    // With the model the page computes anew, of whatever is shown.
    await page.evaluate(`{
      window.runs = 0;
      const main = document.querySelector("#main");
      const count = () => { if (main.getAttribute("aria-busy") === "true") window.runs++; };
      new MutationObserver(count).observe(main, { attributeFilter: ["aria-busy"] });
      window.letThrough();
    }`);
    await until(page, "window.runs > 0");
    await settled(page);
    assert.equal(await page.locator("#source input:checked").getAttribute("value"), "built");
    assert.match(await text(page, "#change"), /^Without H2 the layer's output/);
    await page.locator('#source input[value="tiny"]').check();
    await modelShown(page);
    assert.equal(await page.locator("#heads .card input:checked").count(), 8);
  },
);

visit(
  "C04: labels keep their layer and head: the value under the pointer is Model.run's, and rows sum to 1",
  { fragment: link() },
  async ({ page }) => {
    await modelShown(page);
    const { net, list, count, weight } = await run(SENTENCE);
    assert.equal((await tokens(page)).length, count);
    const labels = list.map((token) => labelText(token.text));
    assert.deepEqual(await tokens(page), labels);
    for (let layer = 0; layer < net.config.layers; layer++) {
      await pickLayer(page, layer);
      const head = (3 * layer + 1) % net.config.numHeads;
      await page.locator("#heads .card").nth(head).click();
      await hover(page, count - 1, 1, count);
      assert.equal(
        await sentence(page),
        `query ${labels[count - 1]} reads key ${labels[1]} with weight ${formatWeight(weight(layer, head, count - 1, 1))} · head ${head}, layer ${layer}`,
      );
    }
    await page.locator("#tab-numbers").click();
    await settled(page);
    const rows = await page
      .locator("#numbers tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")));
    for (const [query, row] of rows.entries()) {
      assert.deepEqual(
        row.slice(query + 1).filter((cell) => cell !== "—"),
        [],
      );
      const sum = row.filter((cell) => /^\d/.test(cell)).reduce((total, cell) => total + Number(cell), 0);
      assert.ok(Math.abs(sum - 1) <= 0.0001 * count, `row ${query}: ${sum}`);
    }
  },
);

visit(
  "a head that is switched off changes the layers behind it, the output and the loss, by what the API says",
  { fragment: link("&y=2&h=1") },
  async ({ page }) => {
    await modelShown(page);
    const before = await Promise.all([0, 1, 2].map((head) => picture(page, head)));
    await pickLayer(page, 0);
    const own = await picture(page, 4);
    await page.locator("#heads .card input").nth(4).uncheck();
    await page.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
    await settled(page);
    assert.equal(await picture(page, 4), own, "a head is left out after it has read");
    const off = [{ layer: 0, head: 4 }];
    const { net, list } = await run(SENTENCE);
    const { hidden, loss } = await ablateHeads(net, list, off);
    assert.ok(loss);
    const change = await text(page, "#change");
    assert.ok(
      change.startsWith(
        `Without L0 H4 the model's last hidden state changes by ${(hidden.relative * 100).toFixed(1)} %`,
      ),
      change,
    );
    assert.ok(change.includes(`from ${loss.before.toFixed(3)} to ${loss.after.toFixed(3)} nats`), change);
    await pickLayer(page, 2);
    const after = await Promise.all([0, 1, 2].map((head) => picture(page, head)));
    assert.ok(after.some((each, head) => each !== before[head]));
    const { weight, count } = await run(SENTENCE, off);
    await page.locator("#heads .card").nth(1).click();
    await hover(page, 5, 0, count);
    assert.ok((await sentence(page)).includes(`weight ${formatWeight(weight(2, 1, 5, 0))} · head 1, layer 2`));
    // The layer with the head that is off is marked, and all can be switched on again.
    assert.equal(await page.locator("fieldset#layers .touched").count(), 1);
    await page.locator("#all-on").click();
    await page.locator("#change").waitFor({ state: "hidden" });
    await settled(page);
    assert.deepEqual(await Promise.all([0, 1, 2].map((head) => picture(page, head))), before);
  },
);

visit("a link opens the same layer, heads off and cell", { fragment: link() }, async ({ page, context }) => {
  await modelShown(page);
  await pickLayer(page, 1);
  await page.locator("#heads .card input").nth(3).uncheck();
  await pickLayer(page, 3);
  await page.locator("#heads .card input").nth(5).uncheck();
  await page.locator("#heads .card").nth(6).click();
  const count = (await tokens(page)).length;
  const { x, y } = await cellAt(page, 6, 2, count);
  await page.mouse.click(x, y);
  await page.mouse.move(5, 5);
  await page.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
  await addressed(page);
  const look = async (shown: Page) => ({
    url: shown.url(),
    sentence: await sentence(shown),
    title: await text(shown, "#detail-title"),
    change: await text(shown, "#change"),
    matrix: await shown.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()),
  });
  const sent = await look(page);
  assert.match(sent.url, /&y=3&h=6&q=6&k=2&x=1-3\.3-5&/);
  const other = await context.newPage();
  await other.goto(sent.url);
  await modelShown(other);
  await other.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
  await settled(other);
  assert.deepEqual(await look(other), sent);
});

visit("the mask is the model's own: the switch says why it does not move", { fragment: link() }, async ({ page }) => {
  await modelShown(page);
  assert.equal(await page.locator("#causal").isDisabled(), true);
  assert.equal(await page.locator("#causal").isChecked(), true);
  assert.match((await page.locator("#causal-label").getAttribute("title")) ?? "", /trained with the causal mask/);
  await page.locator('#source input[value="built"]').check();
  await settled(page);
  assert.equal(await page.locator("#causal").isDisabled(), false);
});

visit(
  "typing fast ends at the last text, and pieces of characters show their bytes",
  { fragment: link() },
  async ({ page }) => {
    await modelShown(page);
    await page.evaluate(() => {
      const field = document.querySelector<HTMLTextAreaElement>("#text");
      for (const value of ["one", "one two", "小明在北京", "last one\nwins"]) {
        if (!field) return;
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
    const shown = async (typed: string) => {
      const count = (await run(typed)).count;
      await pictured(page, count);
    };
    await shown("last one\nwins");
    assert.ok((await tokens(page)).includes("↵"));
    await typeText(page, "🙂 是");
    await shown("🙂 是");
    const labels = await tokens(page);
    assert.ok(
      labels.some((label) => /🙂‹[0-9A-F ]+›/.test(label)),
      labels.join("|"),
    );
  },
);

visit(
  "a text longer than the context is cut with a sentence that says where",
  { fragment: link() },
  async ({ page }) => {
    await modelShown(page);
    const { net } = await run("a");
    await typeText(page, "the cat ".repeat(400));
    await page.locator("#note:not([hidden])").waitFor();
    assert.match(
      await text(page, "#note"),
      new RegExp(`^Only the first ${net.config.contextLength} tokens are computed`),
    );
    assert.equal((await tokens(page)).length, net.config.contextLength);
  },
);

visit("the inspector shows the file and the nodes of this layer", { fragment: link("&y=1") }, async ({ page }) => {
  await modelShown(page);
  await page.locator("#inspector > summary").click();
  const nodes = page.locator("#inspector-body table").first();
  await nodes.waitFor();
  const names = await nodes.locator("tbody th").allTextContents();
  assert.deepEqual(names.slice(0, 7), ["wqkv_b-1", "Qcur-1", "Kcur-1", "Vcur-1", "kq-1", "kq_soft_max-1", "kqv-1"]);
  const { net, list } = await run(SENTENCE);
  const cells = await nodes.locator("tbody tr").nth(1).locator("td").allTextContents();
  const { numHeads, headDim, dModel } = net.config;
  assert.deepEqual(cells.slice(0, 2), [
    `[${numHeads}, ${list.length}, ${headDim}]`,
    `{${headDim}, ${numHeads}, ${list.length}, 1}`,
  ]);
  await page.locator("#inspector details.part summary").nth(1).click();
  const qkv = page.locator("#inspector details.part").nth(1).locator("tr", { hasText: "blk.0.attn_qkv.weight" });
  assert.deepEqual((await qkv.locator("td").allTextContents()).slice(1, 3), [
    `[${3 * dModel}, ${dModel}]`,
    `{${dModel}, ${3 * dModel}, 1, 1}`,
  ]);
  await pickLayer(page, 2);
  await page.locator("#inspector-body th", { hasText: "Qcur-2" }).waitFor();
});

for (const colorScheme of ["light", "dark"] as const) {
  visit(`axe finds nothing in a model's view, ${colorScheme}`, { fragment: link(), colorScheme }, async ({ page }) => {
    await modelShown(page);
    await page.locator("#heads .card input").nth(1).uncheck();
    await page.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
    await page.locator("#open-button").click();
    await page.locator("#inspector > summary").click();
    await page.locator("#inspector-body table").first().waitFor();
    for (const part of await page.locator("#inspector details.part summary").all()) await part.click();
    assert.deepEqual(await violations(page), []);
  });
}

for (const width of [320, 390, 768]) {
  visit(
    `a model's view does not scroll sideways at ${width} px`,
    { fragment: link(), viewport: { width, height: 800 } },
    async ({ page }) => {
      await modelShown(page);
      await page.locator("#open-button").click();
      await page.locator("#inspector > summary").click();
      await page.locator("#inspector-body table").first().waitFor();
      await page.locator("#language").click();
      await settled(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0);
    },
  );
}

visit(
  "a model that cannot be fetched leaves the built heads and says why; a second try works",
  { fragment: link() },
  async ({ page, complaints }) => {
    await modelShown(page);
    await page.route("**/*.gguf", (route) => route.fulfill({ status: 503, body: "" }));
    await page.reload();
    await firstPicture(page);
    await page.locator("#problem:not([hidden])").waitFor();
    assert.equal(
      await text(page, "#problem"),
      "The trained model could not be loaded: HTTP 503. The built heads stay.",
    );
    assert.equal(await page.locator("#source input:checked").getAttribute("value"), "built");
    await page.unroute("**/*.gguf");
    await page.locator('#source input[value="tiny"]').check();
    await modelShown(page);
    assert.equal(await page.locator("#problem").isHidden(), true);
    const others = complaints.splice(0).filter((complaint) => !/status of 503|\.gguf$/.test(complaint));
    assert.deepEqual(others, []);
  },
);

test("tokens of a model: cut at the context with its closing mark, pieces of characters with their bytes", async () => {
  const net = await model();
  const { tokens: cut, cutAt } = await tokenizeFor(net, "the cat ".repeat(40), 10);
  assert.equal(cut.length, 10);
  assert.equal(cutAt, (cut[9] as { end: number }).end);
  assert.equal((await tokenizeFor(net, "short", 10)).cutAt, null);
  const { tokens: pieces } = await tokenizeFor(net, "🙂", 10);
  assert.equal(pieces.map(({ text }) => labelText(text)).join(" "), "🙂‹F0› 🙂‹9F› 🙂‹99› 🙂‹82›");
});
