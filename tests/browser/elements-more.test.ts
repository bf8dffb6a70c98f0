// <head-lines>, <head-compare>, <shape-trace>, <cost-bills> and <token-strip> on a page of somebody else.
import assert from "node:assert/strict";
import { before } from "node:test";
import { cost, load, type TraceStep } from "headscope";
import type { Page } from "playwright-core";
import type {} from "../../web/elements/tags.js";
import { violations } from "./axe.js";
import { give, listen, put, useElements } from "./elements-page.js";
import { settled } from "./page.js";

const visit = useElements();

const TOKENS = ["The", " cat", " sat"];
// Two causal heads over three tokens; binary fractions, so that what is on screen can be compared to the digit.
const HEADS = [
  [1, 0, 0, 0.25, 0.75, 0, 0.5, 0.125, 0.375],
  [1, 0, 0, 0.625, 0.375, 0, 0.0625, 0.6875, 0.25],
];
const WEIGHTS = { data: HEADS.flat(), shape: [2, 3, 3] };
/** What a text may hold: markup, right-to-left, an emoji of several code points, an invisible character, a line break. */
const ODD = ['<img src=x onerror="alert(1)">', "שלום", "👩‍👩‍👧", "x\u200by", "\n"];

let trace: readonly TraceStep[];
before(async () => {
  const hs = await load();
  const layer = hs.multiHeadAttention(
    { dModel: 768, numHeads: 12 },
    { layout: "in-out", wqkv: new Float32Array(3 * 768 * 768), wo: new Float32Array(768 * 768) },
  );
  trace = layer.forward({ data: new Float32Array(2 * 768), shape: [2, 768] }, { want: ["trace"] }).trace;
  layer.dispose();
});

const part = (page: Page, selector: string) => page.locator(`#place > * >> css=${selector}`);
const texts = (page: Page, selector: string) => part(page, selector).allInnerTexts();
const text = async (page: Page, selector: string) => ((await texts(page, selector))[0] ?? "nothing there").trim();

/** Even weights of a head over these many tokens. */
function even(count: number, heads = 1): { data: number[]; shape: number[] } {
  return { data: new Array(heads * count * count).fill(1 / count), shape: [heads, count, count] };
}

