/**
 * One page of the built site for one test: served under a sub-path and the strict policy, watched for everything that
 * must never happen (an error on the console, an uncaught exception, a broken policy, a request to another host).
 */

import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request, Route } from "playwright-core";
import { toFragment } from "../../web/playground/fragment.js";
import { initialState } from "../../web/playground/state.js";
import { CSP, launchChromium, type ServedSite, serveSite } from "./launch.js";
import type { Chosen } from "./model-files.js";
import { atRest, PATIENT, until } from "./until.js";

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly site: ServedSite;
  /** Complaints so far. A test that provokes one takes it out. */
  readonly complaints: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Of the site, without a slash before it: "api.html". Default: the playground. */
  readonly path?: string;
  /** Why this cannot be tried here. */
  readonly skip?: string | false;
  /** Without "#". Default: the built heads with their own example, in the browser's language. */
  readonly fragment?: string;
  /** JavaScript that runs in the page before its own. A string: a function compiled for Node names helpers of Node's. */
  readonly init?: string;
  /** The policy of the page and of its worker, which `bypassCSP` does not reach. Default: the strict one. */
  readonly csp?: string;
  /** Do not wait for the first picture. */
  readonly bare?: boolean;
  /** What the worker's script answers with, instead of itself. */
  readonly worker?: (route: Route) => Promise<void>;
}

let browser: Browser;

/** Starts the browser of a test file, and ends it. */
export function useBrowser(args: readonly string[] = []): void {
  before(async () => {
    browser = await launchChromium(args);
  });
  after(() => browser?.close());
}

export function visit(
  name: string,
  options: VisitOptions,
  body: (visit: Visit, t: TestContext) => Promise<void>,
): void {
  const { skip = false, init, bare, worker, csp = CSP, path = "", ...contextOptions } = options;
  test(name, { ...PATIENT, skip }, async (t) => {
    const { fragment = builtHeads(options.locale) } = options;
    const site = await serveSite(undefined, { csp, basePath: "/some/where/" });
    const context = await browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 1000 },
      serviceWorkers: "block",
      ...contextOptions,
    });
    try {
      const page = await context.newPage();
      const complaints = watch(page, site);
      if (init) await page.addInitScript({ content: init });
      if (worker) await page.route("**/assets/worker-parts*.js", worker);
      await page.goto(`${site.url}${path}${fragment && `#${fragment}`}`);
      if (!bare) await firstPicture(page);
      await body({ page, context, site, complaints }, t);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
      await site.close();
    }
  });
}

/** Most tests are about what needs no model: they say so in the address, whatever the page's default is. */
function builtHeads(locale = "en"): string {
  const state = { ...initialState(locale.startsWith("zh") ? "zh" : "en"), source: "built" };
  // The language is left to the browser.
  return toFragment(state).replace(/&l=\w+$/, "");
}

export function watch(page: Page, site: ServedSite): string[] {
  const complaints: string[] = [];
  const { host } = new URL(site.url);
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.host !== host && url.protocol !== "blob:") complaints.push(`request to ${url.href}`);
  });
  page.on("requestfailed", (request) => {
    if (!wasDropped(request)) complaints.push(`failed request: ${request.url()}`);
  });
  return complaints;
}

/** Let go of by the page itself, which was left or loaded anew, and not refused by anybody. */
export function wasDropped(request: Request): boolean {
  return /ABORTED/.test(request.failure()?.errorText ?? "");
}

export async function firstPicture(page: Page): Promise<void> {
  await page.locator("#views:not([hidden])").waitFor();
  await settled(page);
}

/** After the change is drawn, the answer of the worker to it has come, and the code that is fetched for it. */
export const settled = (page: Page): Promise<void> => atRest(page);

/** After the state has been written into the address, a moment after the last change. Long texts are packed first: wait for "#z=". */
export async function addressed(page: Page): Promise<void> {
  await settled(page);
  // A timer of the page comes after those it has set before, however slow the machine is; the test's own may not.
  await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
}

/** Files of the visitor's own. What takes them is fetched with the first click, and hears of none before. */
export async function chooseFiles(page: Page, files: readonly Chosen[]): Promise<void> {
  if (await page.locator("#open").isHidden()) await page.locator("#open-button").click();
  await page.locator("#open").waitFor();
  await page.setInputFiles("#open-files", [...files]);
}

export async function typeText(page: Page, text: string): Promise<void> {
  await page.locator("#text").fill(text);
  await settled(page);
}

export async function text(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).first().textContent()) ?? "").trim();
}

/** The picked or previewed cell in words: `query ␣it reads key ␣cat with weight 0.4312 · head 3`. */
export async function sentence(page: Page): Promise<string> {
  return text(page, "#sentence > :first-child");
}

export async function tokens(page: Page): Promise<string[]> {
  return page.locator("#tokens .chip .token").allTextContents();
}

/** The middle of a cell of the large matrix, on the screen. */
export async function cellAt(page: Page, query: number, key: number, count: number): Promise<{ x: number; y: number }> {
  await page.locator("#matrix .box").scrollIntoViewIfNeeded();
  const box = await page.locator("#matrix .box").boundingBox();
  assert.ok(box);
  return { x: box.x + ((key + 0.5) * box.width) / count, y: box.y + ((query + 0.5) * box.height) / count };
}

/** Waits until the thumbnails have one pixel for each of so many tokens: the picture of that text. */
export async function pictured(page: Page, count: number): Promise<void> {
  await until(
    page,
    (wanted) => document.querySelector("#heads")?.shadowRoot?.querySelector("canvas")?.width === wanted,
    count,
  );
}

export async function hover(page: Page, query: number, key: number, count: number): Promise<void> {
  const { x, y } = await cellAt(page, query, key, count);
  await page.mouse.move(x, y);
  await settled(page);
}
