import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { formatWeight } from "../../web/elements/format.js";
import { expected } from "./heads.js";
import { sentence, settled, text, tokens, useBrowser, visit } from "./page.js";

useBrowser();

const SENTENCE = "The cat sat on the mat because it was";

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled(page);
  }
}

const focused = (page: Page) =>
  page.evaluate(() => {
    let node = document.activeElement ?? document.body;
    const host = node;
    while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return {
      id: node === document.body ? "body" : node.id || (node.getAttribute("value") ?? ""),
      host: host === node ? "" : host.id,
      role: node.getAttribute("role") ?? "",
      spoken: node.getAttribute("aria-description") ?? "",
      text: node.textContent ?? "",
    };
  });

visit("Tab reaches every control once, in reading order", {}, async ({ page }) => {
  const stops: string[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const { id, role, text: words } = await focused(page);
    if (id === "body") break;
    stops.push(id || role || words);
  }
  const order = [
    "language",
    "copy",
    "theme",
    "text",
    "causal",
    "sort",
    "gridcell",
    "tab-matrix",
    "previous-head",
    "next-head",
    "gridcell",
    "scale",
    "rows",
    "hide",
    "export",
    "keys-button",
  ];
  let at = -1;
  for (const stop of order) {
    const next = stops.indexOf(stop, at + 1);
    assert.ok(next > at, `${stop} is not reached after ${stops[at]}: ${stops.join(", ")}`);
    at = next;
  }
  assert.equal(stops.filter((stop) => stop === "gridcell").length, 2, "one stop for the heads, one for the matrix");
});

visit("heads: arrows move, Enter enlarges, Space switches off, Home and End go to the ends", {}, async ({ page }) => {
  await page.locator("#heads .card[tabindex='0']").focus();
  await press(page, "Home", "ArrowRight", "ArrowDown");
  assert.equal((await focused(page)).spoken, "head 5: 100 % on rarest token");
  await press(page, "Enter");
  assert.equal(await text(page, "#detail-title"), "Head 5 · rarest token");
  assert.equal(await page.locator("#heads .card[aria-selected='true']").count(), 1);
  assert.equal(await text(page, "#live"), "head 5: 100 % on rarest token");
  await press(page, " ");
  assert.equal((await focused(page)).spoken, "head 5: 100 % on rarest token, switched off");
  assert.match(await text(page, "#change"), /^Without H5 /);
  await press(page, " ", "End");
  assert.match((await focused(page)).spoken, /^head 7: broad/);
  await press(page, "ArrowRight", "ArrowDown");
  assert.match((await focused(page)).spoken, /^head 7/);
  await press(page, "ArrowUp", "ArrowLeft");
  assert.match((await focused(page)).spoken, /^head 2/);
});

visit("matrix: arrows move the cell, it is spoken, Enter pins it, Escape lets it go", {}, async ({ page }) => {
  const { weight } = await expected(SENTENCE);
  const labels = await tokens(page);
  await page.locator("#matrix .cursor").focus();
  await press(page, "Home", "ArrowUp", "ArrowRight", "ArrowRight");
  const words = `query ${labels[6]} reads key ${labels[2]} with weight ${formatWeight(weight(6, 6, 2))} · head 6`;
  assert.equal(await sentence(page), words);
  const value = formatWeight(weight(6, 6, 2));
  assert.equal(await text(page, "#matrix .live"), `query ${labels[6]}, key ${labels[2]}, weight ${value}, head 6`);
  const cell = page.locator("#matrix .cursor");
  assert.equal(await cell.getAttribute("aria-colindex"), "3");
  assert.equal(await page.locator("#matrix [role=row]").getAttribute("aria-rowindex"), "7");
  assert.equal(await page.locator("#matrix [role=grid]").getAttribute("aria-rowcount"), "9");
  await press(page, "End");
  assert.match(await text(page, "#matrix .live"), /␣was/);
  assert.match(await sentence(page), /cannot see key ␣was: —, hidden by the mask/);
  await press(page, "Home", "Enter");
  assert.equal(await cell.getAttribute("aria-selected"), "true");
  await press(page, "ArrowDown");
  assert.match(await sentence(page), /^query ␣it reads key The /);
  // Leaving the matrix shows the pinned cell again.
  await page.locator("#text").focus();
  await settled(page);
  assert.match(await sentence(page), /^query ␣because reads key The /);
  await cell.focus();
  await press(page, "Escape");
  await page.locator("#text").focus();
  await settled(page);
  assert.equal(await text(page, "#sentence"), "Point at a cell to read its weight, click to keep it.");
});

visit("tokens: arrows move, Enter picks the query", {}, async ({ page }) => {
  await page.locator("#tokens .chip[tabindex='0']").focus();
  await press(page, "Home", "ArrowRight", "ArrowRight", "Enter");
  assert.match(await sentence(page), /^query ␣sat reads most from key /);
  await press(page, "End", "Enter");
  assert.match(await sentence(page), /^query ␣was reads most from key /);
  await press(page, "Escape");
  assert.equal(await page.locator("#tokens .chip[data-query]").count(), 0);
});

visit("[ and ] change the head, but not while typing", {}, async ({ page }) => {
  await page.locator("#tab-matrix").focus();
  await press(page, "]", "]");
  assert.equal(await text(page, "#detail-title"), "Head 0 · previous token");
  await press(page, "[");
  assert.equal(await text(page, "#detail-title"), "Head 7 · broad");
  await page.locator("#text").focus();
  await page.keyboard.type("[]");
  await settled(page);
  assert.equal(await text(page, "#detail-title"), "Head 7 · broad");
  assert.ok((await page.locator("#text").inputValue()).includes("[]"));
});

visit("arrow down opens the menu of exports, Esc closes it, and the pinned cell stays", {}, async ({ page }) => {
  await page.locator("#tokens .chip").nth(3).click();
  await settled(page);
  const before = await sentence(page);
  await page.locator("#export").focus();
  await press(page, "ArrowDown");
  await page.locator("#export-menu").waitFor();
  await press(page, "Escape");
  assert.equal(await page.locator("#export-menu").isVisible(), false);
  assert.equal((await focused(page)).id, "export");
  assert.equal(await page.locator("#tokens .chip[data-query]").count(), 1);
  assert.equal(await sentence(page), before);
});

visit("tabs: arrows switch between the matrix and the numbers", {}, async ({ page }) => {
  await page.locator("#tab-matrix").focus();
  await press(page, "ArrowRight");
  assert.equal((await focused(page)).id, "tab-lines");
  await page.locator("#lines [part~=frame]").waitFor();
  await press(page, "End");
  assert.equal((await focused(page)).id, "tab-numbers");
  assert.equal(await page.locator("#numbers table").isVisible(), true);
  await press(page, "ArrowRight");
  assert.equal(await page.locator("#matrix").isVisible(), true);
});
