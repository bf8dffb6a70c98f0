// The whole playground without a pointer and without eyes: by Tab, and through the tree that screen readers are given.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.js";
import { settled, text, tokens, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

useBrowser();

const LABS = ["prune", "wo", "gqa", "rank", "same"] as const;
const TABS = ["matrix", "lines", "compare", "numbers"] as const;

/** What stands in the tree, and how often, once the view of a tab is there: a grid is that of the heads. */
const VIEWS = { matrix: ["grid", 2], lines: ["listbox", 3], compare: ["grid", 4], numbers: ["table", 1] } as const;

interface Node {
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly level: number;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The tree that Chromium gives to screen readers, shadow trees included, in its order. */
async function tree(page: Page): Promise<Node[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const all = new Map(nodes.map((node) => [node.nodeId, node]));
  const ordered: Node[] = [];
  const walk = (id: string) => {
    const node = all.get(id);
    if (!node) return;
    if (!node.ignored) {
      const properties = Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value]));
      ordered.push({
        role: String(node.role?.value ?? ""),
        name: String(node.name?.value ?? "").trim(),
        description: String(node.description?.value ?? ""),
        level: Number(properties["level"] ?? 0),
        properties,
      });
    }
    for (const child of node.childIds ?? []) walk(child);
  };
  const root = nodes.find(({ parentId }) => parentId === undefined);
  assert.ok(root);
  walk(root.nodeId);
  return ordered;
}

const CONTROLS =
  /^(button|link|textbox|checkbox|radio|combobox|slider|tab|gridcell|option|menuitem|switch|spinbutton|DisclosureTriangle|searchbox|grid|listbox|table|dialog|tabpanel|group)$/;

/** Roles that may be a mere wrapper: a group without a name says nothing, and a reader passes it. */
const WRAPPERS = /^group$/;

async function everyControlHasAName(page: Page, where: string): Promise<Node[]> {
  const nodes = await tree(page);
  const controls = nodes.filter(({ role }) => CONTROLS.test(role) && !WRAPPERS.test(role));
  assert.ok(controls.length > 20, where);
  const nameless = controls.filter(({ name }) => name === "").map(({ role }) => role);
  assert.deepEqual(nameless, [], where);
  return nodes;
}

async function openLab(page: Page, id: string): Promise<void> {
  await page.locator("#labs").scrollIntoViewIfNeeded();
  const lab = page.locator(`#lab-${id}`);
  await lab.waitFor({ state: "attached" });
  if (await lab.isHidden()) return;
  await lab.locator("summary").first().click();
  await until(page, (of) => document.querySelector(`#lab-${of} .lab-host`)?.childElementCount, id);
  await settled(page);
}

for (const [locale, fragment] of [
  ["en-US", "s=tiny&y=1&h=2&l=en"],
  ["zh-CN", "s=built&h=6&l=zh"],
] as const) {
  visit(
    `every control has a name, in each tab, laboratory, menu and dialog, ${locale}`,
    { locale, fragment },
    async ({ page }) => {
      if (fragment.startsWith("s=tiny")) await page.locator("fieldset#layers:not([hidden])").waitFor();
      for (const tab of TABS) {
        await page.locator(`#tab-${tab}`).click();
        await settled(page);
        const nodes = await everyControlHasAName(page, tab);
        const [role, count] = VIEWS[tab];
        assert.equal(nodes.filter((node) => node.role === role).length, count, tab);
        const shown = nodes.filter(({ role }) => role === "tab");
        assert.equal(shown.length, 4);
        assert.equal(shown.filter(({ properties }) => properties["selected"] === true).length, 1);
      }
      for (const id of LABS) await openLab(page, id);
      await page.locator("#cost-change").click();
      await page.locator("#open-button").click();
      await page.locator("#export").click();
      await settled(page);
      const nodes = await everyControlHasAName(page, "all open");
      const roles = new Set(nodes.map(({ role }) => role));
      for (const role of ["banner", "main", "contentinfo", "navigation", "menuitem", "slider", "spinbutton"]) {
        assert.ok(roles.has(role), role);
      }
      // Headings make an outline without a gap.
      const levels = nodes.filter(({ role }) => role === "heading").map(({ level }) => level);
      assert.equal(levels.filter((level) => level === 1).length, 1);
      for (const [i, level] of levels.entries()) {
        assert.ok(i === 0 || level <= (levels[i - 1] as number) + 1, levels.join());
      }
      await page.keyboard.press("Escape");
      await page.locator("#tab-matrix").focus();
      await page.keyboard.press("?");
      const inDialog = await tree(page);
      assert.ok(inDialog.find(({ role }) => role === "dialog")?.name);
    },
  );
}

