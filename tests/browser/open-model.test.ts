// "Open a model…": by picker, by drop, by address; what goes wrong; and that nothing leaves the machine.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { load } from "headscope";
import { type Model, openModel, openTensors } from "headscope/models";
import type { Page } from "playwright-core";
import { formatBytes, formatWeight } from "../../web/elements/format.js";
import { answer, type Behaviour, rangeOf, serve } from "../models/range-server.ts";
import { violations } from "./axe.js";
import { CSP } from "./launch.js";
import { bertFiles, type Chosen, ggufFile } from "./model-files.js";
import { chooseFiles, hover, pictured, sentence, settled, text, tokens, typeText, useBrowser, visit } from "./page.js";
import { eventually, until } from "./until.js";

useBrowser();

const FRAGMENT = "t=How+are&s=built&h=0&l=en";
const TWELVE = { numHeads: 12, numKVHeads: 12, headDim: 8, dModel: 96 };
const gpt2 = ggufFile("twelve-heads.gguf", "gpt2", TWELVE);

const inNode = async ({ buffer }: Chosen, options: object = {}): Promise<Model> =>
  openModel(await load({ variant: "simd" }), new Uint8Array(buffer), options);

async function weightsOf(model: Model, typed: string, layer: number) {
  let data: Float32Array = new Float32Array();
  let count = 0;
  for await (const { weights } of model.run(model.tokenize(typed), { layers: layer + 1 })) {
    data = weights.data;
    count = weights.shape[1] as number;
  }
  return (head: number, query: number, key: number) =>
    formatWeight(data[(head * count + query) * count + key] as number);
}

async function opened(page: Page, name: string): Promise<void> {
  await page.locator("#about", { hasText: name }).waitFor();
  await settled(page);
}

const picture = (page: Page) =>
  page.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

visit(
  "a GGUF by the picker: all its heads and layers, with Model.run's values",
  { fragment: FRAGMENT },
  async ({ page, site }) => {
    const before = site.requests.length;
    await chooseFiles(page, [gpt2]);
    await opened(page, "twelve-heads.gguf");
    assert.match(await text(page, "#about"), /^twelve-heads\.gguf: gpt2, 3 layers × 12 heads, width 96\./);
    assert.equal(await page.locator("#open").isHidden(), true);
    assert.equal(await page.locator('#source label[data-source="file"]').textContent(), "twelve-heads.gguf");
    assert.equal(await page.locator("#heads .card").count(), 12);
    assert.deepEqual(await tokens(page), ["How", "␣are"]);
    const model = await inNode(gpt2);
    for (const layer of [2, 0, 1]) {
      await page.locator(`fieldset#layers input[value="${layer}"]`).check();
      await page.locator("#heads .card").nth(11).click();
      await hover(page, 1, 0, 2);
      const weight = (await weightsOf(model, "How are", layer))(11, 1, 0);
      assert.equal(await sentence(page), `query ␣are reads key How with weight ${weight} · head 11, layer ${layer}`);
    }
    await typeText(page, "How are are");
    await pictured(page, 3);
    // Only code was fetched, from here.
    for (const path of site.requests.slice(before))
      assert.match(path, /^\/some\/where\/(assets\/[\w.-]+\.js|icon\.svg)$/);
    assert.deepEqual(await violations(page), []);
  },
);

visit(
  "safetensors of a BERT dropped with its companions: no mask, marks as tokens",
  { fragment: "t=the+cat+sat&s=built&h=0&l=en" },
  async ({ page }) => {
    const files = bertFiles();
    const transfer = await page.evaluateHandle(
      (given) => {
        const made = new DataTransfer();
        for (const { name, base64 } of given) {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          made.items.add(new File([bytes], name));
        }
        return made;
      },
      files.map(({ name, buffer }) => ({ name, base64: buffer.toString("base64") })),
    );
    await page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
    assert.equal(await page.locator("body.dropping").count(), 1);
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await opened(page, "model.safetensors");
    assert.equal(await page.locator("body.dropping").count(), 0);
    assert.deepEqual(await tokens(page), ["[CLS]", "the", "cat", "sat", "[SEP]"]);
    assert.equal(await page.locator("#causal").isDisabled(), true);
    assert.equal(await page.locator("#causal").isChecked(), false);
    const [file, config, tokenizer] = files;
    const model = await inNode(file, { config: String(config.buffer), tokenizer: String(tokenizer.buffer) });
    await page.locator("#heads .card").nth(3).click();
    await hover(page, 1, 4, 5);
    assert.ok((await sentence(page)).includes(`weight ${(await weightsOf(model, "the cat sat", 0))(3, 1, 4)} `));
    await page.locator("#heads .card input").nth(3).uncheck();
    await page.locator("#change:not([hidden])", { hasText: "last hidden state" }).waitFor();
    assert.doesNotMatch(await text(page, "#change"), /nats/);
  },
);

