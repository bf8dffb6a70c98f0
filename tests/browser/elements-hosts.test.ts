// The elements as other people's pages use them: files made in Python, narrow columns, long tokens, other colours.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type {} from "../../web/elements/tags.js";
import { give, put, useElements } from "./elements-page.js";
import { settled } from "./page.js";

const visit = useElements();

const HEADS = ["head-heatmap", "head-grid", "head-lines", "head-compare", "token-strip"] as const;
const LONG = "Donaudampfschifffahrtsgesellschaft".repeat(6).slice(0, 200);
const words = (count: number) => Array.from({ length: count }, (_, i) => ` w${i}`);
const even = (count: number, heads = 1) => ({
  data: new Array(heads * count * count).fill(1 / count),
  shape: [heads, count, count],
});
const part = (page: Page, selector: string) => page.locator(`#place > * >> css=${selector}`);
/** Of the element itself, and not of maps inside of it. */
const sentence = (page: Page) =>
  page.evaluate(() => document.querySelector("#place > *")?.shadowRoot?.querySelector(".sentence")?.textContent ?? "");

async function pin(page: Page, query: number, key: number | null): Promise<void> {
  await page.evaluate(
    (spot) => (document.querySelector("#place > *") as HTMLElementTagNameMap["head-grid"]).state.pin(spot),
    { query, key },
  );
  await settled(page);
}

/** What stands out of the element to either side, and how far the page scrolls sideways. */
function standsOut(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const element = document.querySelector("#place > *") as HTMLElement;
    const { left, right } = element.getBoundingClientRect();
    const parts = [...(element.shadowRoot as ShadowRoot).querySelectorAll("*")].filter((one) => one.checkVisibility());
    const out = parts.filter((one) => {
      const box = one.getBoundingClientRect();
      return !one.closest(".live, .labels, .scroll, .frame") && (box.left < left - 1 || box.right > right + 1);
    });
    const { scrollWidth } = document.documentElement;
    const names = out.map((one) => `${one.localName}.${one.className}`);
    return scrollWidth > innerWidth ? [...names, `the page is ${scrollWidth} wide`] : names;
  });
}

for (const tag of [...HEADS, "cost-bills"] as const) {
  visit(`<${tag}> in a column of 200 pixels and in one of 3,000 stays inside of it`, {}, async (page) => {
    const properties = { tokens: words(12), weights: even(12, 8), causal: true, controls: true };
    await put(page, tag, { properties: tag === "cost-bills" ? {} : properties });
    for (const width of [200, 3000]) {
      // With the margins of the page, which are smaller on a small screen.
      await page.setViewportSize({ width: width + (width > 452 ? 48 : 24), height: 900 });
      await settled(page);
      assert.deepEqual(await standsOut(page), [], `${width}`);
      assert.equal((await page.locator(tag).boundingBox())?.width, width);
    }
  });
}

for (const tag of HEADS) {
  visit(`<${tag}> of tokens of 200 characters is no wider than its place, and says them whole`, {}, async (page) => {
    await put(page, tag, { properties: { tokens: [LONG, "b", `${LONG}!`], weights: even(3, 2) } });
    await page.setViewportSize({ width: 400, height: 900 });
    await pin(page, 2, 0);
    assert.deepEqual(await standsOut(page), []);
    if (tag !== "head-grid" && tag !== "token-strip") assert.ok((await sentence(page)).includes(`${LONG}!`));
  });

  visit(`<${tag}> shown after it was hidden, moved and put back draws what was set meanwhile`, {}, async (page) => {
    await put(page, tag, { properties: { tokens: words(5), weights: even(5, 3) } });
    const height = () => page.evaluate(() => document.querySelector("#place > *")?.getBoundingClientRect().height ?? 0);
    const styled = (name: string, value: string) =>
      page.evaluate(([n, v]) => (document.querySelector("#place > *") as HTMLElement).style.setProperty(n, v), [
        name,
        value,
      ] as const);
    await styled("display", "none");
    await give(page, { tokens: words(6), weights: even(6, 3) });
    assert.equal(await height(), 0);
    await styled("display", "");
    await settled(page);
    assert.ok((await height()) > 20);
    // The sixth token is on the page: as a label, an item or a chip.
    const sixth = () => page.locator(tag).getByText("w5").count();
    if (tag !== "head-grid") assert.ok((await sixth()) > 0);
    await page.evaluate(
      (given) => {
        const place = document.querySelector("#place") as HTMLElement;
        const element = place.firstElementChild as HTMLElement;
        element.remove();
        Object.assign(element, given);
        const column = document.createElement("div");
        column.style.setProperty("width", "320px");
        place.replaceWith(column);
        column.id = "place";
        column.append(element);
      },
      { tokens: words(5), weights: even(5, 3) },
    );
    await settled(page);
    await settled(page);
    assert.deepEqual(await standsOut(page), []);
    assert.ok((await height()) > 20);
    if (tag !== "head-grid") assert.equal(await sixth(), 0);
    const problem = await page.evaluate(
      () => (document.querySelector("#place > *") as HTMLElementTagNameMap["head-grid"]).problem,
    );
    assert.equal(problem, null);
  });
}

