// The pages of the elements in Firefox: the figures are alive.
import assert from "node:assert/strict";
import { until } from "../until.js";
import { click, pixels, text, useFirefox, visit } from "./page.js";

useFirefox();

visit("Firefox: a figure of the documentation is drawn and answers", "head-grid.html", async ({ page }) => {
  await until(
    page,
    () => (document.querySelector("head-grid#switches")?.shadowRoot?.querySelectorAll("canvas").length ?? 0) > 1,
  );
  const { data } = await pixels(page, "head-grid#switches >>> canvas");
  assert.ok(new Set(new Uint32Array(Uint8Array.from(data).buffer)).size > 2, "a picture, not a blank");
  await click(page, "head-grid#switches >>> [part~=box]");
  await until(page, () => Number.parseFloat(document.querySelector("output")?.value ?? "0") > 1);
  await click(page, "head-grid#switches >>> [part~=box]");
  await until(page, () => document.querySelector("output")?.value === "0.0 %");
});

visit("Firefox: the elements of the overview are linked by one state", "elements.html", async ({ page }) => {
  await until(
    page,
    () => (document.querySelector(".linked")?.shadowRoot?.querySelector(".hs")?.clientHeight ?? 0) > 20,
  );
  await until(
    page,
    () => (document.querySelector("head-grid")?.shadowRoot?.querySelectorAll("[part~=card]").length ?? 0) > 2,
  );
  await click(page, "head-grid >>> [part~=card]", 2);
  await until(page, () => {
    const linked = [...document.querySelectorAll<HTMLElement & { state: { heads: number[] } }>(".linked")];
    return linked.length === 3 && linked.every(({ state }) => state.heads[0] === 2);
  });
  assert.ok((await text(page, "h1")).length > 0);
});
