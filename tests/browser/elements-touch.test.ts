// The elements under fingers: real touch events, as the browser gets them from a screen.
import assert from "node:assert/strict";
import type { BrowserContextOptions, CDPSession, Page } from "playwright-core";
import type {} from "../../web/elements/tags.js";
import { listen, put, useElements } from "./elements-page.js";
import { settled } from "./page.js";

const visit = useElements();

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 740 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

type Point = readonly [x: number, y: number];

const words = (count: number) => Array.from({ length: count }, (_, i) => ` w${i}`);
const even = (count: number, heads = 1) => ({
  data: new Array(heads * count * count).fill(1 / count),
  shape: [heads, count, count],
});

/** Fingers on the screen: each call is one event, with all fingers that are down. */
async function fingers(
  page: Page,
): Promise<(type: "touchStart" | "touchMove" | "touchEnd", ...at: Point[]) => Promise<void>> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  return async (type, ...at) => {
    await cdp.send("Input.dispatchTouchEvent", { type, touchPoints: at.map(([x, y], id) => ({ x, y, id })) });
    await settled(page);
  };
}

/** Moves fingers from some points to others in ten steps. */
async function slide(page: Page, from: readonly Point[], to: readonly Point[]): Promise<void> {
  const touch = await fingers(page);
  await touch("touchStart", ...from);
  for (let step = 1; step <= 10; step++) {
    const at = from.map(([x, y], i): Point => {
      const [toX, toY] = to[i] as Point;
      return [x + ((toX - x) * step) / 10, y + ((toY - y) * step) / 10];
    });
    await touch("touchMove", ...at);
  }
  await touch("touchEnd");
}

async function tap(page: Page, [x, y]: Point): Promise<void> {
  await page.touchscreen.tap(x, y);
  await settled(page);
}

/** A point of a heatmap's cells, as shares of their box; `inside` finds a map of a comparison. */
async function point(page: Page, x: number, y: number): Promise<Point> {
  const box = page.locator("#place head-heatmap >> css=[part=box]");
  await box.scrollIntoViewIfNeeded();
  const { left, top, width, height } = await box.evaluate((node) => node.getBoundingClientRect());
  return [left + width * x, top + height * y];
}

/** Cell under a point of the heatmap, by what a tap there says; picks nothing. */
async function cellAt(page: Page, at: Point): Promise<string> {
  await tap(page, at);
  const said = await page.locator("#place head-heatmap >> css=[part=sentence]").textContent();
  await tap(page, [2, 2]);
  return (said ?? "").replace(/^query ␣(\w+) .*key ␣(\w+) .*$/, "$1 $2");
}

const beside = ([x, y]: Point, dx: number, dy = 0): Point => [x + dx, y + dy];

visit("two fingers zoom a heatmap around the place between them, and move it", PHONE, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: words(100), weights: even(100) } });
  const heard = await listen(page, "preview", "pick");
  const at = await point(page, 0.305, 0.605);
  // Three times as far apart, and not as it happens in the middle: what was between the fingers is there still.
  await slide(page, [beside(at, -20), beside(at, 20)], [beside(at, -60), beside(at, 60)]);
  assert.deepEqual(await heard(), [], "a pinch looks at nothing and picks nothing");
  assert.equal(await page.evaluate(() => visualViewport?.scale), 1, "the page is not zoomed");
  assert.equal(await cellAt(page, at), "w60 w30");
  const [left, top] = await point(page, 0, 0);
  const [right] = await point(page, 1, 0);
  const cell = ((right - left) / 100) * 3;
  assert.equal(await cellAt(page, beside(at, 5 * cell, -10 * cell)), "w50 w35", `${cell} pixels a cell, ${top}`);
  // Two fingers that move together take the matrix with them.
  await slide(page, [beside(at, -40), beside(at, 40)], [beside(at, -40 + 8 * cell), beside(at, 40 + 8 * cell)]);
  assert.equal(await cellAt(page, beside(at, 8 * cell)), "w60 w30");
  // And back: the whole again.
  await slide(page, [beside(at, -60), beside(at, 60)], [beside(at, -8), beside(at, 8)]);
  assert.equal(await cellAt(page, await point(page, 0.005, 0.005)), "w0 w0");
  assert.equal(await cellAt(page, await point(page, 0.995, 0.995)), "w99 w99");
});

