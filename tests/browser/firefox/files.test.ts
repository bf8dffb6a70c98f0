// Models in Firefox: by the picker, by drop, from servers that are slow or fail; long and quick input; no network.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "headscope";
import { openModel } from "headscope/models";
import type { ElementHandle, Page } from "puppeteer-core";
import { formatWeight } from "../../../web/elements/format.js";
import { serve } from "../../models/range-server.ts";
import { FAILURES, SHARED, slow } from "../bad-servers.js";
import { expected } from "../heads.js";
import { CSP } from "../launch.js";
import { bertFiles, type Chosen, ggufFile } from "../model-files.js";
import { until } from "../until.js";
import { click, one, pixels, press, settled, text, texts, tokens, type, useFirefox, visit } from "./page.js";

useFirefox();

const FRAGMENT = "#t=How+are&s=built&h=0&l=en";
/** Strict, but other servers may be asked. */
const OPEN = `${CSP}; connect-src *`;
const MODEL = ggufFile("remote.gguf", "gpt2");

const opened = (page: Page, name: string) =>
  until(page, (wanted: string) => document.querySelector("#about")?.textContent?.includes(wanted), name);

async function ask(page: Page, address: string): Promise<void> {
  await click(page, "#open-button");
  // The panel is fetched with the first click.
  await settled(page);
  await (await one(page, "#open-address")).type(address);
  await press(page, "Enter");
}

async function numbersAre(page: Page, { buffer }: Chosen, options: object, typed: string): Promise<void> {
  const model = await openModel(await load({ variant: "simd" }), new Uint8Array(buffer), options);
  const [, layer = "0", head = "0"] = /^Layer (\d+), head (\d+)/.exec(await text(page, "#detail-title")) ?? [];
  let data: Float32Array = new Float32Array();
  let count = 0;
  for await (const { weights } of model.run(model.tokenize(typed), { layers: Number(layer) + 1 })) {
    data = weights.data;
    count = weights.shape[1] as number;
  }
  await click(page, "#tab-numbers");
  await settled(page);
  const cells = [...data.subarray(Number(head) * count * count, (Number(head) + 1) * count * count)];
  const shown = await texts(page, "#numbers table:not(.output) tbody td");
  assert.equal(shown.length, cells.length);
  for (const [i, cell] of shown.entries()) if (cell !== "—") assert.equal(cell, formatWeight(cells[i] as number));
}

