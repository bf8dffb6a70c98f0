// A model that is too large to run whole at every keystroke: what its heads are worth is measured when somebody says so.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { load } from "headscope";
import { headImportance, openModel, openTensors } from "headscope/models";
import type { Page } from "playwright-core";
import { answer, type Behaviour, serve } from "../models/range-server.ts";
import { violations } from "./axe.js";
import { CSP } from "./launch.js";
import { ggufFile, largeFile } from "./model-files.js";
import { pictured, settled, text, typeText, useBrowser, visit } from "./page.js";
import { eventually, until } from "./until.js";

useBrowser();

const SENTENCE = "How are How are";
const large = largeFile("large.gguf", "gpt2");
const OPTIONS = {
  fragment: `t=${encodeURIComponent(SENTENCE)}&s=built&h=0&l=en`,
  csp: `${CSP}; connect-src 'self' http://127.0.0.1:*`,
};
const HEADERS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Content-Range, ETag" };

async function openAddress(page: Page, address: string): Promise<void> {
  await page.locator("#open-button").click();
  await page.locator("#open-address").fill(address);
  await page.keyboard.press("Enter");
  await page.locator("#about", { hasText: "model.gguf" }).waitFor();
  await settled(page);
}

const button = (page: Page, where: string, name: string) =>
  page.locator(`${where} .measuring`).getByRole("button", { name });
const words = (page: Page, where: string) => text(page, `${where} .measuring > :first-child`);
const says = (page: Page, where: string, wanted: string) =>
  until(
    page,
    ([at, part]: readonly [string, string]) =>
      document.querySelector(`${at} .measuring > :first-child`)?.textContent?.includes(part),
    [where, wanted] as const,
  );

async function importance() {
  const model = await openModel(await load({ variant: "simd" }), new Uint8Array(large.buffer));
  const { heads } = await headImportance(model, [model.tokenize(SENTENCE)]);
  model.dispose();
  return heads;
}

visit(
  "sorting a large model by importance: an offer with what it takes, progress, Stop, Go on, and the API's numbers",
  OPTIONS,
  async ({ page, complaints }, t) => {
    // Layer 0 is there at once; what the runs need beyond it waits until it is let go.
    let open = true;
    const waiting: (() => void)[] = [];
    let closed = 0;
    const gate: Behaviour = (request, response, server) => {
      if (open) return false;
      response.on("close", () => closed++);
      waiting.push(() => {
        if (!response.destroyed) answer(request, response, server);
      });
      return true;
    };
    const server = await serve(t, large.buffer, gate);
    server.headers = HEADERS;
    await openAddress(page, server.url);
    open = false;
    const numHeads = await page.locator("#heads .card").count();
    const cards = () => page.locator("#heads .name").allTextContents();
    const byNumber = await cards();
    await page.locator("#sort").selectOption("importance");
    await settled(page);
    assert.match(
      await words(page, ".heads"),
      new RegExp(
        `^Measuring this takes ${numHeads + 1} runs of the whole model, about \\d+ (s|min)\\. The first run downloads what is missing of the file, up to 65\\.\\d MiB, on top of that\\.$`,
      ),
    );
    assert.deepEqual(await cards(), byNumber);
    assert.equal(waiting.length, 0, "nothing is read before somebody says so");
    assert.deepEqual(await violations(page), []);

    await button(page, ".heads", "Measure").click();
    await says(page, ".heads", `0 of ${numHeads + 1} runs`);
    await until(page, () => document.activeElement?.textContent === "Stop");
    await eventually(() => waiting.length > 0);
    // The page goes on: other cells, other views.
    await page.locator("#tab-numbers").click();
    await page.locator("#numbers table").waitFor();
    await button(page, ".heads", "Stop").click();
    await says(page, ".heads", "Stopped; what has been measured is kept.");
    await eventually(() => closed > 0);

    open = true;
    await button(page, ".heads", "Go on").click();
    const losses = (await importance()).filter(({ layer }) => layer === 0).reverse();
    const best = losses.slice(0, 4).map(({ head, importance: cost }) => {
      return `H${head} ${cost < 0 ? "−" : "+"}${Math.abs(cost).toFixed(3)}`;
    });
    await until(
      page,
      (wanted: string) => document.querySelector("#sort-note")?.textContent?.includes(wanted),
      `comes first: ${best.join(", ")}, in nats per token.`,
    );
    await settled(page);
    assert.deepEqual(
      await cards(),
      losses.map(({ head }) => `H${head}`),
    );
    assert.equal(await page.locator(".heads .measuring").isHidden(), true);

    // Another layer is another question; back again the answer is there.
    await page.locator('fieldset#layers input[value="1"]').check();
    await settled(page);
    assert.match(await words(page, ".heads"), new RegExp(`takes ${numHeads} runs`), "the run with all heads is known");
    await page.locator('fieldset#layers input[value="0"]').check();
    await settled(page);
    await page.locator("#heads .card input").first().uncheck();
    await until(page, () => document.querySelector("#sort-note")?.textContent?.includes("Measured with all other"));
    complaints.splice(0);
  },
);

