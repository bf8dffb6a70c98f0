// What opens on the page (panels, menus, dialogs, laboratories), a head that is off, phones and paper, against pictures.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { ggufFile } from "../model-files.js";
import { chooseFiles, settled, useBrowser, visit } from "../page.js";
import { until } from "../until.js";
import { differences, lookOf, type Parts } from "./look.js";
import { needsChinese, reference, unlike } from "./references.js";

useBrowser();

const SENTENCE = "t=The+cat+sat+on+the+mat+because+it+was&s=built&h=6&q=7&k=5";
/** Words come again, so that weights are free to move in "same output". */
const REPEATING = "t=one+two+one+two+one+two+one+two&s=built&h=7&q=7&k=0";

const MAIN: Parts = { bar: ".bar", tokens: "#tokens", heads: "#heads", "canvas of head 0": "#heads canvas >> nth=0" };
const OPEN: Parts = { ...MAIN, panel: "#open", ways: ".open-ways", address: "#open-form" };
const EXPORT: Parts = {
  tabs: "#tabs",
  menu: "#export-menu",
  button: "#export",
  "matrix canvas": "#matrix canvas.cells",
};
const KEYS: Parts = { list: "#keys ul", close: "#keys-close" };
const OFF: Parts = {
  heads: "#heads",
  "canvas of head 3": "#heads canvas >> nth=3",
  "canvas of head 7": "#heads canvas >> nth=7",
  change: "#change",
  readings: "#readings",
};
const INSPECTOR: Parts = { facts: "#inspector-body .summary", nodes: "#inspector-body .table-scroll" };
const LABS = {
  wo: { controls: "#lab-wo .lab-controls", table: "#lab-wo table", "canvas of head 2": "#lab-wo canvas >> nth=2" },
  gqa: { controls: "#lab-gqa .lab-controls", sharing: "#lab-gqa svg", table: "#lab-gqa table" },
  rank: {
    controls: "#lab-rank .lab-controls",
    "canvas of the wanted": "#lab-rank canvas >> nth=0",
    "canvas of the best": "#lab-rank canvas >> nth=1",
    bars: "#lab-rank .lab-bars",
  },
  same: { controls: "#lab-same .lab-controls", table: "#lab-same table" },
} as const satisfies Record<string, Parts>;
const PRUNE: Parts = { controls: "#lab-prune .lab-controls", chart: "#lab-prune svg.prune-chart" };
const PAPER: Parts = {
  ...MAIN,
  detail: ".detail",
  "matrix canvas": "#matrix canvas.cells",
  trace: "#trace",
  cost: "#cost",
};