visit("Firefox: a GGUF by the picker, with Model.run's values", FRAGMENT, async ({ page }, t) => {
  const folder = mkdtempSync(join(tmpdir(), "headscope-picked-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const chosen = ggufFile("picked.gguf", "gpt2");
  writeFileSync(join(folder, chosen.name), chosen.buffer);
  await settled(page);
  await click(page, "#open-button");
  // What takes files is fetched with the first click, and hears of none before.
  await settled(page);
  const input = (await one(page, "#open-files")) as unknown as ElementHandle<HTMLInputElement>;
  await input.uploadFile(join(folder, chosen.name));
  await opened(page, "picked.gguf: gpt2, 3 layers");
  await settled(page);
  assert.deepEqual(await tokens(page), ["How", "␣are"]);
  await numbersAre(page, chosen, {}, "How are");
});

visit("Firefox: safetensors dropped with its companions", "#t=the+cat+sat&s=built&h=0&l=en", async ({ page }) => {
  await settled(page);
  const files = bertFiles();
  await page.evaluate(
    (given) => {
      const transfer = new DataTransfer();
      for (const { name, base64 } of given) {
        transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
      }
      for (const event of ["dragenter", "dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(event, { bubbles: true, cancelable: true, dataTransfer: transfer }));
      }
    },
    files.map(({ name, buffer }) => ({ name, base64: buffer.toString("base64") })),
  );
  await opened(page, "model.safetensors");
  await settled(page);
  assert.deepEqual(await tokens(page), ["[CLS]", "the", "cat", "sat", "[SEP]"]);
  const [file, config, tokenizer] = files;
  await numbersAre(page, file, { config: String(config.buffer), tokenizer: String(tokenizer.buffer) }, "the cat sat");
});

visit(
  "Firefox: a slow server: the page says how much has come, answers meanwhile, and shows the model in the end",
  FRAGMENT,
  async ({ page, complaints }, t) => {
    await settled(page);
    const server = await serve(t, new Uint8Array(MODEL.buffer), slow);
    server.headers = SHARED;
    await ask(page, server.url);
    await until(page, () => document.querySelector<HTMLElement>("#open-progress")?.hidden === false);
    await type(page, "How are are");
    assert.equal((await tokens(page)).length, 3);
    await opened(page, "gpt2, 3 layers");
    await settled(page);
    assert.equal((await tokens(page)).length, 3);
    onlyOf(complaints, server.url);
  },
  { csp: OPEN },
);

for (const { name, behaviour, says } of FAILURES) {
  visit(
    `Firefox: a server that ${name}: a sentence with the address, and the last picture stays`,
    FRAGMENT,
    async ({ page, complaints }, t) => {
      await settled(page);
      const server = await serve(t, new Uint8Array(MODEL.buffer), behaviour);
      const picture = async () => (await pixels(page, "#matrix >>> canvas.cells")).data;
      const before = await picture();
      await ask(page, server.url);
      await until(page, () => document.querySelector<HTMLElement>("#open-problem")?.hidden === false);
      const said = await text(page, "#open-problem");
      assert.match(said, /^This could not be opened: .* What was shown before is kept\.$/);
      assert.match(said, says);
      assert.deepEqual(await picture(), before);
      onlyOf(complaints, server.url);
    },
    { csp: OPEN },
  );
}

/** Takes out what asking that server brings about. */
function onlyOf(complaints: string[], url: string): void {
  const { host } = new URL(url);
  const own = complaints.splice(0).filter((complaint) => !complaint.includes(host));
  assert.deepEqual(own, []);
}

visit("Firefox: 500 words pasted after the network has gone are shown whole", FRAGMENT, async ({ page, site }) => {
  await settled(page);
  await site.close();
  await click(page, "#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  const words = Array.from({ length: 500 }, (_, i) => `word${(i * 7919) % 197}`).join(" ");
  await page.evaluate((pasted) => document.execCommand("insertText", false, pasted), words);
  await until(page, () => document.querySelector("#status")?.textContent?.startsWith("500 tokens"));
  await settled(page);
  for (let head = 0; head < 8; head++) {
    const { data } = await pixels(page, "#heads >>> canvas", head);
    assert.ok(new Set(new Uint32Array(Uint8Array.from(data).buffer)).size > 1, `head ${head}: a picture, not a blank`);
  }
  assert.equal(await page.$eval("#problem", (node) => (node as HTMLElement).hidden), true);
});

visit("Firefox: of five quick edits the picture and the numbers are those of the last", FRAGMENT, async ({ page }) => {
  await settled(page);
  const edits = ["one", "one two", "three four five", "six", "seven eight nine ten"];
  await page.evaluate((all) => {
    const field = document.querySelector<HTMLTextAreaElement>("#text");
    for (const edit of all) {
      if (field) field.value = edit;
      field?.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
  }, edits);
  await until(page, () => document.querySelector("#status")?.textContent?.startsWith("4 tokens"));
  await settled(page);
  assert.deepEqual(await tokens(page), ["seven", "␣eight", "␣nine", "␣ten"]);
  await click(page, "#tab-numbers");
  await settled(page);
  const { weight } = await expected(edits.at(-1) as string);
  const wanted = Array.from({ length: 16 }, (_, cell) => {
    const [query, key] = [Math.floor(cell / 4), cell % 4];
    return key > query ? "—" : formatWeight(weight(0, query, key));
  });
  assert.deepEqual(await texts(page, "#numbers table:not(.output) tbody td"), wanted);
});