visit("a newer text does not wait for a measurement of the older", OPTIONS, async ({ page, complaints }, t) => {
  let open = true;
  const file = await openTensors(await load({ variant: "simd" }), new Uint8Array(large.buffer));
  const { offset } = file.tensors.get("blk.1.attn_norm.weight") ?? assert.fail();
  const held: Behaviour = ({ range }) => !open && (range?.begin ?? 0) >= offset;
  const server = await serve(t, large.buffer, held);
  server.headers = HEADERS;
  await openAddress(page, server.url);
  open = false;
  await page.locator("#sort").selectOption("importance");
  await button(page, ".heads", "Measure").click();
  await says(page, ".heads", "0 of");
  // Its layer 0 needs no more than some rows of the vocabulary; about the rest the server has fallen silent.
  await typeText(page, "How are you");
  await page.locator("#tokens .chip").nth(5).waitFor();
  await pictured(page, await page.locator("#tokens .chip").count());
  await says(page, ".heads", "Measuring this");
  complaints.splice(0);
});

visit("the prune curve of a large model: the shown layer's heads, or all, when asked", OPTIONS, async (given, t) => {
  const { page, complaints } = given;
  const server = await serve(t, large.buffer);
  server.headers = HEADERS;
  await openAddress(page, server.url);
  await page.locator("#labs").scrollIntoViewIfNeeded();
  await page.locator("#lab-prune > summary").click();
  await says(page, "#lab-prune", "Measuring this takes");
  assert.equal(await page.locator("#lab-prune input[value=layer]").isChecked(), true);
  const heads = await page.locator("#heads .card").count();
  await button(page, "#lab-prune", "Measure").click();
  await page.locator("#lab-prune path.live").waitFor();
  assert.equal(await page.locator("#lab-prune circle.live").count(), heads + 1);
  assert.match(await text(page, "#lab-prune svg"), new RegExp(`heads of layer 0 taken out, of ${heads}`));
  await page.locator("#lab-prune input[value=model]").check();
  await says(page, "#lab-prune", "Measuring this takes");
  assert.equal(await page.locator("#lab-prune path.live").count(), 0, "the layer's curve is not the model's");
  await button(page, "#lab-prune", "Measure").click();
  await page.locator("#lab-prune path.live").waitFor();
  const order = await importance();
  const name = ({ layer, head }: { layer: number; head: number }) => `L${layer} H${head}`;
  assert.ok(
    (await text(page, "#lab-prune")).includes(
      `The first to go: ${order.slice(0, 3).map(name).join(", ")}. The last to go, the dearest: ${order.slice(-3).map(name).join(", ")}.`,
    ),
  );
  await page.locator("#heads .card input").first().uncheck();
  await page.locator("#lab-prune .note", { hasText: "starts from the whole model" }).waitFor();
  complaints.splice(0);
});

