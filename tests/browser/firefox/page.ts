/** One page of the built site in Firefox for one test: under a sub-path and the strict policy, watched for errors. */

import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import type { Browser, ElementHandle, KeyInput, Page } from "puppeteer-core";
import { CSP, type ServedSite, serveSite } from "../launch.js";
import { atRest, drawn, eventually, PATIENCE, PATIENT, until } from "../until.js";
import { launchFirefox } from "./launch.js";

export interface Visit {
  readonly page: Page;
  readonly site: ServedSite;
  /** Complaints so far. A test that provokes one takes it out. */
  readonly complaints: string[];
}

let browser: Browser;

/**
 * `preferences` are those of about:config. The worker that keeps the site would fetch all of it in every test, and
 * complain where the network goes meanwhile: tests of it ask for it.
 */
export function useFirefox(preferences: Record<string, string | number | boolean> = {}): void {
  before(async () => {
    browser = await launchFirefox({
      extraPrefsFirefox: {
        "intl.accept_languages": "en-US, en",
        "ui.systemUsesDarkTheme": 0,
        "dom.serviceWorkers.enabled": false,
        ...preferences,
      },
    });
  });
  after(() => browser?.close());
}

export interface VisitOptions {
  /** The policy of the page. Default: the strict one. */
  readonly csp?: string;
  readonly viewport?: { readonly width: number; readonly height: number; readonly hasTouch?: boolean };
  /** Why this cannot be tried here. */
  readonly skip?: string | false;
}

/** `path` is what follows the site's address: `#s=built`, `head-grid.html`. */
export function visit(
  name: string,
  path: string,
  body: (visit: Visit, t: TestContext) => Promise<void>,
  { csp = CSP, viewport = { width: 1280, height: 1000 }, skip = false }: VisitOptions = {},
): void {
  test(name, { ...PATIENT, skip }, async (t) => {
    const site = await serveSite(undefined, { csp, basePath: "/some/where/" });
    const context = await browser.createBrowserContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE);
      await page.setViewport(viewport);
      const complaints = watch(page, site);
      await page.goto(`${site.url}${path}`);
      await body({ page, site, complaints }, t);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
      await site.close();
    }
  });
}

function watch(page: Page, site: ServedSite): string[] {
  const complaints: string[] = [];
  const { host } = new URL(site.url);
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${String(error)}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    // Firefox has a font of its own for what no font has, at a data address.
    if (url.host !== host && !/^(blob|data):$/.test(url.protocol)) complaints.push(`request to ${url.href}`);
  });
  return complaints;
}

/** After the first picture, and after whatever is under way: see `atRest`. */
export async function settled(page: Page): Promise<void> {
  await until(page, () => document.querySelector<HTMLElement>("#views")?.hidden === false);
  await atRest(page);
}

/** An element of a selector that may pass into a shadow tree by `>>>`, once it is there. */
export async function one(page: Page, selector: string, at = 0): Promise<ElementHandle<HTMLElement>> {
  let found: ElementHandle | undefined;
  await eventually(async () => {
    found = (await page.$$(selector))[at];
    return found !== undefined;
  }, `there is no ${selector} ${at}`);
  return found as ElementHandle<HTMLElement>;
}

/** Clicks once the element can be used and stands still: what moves is missed. */
export async function click(page: Page, selector: string, at = 0): Promise<void> {
  await eventually(
    async () =>
      (await one(page, selector, at)).evaluate(async (node) => {
        const before = node.getBoundingClientRect();
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const { x, y, width, height } = node.getBoundingClientRect();
        const still = x === before.x && y === before.y && width === before.width && height === before.height;
        return still && width > 0 && height > 0 && node.checkVisibility() && !node.matches(":disabled");
      }),
    `${selector} ${at} cannot be clicked`,
  );
  await (await one(page, selector, at)).click();
  await drawn(page);
}

export async function press(page: Page, key: KeyInput): Promise<void> {
  await page.keyboard.press(key);
  await drawn(page);
}

export async function texts(page: Page, selector: string): Promise<string[]> {
  const found = await page.$$(selector);
  return Promise.all(found.map((each) => each.evaluate((node) => (node.textContent ?? "").trim())));
}

export async function text(page: Page, selector: string): Promise<string> {
  return (await one(page, selector)).evaluate((node) => (node.textContent ?? "").trim());
}

/** The picked or previewed cell in words. */
export const sentence = (page: Page) => text(page, "#sentence > :first-child");

export const tokens = (page: Page) => texts(page, "#tokens >>> .chip .token");

/** Replaces the text key by key, as a reader does. */
export async function type(page: Page, typed: string): Promise<void> {
  await click(page, "#text");
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(typed);
  await settled(page);
}

export async function choose(page: Page, selector: string, value: string): Promise<void> {
  await page.select(selector, value);
  await settled(page);
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: readonly number[];
}

/** The pixels of a canvas. */
export async function pixels(page: Page, selector: string, at = 0): Promise<Pixels> {
  return (await one(page, selector, at)).evaluate((node) => {
    const canvas = node as HTMLCanvasElement;
    const { width, height } = canvas;
    return { width, height, data: [...(canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? [])] };
  });
}
