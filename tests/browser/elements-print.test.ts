// The elements on paper: nothing scrolls there, nothing can be pointed at, and the page is narrower.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type {} from "../../web/elements/tags.js";
import { put, useElements } from "./elements-page.js";
import { settled } from "./page.js";

const visit = useElements();

const words = (count: number) => Array.from({ length: count }, (_, i) => ` w${i}`);
const even = (count: number, heads = 1) => ({
  data: new Array(heads * count * count).fill(1 / count),
  shape: [heads, count, count],
});
const heads = (count: number) => ({ tokens: words(count), weights: even(count, 12), causal: true });
const PAPER = { format: "A4", margin: { left: "1cm", right: "1cm", top: "1cm", bottom: "1cm" } };

interface OnPaper {
  readonly width: number;
  /** What stands out of the element, and what is cut off. */
  readonly wrong: readonly string[];
  readonly words: string;
}

/** Prints the page, and says what was on the paper: the elements draw when the print media come, before this looks. */
async function onPaper(page: Page): Promise<OnPaper> {
  await page.evaluate(() => {
    matchMedia("print").addEventListener("change", ({ matches }) => {
      if (!matches) return;
      const element = document.querySelector("#place > *") as HTMLElement;
      const { right, width } = element.getBoundingClientRect();
      const parts = [...(element.shadowRoot as ShadowRoot).querySelectorAll<HTMLElement>("*")];
      const shown = parts.filter((part) => part.checkVisibility() && !part.closest(".live"));
      const wider = shown.filter((part) => part.getBoundingClientRect().right > right + 1);
      const clipped = shown.filter((part) => getComputedStyle(part).overflowY !== "visible");
      // A line on the edge of a sheet is a little longer.
      const cut = clipped.filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 12);
      const texts = shown.filter((part) => part.childElementCount === 0 || part.matches(".token"));
      const printed = {
        width,
        wrong: [...wider, ...cut].map((part) => `${part.localName}.${part.className}`),
        words: texts.map((part) => part.textContent).join("\n"),
      };
      Object.assign(window, { printed });
    });
  });
  await page.pdf(PAPER);
  return page.evaluate(() => (window as unknown as { printed: OnPaper }).printed);
}

for (const [tag, properties] of [
  ["head-heatmap", { ...heads(40), controls: true }],
  ["head-grid", heads(40)],
  ["head-lines", { ...heads(100), controls: true }],
  ["head-lines", { ...heads(60), direction: "horizontal" }],
  ["head-compare", { ...heads(40), controls: true }],
  ["token-strip", { tokens: words(300) }],
  ["cost-bills", {}],
] as const) {
  const how = "direction" in properties ? " from left to right" : "";
  visit(`<${tag}>${how} is as wide as the paper, and all of it is there`, {}, async (page) => {
    await put(page, tag, { properties });
    const before = await page.locator(tag).boundingBox();
    const { width, wrong } = await onPaper(page);
    assert.ok(width > 500 && width < 720, `${width} pixels`);
    assert.deepEqual(wrong, []);
    // The screen has its own again.
    await settled(page);
    assert.deepEqual(await page.locator(tag).boundingBox(), before);
  });
}

visit("<head-lines> prints every token, and more lines than a screen has", {}, async (page) => {
  await put(page, "head-lines", { properties: { tokens: words(120), weights: even(120), top: null, threshold: 0 } });
  const legend = page.locator("head-lines >> css=[part=legend]");
  assert.match((await legend.textContent()) ?? "", /Only the 2000 strongest of \d+ lines in view are drawn\./);
  const { words: printed } = await onPaper(page);
  for (const token of words(120)) assert.equal(printed.split(token.replace(" ", "␣")).length > 2, true, token);
  assert.match(printed, /Only the 8000 strongest of 14400 lines in view are drawn\./);
  assert.doesNotMatch(printed, /Point at|Lines a query/);
});

visit("<head-compare> prints the names of the heads where the screen has lists", {}, async (page) => {
  await put(page, "head-compare", { properties: { ...heads(6), controls: true } });
  assert.match((await onPaper(page)).words, /^head 0$[\s\S]+^head 1$/m);
});