visit(
  "while the code of a view is fetched the page says so, and no control is without its name",
  { fragment: "s=built&l=en" },
  async ({ page }) => {
    for (const [tab, panel, element] of [
      ["lines", "lines-panel", "head-lines"],
      ["compare", "compare-panel", "head-compare"],
      ["numbers", "numbers-panel", null],
    ] as const) {
      let release = () => {};
      const held = new Promise<void>((done) => {
        release = done;
      });
      const place = page.locator(`#panel-${tab}`);
      for (const name of [panel, element]) {
        if (!name) continue;
        await page.route(`**/assets/${name}-*.js`, async (route) => {
          await held;
          await route.continue();
        });
      }
      await page.locator(`#tab-${tab}`).click();
      await place.and(page.locator("[aria-busy=true]")).waitFor();
      await everyControlHasAName(page, tab);
      release();
      // Not only at rest: at no time on the way there.
      const [role, count] = VIEWS[tab];
      for (;;) {
        const nodes = await everyControlHasAName(page, tab);
        if (nodes.filter((node) => node.role === role).length === count) break;
      }
      await settled(page);
      assert.equal(await place.getAttribute("aria-busy"), null);
    }
  },
);

visit(
  "a screen reader is told what each head does, where it is, and the cell under the cursor",
  {},
  async ({ page }) => {
    const nodes = await tree(page);
    const grids = nodes.filter(({ role }) => role === "grid");
    assert.equal(grids.length, 2);
    const heads = nodes.filter(({ description }) => /^head \d/.test(description));
    assert.equal(heads.length, 8);
    assert.equal(heads[0]?.description, "head 0: 98 % on previous token");
    const cell = nodes.filter(({ role, description }) => role === "gridcell" && description === "").at(-1);
    assert.match(cell?.name ?? "", /^query .*, key .*/);
    await page.locator("#tab-numbers").click();
    await settled(page);
    const table = await tree(page);
    assert.ok(table.some(({ role, name }) => role === "table" && name !== ""));
    assert.ok(table.filter(({ role }) => role === "columnheader").length >= 9);
    assert.ok(table.filter(({ role }) => role === "rowheader").length >= 9);
  },
);

interface Stop {
  readonly what: string;
  readonly box: { x: number; y: number; width: number; height: number };
}

/** What has the focus, in whatever shadow tree, with the box that shows it: a hidden radio's is its label's. */
async function stop(page: Page): Promise<Stop | null> {
  return page.evaluate(() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    if (!node || node === document.body || node === document.documentElement) return null;
    const shown = node.closest("label") ?? node;
    const { x, y, width, height } = shown.getBoundingClientRect();
    const what = node.id || `${node.localName} ${node.getAttribute("value") ?? node.getAttribute("part") ?? ""}`;
    return { what, box: { x, y, width, height } };
  });
}