visit("one finger scrolls the page over a whole heatmap, and moves a zoomed one", PHONE, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: words(100), weights: even(100) } });
  await page.evaluate(() => {
    (document.querySelector("#place") as HTMLElement).style.paddingBlockEnd = "1200px";
  });
  const heard = await listen(page, "preview", "pick");
  const scrolled = () => page.evaluate(() => scrollY);
  const at = await point(page, 0.505, 0.505);
  await slide(page, [at], [beside(at, 0, -150)]);
  assert.ok((await scrolled()) > 100, `${await scrolled()} pixels`);
  await page.evaluate(() => scrollTo(0, 0));
  const now = await point(page, 0.505, 0.505);
  await slide(page, [beside(now, -20), beside(now, 20)], [beside(now, -60), beside(now, 60)]);
  const before = await cellAt(page, now);
  await heard();
  await slide(page, [now], [beside(now, 60, 90)]);
  assert.equal(await scrolled(), 0);
  assert.deepEqual(await heard(), []);
  assert.notEqual(await cellAt(page, now), before);
});

visit("a finger on the minimap takes the window there", PHONE, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: words(100), weights: even(100) } });
  const map = page.locator("#place head-heatmap >> css=[part=map]");
  await map.scrollIntoViewIfNeeded();
  const { left, top, width } = await map.evaluate((node) => node.getBoundingClientRect());
  const place = (share: number): Point => [left + width * share, top + width * share];
  await slide(page, [place(0.2)], [place(0.7)]);
  const label = page.locator("#place head-heatmap >> css=.rows .label:not(.crowded)");
  const shown = await label.allInnerTexts();
  assert.ok(shown.includes("␣w70") && !shown.includes("␣w20"), shown.join());
});

visit("the maps of a comparison zoom together under two fingers", PHONE, async (page) => {
  await put(page, "head-compare", { properties: { tokens: words(80), weights: even(80, 2) } });
  const box = page.locator("#place head-compare >> css=[part=left] [part=box]");
  await box.scrollIntoViewIfNeeded();
  const { left, top, width, height } = await box.evaluate((node) => node.getBoundingClientRect());
  const at: Point = [left + width / 2, top + height / 2];
  await slide(page, [beside(at, -20), beside(at, 20)], [beside(at, -80), beside(at, 80)]);
  const zoomed = page.locator("#place head-compare >> css=.box.zoomed");
  assert.equal(await zoomed.count(), 3);
});

for (const [tag, selector, spot, properties] of [
  ["head-heatmap", ".box", { query: 1, key: 1 }, {}],
  ["head-lines", '[part~="query"] [part="token"]:nth-child(2)', { query: 1, key: null }, {}],
  ["token-strip", '[part="chip"]:nth-child(2)', { query: 1, key: null }, {}],
  ["token-strip", '[part="chip"]:nth-child(2)', { query: 0, key: 1 }, { side: "key" }],
] as const) {
  visit(`<${tag}> ${JSON.stringify(properties)}: a tap looks, a second pins, a third lets go`, PHONE, async (page) => {
    await put(page, tag, { properties: { tokens: ["a", "b", "c"], weights: even(3), ...properties } });
    const heard = await listen(page, "preview", "pick");
    const state = () =>
      page.evaluate(() => {
        const { query, key, pinned } = (document.querySelector("#place > *") as HTMLElementTagNameMap["head-grid"])
          .state;
        return { query, key, pinned };
      });
    const target = page.locator(`#place > * >> css=${selector}`).first();
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    assert.ok(box);
    const at: Point = [box.x + box.width / 2, box.y + box.height / 2];
    await tap(page, at);
    assert.deepEqual(await state(), { ...spot, pinned: null });
    assert.deepEqual(await heard(), [["preview", { head: 0, ...spot }]]);
    await tap(page, at);
    assert.deepEqual(await state(), { ...spot, pinned: spot });
    assert.deepEqual(await heard(), [["pick", { head: 0, ...spot }]]);
    await tap(page, at);
    assert.equal((await state()).pinned, null);
    // Beside it, nothing is looked at any more.
    await tap(page, at);
    await tap(page, [2, 2]);
    assert.deepEqual(await state(), { query: null, key: null, pinned: null });
  });
}
