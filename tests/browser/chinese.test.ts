// Chinese as readers see it, with a font that has it: characters and no empty boxes, on the page, in byte pieces and in
// exports, and nothing that is too long for its place.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { chineseFont } from "../../tools/lib/fonts.js";
import { type Picture, readPng } from "../support/png.ts";
import { ggufFile } from "./model-files.js";
import { chooseFiles, settled, tokens, typeText, useBrowser, visit } from "./page.js";

useBrowser();

const skip = chineseFont.find() ? false : `no Chinese font: ${chineseFont.howToInstall}`;
const SENTENCE = "小明在北京的大学里学习计算机科学";
const FRAGMENT = `t=${SENTENCE}&u=character&s=built&h=6&q=6&k=4&l=zh`;

/** Pixels as one string: equal where the pictures are. */
function pixelsOf({ width, height, at }: Picture): string {
  const rows = Array.from({ length: height }, (_, y) => Array.from({ length: width }, (__, x) => at(x, y).join()));
  return rows.map((row) => row.join(" ")).join("\n");
}

const shot = async (found: Locator) => readPng(await found.screenshot());

/** A square around the middle, so that the place of a token does not count. */
function middle({ width, height, at }: Picture, side: number): Picture {
  const [left, top] = [(width - side) / 2, (height - side) / 2].map(Math.round) as [number, number];
  return { width: side, height: side, at: (x, y) => at(left + x, top + y) };
}

/** Controls and headings whose words do not fit into them, or break where they should not. */
function cramped(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, [role=tab], h2, legend, label > span, select")]
      .filter((node) => node.checkVisibility() && !node.closest(".hidden-label, #source"))
      .filter((node) => node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline")
      .map((node) => `${node.tagName} ${node.id}: ${node.textContent}`),
  );
}

for (const colorScheme of ["light", "dark"] as const) {
  visit(
    `every character is drawn as itself: text, tokens, both axes and numbers, ${colorScheme}`,
    { skip, fragment: FRAGMENT, locale: "zh-CN", colorScheme, reducedMotion: "reduce" },
    async ({ page }) => {
      assert.equal((await tokens(page)).join(""), SENTENCE);
      const distinct = [...new Set(SENTENCE)];
      for (const labels of ["#tokens .chip .token", "#matrix .rows .token"]) {
        const seen = new Map<string, string>();
        for (const character of distinct) {
          // Those that are picked have a ground of their own.
          const at = SENTENCE.indexOf(character);
          if (at === 6 || at === 4) continue;
          const label = page.locator(labels, { hasText: character }).first();
          const pixels = pixelsOf(middle(await shot(label), 11));
          assert.ok(new Set(pixels.split(/[ \n]/)).size > 2, `${labels}: ${character} has ink`);
          assert.equal(seen.get(pixels), undefined, `${labels}: ${character} looks like ${seen.get(pixels)}`);
          seen.set(pixels, character);
        }
      }
      // Text fields and headings are in the other font of the page.
      const [one, other] = [await shot(page.locator("#text")), await swapped(page)];
      assert.notEqual(pixelsOf(one), pixelsOf(other));
    },
  );
}

/** The field with two characters exchanged: as wide, and the same if both were boxes. */
async function swapped(page: Page): Promise<Picture> {
  await typeText(page, `明小${SENTENCE.slice(2)}`);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  return shot(page.locator("#text"));
}

for (const [width, colorScheme] of [
  [1280, "light"],
  [360, "dark"],
] as const) {
  visit(
    `a page in Chinese has room for its words at ${width} px`,
    { skip, fragment: FRAGMENT, locale: "zh-CN", colorScheme, viewport: { width, height: 900 } },
    async ({ page }) => {
      for (const tab of ["matrix", "lines", "compare", "numbers"]) {
        await page.locator(`#tab-${tab}`).click();
        await settled(page);
        assert.deepEqual(await cramped(page), [], tab);
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, tab);
      }
      // One line each: the four tabs, and the name with the buttons of the bar.
      for (const selector of ["#tabs [role=tab]", ".bar h1, .bar-buttons > *"]) {
        const middles = await page.locator(selector).evaluateAll((all) =>
          all.map((each) => {
            const { top, height } = each.getBoundingClientRect();
            return top + height / 2;
          }),
        );
        assert.ok(Math.max(...middles) - Math.min(...middles) < 8, `${selector}: ${middles.join()}`);
      }
    },
  );
}

visit(
  "byte pieces of a Chinese text: the character with its bytes, whole, in the strip and on the axes",
  { skip, fragment: `t=${SENTENCE}&s=built&l=zh`, locale: "zh-CN" },
  async ({ page }) => {
    await chooseFiles(page, [ggufFile("bytes.gguf", "gpt2")]);
    await page.locator("#about", { hasText: "bytes.gguf" }).waitFor();
    await settled(page);
    const labels = await tokens(page);
    // Three bytes each, as UTF-8 has them.
    const bytes = [...Buffer.from(SENTENCE)].map((byte) => `‹${byte.toString(16).toUpperCase()}›`);
    assert.ok(labels.length >= 24);
    assert.deepEqual(
      labels,
      labels.map((_, i) => `${SENTENCE[Math.floor(i / 3)]}${bytes[i]}`),
    );
    const cut = await page
      .locator("#tokens .chip .token, #matrix .rows .token")
      .evaluateAll((all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent),
      );
    assert.deepEqual(cut, []);
    // The same character thrice is the same picture; another one is another.
    const glyph = async (at: number) => {
      const { width, height, at: pixel } = await shot(page.locator("#tokens .chip .token").nth(at));
      return pixelsOf({ width: Math.min(13, width), height, at: pixel });
    };
    assert.notEqual(await glyph(0), await glyph(3));
  },
);

visit(
  "the exported picture has the characters too",
  { skip, fragment: "t=小明&u=character&s=built&h=0&l=zh", locale: "zh-CN" },
  async ({ page }) => {
    const saved = async () => {
      await page.locator("#export").click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator("[data-export=png]").click()]);
      return readPng(readFileSync(await download.path()));
    };
    const one = await saved();
    await typeText(page, "明小");
    const other = await saved();
    // The same weights: the pictures differ by the characters alone.
    assert.deepEqual([one.width, one.height], [other.width, other.height]);
    assert.notEqual(pixelsOf(one), pixelsOf(other));
  },
);
