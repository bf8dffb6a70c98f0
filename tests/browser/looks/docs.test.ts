// The pages of the documentation against pictures of their first screen, and what holds for all pictures.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { pages } from "../../../web/docs/pages/content/elements.js";
import { settled, useBrowser, visit } from "../page.js";
import { until } from "../until.js";
import { differences, lookOf, type Parts } from "./look.js";
import { folder, needsChinese, reference, stored, unlike } from "./references.js";

useBrowser();

const NAMES = ["elements", "api", ...pages.map(({ tag }) => tag)];
const WINDOW = { width: 1100, height: 900 };
const PHONE = { width: 360, height: 900 };

/** The overview and the API begin with words; every element's page with its figure. */
const partsOf = (name: string): Parts => ({
  bar: ".bar-inner",
  title: "h1",
  ...(name.includes("-") ? { figure: ".figure", element: `.figure ${name}` } : { section: "main h2" }),
});

/** Figures are drawn by scripts that come later than the words, and the elements of one figure one after the other. */
async function ready(page: Page, name: string): Promise<void> {
  await page.locator("h1").waitFor();
  if (name.includes("-")) {
    await until(page, () => {
      const inside = [...(document.querySelector(".figure")?.querySelectorAll("*") ?? [])];
      const elements = inside.filter(({ localName }) => localName.includes("-"));
      return (
        elements.length > 0 && elements.every((each) => (each.shadowRoot?.querySelector(".hs")?.clientHeight ?? 0) > 20)
      );
    });
  }
  await settled(page);
}

for (const { theme, locale, chinese } of [
  { theme: "light", locale: "en-US", chinese: false },
  { theme: "dark", locale: "zh-CN", chinese: true },
] as const) {
  const kind = chinese ? `chinese-${theme}` : theme;
  visit(
    `the pages of the documentation look like their pictures: ${kind}`,
    {
      ...{ path: "api.html", fragment: "", bare: true, locale, colorScheme: theme, viewport: WINDOW },
      reducedMotion: "reduce",
      skip: needsChinese(chinese),
    },
    async ({ page, site }) => {
      const found: string[] = [];
      for (const name of NAMES) {
        await page.goto(`${site.url}${name}.html`);
        await ready(page, name);
        found.push(...(await unlike(page, `docs-${name}-${kind}`, { parts: partsOf(name) })));
      }
      await page.setViewportSize(PHONE);
      await ready(page, "token-strip");
      found.push(...(await unlike(page, `docs-phone-${kind}`, { parts: partsOf("token-strip") })));
      assert.deepEqual(found, []);
    },
  );
}

for (const { name, style, says } of [
  { name: "a figure that is not there", style: ".figure { display: none }", says: /figure is gone/ },
  {
    name: "a figure without colours",
    style: ".figure { filter: grayscale(1) brightness(0.6) }",
    says: /other colours/,
  },
  { name: "a header of three lines", style: ".bar-inner > * { width: 100% }", says: /title has moved/ },
]) {
  visit(
    `the comparison of the documentation fails for ${name}`,
    { path: "head-heatmap.html", fragment: "", bare: true, colorScheme: "light", viewport: WINDOW, bypassCSP: true },
    async ({ page }) => {
      await ready(page, "head-heatmap");
      await page.addStyleTag({ content: style });
      await settled(page);
      const now = await lookOf(page, { parts: partsOf("head-heatmap") });
      assert.match(differences(reference("docs-head-heatmap-light"), now).join("\n"), says);
    },
  );
}

visit("all pictures together are small, and each has its parts", { bare: true }, async () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".png"));
  assert.deepEqual(
    files.sort(),
    Object.keys(stored())
      .map((name) => `${name}.png`)
      .sort(),
  );
  const sizes = files.map((file) => statSync(join(folder, file)).size);
  assert.ok(Math.max(...sizes) < 40_000, "each");
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 1_000_000, "together");
});
