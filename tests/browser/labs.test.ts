import assert from "node:assert/strict";
import { load } from "headscope";
import type { Locator, Page } from "playwright-core";
import { loadLanguage, say, withWords } from "../../web/i18n/index.js";
import { percent, threeDigits } from "../../web/playground/labs/drawing.js";
import { layerOfParts, projectHeads } from "../../web/playground/labs/lab-layer.js";
import { randomTarget, reachOf } from "../../web/playground/labs/low-rank.js";
import { projectionOf, projections, reportOutput } from "../../web/playground/labs/output-projection.js";
import { errorOfRank } from "../../web/playground/labs/svd.js";
import { builtHeads } from "../../web/playground/sources/built-heads.js";
import { numpySeed42 } from "../../web/playground/sources/numpy-seed42.js";
import { inThread } from "../support/in-thread.js";
import { violations } from "./axe.js";
import { settled, typeText, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

// The words of the laboratories.
await loadLanguage("en");
await withWords(Promise.resolve());
useBrowser();

const SENTENCE = "a b c d a b c d";

async function open(page: Page, id: string): Promise<Locator> {
  // They are fetched when they come into sight.
  await page.locator("#labs").scrollIntoViewIfNeeded();
  const lab = page.locator(`#lab-${id}`);
  await lab.locator("summary").first().click();
  await until(page, (of: string) => document.querySelector(`#lab-${of} .lab-results`)?.childElementCount, id);
  await settled(page);
  return lab;
}

const textOf = async (found: Locator) => (await found.textContent()) ?? "";
const sum = (lab: Locator) => textOf(lab.locator(".lab-sum").first());
const rows = (lab: Locator) =>
  lab
    .locator("tbody tr")
    .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));

async function seed42() {
  const core = inThread(await load({ variant: "simd" }));
  const { tokens } = await numpySeed42.tokenize("", "character");
  const source = await numpySeed42.open(core);
  const parts = await source.parts(tokens, { causal: false, layer: 0, off: new Set() });
  assert.ok(parts);
  return { core, layer: layerOfParts(core, parts) };
}

visit("W_O laboratory: every W_O with the API's numbers", { fragment: "s=numpy&l=en" }, async ({ page }) => {
  const { core, layer } = await seed42();
  const lab = await open(page, "wo");
  const [{ heads }, own] = await Promise.all([layer.results(), layer.projection()]);
  for (const kind of projections) {
    await lab.locator(`input[value=${kind}]`).check();
    const wo = projectionOf(kind, own.sizes, own.wo, heads);
    const { contributions, output } = await projectHeads(core, heads, { ...own, wo });
    const report = reportOutput(contributions, output, own.bo);
    await until(
      page,
      (norm: string) => document.querySelector("#lab-wo .lab-sum")?.textContent?.endsWith(`‖A‖ = ${norm}.`),
      threeDigits(report.norm),
    );
    const shown = await rows(lab);
    assert.deepEqual(
      shown.map((row) => row.slice(0, 3)),
      report.heads.map(({ norm, share }, head) => [String(head), threeDigits(norm), percent(share)]),
      kind,
    );
  }
  await lab.locator("input[value=identity]").check();
  await until(page, () => document.querySelector("#lab-wo canvas")?.getAttribute("aria-label")?.includes("4 of 8"));
});

visit("laboratories count heads that are off as off, and say so", { fragment: "s=numpy&l=en" }, async ({ page }) => {
  const { core, layer } = await seed42();
  const [{ heads }, own] = await Promise.all([layer.results(), layer.projection()]);
  const off = new Set([1]);
  const { contributions, output } = await projectHeads(core, heads, own, off);
  const report = reportOutput(contributions, output, own.bo);
  const lab = await open(page, "wo");
  await page.locator("#heads .card input").nth(1).uncheck();
  await until(
    page,
    (norm: string) => document.querySelector("#lab-wo .lab-sum")?.textContent?.endsWith(`‖A‖ = ${norm}.`),
    threeDigits(report.norm),
  );
  assert.deepEqual(
    (await rows(lab)).map((row) => row.slice(0, 3)),
    [
      ["0", threeDigits(report.heads[0]?.norm as number), "100 %"],
      ["1", "off", ""],
    ],
  );
  assert.equal(
    await textOf(lab.locator(".note")),
    "Off: H1. What was read there is left out of A, and the shares are shares of what remains.",
  );
  await page.locator("#heads .card").nth(1).click();
  for (const id of ["gqa", "rank", "same"]) {
    const other = await open(page, id);
    const words = id === "gqa" ? /^Off: H1, left out of the output/ : /^H1 is switched off: it still reads/;
    assert.match(await textOf(other.locator(".note")), words, id);
  }
  await page.locator("#heads .card input").nth(0).uncheck();
  await until(page, () => document.querySelector("#lab-wo .lab-sum")?.textContent?.endsWith("‖A‖ = 0."));
  await page.locator("#all-on").click();
  await until(page, () => document.querySelectorAll("#labs .note").length === 0);
});

