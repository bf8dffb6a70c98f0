/**
 * A page of somebody else with the elements on it: the sources of `headscope/elements` bundled, served under the strict
 * policy, watched for everything that must never happen.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium, serveSite } from "./launch.js";
import { settled, watch } from "./page.js";
import { PATIENT } from "./until.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>A page</title>
<link rel="icon" href="icon.svg" />
<link rel="stylesheet" href="page.css" />
<script type="module" src="elements.js"></script>
</head>
<body><main><h1>A page</h1><div id="place"></div></main></body>
</html>`;

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 24px; font: 15px/1.5 system-ui, sans-serif; background: #fbfaf7; color: #1b1d22; }
@media (prefers-color-scheme: dark) { body { background: #101216; color: #e9e7e1; } }
@media (max-width: 500px) { body { margin: 12px; } }
h1 { font-size: 20px; margin: 0 0 16px; }
`;

/** The bundle and its page in a folder of their own. */
export async function buildElementsPage(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "headscope-elements-"));
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export * from "./web/elements/index.ts"; import { defineElements } from "./web/elements/index.ts"; defineElements();`,
      resolveDir: root,
      loader: "ts",
    },
    outfile: path.join(folder, "elements.js"),
    bundle: true,
    format: "esm",
    target: "es2022",
    // The elements need the package's plain arithmetic and nothing that holds bytes of a module.
    alias: { headscope: path.join(root, "bindings/public.ts") },
    logLevel: "warning",
  });
  writeFileSync(path.join(folder, "index.html"), PAGE);
  writeFileSync(path.join(folder, "page.css"), STYLE);
  writeFileSync(path.join(folder, "icon.svg"), '<svg xmlns="http://www.w3.org/2000/svg" />');
  return folder;
}

export type OnPage = (page: Page, t: TestContext) => Promise<void>;

/** Registers the build and the browser of a test file; returns what makes tests with a fresh page each. */
export function useElements(): (name: string, options: BrowserContextOptions, body: OnPage) => void {
  let folder: string;
  let browser: Browser;
  before(async () => {
    folder = await buildElementsPage();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  return (name, options, body) =>
    test(name, PATIENT, async (t) => {
      const site = await serveSite(folder, { csp: "default-src 'self'" });
      const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, ...options });
      try {
        const page = await context.newPage();
        const complaints = watch(page, site);
        await page.goto(site.url);
        await body(page, t);
        assert.deepEqual(complaints, []);
      } finally {
        await context.close();
        await site.close();
      }
    });
}

/** Puts one element on the page, in place of what was there, with attributes and then properties set. */
export async function put(
  page: Page,
  tag: string,
  {
    attributes = {},
    properties = {},
  }: { attributes?: Record<string, string>; properties?: Record<string, unknown> } = {},
): Promise<void> {
  await page.evaluate(
    ({ tag, attributes, properties }) => {
      const node = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      Object.assign(node, properties);
      document.querySelector("#place")?.replaceChildren(node);
    },
    { tag, attributes, properties },
  );
  await settled(page);
}

/** Sets properties of the element on the page. */
export async function give(page: Page, properties: Record<string, unknown>): Promise<void> {
  await page.evaluate((given) => Object.assign(document.querySelector("#place > *") as object, given), properties);
  await settled(page);
}

/** Notes every event of these types that reaches the document; `events()` gives their types and details. */
export async function listen(page: Page, ...types: string[]): Promise<() => Promise<unknown[]>> {
  await page.evaluate((names) => {
    const heard: unknown[] = [];
    (window as unknown as { heard: unknown[] }).heard = heard;
    for (const type of names) {
      document.addEventListener(type, (event) => heard.push([type, (event as CustomEvent).detail]));
    }
  }, types);
  return () => page.evaluate(() => (window as unknown as { heard: unknown[] }).heard.splice(0));
}