interface Look {
  readonly name: string;
  readonly dark?: boolean;
  readonly chinese?: boolean;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Light in English, dark in Chinese: each colour and each word is in one of them. */
const BOTH: readonly Look[] = [{ name: "light" }, { name: "chinese-dark", dark: true, chinese: true }];
const PHONE = { width: 360, height: 1400 };

const options = ({ dark, chinese, viewport }: Look, fragment: string) => ({
  colorScheme: dark ? ("dark" as const) : ("light" as const),
  viewport: viewport ?? { width: 1280, height: 1000 },
  reducedMotion: "reduce" as const,
  bypassCSP: true,
  skip: needsChinese(chinese),
  fragment: `${fragment}&l=${chinese ? "zh" : "en"}`,
});

async function openPanel(page: Page): Promise<void> {
  await page.locator("#open-button").click();
  await page.locator("#open").waitFor();
  await settled(page);
}

async function openMenu(page: Page): Promise<void> {
  await page.locator(".detail").scrollIntoViewIfNeeded();
  await page.locator("#export").click();
  await page.locator("#export-menu").waitFor();
  await settled(page);
}

async function openKeys(page: Page): Promise<void> {
  await page.locator("#tab-matrix").focus();
  await page.keyboard.press("?");
  await page.locator("#keys[open]").waitFor();
}

async function openLab(page: Page, id: string): Promise<void> {
  await page.locator("#labs").scrollIntoViewIfNeeded();
  await page.locator(`#lab-${id} summary`).first().click();
  await until(page, (of: string) => document.querySelector(`#lab-${of} .lab-results`)?.childElementCount, id);
  await settled(page);
}

/** The curve of all layers, which a slow machine does not measure unasked. */
async function openPruning(page: Page): Promise<void> {
  await page.locator("fieldset#layers:not([hidden])").waitFor();
  await settled(page);
  await page.locator("#labs").scrollIntoViewIfNeeded();
  await page.locator("#lab-prune summary").first().click();
  await page.locator("#lab-prune input[value=model]").check();
  await until(page, () => {
    const lab = document.querySelector("#lab-prune");
    const start = [...(lab?.querySelectorAll("button") ?? [])].find(({ textContent }) =>
      /^(Measure|Go on|测量|继续)$/.test(textContent ?? ""),
    );
    start?.click();
    return lab?.querySelector("path.live") != null;
  });
  await settled(page);
}

async function openInspector(page: Page): Promise<void> {
  await chooseFiles(page, [ggufFile("model.gguf", "gpt2")]);
  await page.locator("#about", { hasText: "model.gguf" }).waitFor();
  await settled(page);
  await page.locator("#inspector > summary").click();
  await page.locator("#inspector-body table").first().waitFor();
  await settled(page);
}

/** On paper: what lies below the window is fetched when it comes into sight, so the page is scrolled through first. */
async function toPaper(page: Page): Promise<void> {
  for (const id of ["trace", "cost"]) {
    await page.locator(`#${id}`).scrollIntoViewIfNeeded();
    await until(page, (of: string) => (document.getElementById(of)?.clientHeight ?? 0) > 100, id);
  }
  await page.evaluate(() => scrollTo(0, 0));
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  await settled(page);
}

for (const look of BOTH) {
  visit(`panel, menu and dialog look like their pictures: ${look.name}`, options(look, SENTENCE), async ({ page }) => {
    await openPanel(page);
    const found = await unlike(page, `open-${look.name}`, { parts: OPEN });
    await page.locator("#open-close").click();
    await openMenu(page);
    found.push(...(await unlike(page, `export-${look.name}`, { of: ".detail", parts: EXPORT })));
    await page.keyboard.press("Escape");
    await openKeys(page);
    found.push(...(await unlike(page, `keys-${look.name}`, { of: "#keys", parts: KEYS })));
    await page.keyboard.press("Escape");
    await page.locator("#heads .card input").nth(3).uncheck();
    await page.locator("#change:not([hidden])").waitFor();
    await settled(page);
    found.push(...(await unlike(page, `off-${look.name}`, { of: ".heads", parts: OFF })));
    assert.deepEqual(found, []);
  });

  visit(`every laboratory looks like its picture: ${look.name}`, options(look, REPEATING), async ({ page }) => {
    const found: string[] = [];
    for (const [id, parts] of Object.entries(LABS)) {
      await openLab(page, id);
      found.push(...(await unlike(page, `lab-${id}-${look.name}`, { of: `#lab-${id}`, parts })));
    }
    assert.deepEqual(found, []);
  });

  visit(`the inspector looks like its picture: ${look.name}`, options(look, "t=How+are&s=built"), async ({ page }) => {
    await openInspector(page);
    assert.deepEqual(await unlike(page, `inspector-${look.name}`, { of: "#inspector", parts: INSPECTOR }), []);
  });

  visit(
    `the curve of pruning looks like its picture: ${look.name}`,
    options(look, "t=The+keys+to+the+cabinet+are&s=tiny&y=1&h=3"),
    async ({ page }) => {
      await openPruning(page);
      assert.deepEqual(await unlike(page, `lab-prune-${look.name}`, { of: "#lab-prune", parts: PRUNE }), []);
    },
  );

  visit(
    `paper looks like its picture, whatever the theme: ${look.name}`,
    options({ ...look, viewport: { width: 794, height: 1123 } }, SENTENCE),
    async ({ page }) => {
      await toPaper(page);
      assert.deepEqual(await unlike(page, `paper-${look.name}`, { of: "page", parts: PAPER }), []);
    },
  );

  visit(
    `a phone looks like its pictures: ${look.name}`,
    options({ ...look, viewport: PHONE }, `${SENTENCE}&v=numbers`),
    async ({ page }) => {
      await page.locator("#panel-numbers td").first().waitFor();
      await settled(page);
      const numbers = { ...MAIN, table: "#numbers .table-scroll", tabs: "#tabs" };
      const found = await unlike(page, `numbers-phone-${look.name}`, { parts: numbers });
      await openPanel(page);
      found.push(
        ...(await unlike(page, `open-phone-${look.name}`, {
          of: ".input",
          parts: { panel: "#open", ways: ".open-ways" },
        })),
      );
      assert.deepEqual(found, []);
    },
  );
}

/** What would be a regression, and what the comparison must say to it. */
const BROKEN: readonly {
  name: string;
  picture: string;
  fragment?: string;
  of?: string;
  parts: Parts;
  open: (page: Page) => Promise<void>;
  style: string;
  says: RegExp;
}[] = [
  {
    name: "a panel that lies over the tokens",
    ...{ picture: "open-light", parts: OPEN, open: openPanel },
    style: "#open { position: absolute }",
    says: /panel has moved|tokens has moved/,
  },
  {
    name: "a menu that the card cuts off",
    ...{ picture: "export-light", of: ".detail", parts: EXPORT, open: openMenu },
    style: "#export-menu { visibility: hidden }",
    says: /menu is gone/,
  },
  {
    name: "a menu without a ground",
    ...{ picture: "export-light", of: ".detail", parts: EXPORT, open: openMenu },
    style: "#export-menu { background: #345 }",
    says: /menu has other colours/,
  },
  {
    name: "a dark dialog on a light page",
    ...{ picture: "keys-light", of: "#keys", parts: KEYS, open: openKeys },
    style: "#keys { background: #171a20 }",
    says: /list has other colours/,
  },
  {
    name: "bars of a laboratory in another hue",
    ...{ picture: "lab-rank-light", of: "#lab-rank", parts: LABS.rank, fragment: REPEATING },
    open: (page) => openLab(page, "rank"),
    style: "#lab-rank .lab-bars i { background: #c00 }",
    says: /bars has other colours/,
  },
  {
    name: "maps of a laboratory below each other",
    ...{ picture: "lab-rank-light", of: "#lab-rank", parts: LABS.rank, fragment: REPEATING },
    open: (page) => openLab(page, "rank"),
    style: "#lab-rank .lab-maps { flex-direction: column }",
    says: /canvas of the best has moved/,
  },
  {
    name: "paper that is dark",
    ...{ picture: "paper-light", of: "page", parts: PAPER, open: toPaper },
    style: "@media print { .detail, head-grid { filter: invert(1) } }",
    says: /heads has other colours/,
  },
];

for (const { name, picture, fragment = SENTENCE, of = "window", parts, open, style, says } of BROKEN) {
  const viewport = picture.startsWith("paper") ? { width: 794, height: 1123 } : { width: 1280, height: 1000 };
  visit(`the comparison fails for ${name}`, options({ name: "light", viewport }, fragment), async ({ page }) => {
    await open(page);
    await page.addStyleTag({ content: style });
    await settled(page);
    assert.match(differences(reference(picture), await lookOf(page, { of, parts })).join("\n"), says);
  });
}