visit("GQA laboratory: error and bytes of each place, and what is no place", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  const core = inThread(await load({ variant: "simd" }));
  const { tokens } = await builtHeads.tokenize(SENTENCE, "character");
  const source = await builtHeads.open(core);
  const parts = await source.parts(tokens, { causal: true, layer: 0, off: new Set() });
  assert.ok(parts);
  const points = await layerOfParts(core, parts).pooled(2);
  const lab = await open(page, "gqa");
  assert.deepEqual(
    (await rows(lab)).map(([groups, , error]) => [groups, error]),
    points.map(({ numKVHeads, error }) => [String(numKVHeads), percent(error)]),
  );
  assert.deepEqual(
    (await rows(lab)).map(([, kind, , bytes]) => [kind, bytes]),
    [
      ["MHA", "2,048 B"],
      ["GQA", "1,024 B"],
      ["GQA", "512 B"],
      ["MQA", "256 B"],
    ],
  );
  await lab.locator("input[type=range]").focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.match(await sum(lab), /^GQA: 8 query heads on 4 K\/V heads.*1,024 B.*50\.0 % of 2,048 B\.$/);
  assert.equal(await lab.locator("svg rect.shared").count(), 4);
  assert.equal(await lab.locator("svg line").count(), 8);
  const before = await sum(lab);
  await lab.locator("input[type=number]").fill("3");
  assert.equal(
    await textOf(lab.locator(".lab-number .problem")),
    "G has to divide the layer's 8 K/V heads: 8, 4, 2, 1. 3 does not.",
  );
  assert.equal(await lab.locator("input[type=number]").getAttribute("aria-invalid"), "true");
  assert.equal(await sum(lab), before, "the last good picture stays");
  await lab.locator("input[type=number]").fill("1");
  assert.equal(await textOf(lab.locator(".lab-number .problem")), "");
  await settled(page);
  assert.match(await sum(lab), /^MQA/);
  await lab.locator("input[value='4']").check();
  await until(page, () => document.querySelector("#lab-gqa .lab-sum")?.textContent?.includes("512 B of cache"));
});

visit("rank laboratory: what a width misses, as computed, and limits that are explained", {}, async ({ page }) => {
  const lab = await open(page, "rank");
  const words = async (n: number, dk: number, seed = 42) => {
    const target = randomTarget(n, seed);
    return say("lab.rank.sentence", {
      dk,
      n,
      error: percent(errorOfRank(target.svd, dk)),
      worst: reachOf(target, dk).worst.toFixed(2),
    });
  };
  assert.equal(await sum(lab), await words(16, 4));
  const [n, dk] = [lab.locator("input[type=number]").nth(0), lab.locator("input[type=number]").nth(1)];
  await dk.fill("9");
  await settled(page);
  assert.equal(await sum(lab), await words(16, 9));
  await dk.fill("17");
  assert.equal(await textOf(lab.locator(".problem").nth(1)), "width d_k is a whole number from 1 to 16, not 17.");
  await dk.fill("");
  assert.match(await textOf(lab.locator(".lab-number .problem").nth(1)), /not —\.$/);
  await n.fill("6");
  await settled(page);
  assert.equal(await dk.inputValue(), "6", "a width above n makes no difference");
  assert.match(await sum(lab), /^With d_k = n = 6 every pattern of scores can be made/);
  await dk.fill("2");
  await settled(page);
  assert.equal(await sum(lab), await words(6, 2));
  await lab.locator("button").click();
  await settled(page);
  assert.equal(await sum(lab), await words(6, 2, 43));
  assert.match(
    await textOf(lab),
    /QKᵀ of 9 tokens has rank \d, as far as float32 can tell; d_k = 64 and n = 9 allow 9\./,
  );
});