visit("an address: read by ranges, with Model.run's values", { fragment: FRAGMENT }, async ({ page, site }) => {
  const llama = ggufFile("llama.gguf", "llama");
  const ranges: { begin: number; end: number }[] = [];
  await page.route("**/models/llama.gguf", async (route) => {
    const range = rangeOf(route.request().headers()["range"]);
    if (range) ranges.push(range);
    let status = 0;
    let headers: Record<string, string> = {};
    let body = Buffer.alloc(0);
    const response = {
      writeHead: (code: number, given: Record<string, string | number>) => {
        status = code;
        headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
      },
      end: (bytes: Uint8Array = new Uint8Array()) => {
        body = Buffer.from(bytes);
      },
    };
    answer({ range }, response as never, { file: llama.buffer, headers: {} } as never);
    await route.fulfill({ status, headers, body });
  });
  await page.locator("#open-button").click();
  await page.locator("#open-address").fill(`${site.url}models/llama.gguf`);
  await page.keyboard.press("Enter");
  await opened(page, "llama.gguf");
  assert.ok(ranges.length > 0);
  assert.match(await text(page, "#about"), /llama, 3 layers × 8 heads/);
  const weight = (await weightsOf(await inNode(llama), "How are", 0))(0, 1, 1);
  await page.locator("#heads .card").nth(0).click();
  await hover(page, 1, 1, 2);
  assert.ok((await sentence(page)).includes(`weight ${weight} `));
});

visit(
  "a server without ranges works too, and a missing file is an error with its address",
  { fragment: FRAGMENT },
  async ({ page, site, complaints }) => {
    await page.route("**/whole.gguf", (route) => route.fulfill({ body: gpt2.buffer }));
    await page.locator("#open-button").click();
    await page.locator("#open-address").fill("nowhere.gguf");
    await page.locator("#open-form button").click();
    await page.locator("#open-problem:not([hidden])").waitFor();
    assert.match(
      await text(page, "#open-problem"),
      /nowhere\.gguf: the server's answer: expected the file, got HTTP 404/,
    );
    await page.locator("#open-address").fill(`${site.url}whole.gguf`);
    await page.locator("#open-form button").click();
    await opened(page, "whole.gguf");
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !/status of 404|nowhere\.gguf/.test(complaint)),
      [],
    );
  },
);

const BAD: readonly { name: string; files: readonly Chosen[]; words: RegExp }[] = [
  {
    name: "an HTML page named as a model",
    files: [
      { name: "model.gguf", mimeType: "", buffer: Buffer.from("<!doctype html><html><body>Not found</body></html>") },
    ],
    words: /^This could not be opened: model\.gguf: .*HTML/,
  },
  {
    name: "a file that ends too early",
    files: [{ ...gpt2, name: "cut.gguf", buffer: gpt2.buffer.subarray(0, gpt2.buffer.length - 5000) }],
    words: /^This could not be opened: cut\.gguf: /,
  },
  { name: "safetensors without config.json", files: bertFiles().slice(0, 1), words: /model\.safetensors: .*config/ },
  { name: "safetensors without tokenizer.json", files: bertFiles().slice(0, 2), words: /tokenizer/ },
  { name: "config.json alone", files: bertFiles().slice(1, 2), words: /expected one model file .* got config\.json/ },
];

