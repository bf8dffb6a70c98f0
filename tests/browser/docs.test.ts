// The documentation in a browser: figures run under the strict policy and a sub-path, show the API's numbers, and open
// without a network.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { load } from "headscope";
import type { Browser, Page } from "playwright-core";
import { pages } from "../../web/docs/pages/content/elements.js";
import { violations } from "./axe.js";
import { CSP, launchChromium, type ServedSite, serveSite } from "./launch.js";
import { wasDropped } from "./page.js";
import { PATIENT, until } from "./until.js";

let browser: Browser;
let site: ServedSite;
before(async () => {
  browser = await launchChromium();
  site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
});
after(async () => {
  await browser.close();
  await site.close();
});

interface Opened {
  readonly page: Page;
  readonly complaints: readonly string[];
}

async function open(name: string, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Opened> {
  const page = await browser.newPage({ locale: "en-US", serviceWorkers: "block", ...options });
  const complaints: string[] = [];
  // The worker that keeps the site would fetch all of it in every test: the last one tries it.
  const blocked = "Service Worker registration blocked by Playwright";
  page.on("console", (message) => message.text() !== blocked && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => wasDropped(request) || complaints.push(request.url()));
  await page.goto(`${site.url}${name}.html`);
  return { page, complaints };
}

/** Every figure has drawn, and none says that something is wrong with its data. */
async function figuresDrawn(page: Page, tags: readonly string[]): Promise<void> {
  await until(
    page,
    (names: readonly string[]) => {
      const elements = names.flatMap((name) => [...document.querySelectorAll(`.figure ${name}`)]);
      return (
        elements.length >= 2 &&
        elements.every((each) => (each.shadowRoot?.querySelector(".hs")?.clientHeight ?? 0) > 20)
      );
    },
    tags,
  );
  const problems = await page.evaluate(() =>
    [...document.querySelectorAll(".figure *")]
      .map((each) => (each as { problem?: string | null }).problem)
      .filter(Boolean),
  );
  assert.deepEqual(problems, []);
}

for (const { tag } of pages) {
  test(
    `<${tag}>: both figures are drawn, at 360 pixels too, in both themes, without a complaint`,
    PATIENT,
    async () => {
      for (const [width, colorScheme] of [
        [1100, "light"],
        [360, "dark"],
      ] as const) {
        const { page, complaints } = await open(tag, { viewport: { width, height: 800 }, colorScheme });
        await figuresDrawn(page, [tag]);
        assert.equal(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          0,
          `${width} pixels`,
        );
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(complaints, []);
        await page.close();
      }
    },
  );
}

test("the elements of the overview are linked by one state", async () => {
  const { page, complaints } = await open("elements");
  await figuresDrawn(page, ["token-strip", "head-grid", "head-lines"]);
  await page.locator("head-grid [part~=card]").nth(2).click();
  await until(page, () => {
    const linked = [...document.querySelectorAll<HTMLElement & { state: { heads: number[] } }>(".linked")];
    return linked.length === 3 && linked.every(({ state }) => state.heads[0] === 2);
  });
  assert.deepEqual(complaints, []);
  await page.close();
});

test("the figure of cross-attention shows the numbers of the API", async () => {
  const { page } = await open("head-heatmap");
  await until(page, () =>
    Boolean(document.querySelector("head-heatmap#cross")?.shadowRoot?.querySelector("[role=gridcell]")),
  );
  await until(page, () => (document.querySelector("#cross") as { weights?: unknown } | null)?.weights);
  const shown = await page.evaluate(() => {
    const { weights } = document.querySelector("#cross") as unknown as {
      weights: { data: Float32Array; shape: number[] };
    };
    return { data: [...weights.data], shape: weights.shape };
  });
  const numbers = (count: number, seed: number) =>
    Float32Array.from({ length: count }, (_, i) => 1.5 * Math.sin(seed + i * 12.9898));
  const hs = await load({ variant: "simd" });
  const [wq, wk, wv] = [numbers(64, 1), numbers(64, 2), numbers(64, 3)];
  const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, { layout: "in-out", wq, wk, wv });
  const key = { data: numbers(40, 5), shape: [5, 8] };
  const { weights } = layer.forward({ data: numbers(24, 4), shape: [3, 8] }, { key });
  assert.deepEqual(shown, { data: [...weights.data], shape: [2, 3, 5] });
  await page.close();
});

test("a head that is unticked changes the output, and ticked again gives it back", async () => {
  const { page } = await open("head-grid");
  const box = page.locator("head-grid#switches [part~=box]").first();
  await box.waitFor();
  await box.click();
  await until(page, () => Number.parseFloat(document.querySelector("output")?.value ?? "0") > 1);
  await box.click();
  await until(page, () => document.querySelector("output")?.value === "0.0 %");
  await page.close();
});

test("the language follows the browser and the button, the theme its button, and code is copied", async () => {
  const { page } = await open("head-lines", { locale: "zh-CN", permissions: ["clipboard-read", "clipboard-write"] });
  await page.locator("h2", { hasText: "属性" }).first().waitFor();
  assert.match(await page.title(), /head-lines/);
  await page.locator("#language").click();
  await page.locator("h2", { hasText: /^Properties/ }).waitFor();
  await page.reload();
  await page.locator("h2", { hasText: /^Properties/ }).waitFor();
  const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
  await page.locator("#theme").click();
  assert.equal(await theme(), "light");
  await page.locator("#theme").click();
  assert.equal(await theme(), "dark");
  await page.locator("button.copy").first().click();
  await until(page, async () => (await navigator.clipboard.readText()).startsWith('<head-lines id="lines" src='));
  await page.close();
});

test("a link to a name of the API opens the list that holds it; the page and the overview have no findings of axe", async () => {
  const { page, complaints } = await open("api");
  await page.goto(`${site.url}api.html#WorkerModel`);
  await page.locator("#WorkerModel").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.goto(`${site.url}elements.html`);
  await figuresDrawn(page, ["head-grid", "head-lines"]);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("after one visit of the playground every page of the documentation opens without a network", PATIENT, async () => {
  const host = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  await page.goto(host.url);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await host.close();
  await page.goto(`${host.url}head-grid.html`);
  await figuresDrawn(page, ["head-grid", "head-heatmap"]);
  await page.goto(`${host.url}api.html`);
  assert.equal(await page.locator("h1").textContent(), "API");
  await context.close();
});

test("cells of a table say what they are on a phone, and paper has all of the code", async () => {
  const { page, complaints } = await open("head-lines", { viewport: { width: 360, height: 740 } });
  const row = page.locator("#properties + .table tr", { hasText: "direction" }).first();
  assert.match(
    (await row.allInnerTexts()).join(),
    /^direction\s+type\s*"vertical"[\s\S]+attribute\s*direction[\s\S]+default\s*"vertical"/,
  );
  await page.setViewportSize({ width: 1280, height: 900 });
  assert.doesNotMatch((await row.allInnerTexts()).join(), /\bdefault\b/);
  await page.evaluate(() => {
    matchMedia("print").addEventListener("change", ({ matches }) => {
      const blocks = [...document.querySelectorAll("figure.code pre")];
      const cut = blocks.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
      if (matches) Object.assign(window, { printed: { blocks: blocks.length, cut: cut.length } });
    });
  });
  await page.pdf({ format: "A4" });
  const printed = await page.evaluate(
    () => (window as unknown as { printed: { blocks: number; cut: number } }).printed,
  );
  assert.ok(printed.blocks > 3);
  assert.equal(printed.cut, 0);
  assert.deepEqual(complaints, []);
  await page.close();
});
