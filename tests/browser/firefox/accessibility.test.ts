// Axe in Firefox, whose accessibility tree and colours are its own: the main states, in both themes and languages.
import assert from "node:assert/strict";
import type { Page } from "puppeteer-core";
import { violations } from "../axe.js";
import { until } from "../until.js";
import { click, press, settled, text, useFirefox, visit } from "./page.js";

useFirefox();

const BUILT = "#t=The+cat+sat+on+the+mat+because+it+was&s=built&h=6&q=7&k=5";

async function choose(page: Page, theme: "light" | "dark"): Promise<void> {
  for (let i = 0; i < 3; i++) {
    if ((await page.$eval("html", (root) => (root as HTMLElement).dataset["theme"])) === theme) return;
    await click(page, "#theme");
  }
  assert.fail(`the button never comes to ${theme}`);
}

async function openLab(page: Page, id: string): Promise<void> {
  await page.$eval("#labs", (labs) => labs.scrollIntoView());
  await until(page, (of: string) => document.querySelector(`#lab-${of}`) !== null, id);
  await click(page, `#lab-${id} summary`);
  await until(page, (of: string) => document.querySelector(`#lab-${of} .lab-results`)?.childElementCount, id);
  await settled(page);
}

for (const [theme, language] of [
  ["light", "en"],
  ["dark", "zh"],
] as const) {
  visit(`Firefox: axe finds nothing in any view, ${theme}, ${language}`, `${BUILT}&l=${language}`, async ({ page }) => {
    await settled(page);
    await choose(page, theme);
    await settled(page);
    for (const tab of ["matrix", "lines", "compare", "numbers"]) {
      await click(page, `#tab-${tab}`);
      await settled(page);
      assert.deepEqual(await violations(page), [], tab);
    }
    await click(page, "#heads >>> .card input", 1);
    await settled(page);
    await until(page, () => document.querySelector<HTMLElement>("#change")?.hidden === false);
    await click(page, "#open-button");
    await settled(page);
    assert.deepEqual(await violations(page), [], "a head off, and the panel for a model");
    await click(page, "#export");
    await settled(page);
    assert.deepEqual(await violations(page), [], "the menu");
    await press(page, "Escape");
    await press(page, "?");
    assert.deepEqual(await violations(page), [], "the keys");
    await press(page, "Escape");
    for (const id of ["wo", "gqa", "rank", "same"]) await openLab(page, id);
    assert.deepEqual(await violations(page), [], "the laboratories");
  });
}

visit(
  "Firefox: a phone of 360 pixels: nothing scrolls sideways, four heads in a row, axe finds nothing",
  `${BUILT}&l=en`,
  async ({ page }) => {
    await settled(page);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(await page.evaluate(() => innerWidth), 360);
    for (const tab of ["matrix", "lines", "compare", "numbers"]) {
      await click(page, `#tab-${tab}`);
      await settled(page);
      assert.ok((await overflow()) <= 0, tab);
    }
    assert.deepEqual(await violations(page), []);
    const tops = await page.evaluate(() =>
      [...(document.querySelector("#heads")?.shadowRoot?.querySelectorAll(".card") ?? [])].map(
        (card) => card.getBoundingClientRect().top,
      ),
    );
    assert.equal(tops.filter((top) => top === tops[0]).length, 4);
    await click(page, "#language");
    await settled(page);
    assert.equal(await text(page, "#heads-title"), "8 个头");
    assert.ok((await overflow()) <= 0, "Chinese");
    for (const id of ["wo", "gqa", "rank", "same"]) await openLab(page, id);
    assert.ok((await overflow()) <= 0, "the laboratories");
  },
  { viewport: { width: 360, height: 740 } },
);

visit("Firefox: axe finds nothing on the pages of the documentation", "elements.html", async ({ page, site }) => {
  for (const name of ["elements", "api", "head-heatmap", "cost-bills"]) {
    await page.goto(`${site.url}${name}.html`);
    await page.waitForSelector("h1");
    for (const theme of ["light", "dark"] as const) {
      await choose(page, theme);
      assert.deepEqual(await violations(page), [], `${name}, ${theme}`);
    }
  }
});