async function blur(page: Page): Promise<void> {
  await page.evaluate(() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    (node as HTMLElement | null)?.blur();
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  visit(
    `wherever Tab goes the focus can be seen, ${colorScheme}`,
    { colorScheme, reducedMotion: "reduce", viewport: { width: 1280, height: 900 } },
    async ({ page }) => {
      await page.locator("#open-button").click();
      for (const id of LABS) await openLab(page, id);
      await blur(page);
      await page.locator("h1").click();
      await page.evaluate(() => scrollTo(0, 0));
      const seen: string[] = [];
      for (let i = 0; i < 120; i++) {
        await page.keyboard.press("Tab");
        await settled(page);
        const at = await stop(page);
        if (!at) break;
        const { x, y, width, height } = at.box;
        assert.ok(width > 0 && height > 0, `${at.what} has no size`);
        assert.ok(x < 1280 && y < 900 && x + width > 0 && y + height > 0, `${at.what} is out of sight`);
        const clip = {
          x: Math.max(0, x - 6),
          y: Math.max(0, y - 6),
          width: Math.min(1280, x + width + 6) - Math.max(0, x - 6),
          height: Math.min(900, y + height + 6) - Math.max(0, y - 6),
        };
        const focused = await page.screenshot({ clip });
        await blur(page);
        await settled(page);
        const blurred = await page.screenshot({ clip });
        assert.ok(!focused.equals(blurred), `${at.what} looks the same with and without the focus`);
        seen.push(at.what);
      }
      for (const id of ["text", "open-address", "tab-matrix", "scale", "export", "cost-change", "keys-button"]) {
        assert.ok(seen.includes(id), `${id} is not among ${seen.join(", ")}`);
      }
      assert.ok(seen.length >= 40, String(seen.length));
    },
  );
}

async function tabTo(page: Page, id: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    const at = await stop(page);
    if (at?.what === id) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${id}`);
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled(page);
  }
}

visit("the whole playground by keys alone", {}, async ({ page }) => {
  const focusedId = () => page.evaluate(() => document.activeElement?.id ?? "");
  await tabTo(page, "text");
  await press(page, "Control+a");
  await page.keyboard.type("a b c d a b c d");
  await settled(page);
  assert.equal((await tokens(page)).length, 8);
  await tabTo(page, "causal");
  await press(page, " ");
  assert.equal(await page.locator("#causal").isChecked(), false);
  await press(page, " ");
  // A head: found by arrows, enlarged, switched off and on.
  await press(page, "Tab");
  await tabTo(page, "sort");
  await press(page, "Tab", "Home", "ArrowRight", "ArrowDown", "Enter");
  const title = await text(page, "#detail-title");
  assert.match(title, /^Head \d/);
  await press(page, " ");
  assert.match(await text(page, "#change"), /^Without H\d/);
  await press(page, " ");
  // Every tab, by arrows.
  await tabTo(page, "tab-matrix");
  for (const tab of ["lines", "compare", "numbers"]) {
    await press(page, "ArrowRight");
    assert.equal(await focusedId(), `tab-${tab}`);
    assert.equal(await page.locator(`#panel-${tab}`).isVisible(), true);
  }
  await press(page, "Home");
  assert.equal(await page.locator("#panel-matrix").isVisible(), true);
  // A cell is pinned, its sentence stays.
  await tabTo(page, "next-head");
  await press(page, "Tab", "ArrowLeft", "Enter");
  assert.match(await text(page, "#sentence"), /^query /);
  await tabTo(page, "scale");
  await press(page, "ArrowDown");
  assert.equal(await page.locator("#scale").inputValue(), "head");
  // A menu takes the focus and gives it back.
  await tabTo(page, "export");
  await press(page, "Enter");
  await page.locator("#export-menu:not([hidden])").waitFor();
  await press(page, "ArrowDown", "Escape");
  assert.equal(await page.locator("#export-menu").isHidden(), true);
  assert.equal(await focusedId(), "export");
  // A laboratory: they are fetched when Tab comes near.
  await tabTo(page, "cost-change");
  await page.locator("#lab-wo summary").waitFor({ state: "attached" });
  for (let i = 0; i < 60; i++) {
    await press(page, "Tab");
    if (await page.evaluate(() => document.activeElement?.closest("details")?.id === "lab-wo")) break;
  }
  await press(page, "Enter");
  await page.locator("#lab-wo .lab-results > *").first().waitFor();
  // The list of keys holds the focus, and gives it back.
  await tabTo(page, "keys-button");
  await press(page, "Enter");
  assert.equal(await page.locator("#keys").isVisible(), true);
  assert.ok(await page.evaluate(() => document.querySelector("#keys")?.contains(document.activeElement)));
  await press(page, "Escape");
  assert.equal(await page.locator("#keys").isVisible(), false);
  assert.equal(await focusedId(), "keys-button");
});

visit(
  "keys alone: a model by its address, what was wrong, and back",
  { fragment: "s=built&l=en" },
  async ({ page, complaints }) => {
    await tabTo(page, "open-button");
    await press(page, "Enter");
    await tabTo(page, "open-address");
    await page.keyboard.type("nowhere.gguf");
    await page.keyboard.press("Enter");
    await page.locator("#open-problem:not([hidden])").waitFor();
    const alert = (await tree(page)).find(({ role }) => role === "alert");
    assert.ok(alert);
    await page.locator("#open-close").focus();
    await press(page, "Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "open-button");
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !/404|nowhere\.gguf/.test(complaint)),
      [],
    );
  },
);

for (const colorScheme of ["light", "dark"] as const) {
  visit(
    `axe finds nothing in any tab, with each laboratory, menu and panel open, ${colorScheme}`,
    { colorScheme, fragment: "s=tiny&y=1&h=2&l=en" },
    async ({ page }) => {
      await page.locator("fieldset#layers:not([hidden])").waitFor();
      await settled(page);
      for (const tab of TABS) {
        await page.locator(`#tab-${tab}`).click();
        await settled(page);
        assert.deepEqual(await violations(page), [], tab);
      }
      for (const id of LABS) {
        await openLab(page, id);
        assert.deepEqual(await violations(page), [], id);
        await page.locator(`#lab-${id} > summary`).click();
      }
      await page.locator("#inspector > summary").click();
      await page.locator("#inspector-body table").first().waitFor();
      assert.deepEqual(await violations(page), [], "inspector");
      await page.locator("#cost-change").click();
      await page.locator("#open-button").click();
      await page.locator("#export").click();
      await settled(page);
      assert.deepEqual(await violations(page), [], "menu, panel and sliders");
    },
  );

  visit(
    `axe finds nothing on the pages of the documentation, ${colorScheme}`,
    { colorScheme },
    async ({ page, site }) => {
      const names = [
        "elements",
        "api",
        "head-grid",
        "head-heatmap",
        "head-lines",
        "head-compare",
        "token-strip",
        "shape-trace",
        "cost-bills",
      ];
      for (const name of names) {
        // To the end, or the next page would break off what this one asks for.
        await page.goto(`${site.url}${name}.html`, { waitUntil: "networkidle" });
        await until(page, () =>
          [...document.querySelectorAll(".figure > :not(pre)")].every(({ clientHeight }) => clientHeight > 0),
        );
        assert.deepEqual(await violations(page), [], name);
      }
    },
  );
}