visit(
  "bad files: the message stands beside them, and the last picture stays",
  { fragment: FRAGMENT },
  async ({ page }) => {
    const before = await picture(page);
    for (const { name, files, words } of BAD) {
      await chooseFiles(page, files);
      await page.locator("#open-progress").waitFor({ state: "hidden" });
      await page.locator("#open-problem:not([hidden])").waitFor();
      const said = await text(page, "#open-problem");
      assert.match(said, words, name);
      assert.match(said, /What was shown before is kept\.$/);
      assert.equal(await picture(page), before, name);
      assert.equal(await page.locator("#source input:checked").getAttribute("value"), "built");
      assert.equal(await page.locator('#source label[data-source="file"]').isHidden(), true);
      await page.locator("#open-close").click();
      await page.locator("#open-button").click();
      assert.equal(await page.locator("#open-problem").isHidden(), true);
    }
    // The good one afterwards, and a bad one again: the good one stays.
    await chooseFiles(page, [gpt2]);
    await opened(page, "twelve-heads.gguf");
    const good = await picture(page);
    await chooseFiles(page, BAD[1]?.files ?? []);
    await page.locator("#open-problem:not([hidden])").waitFor();
    assert.equal(await picture(page), good);
    await typeText(page, "How are are");
    await pictured(page, 3);
  },
);

visit(
  "Cancel stops the reading, and what was shown stays",
  { fragment: FRAGMENT },
  async ({ page, site, complaints }) => {
    const before = await picture(page);
    // Never answered: what the page does not wait for any more is let go of.
    await page.route("**/slow.gguf", () => {});
    await page.locator("#open-button").click();
    await page.locator("#open-address").fill(`${site.url}slow.gguf`);
    await page.locator("#open-form button").click();
    await page.locator("#open-progress:not([hidden])").waitFor();
    assert.match(await text(page, "#open-bytes"), /^Reading: 0 B/);
    await page.locator("#open-cancel").click();
    await page.locator("#open-problem:not([hidden])").waitFor();
    assert.equal(await text(page, "#open-problem"), "Stopped. Nothing was changed.");
    assert.equal(await page.locator("#open-progress").isHidden(), true);
    assert.equal(await picture(page), before);
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !/slow\.gguf|ERR_/.test(complaint)),
      [],
    );
  },
);

/** A page that may ask another port of this machine, where the servers of tests/models/range-server.ts listen. */
const CROSS = { fragment: FRAGMENT, csp: `${CSP}; connect-src 'self' http://127.0.0.1:*` };
const EXPOSED = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Content-Range, ETag" };

async function openAddress(page: Page, address: string): Promise<void> {
  if (await page.locator("#open").isHidden()) await page.locator("#open-button").click();
  await page.locator("#open-address").fill(address);
  await page.keyboard.press("Enter");
}

const progressIs = (page: Page, words: string) =>
  until(page, (wanted: string) => document.querySelector("#open-bytes")?.textContent === wanted, words);

/** Answers a request's first bytes, and the rest when it is let go. */
function stalling(at: (range: { begin: number; end: number } | undefined, number: number) => boolean, bytes: number) {
  const held: ServerResponse[] = [];
  const behaviour: Behaviour = ({ range, number }, response, { file, headers }) => {
    if (!at(range, number)) return false;
    const { begin = 0, end = file.length } = range ?? {};
    const stop = Math.min(end, file.length);
    const part = { "Content-Range": `bytes ${begin}-${stop - 1}/${file.length}`, "Content-Length": stop - begin };
    response.writeHead(range ? 206 : 200, { ...headers, ...(range ? part : {}) });
    response.write(file.subarray(begin, begin + bytes));
    held.push(response);
    return true;
  };
  return { held, behaviour };
}

