// Models from a server that is slow, breaks off or fails, and a long text without any network.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { serve } from "../models/range-server.ts";
import { FAILURES, SHARED, slow } from "./bad-servers.js";
import { CSP } from "./launch.js";
import { ggufFile } from "./model-files.js";
import { settled, text, tokens, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

useBrowser();

const FRAGMENT = "t=How+are&s=built&h=0&l=en";
/** Strict, but other servers may be asked. */
const OPEN = `${CSP}; connect-src *`;
const MODEL = ggufFile("remote.gguf", "gpt2");

async function ask(page: Page, address: string): Promise<void> {
  if (await page.locator("#open").isHidden()) await page.locator("#open-button").click();
  await page.locator("#open-address").fill(address);
  await page.locator("#open-form button").click();
}

const picture = (page: Page) =>
  page.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

/** Takes out what the test itself brings about. */
function onlyOthers(complaints: string[]): string[] {
  return complaints.splice(0).filter((complaint) => !/127\.0\.0\.1|ERR_|status of 5|CORS/.test(complaint));
}

visit(
  "a slow server: the page says how much has come, goes on answering, and shows the model in the end",
  { fragment: FRAGMENT, csp: OPEN },
  async ({ page, complaints }, t) => {
    const server = await serve(t, new Uint8Array(MODEL.buffer), slow);
    server.headers = SHARED;
    await ask(page, server.url);
    await page.locator("#open-progress:not([hidden])").waitFor();
    // Meanwhile typing is answered.
    await page.locator("#text").fill("How are are");
    await settled(page);
    assert.equal((await tokens(page)).length, 3);
    await until(page, () => /[1-9]/.test(document.querySelector("#open-bytes")?.textContent ?? ""));
    await page.locator("#about", { hasText: "gpt2, 3 layers" }).waitFor();
    await settled(page);
    assert.equal((await tokens(page)).length, 3);
    assert.equal(await page.locator("#open").isHidden(), true);
    assert.ok(server.requests.length > 0);
    assert.deepEqual(onlyOthers(complaints), []);
  },
);

for (const { name, behaviour, says } of FAILURES) {
  visit(
    `a server that ${name}: a sentence with the address beside the field, and the last picture stays`,
    { fragment: FRAGMENT, csp: OPEN },
    async ({ page, complaints }, t) => {
      const server = await serve(t, new Uint8Array(MODEL.buffer), behaviour);
      const before = await picture(page);
      await ask(page, server.url);
      await page.locator("#open-problem:not([hidden])").waitFor();
      const said = await text(page, "#open-problem");
      assert.match(said, /^This could not be opened: /);
      assert.match(said, says);
      assert.match(said, /What was shown before is kept\.$/);
      assert.equal(await picture(page), before);
      assert.equal(await page.locator("#open-progress").isHidden(), true);
      assert.deepEqual(onlyOthers(complaints), []);
    },
  );
}

visit("500 words pasted after the network has gone are shown whole", {}, async ({ page, context, complaints }) => {
  await context.setOffline(true);
  const words = Array.from({ length: 500 }, (_, i) => `word${(i * 7919) % 197}`).join(" ");
  await page.locator("#text").click();
  await page.locator("#text").selectText();
  await page.evaluate((pasted) => document.execCommand("insertText", false, pasted), words);
  await settled(page);
  assert.match(await text(page, "#status"), /^500 tokens/);
  const drawn = await page.locator("#heads canvas").evaluateAll((all) =>
    all.map((one) => {
      const canvas = one as HTMLCanvasElement;
      const image = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(image?.data.buffer ?? new ArrayBuffer(0))).size;
    }),
  );
  assert.equal(drawn.length, 8);
  for (const colors of drawn) assert.ok(colors > 1, "a picture, not a blank");
  assert.equal(await page.locator("#problem").isHidden(), true);
  assert.deepEqual(onlyOthers(complaints), []);
});