/** axe in both themes. */
async function accessible(page: Page, what: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    assert.deepEqual(await violations(page), [], `${what}, ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

// head-lines -----------------------------------------------------------------------------------------------------------

visit(
  "<head-lines> says the weights of the query under the pointer, and keeps them after a click",
  {},
  async (page) => {
    await put(page, "head-lines", {
      attributes: { head: "1" },
      properties: { tokens: TOKENS, weights: WEIGHTS, causal: true },
    });
    const heard = await listen(page, "preview", "pick");
    const query = part(page, '[part~="query"] [part="token"]').nth(2);
    await query.hover();
    await settled(page);
    assert.equal(await text(page, '[part="sentence"]'), "query ␣sat reads H1: ␣cat 0.6875, ␣sat 0.2500, The 0.0625");
    assert.deepEqual(await heard(), [["preview", { head: 1, query: 2, key: null }]]);
    await query.click();
    await page.mouse.move(0, 0);
    await settled(page);
    assert.match(await text(page, '[part="sentence"]'), /^query ␣sat reads/);
    assert.deepEqual((await heard()).at(0), ["pick", { head: 1, query: 2, key: null }]);
    assert.equal(await query.getAttribute("aria-selected"), "true");
  },
);

visit("<head-lines> says who reads the key under the pointer", {}, async (page) => {
  await put(page, "head-lines", {
    attributes: { heads: "all" },
    properties: { tokens: TOKENS, weights: WEIGHTS, causal: true },
  });
  await part(page, '[part~="key"] [part="token"]').nth(1).hover();
  await settled(page);
  assert.equal(
    await text(page, '[part="sentence"]'),
    "key ␣cat is read by H0: ␣cat 0.7500, ␣sat 0.1250; H1: ␣sat 0.6875, ␣cat 0.3750",
  );
});

visit("<head-lines> filters by the k strongest and by a threshold, and combines heads", {}, async (page) => {
  await put(page, "head-lines", {
    attributes: { heads: "all", top: "1" },
    properties: { tokens: TOKENS, weights: WEIGHTS, causal: true },
  });
  const sentence = async () => {
    await page.mouse.move(0, 0);
    await part(page, '[part~="query"] [part="token"]').nth(2).hover();
    await settled(page);
    return text(page, '[part="sentence"]');
  };
  assert.equal(await sentence(), "query ␣sat reads H0: The 0.5000; H1: ␣cat 0.6875");
  await give(page, { top: null, threshold: 0.3 });
  assert.equal(await sentence(), "query ␣sat reads H0: The 0.5000, ␣sat 0.3750; H1: ␣cat 0.6875");
  await give(page, { threshold: 0, combine: "mean" });
  assert.equal(await sentence(), "query ␣sat reads mean of 2 heads: ␣cat 0.4063, ␣sat 0.3125, The 0.2813");
  await give(page, { combine: "max" });
  assert.equal(await sentence(), "query ␣sat reads maximum of 2 heads: ␣cat 0.6875, The 0.5000, ␣sat 0.3750");
  await give(page, { threshold: 0.9 });
  assert.equal(await sentence(), "query ␣sat reads nothing that this filter leaves");
});

visit(
  "<head-lines> is walked by keyboard: along a side, across, Enter, Escape, and [ ] change the head",
  {},
  async (page) => {
    await put(page, "head-lines", { properties: { tokens: TOKENS, weights: WEIGHTS, causal: true } });
    await part(page, '[part~="query"] [tabindex="0"]').focus();
    const focused = () =>
      page.evaluate(() => {
        const node = document.querySelector("#place > *")?.shadowRoot?.activeElement;
        return `${node?.parentElement?.className} ${node?.getAttribute("aria-posinset")}`;
      });
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    assert.equal(await focused(), "side query 3");
    await settled(page);
    assert.match(await text(page, ".live"), /^query ␣sat reads H0: The 0\.5000/);
    await page.keyboard.press("]");
    await settled(page);
    assert.match(await text(page, '[part="sentence"]'), /H1: ␣cat 0\.6875/);
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(), "side key 3");
    await page.keyboard.press("Home");
    await settled(page);
    assert.deepEqual(
      await page.evaluate(() => {
        const { query, key, pinned } = (document.querySelector("#place > *") as HTMLElementTagNameMap["head-lines"])
          .state;
        return { query, key, pinned };
      }),
      { query: 2, key: 0, pinned: { query: 2, key: null } },
    );
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal(await part(page, '[aria-selected="true"]').count(), 0);
  },
);

visit("<head-lines> of 1,024 tokens keeps a screenful in the page and scrolls inside itself", {}, async (page) => {
  await page.evaluate(() => {
    const n = 1024;
    const data = new Float32Array(2 * n * n);
    for (let h = 0; h < 2; h++)
      for (let q = 0; q < n; q++) data[(h * n + q) * n + (h === 0 ? Math.max(0, q - 1) : 0)] = 1;
    const node = document.createElement("head-lines");
    node.heads = "all";
    Object.assign(node, { weights: { data, shape: [2, n, n] }, tokens: Array.from({ length: n }, (_, i) => ` w${i}`) });
    document.querySelector("#place")?.replaceChildren(node);
  });
  await settled(page);
  assert.ok((await part(page, '[part="token"]').count()) < 100);
  const height = await part(page, '[part="frame"]').evaluate((node) => node.clientHeight);
  assert.ok(height <= 482, String(height));
  await page.evaluate(() => {
    (document.querySelector("head-lines") as HTMLElementTagNameMap["head-lines"]).state.pin({ query: 1000, key: null });
  });
  // The figure scrolls in one frame and draws what it scrolled to in another.
  await settled(page);
  await settled(page);
  const last = await page.evaluate(() => {
    const root = document.querySelector("head-lines")?.shadowRoot;
    const box = root?.querySelector('[part="frame"]')?.getBoundingClientRect();
    const at = root?.querySelector('.query [aria-selected="true"]')?.getBoundingClientRect();
    return at && box ? at.top >= box.top - 1 && at.bottom <= box.bottom + 1 : null;
  });
  assert.equal(last, true);
  assert.equal(await text(page, '[part="sentence"]'), "query ␣w1000 reads H0: ␣w999 1.0000; H1: ␣w0 1.0000");
});

visit(
  "<head-lines> draws what its filter leaves: a head's colour on the canvas, and none without lines",
  {},
  async (page) => {
    await put(page, "head-lines", {
      attributes: { head: "0", threshold: "0.7" },
      properties: { tokens: TOKENS, weights: WEIGHTS, causal: true },
    });
    const inked = () =>
      part(page, "canvas.all").evaluate((node) => {
        const canvas = node as HTMLCanvasElement;
        const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(
          0,
          0,
          canvas.width,
          canvas.height,
        );
        let count = 0;
        for (let i = 3; i < data.length; i += 4) if ((data[i] as number) > 0) count++;
        return count;
      });
    assert.ok((await inked()) > 500);
    await give(page, { threshold: 2 });
    assert.equal(await inked(), 0);
  },
);

visit(
  "<head-lines> of cross-attention has other keys than queries, left to right and top to bottom",
  {},
  async (page) => {
    const properties = {
      tokens: ["Das", " Haus"],
      keyTokens: ["the", " old", " house"],
      weights: { data: [0.875, 0.125, 0, 0, 0.25, 0.75], shape: [2, 3] },
    };
    await put(page, "head-lines", { attributes: { direction: "horizontal" }, properties });
    for (const direction of ["horizontal", "vertical"]) {
      await give(page, { direction });
      assert.equal(await part(page, '[part~="query"] [part="token"]').count(), 2);
      assert.equal(await part(page, '[part~="key"] [part="token"]').count(), 3);
      await part(page, '[part~="query"] [part="token"]').nth(1).hover();
      await settled(page);
      assert.equal(await text(page, '[part="sentence"]'), "query ␣Haus reads H0: ␣house 0.7500, ␣old 0.2500");
      await page.mouse.move(0, 0);
      await settled(page);
    }
    // A page that reads from the right changes nothing inside the figure.
    await page.evaluate(() => document.documentElement.setAttribute("dir", "rtl"));
    await part(page, '[part~="key"] [part="token"]').nth(0).hover();
    await settled(page);
    assert.equal(await text(page, '[part="sentence"]'), "key the is read by H0: Das 0.8750");
  },
);

visit("<head-lines> turned from one direction to the other stands as if it had begun there", {}, async (page) => {
  const places = () =>
    part(page, '[part="token"]').evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect()).map(({ left, top, width, height }) => [left, top, width, height]),
    );
  const properties = { tokens: TOKENS, weights: WEIGHTS, causal: true };
  for (const [first, second] of [
    ["vertical", "horizontal"],
    ["horizontal", "vertical"],
  ]) {
    await put(page, "head-lines", { properties: { ...properties, direction: second } });
    const wanted = await places();
    await put(page, "head-lines", { properties: { ...properties, direction: first } });
    await give(page, { direction: second });
    assert.deepEqual(await places(), wanted, second);
  }
});

visit(
  "<head-lines> under a finger: one tap looks, a second on the same token keeps",
  { hasTouch: true },
  async (page) => {
    await put(page, "head-lines", { properties: { tokens: TOKENS, weights: WEIGHTS, causal: true } });
    const heard = await listen(page, "preview", "pick");
    const token = part(page, '[part~="query"] [part="token"]').nth(1);
    await token.tap();
    await settled(page);
    assert.match(await text(page, '[part="sentence"]'), /^query ␣cat reads/);
    assert.equal(await token.getAttribute("aria-selected"), "false");
    await token.tap();
    await settled(page);
    assert.equal(await token.getAttribute("aria-selected"), "true");
    const types = (await heard()).map((event) => (event as [string])[0]);
    assert.equal(types.filter((type) => type === "pick").length, 1);
  },
);

visit("<head-lines> with shorter data after longer, one token, NaN, and heads that are not there", {}, async (page) => {
  await put(page, "head-lines", {
    attributes: { heads: "all" },
    properties: { tokens: Array.from({ length: 200 }, (_, i) => `t${i}`), weights: even(200, 2), threshold: 0 },
  });
  await page.evaluate(() => {
    (document.querySelector("head-lines") as HTMLElementTagNameMap["head-lines"]).state.pin({ query: 190, key: null });
  });
  await settled(page);
  await give(page, { tokens: ["only"], weights: { data: [Number.NaN], shape: [1, 1, 1] }, heads: [0, 7] });
  assert.deepEqual(await texts(page, '[part="token"]'), ["only", "only"]);
  assert.match(await text(page, '[part="legend"]'), /Without a line, as they are not numbers \(NaN\): 1\./);
  assert.match(await text(page, '[part="sentence"]'), /^Point at a token/);
  await give(page, { weights: { data: [0.5], shape: [1, 2, 2] } });
  assert.match(await text(page, '[part="problem"]'), /^weights: the shape \[1, 2, 2\] needs 4 numbers, data has 1/);
  assert.deepEqual(await texts(page, '[part="token"]'), ["only", "only"]);
});

visit("<head-lines> with 144 heads: any of them can be shown, and the controls filter", {}, async (page) => {
  await put(page, "head-lines", {
    attributes: { controls: "" },
    properties: { tokens: ["a", "b"], weights: even(2, 144) },
  });
  assert.equal(await part(page, '[part="heads"] button').count(), 144);
  await part(page, '[part="heads"] button').nth(143).click();
  await settled(page);
  assert.deepEqual(await texts(page, '[part="heads"] [aria-pressed="true"]'), ["H0", "H143"]);
  const heard = await listen(page, "filter");
  await part(page, '[part="controls"] select').first().selectOption("1");
  await part(page, '[part="controls"] input').press("End");
  await settled(page);
  assert.deepEqual((await heard()).at(-1), [
    "filter",
    { top: 1, threshold: 0.9, combine: "none", direction: "vertical" },
  ]);
  assert.match(await text(page, '[part="legend"]'), /the strongest of each query, from 0\.9 on/);
  await accessible(page, "head-lines with controls");
});

// head-compare ---------------------------------------------------------------------------------------------------------

visit("<head-compare> reads both sides and their difference under one crosshair", {}, async (page) => {
  await put(page, "head-compare", { properties: { tokens: TOKENS, weights: WEIGHTS, causal: true } });
  assert.equal(
    await text(page, '[part="sentence"]'),
    "Largest difference +0.5625: query ␣sat, key ␣cat. On average 31 % of a query's attention goes elsewhere.",
  );
  const heard = await listen(page, "preview");
  const box = await part(page, "head-compare-map >> css=[part=box]").first().boundingBox();
  assert.ok(box);
  // The cell of query 2, key 1 of the left map.
  await page.mouse.move(box.x + box.width / 2, box.y + (box.height * 5) / 6);
  await settled(page);
  assert.equal(
    await text(page, '[part="sentence"]'),
    "query ␣sat, key ␣cat: 0.1250 (head 0), 0.6875 (head 1), difference +0.5625",
  );
  assert.deepEqual(await heard(), [["preview", { head: 0, query: 2, key: 1 }]]);
  const cursors = await page.evaluate(() => {
    const root = document.querySelector("#place > *")?.shadowRoot;
    const maps = Array.from(root?.querySelectorAll("head-compare-map, head-compare-difference") ?? []);
    return maps.map((map) => map.shadowRoot?.querySelector('[role="gridcell"]')?.getAttribute("aria-label"));
  });
  assert.deepEqual(cursors, [
    "query ␣sat, key ␣cat: 0.1250",
    "query ␣sat, key ␣cat: 0.6875",
    "query ␣sat, key ␣cat: +0.5625",
  ]);
});

visit(
  "<head-compare> of the same head before and after a change, hidden on both sides where the mask hides",
  {},
  async (page) => {
    await put(page, "head-compare", {
      properties: {
        left: { weights: { data: HEADS[0], shape: [1, 3, 3] }, tokens: TOKENS, causal: true, label: "before" },
        right: { weights: { data: HEADS[1], shape: [1, 3, 3] }, tokens: TOKENS, causal: true, label: "after" },
      },
    });
    assert.deepEqual(await texts(page, "figcaption"), ["before", "after", "after minus before"]);
    await page.evaluate(() => {
      (document.querySelector("#place > *") as HTMLElementTagNameMap["head-compare"]).state.preview({
        query: 0,
        key: 2,
      });
    });
    await settled(page);
    assert.equal(await text(page, '[part="sentence"]'), "query The, key ␣sat: — (before), — (after), difference 0");
    // Blue where the right side reads more, orange where less, paper at 0.
    const [none, more, less, hidden] = await page.evaluate(() => {
      const map = document.querySelector("#place > *")?.shadowRoot?.querySelector("head-compare-difference");
      const canvas = map?.shadowRoot?.querySelector("canvas.cells") as HTMLCanvasElement;
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      // In a corner of the cell, beside its number.
      return [
        [0, 0],
        [2, 1],
        [2, 0],
        [0, 2],
      ].map(([query = 0, key = 0]) => {
        const [x, y] = [(canvas.width * (key + 0.1)) / 3, (canvas.height * (query + 0.1)) / 3];
        const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(x, y, 1, 1).data;
        return { red, green, blue, alpha };
      });
    });
    assert.ok(none && more && less && hidden);
    assert.deepEqual(none, { red: 251, green: 250, blue: 247, alpha: 255 });
    assert.ok(more.blue > more.red + 40);
    assert.ok(less.red > less.blue + 40);
    assert.equal(hidden.alpha, 0);
  },
);

visit("<head-compare> says why there is no difference, and compares by position when asked to", {}, async (page) => {
  const side = (tokens: string[]) => ({ weights: even(tokens.length), tokens });
  await put(page, "head-compare", { properties: { left: side(["a", "b"]), right: side(["a", "b", "c"]) } });
  assert.equal(
    await text(page, '[part="obstacle"]'),
    "No difference can be drawn: head 0 (left) has 2 × 2, head 0 (right) has 3 × 3 (queries × keys), so that no cell has a counterpart.",
  );
  assert.equal(await part(page, "head-compare-difference").isVisible(), false);
  await give(page, { right: side(["a", ODD[0] as string]) });
  assert.equal(
    await text(page, '[part="obstacle"]'),
    `No difference is drawn: query 2 is b on one side and <img␣src=x␣onerror="alert(1)"> on the other, so that a cell would compare different tokens.`,
  );
  await part(page, "button").filter({ hasText: "Compare by position" }).click();
  await settled(page);
  assert.equal(await part(page, '[part="obstacle"]').isVisible(), false);
  assert.equal(await text(page, '[part="sentence"]'), "Both maps are equal.");
  await page.evaluate(() => {
    (document.querySelector("#place > *") as HTMLElementTagNameMap["head-compare"]).state.pin({ query: 0, key: null });
  });
  await settled(page);
  assert.equal(await text(page, '[part="sentence"]'), "query a reads the same on both sides");
});

visit("<head-compare> with controls changes a side's head, and its maps zoom together", {}, async (page) => {
  await put(page, "head-compare", {
    attributes: { controls: "" },
    properties: { tokens: Array.from({ length: 80 }, (_, i) => `t${i}`), weights: even(80, 3) },
  });
  const heard = await listen(page, "heads");
  await part(page, "select").nth(1).selectOption("2");
  await settled(page);
  assert.deepEqual(await heard(), [["heads", { left: 0, right: 2 }]]);
  assert.equal(await text(page, "figure:nth-of-type(3) figcaption"), "head 2 minus head 0");
  await part(page, "head-compare-map >> css=[part=tools] button").nth(1).click();
  await settled(page);
  const firstLabels = await page.evaluate(() => {
    const root = document.querySelector("#place > *")?.shadowRoot;
    return Array.from(root?.querySelectorAll("head-compare-map, head-compare-difference") ?? [], (map) =>
      Array.from(map.shadowRoot?.querySelectorAll('[part~="rows"] .label') ?? [], (label) => label.textContent).join(),
    );
  });
  assert.equal(new Set(firstLabels).size, 1);
  assert.doesNotMatch(firstLabels[0] ?? "", /t0,/);
});

for (const [width, columns] of [
  [760, 2],
  [1160, 3],
] as const) {
  visit(`<head-compare> draws all three maps of one size, ${columns} beside each other`, {}, async (page) => {
    await page.setViewportSize({ width, height: 900 });
    await put(page, "head-compare", {
      properties: { tokens: Array.from({ length: 12 }, (_, i) => `t${i}`), weights: even(12, 2) },
    });
    assert.equal(await part(page, ".maps").getAttribute("data-columns"), String(columns));
    const boxes = await Promise.all(
      ["left", "right", "difference"].map((side) => part(page, `figure.${side} >> css=[part=box]`).boundingBox()),
    );
    const [left, right, difference] = boxes.map((box) => box ?? assert.fail());
    for (const other of [right, difference]) {
      assert.ok(other && left && Math.abs(other.width - left.width) <= 1, `${left?.width} and ${other?.width}`);
      assert.ok(Math.abs(other.height - left.height) <= 1, `${left.height} and ${other.height}`);
    }
    assert.equal(left?.y === difference?.y, columns === 3);
  });
}

// shape-trace ----------------------------------------------------------------------------------------------------------

visit(
  "<shape-trace> shows GPT-2's shape line, and a step's strides, node, bytes and FLOPs when opened",
  {},
  async (page) => {
    await put(page, "shape-trace", { properties: { trace } });
    const cards = await texts(page, '[part="step"]');
    assert.deepEqual(
      cards.map((card) => card.replace(/\n+/g, " | ")),
      [
        "input X | [2, 768] | 6.1 KB",
        "fused QKV | [2, 2304] | 7.1 MFLOP",
        "split, view | 3 × [2, 12, 64] | strides [2304, 64, 1] | no copy",
        "transpose | 3 × [12, 2, 64] | strides [64, 2304, 1] | no copy",
        "scores QKᵀ / √64 | [12, 2, 2] | 6.1 kFLOP",
        "mask, softmax | [12, 2, 2] | 192 B",
        "× V | [12, 2, 64] | 6.1 kFLOP",
        "transpose back | [2, 12, 64] | strides [64, 128, 1] | no copy",
        "concat | [2, 768] | copies · 6.1 KB",
        "× W_O | [2, 768] | 2.4 MFLOP",
      ],
    );
    const heard = await listen(page, "open");
    await part(page, '[part="step"]').nth(1).press("Enter");
    await settled(page);
    assert.deepEqual(await heard(), [["open", { stage: "fused" }]]);
    const rows = await part(page, '[part="details"] tbody tr').evaluateAll((found) =>
      found.map((row) => Array.from(row.children, (cell) => cell.textContent)),
    );
    const step = trace.find(({ id }) => id === "qkv");
    assert.deepEqual(rows, [
      [step?.formula, "[2, 2304]", "[2304, 1]", "new", "18,432", "7,077,888", step?.ggml?.name, "{2304, 2}"],
    ]);
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal(await part(page, '[part="details"]').isVisible(), false);
    assert.equal(
      await page.evaluate(
        () => document.querySelector("#place > *")?.shadowRoot?.activeElement?.querySelector("b")?.textContent,
      ),
      "fused QKV",
    );
  },
);

visit(
  "<shape-trace> of D = 4, H = 2 shows columns 1–2 of head 1 and 3–4 of head 2, and the same way back",
  {},
  async (page) => {
    const hs = await load();
    const square = () => new Float32Array(16);
    const layer = hs.multiHeadAttention(
      { dModel: 4, numHeads: 2 },
      { layout: "in-out", wq: square(), wk: square(), wv: square(), wo: square() },
    );
    const small = layer.forward({ data: new Float32Array(12), shape: [3, 4] }, { want: ["trace"] }).trace;
    layer.dispose();
    await put(page, "shape-trace", { attributes: { open: "split" }, properties: { trace: small } });
    assert.deepEqual(await texts(page, ".map li"), ["columns 1–2 → head 1", "columns 3–4 → head 2"]);
    await give(page, { open: "concat" });
    assert.deepEqual(await texts(page, ".map li"), ["columns 1–2 → head 1", "columns 3–4 → head 2"]);
    await accessible(page, "shape-trace");
  },
);

visit(
  "<shape-trace> on a phone scrolls inside itself, and the page does not",
  { viewport: { width: 360, height: 700 } },
  async (page) => {
    await put(page, "shape-trace", { attributes: { open: "concat", table: "" }, properties: { trace } });
    const { inside, outside, visible } = await page.evaluate(() => {
      const root = document.querySelector("#place > *")?.shadowRoot;
      const line = root?.querySelector('[role="group"]') as HTMLElement;
      const card = root?.querySelector('[aria-expanded="true"]')?.getBoundingClientRect();
      return {
        inside: line.scrollWidth > line.clientWidth,
        outside: document.documentElement.scrollWidth <= innerWidth,
        visible: card !== undefined && card.left >= 0 && card.right <= innerWidth,
      };
    });
    assert.deepEqual({ inside, outside, visible }, { inside: true, outside: true, visible: true });
    await accessible(page, "shape-trace on a phone");
  },
);

visit("<shape-trace> says what is wrong with a trace and keeps the last good one", {}, async (page) => {
  await put(page, "shape-trace", { properties: { trace } });
  await give(page, { trace: [{ id: "q", formula: "Q", shape: [1, 2], strides: [1], bytes: 0, flops: 0 }] });
  assert.equal(await text(page, '[part="problem"]'), "trace: expected shape and strides of one length in step 0.");
  assert.equal(await part(page, '[part="step"]').count(), 10);
});

// cost-bills -----------------------------------------------------------------------------------------------------------

const figure = (page: Page, bill: string) => text(page, `[data-bill="${bill}"] .figure`);

visit("<cost-bills> shows the bills of a preset as headscope's cost computes them", {}, async (page) => {
  await put(page, "cost-bills", { attributes: { preset: "llama3-8b" } });
  const config = { dModel: 4096, numHeads: 32, numKVHeads: 8, headDim: 128 };
  const comma = (n: bigint) => n.toLocaleString("en-US");
  assert.equal(await figure(page, "parameters"), comma(cost.parameters(config).total));
  const { scores, context } = cost.flops({ ...config, T: 8192 });
  assert.equal(await figure(page, "flops"), comma(scores + context));
  assert.equal(await figure(page, "cache"), "131,072 B");
  const cache = await text(page, '[data-bill="cache"]');
  assert.match(cache, /= 65,536 numbers/);
  assert.match(cache, /1\/4 of what 32 K\/V heads need \(GQA\): 4 × the context/);
  await accessible(page, "cost-bills");
});

visit(
  "<cost-bills>: moving H leaves parameters and FLOPs, and fills the 4 GiB of wasm32 with scores",
  {},
  async (page) => {
    await put(page, "cost-bills", {
      properties: { config: { dModel: 4096, numHeads: 8, T: 4096, bytesPerElement: 2 } },
    });
    const heard = await listen(page, "sizes");
    const seen: string[][] = [];
    for (const heads of ["8", "32", "128"]) {
      await part(page, "#numHeads").fill(heads);
      await settled(page);
      seen.push(await Promise.all(["parameters", "flops", "scores"].map((bill) => figure(page, bill))));
    }
    assert.deepEqual(seen, [
      ["67,108,864", "274,877,906,944", "256.0 MiB"],
      ["67,108,864", "274,877,906,944", "1.00 GiB"],
      ["67,108,864", "274,877,906,944", "4.00 GiB"],
    ]);
    const scores = await text(page, '[data-bill="scores"]');
    assert.match(scores, /4,294,967,296 B/);
    assert.match(scores, /exactly the 4 GiB that wasm32 can address/);
    assert.match(await text(page, '[data-bill="flops"]'), /causal, half: 137,438,953,472/);
    const last = (await heard()).at(-1) as [string, Record<string, unknown>];
    assert.deepEqual([last[1]["numHeads"], last[1]["numKVHeads"], last[1]["headDim"]], [128, 128, 32]);
  },
);

visit("<cost-bills> is moved by keyboard, and explains sizes that do not divide", {}, async (page) => {
  await put(page, "cost-bills", { attributes: { preset: "gpt2-small" } });
  const heads = part(page, '.control:has(#numHeads) input[type="range"]');
  assert.equal(await heads.getAttribute("aria-valuetext"), "12");
  await heads.press("ArrowRight");
  await settled(page);
  assert.equal(await heads.getAttribute("aria-valuetext"), "16");
  await part(page, "#numHeads").fill("10");
  await settled(page);
  assert.equal(
    (await texts(page, ".finding"))[0],
    "768 / 10 is not whole. The heads are 76 wide here, together 760; W_O leads back to 768. 8 or 12 heads would divide 768.",
  );
  assert.equal(await figure(page, "parameters"), (4 * 768 * 760).toLocaleString("en-US"));
  await part(page, "#numKVHeads").fill("4");
  await settled(page);
  assert.match((await texts(page, ".finding"))[0] ?? "", /^10 heads cannot share 4 K\/V heads evenly/);
  assert.equal(await figure(page, "parameters"), "—");
  await accessible(page, "cost-bills with findings");
  await part(page, ".finding button").filter({ hasText: "G = 5" }).click();
  await settled(page);
  assert.notEqual(await figure(page, "parameters"), "—");
});

visit("<cost-bills> refuses what is no size beside its control, and the last good bills stay", {}, async (page) => {
  await put(page, "cost-bills", { attributes: { preset: "gpt2-small" } });
  const before = await figure(page, "parameters");
  await part(page, "#dModel").fill("0");
  await settled(page);
  assert.equal(await text(page, "#dModel-wrong"), "A whole number from 1 to 65,536, please.");
  assert.equal(await part(page, "#dModel").getAttribute("aria-invalid"), "true");
  assert.equal(await figure(page, "parameters"), before);
  await give(page, { config: { dModel: 12.5 } });
  assert.equal(
    await text(page, '[part="problem"]'),
    "config.dModel: expected a whole number from 1 to 65536, got 12.5.",
  );
  assert.equal(await figure(page, "parameters"), before);
});

visit("<cost-bills fixed> is the four bills of a layer without controls", { locale: "zh-CN" }, async (page) => {
  await page.evaluate(() => {
    document.documentElement.lang = "zh";
  });
  await put(page, "cost-bills", {
    attributes: { fixed: "" },
    properties: { config: { dModel: 256, numHeads: 8, T: 9, layers: 1, bytesPerElement: 4 } },
  });
  assert.deepEqual(await texts(page, ".figure"), ["262,144", "82,944", "2,592 B", "2,048 B"]);
  assert.equal(await text(page, '[data-bill="parameters"] .what'), "一层的参数");
  assert.equal(await part(page, "form").isVisible(), false);
});

// token-strip ----------------------------------------------------------------------------------------------------------

visit("<token-strip> makes whitespace, special tokens, bytes and markup visible as text", {}, async (page) => {
  await put(page, "token-strip", {
    properties: {
      tokens: ["<|end|>", ...ODD, "\ufffd", " a"],
      special: [0],
      bytes: [...new Array(6).fill(null), [0xe5, 0xad]],
    },
  });
  assert.deepEqual(await texts(page, '[part="chip"]'), [
    "<|end|>",
    '<img␣src=x␣onerror="alert(1)">',
    "שלום",
    "👩‍👩‍👧",
    "x‹U+200B›y",
    "↵",
    "‹E5 AD›",
    "␣a",
  ]);
  assert.equal(await part(page, "img").count(), 0);
  await part(page, '[part="chip"]').first().focus();
  assert.equal(await part(page, '[part="chip"]').first().getAttribute("aria-description"), "special token");
  await accessible(page, "token-strip");
});

visit("<token-strip> is one stop of Tab: arrows walk, Enter picks, Escape lets go", {}, async (page) => {
  await put(page, "token-strip", { properties: { tokens: TOKENS, weights: WEIGHTS, causal: true } });
  const heard = await listen(page, "preview", "pick");
  await page.keyboard.press("Tab");
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.deepEqual(await heard(), [
    ["preview", { head: 0, query: 2, key: null }],
    ["preview", { head: 0, query: 1, key: null }],
    ["pick", { head: 0, query: 1, key: null }],
  ]);
  assert.equal(await text(page, '[aria-selected="true"]'), "␣cat\nquery");
  // Bars of what the query reads, and none where it cannot look.
  const bars = await part(page, ".bar").evaluateAll((found) =>
    found.map((bar) => getComputedStyle(bar).backgroundColor !== "rgba(0, 0, 0, 0)"),
  );
  assert.deepEqual(bars, [true, true, false]);
  await page.keyboard.press("Escape");
  await settled(page);
  assert.equal(await part(page, '[aria-selected="true"]').count(), 0);
  assert.equal(
    await page.evaluate(() => {
      const before = document.querySelector("#place > *")?.shadowRoot?.querySelectorAll('[tabindex="0"]').length;
      return before;
    }),
    1,
  );
});

visit(
  "<token-strip> shows tokens before there are weights, and says where they do not fit each other",
  {},
  async (page) => {
    await put(page, "token-strip", { properties: { tokens: TOKENS } });
    assert.deepEqual(await texts(page, '[part="chip"]'), ["The", "␣cat", "␣sat"]);
    await give(page, { weights: even(2) });
    assert.equal(
      await text(page, '[part="problem"]'),
      "tokens: expected 2 for the queries of weights [1, 2, 2], got 3.",
    );
    assert.equal(await part(page, '[part="chip"]').count(), 3);
  },
);

visit("<token-strip side=key> picks a key, for the query that reads it most", {}, async (page) => {
  await put(page, "token-strip", {
    attributes: { side: "key" },
    properties: {
      tokens: ["Das", " Haus"],
      keyTokens: ["the", " old", " house"],
      weights: { data: [0.875, 0.125, 0, 0, 0.25, 0.75], shape: [2, 3] },
    },
  });
  const heard = await listen(page, "pick");
  assert.deepEqual(await texts(page, '[part="chip"]'), ["the", "␣old", "␣house"]);
  await part(page, '[part="chip"]').nth(2).click();
  assert.deepEqual(await heard(), [["pick", { head: 0, query: 1, key: 2 }]]);
});

// All ------------------------------------------------------------------------------------------------------------------

for (const tag of ["head-lines", "head-compare", "token-strip"] as const) {
  visit(
    `<${tag}> shows markup, right-to-left and emoji tokens as the text they are, in both languages`,
    {},
    async (page) => {
      await put(page, tag, {
        attributes: { controls: "" },
        properties: { tokens: ODD, weights: even(ODD.length, 3), causal: true },
      });
      await page.evaluate((name) => {
        (document.querySelector(name) as HTMLElementTagNameMap["head-lines"]).state.pin({ query: 4, key: 0 });
      }, tag);
      await settled(page);
      // Selectors look into open shadow roots.
      assert.equal(await page.locator("#place img").count(), 0);
      assert.ok((await page.locator("#place bdi").count()) >= ODD.length);
      await accessible(page, tag);
      await give(page, { language: "zh" });
      await accessible(page, `${tag} in Chinese`);
    },
  );
}

visit("elements share a state, whose properties were set before they were defined", {}, async (page) => {
  const picked = await page.evaluate(
    async ({ tokens, weights }) => {
      const { ViewState } = (await import(String(new URL("elements.js", location.href)))) as {
        ViewState: new () => HTMLElementTagNameMap["head-lines"]["state"];
      };
      const state = new ViewState();
      const made = ["token-strip", "head-lines", "head-compare"].map((tag) => {
        // A document without a window defines nothing: the element becomes one when it moves over.
        const node = document.implementation.createHTMLDocument("").createElement(tag);
        Object.assign(node, { tokens, weights, causal: true, state });
        return node as HTMLElementTagNameMap["head-lines"];
      });
      document.querySelector("#place")?.replaceChildren(...made);
      state.pin({ query: 2, key: null });
      await Promise.all(made.map((node) => node.updateComplete));
      return made.map((node) => {
        const root = node.shadowRoot as ShadowRoot;
        return root.querySelector('[part~="sentence"]')?.textContent ?? root.querySelector("[data-query]")?.textContent;
      });
    },
    { tokens: TOKENS, weights: WEIGHTS },
  );
  assert.match(picked[0] ?? "", /sat/);
  assert.match(picked[1] ?? "", /^query ␣sat reads/);
  assert.match(picked[2] ?? "", /^query ␣sat: 56 % of its attention goes elsewhere/);
});