visit("same output, other weights: they move, the output does not", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  await page.locator("#next-head").click();
  await settled(page);
  const lab = await open(page, "same");
  const difference = Number(/differs by (\S+) of its size/.exec(await sum(lab))?.[1]);
  assert.ok(difference <= 1e-6, String(difference));
  const moved = Number(/^([\d.]+) %/.exec(await sum(lab))?.[1]);
  assert.ok(moved > 1);
  const column = async (at: number) => (await rows(lab)).map((row) => Number((row[at] as string).replace("<", "")));
  for (const at of [1, 2]) {
    const total = (await column(at)).reduce((all, weight) => all + weight, 0);
    assert.ok(Math.abs(total - 1) < 2e-3, String(total));
  }
  await lab.locator("input[type=number]").fill("0");
  await settled(page);
  assert.deepEqual(await column(2), await column(1));
  await lab.locator("input[type=number]").fill("101");
  assert.match(await textOf(lab.locator(".lab-number .problem")), /from 0 to 100, not 101/);
  await typeText(page, "one two");
  await until(page, () => document.querySelector("#lab-same .lab-results")?.textContent?.startsWith("No freedom"));
});

visit(
  "a trained model in the laboratories: through its file, in its own layer",
  { fragment: "s=tiny&y=1&l=en" },
  async ({ page }) => {
    await until(page, () => document.querySelector<HTMLElement>("#layers")?.hidden === false);
    await settled(page);
    const lab = await open(page, "wo");
    assert.equal((await rows(lab)).length, 9, "eight heads and b_O");
    assert.match(await sum(lab), /largest difference is \S+e-\d, with ‖A‖ = [\d.]+\.$/);
    const shares = (await rows(lab)).map((row) => Number((row[2] as string).replace("−", "-").replace(" %", "")));
    assert.ok(Math.abs(shares.reduce((all, share) => all + share, 0) - 100) < 0.6);
    const pooled = await open(page, "gqa");
    assert.deepEqual(
      (await rows(pooled)).map((row) => row[3]),
      ["512 B", "256 B", "128 B", "64 B"],
    );
  },
);

visit(
  "a laboratory whose code comes late is there once, also when its first fetch failed",
  { fragment: "s=tiny&y=1&l=en" },
  async ({ page, complaints }) => {
    await page.locator("fieldset#layers").waitFor();
    let fails = true;
    await page.route("**/assets/prune-lab*.js", async (route) => {
      if (fails) return route.abort();
      await new Promise((done) => setTimeout(done, 700));
      return route.continue();
    });
    await page.locator("#labs").scrollIntoViewIfNeeded();
    await page.locator("#lab-prune > summary").click();
    await page.locator("#lab-prune .problem[role=alert]").waitFor();
    fails = false;
    complaints.splice(0);
    // A module that could not be fetched is not asked for again under its name: a new visit, and changes while it loads.
    await page.reload();
    await page.locator("fieldset#layers").waitFor();
    await settled(page);
    await page.locator("#labs").scrollIntoViewIfNeeded();
    await page.locator("#lab-prune > summary").click();
    for (const typed of ["one two", "one two three"]) await typeText(page, typed);
    await page.locator("#lab-prune path.live").waitFor();
    assert.equal(await page.locator("#lab-prune .prune-figure").count(), 1);
    assert.equal(await page.locator("#lab-prune .problem").count(), 0);
  },
);

for (const [colorScheme, locale] of [
  ["light", "en-US"],
  ["dark", "zh-CN"],
] as const) {
  visit(
    `axe finds nothing in the laboratories, ${colorScheme}, ${locale}`,
    { colorScheme, locale },
    async ({ page }) => {
      for (const id of ["wo", "gqa", "rank", "same"]) await open(page, id);
      await page.locator("#lab-gqa input[type=number]").fill("5");
      assert.deepEqual(await violations(page), []);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(width <= 0, "nothing scrolls sideways");
    },
  );
}

visit(
  "on a phone the curve is drawn for its width: its words can be read",
  { fragment: "s=tiny&y=1&l=en", viewport: { width: 360, height: 740 } },
  async ({ page }) => {
    await page.locator("fieldset#layers").waitFor();
    await page.locator("#labs").scrollIntoViewIfNeeded();
    await page.locator("#lab-prune > summary").click();
    await page.locator("#lab-prune path.live").waitFor();
    const heights = await page
      .locator("#lab-prune svg text")
      .evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().height));
    assert.ok(Math.min(...heights) >= 11, String(heights));
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, "nothing scrolls sideways");
  },
);

visit("the laboratories fit a phone", { viewport: { width: 360, height: 740 } }, async ({ page }) => {
  for (const id of ["wo", "gqa", "rank", "same"]) await open(page, id);
  const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(width <= 0, "nothing scrolls sideways");
});