visit("src reads lists in lists as Python writes them, with its NaN and -Infinity", {}, async (page) => {
  await page.route("**/heads.json", (route) =>
    route.fulfill({
      contentType: "application/json",
      body: '{"tokens": ["a", "b"], "weights": [[[1.0, NaN], [0.25, 0.75]]], "scores": [[[0.5, -Infinity], [0.0, 1.0]]]}',
    }),
  );
  await put(page, "head-heatmap", { attributes: { src: "heads.json" } });
  await part(page, ".rows .label").first().waitFor();
  await pin(page, 0, 1);
  assert.equal(await sentence(page), "query a cannot see key b: —, hidden by the mask · head 0");
  await pin(page, 1, 1);
  assert.equal(await sentence(page), "query b reads key b with weight 0.7500 · head 0");
});

visit("numbers that are no weights are shown as what they are, and no row is said to sum to 1", {}, async (page) => {
  const weights = [
    [Number.NaN, 0.5, 0.5],
    [Infinity, -Infinity, 0.2],
    [-0.5, 2, 0.25],
  ];
  const legend = async () => (await part(page, '[part="legend"]').first().textContent()) ?? "";
  await put(page, "head-heatmap", { properties: { tokens: ["a", "b", "c"], weights: even(3) } });
  assert.match(await legend(), /each row sums to 1/);
  await give(page, { weights });
  assert.match(await legend(), /not every row sums to 1/);
  for (const [query, key, said] of [
    [0, 0, "NaN"],
    [1, 0, "∞"],
    [1, 1, "−∞"],
    [2, 0, "−0.5000"],
    [2, 1, "2.0000"],
  ] as const) {
    await pin(page, query, key);
    assert.match(await sentence(page), new RegExp(` with weight ${said} · head 0$`));
  }
  await put(page, "head-lines", { properties: { tokens: ["a", "b", "c"], weights } });
  assert.match(await legend(), /Without a line, as they are not numbers \(NaN\): 1\./);
  // The difference of those that are numbers.
  await put(page, "head-compare", {
    properties: { tokens: ["a", "b", "c"], weights: [weights, weights.map((row) => row.map(() => 0.25))] },
  });
  assert.match(await sentence(page), /^Largest difference −1\.7500: query c, key b\. On average \d+ %/);
  await pin(page, 1, 0);
  assert.match(await sentence(page), /difference −∞$/);
  await pin(page, 0, null);
  assert.match(
    await sentence(page),
    /^query a: the largest difference is at key b, −0\.2500; the row holds what is not/,
  );
});

visit(
  "in forced colours what is hidden, and what is looked at, is told apart",
  { forcedColors: "active" },
  async (page) => {
    const style = (selector: string, name: string) =>
      part(page, selector)
        .first()
        .evaluate((node, n) => getComputedStyle(node).getPropertyValue(n), name);
    await put(page, "head-heatmap", { properties: { tokens: words(3), weights: even(3), causal: true } });
    assert.match(await style(".box", "background-image"), /gradient/);
    for (const [tag, looked, other] of [
      ["token-strip", "[data-query]", '[part="chip"]:not([data-query])'],
      ["head-lines", "[data-looked]", '[part="token"]:not([data-looked])'],
    ] as const) {
      await put(page, tag, { properties: { tokens: words(3), weights: even(3) } });
      await pin(page, 1, null);
      assert.notEqual(await style(looked, "background-color"), await style(other, "background-color"), tag);
    }
  },
);
