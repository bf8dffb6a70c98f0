// What stays and what goes when the source, the file, the text or the link changes under a view that was set up before.
import assert from "node:assert/strict";
import { load } from "headscope";
import { openModel } from "headscope/models";
import { type Chosen, ggufFile } from "./model-files.js";
import { chooseFiles, pictured, settled, text, typeText, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

useBrowser();

const fragmentOf = (page: import("playwright-core").Page) => page.evaluate(() => location.hash);
const lineHeads = (page: import("playwright-core").Page) =>
  page
    .locator("#lines")
    .evaluate((lines) => (lines as unknown as { state: { values: { heads: number[] } } }).state.values.heads);

visit(
  "another source opens on a view of its own: no head, pin, layer, line or gate of the last one",
  { fragment: "t=The+cat+sat&s=tiny&y=2&h=7&q=2&k=1&g=5.6&b=6&x=1-3.2-7&v=lines&l=en" },
  async ({ page }) => {
    await page.locator("fieldset#layers").waitFor();
    await page.locator("#change:not([hidden])").waitFor();
    await until(page, () => customElements.get("head-lines") !== undefined);
    assert.deepEqual(await lineHeads(page), [7, 5, 6]);
    await page.locator('#source input[value="built"]').check();
    await settled(page);
    assert.deepEqual(await lineHeads(page), [0]);
    assert.equal(await page.locator("#change").isHidden(), true);
    assert.equal(await page.locator("#heads .card input:not(:checked)").count(), 0);
    await until(page, () => !/[&#](g|b|x|y|q|k)=/.test(location.hash));
    await page.locator('#source input[value="numpy"]').check();
    await settled(page);
    assert.equal(await page.locator("#heads .card").count(), 2);
    await page.locator("#tab-compare").click();
    await settled(page);
    assert.equal(await page.locator("#other-head").inputValue(), "1");
  },
);

const FILE: Chosen = ggufFile("first.gguf", "gpt2");
const OTHER: Chosen = { ...ggufFile("second.gguf", "gpt2", { epsilon: 0.3 }), name: "second.gguf" };

visit(
  "a file in the place of another one is compared with itself, not with the answers of the first",
  { fragment: "t=How+are&s=built&h=0&m=text&e=are+How&v=compare&l=en" },
  async ({ page }) => {
    const wanted = async ({ buffer }: Chosen) => {
      using model = await openModel(await load({ variant: "simd" }), new Uint8Array(buffer));
      for await (const { weights } of model.run(model.tokenize("are How"), { layers: 1 })) {
        return Array.from(weights.data);
      }
      return assert.fail();
    };
    for (const file of [FILE, OTHER]) {
      await chooseFiles(page, [file]);
      await page.locator("#about", { hasText: file.name }).waitFor();
      await settled(page);
      await page.locator('fieldset#layers input[value="0"]').check();
      await settled(page);
      await until(
        page,
        (values: readonly number[]) => {
          const { right } = document.querySelector("#compare") as unknown as {
            right: { weights: { data: Float32Array } } | null;
          };
          return right && values.every((weight, i) => right.weights.data[i] === weight);
        },
        await wanted(file),
      );
    }
    assert.notDeepEqual(await wanted(FILE), await wanted(OTHER));
  },
);

visit("one token and one character are counted in the singular", {}, async ({ page }) => {
  await typeText(page, "x");
  await pictured(page, 1);
  assert.match(await text(page, "#status"), /^1 token · 1 character · 8 heads/);
  await page.locator('#source input[value="tiny"]').check();
  await page.locator("fieldset#layers").waitFor();
  await settled(page);
  assert.match(await text(page, "#status"), /^1 token · 1 character · 4 × 8 heads/);
  await typeText(page, "x y");
  assert.match(await text(page, "#status"), /^\d tokens · 3 characters · 4 × 8 heads/);
});

visit(
  "without a text there is no sentence about it, and with the next one it is back",
  { fragment: "t=The+cat+sat&s=tiny&o=importance&x=1-3.2-7&l=en" },
  async ({ page }) => {
    await page.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
    await page.locator("#sort-note:not([hidden])", { hasText: "comes first" }).waitFor();
    await typeText(page, "");
    for (const id of ["change", "sort-note"]) assert.equal(await page.locator(`#${id}`).isHidden(), true, id);
    await typeText(page, "The dog");
    await page.locator("#change:not([hidden])", { hasText: "nats" }).waitFor();
    await page.locator("#sort-note:not([hidden])", { hasText: "comes first" }).waitFor();
  },
);

visit(
  "a damaged link says so until a text is typed",
  { fragment: "z=AAAA&s=built&l=en", bare: true },
  async ({ page }) => {
    await page.locator("#problem:not([hidden])").waitFor();
    assert.match(await text(page, "#problem"), /^The text in this link could not be unpacked: .* Ask for it again/);
    await typeText(page, "one two");
    assert.equal(await page.locator("#problem").isHidden(), true);
  },
);

visit(
  "a book beside another text is cut with a sentence, and the link holds no more than is compared",
  { fragment: "t=one+two&s=built&h=0&m=text&v=compare&l=en" },
  async ({ page, context, site }) => {
    const book = "It was the best of times, it was the worst of times. ".repeat(20_000);
    await page.locator("#other-text").fill(book);
    await page.locator("#compare-note", { hasText: "Of the other text only the first 512 tokens" }).waitFor();
    await until(page, () => /[&#]i=/.test(location.hash));
    const fragment = await fragmentOf(page);
    assert.ok(fragment.length < 2000, `${fragment.length} characters`);
    const again = await context.newPage();
    await again.goto(`${site.url}${fragment}`);
    await again.locator("#compare:not([hidden])").waitFor();
    await settled(again);
    const typed = await again.locator("#other-text").inputValue();
    assert.ok(book.startsWith(typed) && typed.length > 1000 && typed.length < 5000);
  },
);

visit("with nothing picked the sentence is a hint, not a reading", {}, async ({ page }) => {
  await page.locator("#matrix").focus();
  await page.keyboard.press("Escape");
  await until(page, () => document.querySelector("#sentence.hint") !== null);
  assert.match(await text(page, "#sentence"), /^Point at a cell/);
});