visit(
  "what a switched-off head changes is said in sight of its box, however long the grid is",
  OPTIONS,
  async ({ page, complaints }, t) => {
    const many = { dModel: 96, numHeads: 48, numKVHeads: 48, headDim: 2 };
    const server = await serve(t, ggufFile("many.gguf", "gpt2", many).buffer);
    server.headers = HEADERS;
    await openAddress(page, server.url);
    await page.locator("#heads .card").nth(47).waitFor();
    await settled(page);
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      const box = page.locator("#heads .card input").nth(1);
      // Where the box stands in the middle of the window, and the end of the grid is far below it.
      await box.evaluate((node) => node.scrollIntoView({ block: "center" }));
      await box.uncheck();
      await page.locator("#change", { hasText: /L\d H1 the model.* changes/ }).waitFor();
      await settled(page);
      const end = await page.locator("#heads").evaluate((grid) => grid.getBoundingClientRect().bottom);
      assert.ok(end > viewport.height, `the grid ends at ${end}`);
      const { y, height } = (await page.locator("#change").boundingBox()) ?? assert.fail();
      assert.ok(y > 0 && y + height <= viewport.height, `${viewport.width}: ${y} + ${height}`);
      const ticked = (await box.boundingBox()) ?? assert.fail();
      assert.ok(ticked.y + ticked.height <= y, "the box is not below the sentence");
      // The keyboard's way down the grid does not end behind it.
      const cards = page.locator("#heads .card");
      await cards.nth(1).focus();
      for (let i = 0; i < 3; i++) {
        await page.keyboard.press("ArrowDown");
        await settled(page);
        const [card, words] = await Promise.all([
          page.locator("#heads .card:focus").boundingBox(),
          page.locator("#change").boundingBox(),
        ]);
        assert.ok(
          card && words && card.y + card.height <= words.y,
          `${viewport.width}, ${i}: ${card?.y} + ${card?.height}, ${words?.y}`,
        );
      }
      await box.check();
      await settled(page);
    }
    complaints.splice(0);
  },
);

visit("beside many heads the enlarged one stays in sight", OPTIONS, async ({ page, complaints }, t) => {
  const many = { dModel: 96, numHeads: 48, numKVHeads: 48, headDim: 2 };
  const server = await serve(t, ggufFile("many.gguf", "gpt2", many).buffer);
  server.headers = HEADERS;
  await openAddress(page, server.url);
  const card = page.locator(".detail");
  const inSight = async () => {
    const box = await card.boundingBox();
    return box !== null && box.y + box.height > 0 && box.y + box.height <= 1000 && box.y < 500;
  };
  await page.locator("#heads .card").nth(46).click();
  await settled(page);
  assert.ok((await page.evaluate(() => scrollY)) > 300, "the grid is longer than the window");
  assert.ok(await inSight());
  assert.match(await text(page, "#detail-title"), /head 46/);
  // Taller than the window: its end is what stays.
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.locator("#heads .card").nth(47).click();
  await settled(page);
  const { y, height } = (await card.boundingBox()) ?? assert.fail();
  assert.ok(y < 0 && Math.abs(y + height - 488) < 2, `${y} + ${height}`);
  complaints.splice(0);
});

visit("a layer that has to be fetched says how much of it is here", OPTIONS, async ({ page, complaints }, t) => {
  const file = await openTensors(await load({ variant: "simd" }), new Uint8Array(large.buffer));
  const { offset } = file.tensors.get("blk.1.attn_norm.weight") ?? assert.fail();
  let slow = true;
  const held: ServerResponse[] = [];
  const server = await serve(t, large.buffer, ({ range }, response, { file: bytes, headers }) => {
    if (!slow || range === undefined || range.begin < offset) return false;
    const end = Math.min(range.end, bytes.length);
    response.writeHead(206, {
      ...headers,
      "Content-Range": `bytes ${range.begin}-${end - 1}/${bytes.length}`,
      "Content-Length": end - range.begin,
    });
    response.write(bytes.subarray(range.begin, range.begin + 1000));
    held.push(response);
    return true;
  });
  server.headers = HEADERS;
  await openAddress(page, server.url);
  await page.locator('fieldset#layers input[value="1"]').check();
  await until(page, () =>
    /^Computing layer 1: [\d,.]+ \S+ read for it/.test(document.querySelector("#wait")?.textContent ?? ""),
  );
  // The last layer's picture stays meanwhile, and another one can be asked for.
  assert.match(await text(page, "#detail-title"), /^Layer 0/);
  slow = false;
  for (const response of held) response.destroy();
  await page.locator("#detail-title", { hasText: "Layer 1" }).waitFor();
  assert.equal(await page.locator("#wait").isHidden(), true);
  complaints.splice(0);
});