visit("the progress of an address: bytes so far, and of how many", CROSS, async ({ page, complaints }, t) => {
  const total = formatBytes(gpt2.buffer.length);
  for (const [headers, words] of [
    [EXPOSED, `Reading what is needed: 1,000 B so far, of a file of ${total}`],
    // Without the word of the server that the page may know it.
    [{ "Access-Control-Allow-Origin": "*" }, "Reading: 1,000 B"],
  ] as const) {
    const { held, behaviour } = stalling((_, number) => number === 1, 1000);
    const server = await serve(t, gpt2.buffer, behaviour);
    server.headers = headers;
    await openAddress(page, server.url);
    await progressIs(page, words);
    await page.locator("#open-cancel").click();
    await page.locator("#open-problem:not([hidden])").waitFor();
    assert.equal(await text(page, "#open-problem"), "Stopped. Nothing was changed.");
    await eventually(() => held.every((response) => response.destroyed));
    assert.equal(server.requests.length, 1, "nothing is asked for after that");
    await page.locator("#open-close").click();
  }
  assert.deepEqual(
    complaints.splice(0).filter((complaint) => !/http:\/\/127\.0\.0\.1:\d+\/model\.gguf/.test(complaint)),
    [],
  );
});

visit(
  "what the first picture needs behind the header is told too; kept by the browser, it is read once",
  CROSS,
  async ({ page, context, complaints }, t) => {
    const file = await openTensors(await load({ variant: "simd" }), new Uint8Array(gpt2.buffer));
    const { dataOffset } = file;
    let stalls = true;
    const { held, behaviour } = stalling((range) => stalls && (range?.begin ?? 0) >= dataOffset, 100);
    const server = await serve(t, gpt2.buffer, behaviour);
    server.headers = { ...EXPOSED, ETag: '"1"' };
    await openAddress(page, server.url);
    await eventually(() => held.length > 0);
    const total = formatBytes(gpt2.buffer.length);
    // One request after another may come to be held.
    await eventually(async () => {
      const whole = server.requests.filter(({ range }) => (range?.begin ?? 0) < dataOffset);
      const header = whole.reduce((sum, { range }) => sum + (range ? range.end - range.begin : 0), 0);
      const bytes = formatBytes(header + 100 * held.length);
      return (await text(page, "#open-bytes")) === `Reading what is needed: ${bytes} so far, of a file of ${total}`;
    });
    stalls = false;
    for (const response of held) response.destroy();
    await opened(page, "model.gguf");
    const weight = (await weightsOf(await inNode(gpt2), "How are", 0))(11, 1, 0);
    const shown = async (where: Page) => {
      await where.locator("#heads .card").nth(11).click();
      await hover(where, 1, 0, 2);
      assert.ok((await sentence(where)).includes(`weight ${weight} `));
    };
    await shown(page);
    // The disk is not waited for.
    await until(page, async () => (await (await caches.open("headscope-files-1")).keys()).length > 1);
    const before = server.requests.length;
    const later = await context.newPage();
    await later.goto(page.url().replace("s=file", "s=built"));
    await later.locator("#views:not([hidden])").waitFor();
    await openAddress(later, server.url);
    await opened(later, "model.gguf");
    await shown(later);
    assert.equal(server.requests.length, before, "a second visit asks the server for nothing");
    complaints.length = 0;
  },
);

visit(
  "a link to somebody's file asks for it, and finds its layer again when it is opened",
  { fragment: "t=How+are&s=file&y=2&h=9&q=1&k=0&l=en" },
  async ({ page }) => {
    assert.match(await text(page, "#wait"), /^This link shows a model file of its author's/);
    await chooseFiles(page, [gpt2]);
    await opened(page, "twelve-heads.gguf");
    const weight = (await weightsOf(await inNode(gpt2), "How are", 2))(9, 1, 0);
    assert.equal(await sentence(page), `query ␣are reads key How with weight ${weight} · head 9, layer 2`);
    assert.equal(await page.locator("#wait").isHidden(), true);
  },
);

visit("a second file takes the place of the first", { fragment: FRAGMENT }, async ({ page }) => {
  await chooseFiles(page, [gpt2]);
  await opened(page, "twelve-heads.gguf");
  await page.locator("#inspector > summary").click();
  await page.locator("#inspector-body dd", { hasText: "twelve-heads.gguf" }).waitFor();
  await chooseFiles(page, [ggufFile("eight-heads.gguf", "llama")]);
  await opened(page, "eight-heads.gguf");
  assert.equal(await page.locator("#heads .card").count(), 8);
  await page.locator("#inspector-body dd", { hasText: "eight-heads.gguf" }).waitFor();
  assert.match(await text(page, "#inspector-body"), /8 \/ 2/);
});
