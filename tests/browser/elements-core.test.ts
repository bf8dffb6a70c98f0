// <head-heatmap> and <head-grid> on a page of somebody else.
import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import { formatWeight } from "../../web/elements/format.js";
import { parseHex, ramp } from "../../web/elements/ramp.js";
import type {} from "../../web/elements/tags.js";
import { violations } from "./axe.js";
import { give, listen, put, useElements } from "./elements-page.js";
import { settled } from "./page.js";
import { until } from "./until.js";

const visit = useElements();

/** Cross-attention: 3 queries over 4 keys, two heads. The rows of head 1 sum to 1 to the digit shown. */
const CROSS = {
  shape: [2, 3, 4],
  data: [
    ...[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25],
    ...[0.4312, 0.5687, 0.0001, 0.00004, 0, 0.125, 0.375, 0.5, 0.9, 0.06, 0.0301, 0.0099],
  ],
};
const QUERIES = ["The", " cat", " sat"];
const KEYS = ["Le", " chat", " est", " assis"];

/** Causal weights of one head with a plain pattern: 0.75 on the token before, the rest on itself. */
function previousToken(count: number, heads = 1): { data: number[]; shape: number[] } {
  const data = new Array<number>(heads * count * count).fill(0);
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < count; query++) {
      const row = (head * count + query) * count;
      data[row + query] = query === 0 ? 1 : 0.25;
      if (query > 0) data[row + query - 1] = 0.75;
    }
  }
  return { data, shape: [heads, count, count] };
}

const words = (count: number) => Array.from({ length: count }, (_, i) => ` w${i}`);
const part = (page: Page, selector: string) => page.locator(`#place > * >> css=${selector}`);
const text = async (page: Page, selector: string) => ((await part(page, selector).textContent()) ?? "").trim();
const sentence = (page: Page) => text(page, '[part="sentence"]');
const cursor = (page: Page) => part(page, '[role="gridcell"]');

/** The middle of a cell on the screen, as long as the whole matrix is in view. */
async function middle(page: Page, query: number, key: number, rows: number, columns: number) {
  await part(page, '[part="box"]').scrollIntoViewIfNeeded();
  const box = await part(page, '[part="box"]').boundingBox();
  assert.ok(box);
  return { x: box.x + ((key + 0.5) * box.width) / columns, y: box.y + ((query + 0.5) * box.height) / rows };
}

/** Colours of the cells, read near their upper left corners, where no digit stands; null where nothing is drawn. */
function colors(page: Page, rows: number, columns: number): Promise<(number[] | null)[]> {
  return page.evaluate(
    ([rows, columns]) => {
      const canvas = document
        .querySelector("#place > *")
        ?.shadowRoot?.querySelector("canvas.cells") as HTMLCanvasElement;
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      return Array.from({ length: rows * columns }, (_, cell) => {
        const x = Math.floor((((cell % columns) + 0.1) * canvas.width) / columns);
        const y = Math.floor(((Math.floor(cell / columns) + 0.1) * canvas.height) / rows);
        const [r, g, b, a] = context.getImageData(x, y, 1, 1).data;
        return a === 0 ? null : [r as number, g as number, b as number];
      });
    },
    [rows, columns] as const,
  );
}

// head-heatmap ---------------------------------------------------------------------------------------------------------

visit("<head-heatmap> says the weight of every cell, square or not, as the data has it", {}, async (page) => {
  await put(page, "head-heatmap", {
    attributes: { head: "1" },
    properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS, masked: [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] },
  });
  assert.equal(await text(page, '[part="corner"]'), "query ↓ key →");
  assert.deepEqual(await part(page, ".rows .label").allInnerTexts(), ["The", "␣cat", "␣sat"]);
  assert.deepEqual(await part(page, ".columns .label").allInnerTexts(), ["Le", "␣chat", "␣est", "␣assis"]);
  for (let query = 0; query < 3; query++) {
    for (let key = 0; key < 4; key++) {
      const { x, y } = await middle(page, query, key, 3, 4);
      await page.mouse.move(x, y);
      await settled(page);
      const q = (QUERIES[query] as string).replace(" ", "␣");
      const k = (KEYS[key] as string).replace(" ", "␣");
      const weight = formatWeight(CROSS.data[12 + query * 4 + key] as number);
      const expected =
        query === 0 && key === 3
          ? `query ${q} cannot see key ${k}: —, hidden by the mask · head 1`
          : `query ${q} reads key ${k} with weight ${weight} · head 1`;
      assert.equal(await sentence(page), expected);
    }
  }
  // The cell looked at is marked on both axes.
  assert.deepEqual(await part(page, ".rows .picked").allInnerTexts(), ["␣sat"]);
  assert.deepEqual(await part(page, ".columns .picked").allInnerTexts(), ["␣assis"]);
});

visit("<head-heatmap> writes four digits into its cells, and never 0 for what is small or hidden", {}, async (page) => {
  await page.evaluate(() => {
    const drawn: string[] = [];
    (window as unknown as { drawn: string[] }).drawn = drawn;
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text: string, ...place: [number, number]) {
      drawn.push(text);
      fillText.call(this, text, ...place);
    };
  });
  await put(page, "head-heatmap", {
    attributes: { head: "1" },
    properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS, masked: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  });
  assert.deepEqual(await page.evaluate(() => (window as unknown as { drawn: string[] }).drawn), [
    ...["0.4312", "0.5687", "0.0001", "<0.0001"],
    ...["<0.0001", "0.1250", "0.3750", "0.5000"],
    ...["0.9000", "0.0600", "0.0301"],
  ]);
});

visit("<head-heatmap> colours each cell by its scale, and leaves hidden ones to the hatch", {}, async (page) => {
  const masked = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  await put(page, "head-heatmap", {
    attributes: { head: "1" },
    properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS, masked },
  });
  const place: Record<string, (weight: number, visible: number) => number> = {
    unit: (weight) => weight,
    head: (weight) => weight / 0.9,
    uniform: (weight, n) =>
      weight > 1 / n ? 0.5 + (0.5 * Math.log(weight * n)) / Math.log(n) : Math.max(0, 0.5 * weight * n),
    log: (weight) => (weight > 1e-4 ? 1 + Math.log10(weight) / 4 : 0),
  };
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [scale, at] of Object.entries(place)) {
      await give(page, { scale });
      const found = await colors(page, 3, 4);
      for (const [cell, color] of found.entries()) {
        if (masked[cell] === 1) {
          assert.equal(color, null, `${colorScheme} ${scale} ${cell}`);
          continue;
        }
        const entry = Math.round(255 * at(Math.fround(CROSS.data[12 + cell] as number), cell < 8 ? 4 : 3));
        assert.deepEqual(color, ramp(colorScheme).colors[entry], `${colorScheme} ${scale} ${cell}`);
      }
    }
  }
  // Not-a-number has the accent, which no weight has.
  await page.emulateMedia({ colorScheme: "light" });
  await page.evaluate(() => {
    (document.querySelector("head-heatmap") as HTMLElementTagNameMap["head-heatmap"]).weights = {
      data: [Number.NaN, 0.5],
      shape: [1, 2],
    };
  });
  await give(page, { tokens: [], keyTokens: null, masked: null, scale: "unit" });
  const [first] = await colors(page, 1, 2);
  assert.deepEqual(first, parseHex(ramp("light").accent));
});

visit("<head-heatmap> is walked, pinned and unpinned by keys, aloud", {}, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS } });
  const heard = await listen(page, "preview", "pick");
  await page.keyboard.press("Tab");
  await settled(page);
  assert.deepEqual(await heard(), [["preview", { head: 0, query: 0, key: 0 }]]);
  for (const [key, row, column] of [
    ["ArrowRight", 1, 2],
    ["ArrowDown", 2, 2],
    ["ArrowLeft", 2, 1],
    ["ArrowLeft", 2, 1],
    ["End", 2, 4],
    ["ArrowUp", 1, 4],
    ["Home", 1, 1],
    ["Control+End", 3, 4],
    ["Control+Home", 1, 1],
    ["PageDown", 3, 1],
    ["PageUp", 1, 1],
  ] as const) {
    await page.keyboard.press(key);
    await settled(page);
    const at = await cursor(page).evaluate((node) => [
      Number(node.parentElement?.getAttribute("aria-rowindex")),
      Number(node.getAttribute("aria-colindex")),
    ]);
    assert.deepEqual(at, [row, column], key);
  }
  const grid = part(page, '[role="grid"]');
  assert.equal(await grid.getAttribute("aria-rowcount"), "3");
  assert.equal(await grid.getAttribute("aria-colcount"), "4");
  await page.keyboard.press("]");
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.equal(await cursor(page).getAttribute("aria-label"), "query The, key ␣chat: 0.5687");
  assert.equal(await text(page, "[aria-live]"), "query The, key ␣chat, weight 0.5687, head 1");
  await heard();
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await cursor(page).getAttribute("aria-selected"), "true");
  assert.deepEqual(await heard(), [["pick", { head: 1, query: 0, key: 1 }]]);
  // What is pinned stays when the focus leaves.
  await page.keyboard.press("Shift+Tab");
  await settled(page);
  assert.equal(await sentence(page), "query The reads key ␣chat with weight 0.5687 · head 1");
  await page.keyboard.press("Tab");
  await heard();
  await page.keyboard.press("Escape");
  await settled(page);
  assert.deepEqual(await heard(), [["pick", { head: 1, query: null, key: null }]]);
  assert.match(await sentence(page), /^Point at a cell/);
});

visit("<head-heatmap> pins by click, and lets a listener prevent it", {}, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS } });
  const pinned = () =>
    page.evaluate(() => (document.querySelector("head-heatmap") as HTMLElementTagNameMap["head-heatmap"]).state.pinned);
  const { x, y } = await middle(page, 2, 1, 3, 4);
  await page.mouse.click(x, y);
  assert.deepEqual(await pinned(), { query: 2, key: 1 });
  await page.mouse.move(2, 2);
  await settled(page);
  assert.match(await sentence(page), /^query ␣sat reads key ␣chat/);
  await page.mouse.click(x, y);
  assert.equal(await pinned(), null);
  await page.evaluate(() => document.addEventListener("pick", (event) => event.preventDefault()));
  await page.mouse.click(x, y);
  assert.equal(await pinned(), null);
});

const PHONE: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
};

visit(
  "<head-heatmap> on a phone: a tap looks, a second tap pins, and nothing is wider than the screen",
  PHONE,
  async (page) => {
    await put(page, "head-heatmap", { properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS } });
    const heard = await listen(page, "preview", "pick");
    const { x, y } = await middle(page, 1, 2, 3, 4);
    await page.touchscreen.tap(x, y);
    await settled(page);
    assert.match(await sentence(page), /^query ␣cat reads key ␣est/);
    assert.deepEqual(await heard(), [["preview", { head: 0, query: 1, key: 2 }]]);
    await page.touchscreen.tap(x, y);
    await settled(page);
    assert.deepEqual(await heard(), [["pick", { head: 0, query: 1, key: 2 }]]);
    for (const [tag, count] of [
      ["head-heatmap", 100],
      ["head-grid", 12],
    ] as const) {
      await put(page, tag, { properties: { tokens: words(count), causal: true, weights: previousToken(count, 12) } });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(wide, 360, tag);
    }
  },
);

visit(
  "<head-heatmap> zooms by keys, wheel and buttons, pans by drag, and has a minimap above 64 tokens",
  {},
  async (page) => {
    await put(page, "head-heatmap", { properties: { tokens: words(64), causal: true, weights: previousToken(64) } });
    assert.equal(await part(page, '[part="map"]').isVisible(), false);
    await put(page, "head-heatmap", { properties: { tokens: words(100), causal: true, weights: previousToken(100) } });
    assert.equal(await part(page, '[part="map"]').isVisible(), true);
    const shown = () => part(page, ".rows .label:not(.crowded)").allInnerTexts();
    assert.ok((await shown()).length < 100);

    // Around the cell under the pointer, which stays the same.
    const { x, y } = await middle(page, 50, 49, 100, 100);
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -60);
    await page.keyboard.up("Control");
    await page.mouse.move(x + 0.5, y);
    await settled(page);
    assert.equal(await sentence(page), "query ␣w50 reads key ␣w49 with weight 0.7500 · head 0");
    const near = await shown();
    assert.ok(near.length < 20 && near.includes("␣w50") && !near.includes("␣w0"), near.join());

    // A drag moves the matrix and picks nothing.
    const heard = await listen(page, "pick");
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 100, { steps: 4 });
    await page.mouse.up();
    await settled(page);
    assert.deepEqual(await heard(), []);
    assert.ok(!(await shown()).includes("␣w54") && (await shown()).includes("␣w48"), (await shown()).join());

    // The keys follow the cell that is looked at.
    await cursor(page).focus();
    await page.keyboard.press("Control+End");
    await settled(page);
    assert.ok((await shown()).includes("␣w99"));
    await page.keyboard.press("0");
    await settled(page);
    assert.ok((await shown()).includes("␣w0"));
    await page.keyboard.press("+");
    await settled(page);
    assert.ok(!(await shown()).includes("␣w0"), "the last cell is what + zooms to");
    await part(page, '[part="tools"] button').nth(2).click();
    await settled(page);
    assert.ok((await shown()).includes("␣w0"));
    assert.deepEqual(
      await part(page, '[part="tools"] button').evaluateAll((all) =>
        all.map((one) => (one as HTMLButtonElement).disabled),
      ),
      [true, false, true],
    );

    // The minimap takes the window where it is pressed.
    const map = await part(page, '[part="map"]').boundingBox();
    assert.ok(map);
    await page.mouse.click(map.x + map.width * 0.25, map.y + map.height * 0.25);
    await settled(page);
    const around = await shown();
    assert.ok(around.includes("␣w25") && !around.includes("␣w0") && !around.includes("␣w60"), around.join());
  },
);

visit("<head-heatmap> shows 1 × 1, 1 × 300 and 300 × 1, each cell of it", {}, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: ["only"], weights: { data: [1], shape: [1, 1] } } });
  await cursor(page).focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.equal(await sentence(page), "query only reads key only with weight 1.0000 · head 0");
  assert.equal(await part(page, '[part="tools"]').isVisible(), false);
  for (const shape of [
    [1, 1, 300],
    [1, 300, 1],
  ] as const) {
    const data = Array.from({ length: 300 }, (_, i) => (i === 123 ? 0.701 : 0.001));
    const long = words(300);
    const [, rows, columns] = shape;
    await put(page, "head-heatmap", {
      properties: { tokens: rows === 1 ? ["q"] : long, keyTokens: rows === 1 ? long : ["k"], weights: { data, shape } },
    });
    const { x, y } = await middle(page, rows === 1 ? 0 : 123, rows === 1 ? 123 : 0, rows, columns);
    await page.mouse.move(x, y);
    await settled(page);
    const wanted = rows === 1 ? "query q reads key ␣w123" : "query ␣w123 reads key k";
    assert.equal(await sentence(page), `${wanted} with weight 0.7010 · head 0`);
  }
});

visit("<head-heatmap> keeps a diagonal of 1,024 tokens visible where there are fewer pixels", {}, async (page) => {
  const diagonal = await page.evaluate(async () => {
    const node = document.createElement("head-heatmap");
    const data = new Float32Array(1024 * 1024);
    for (let i = 0; i < 1024; i++) data[i * 1025] = 1;
    Object.assign(node, { weights: { data, shape: [1024, 1024] } });
    document.querySelector("#place")?.replaceChildren(node);
    await node.updateComplete;
    const canvas = node.shadowRoot?.querySelector("canvas.cells") as HTMLCanvasElement;
    const { width, height } = canvas;
    const { data: pixels } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(0, 0, width, height);
    return { width, height, red: Array.from({ length: width }, (_, i) => pixels[(i * width + i) * 4]) };
  });
  assert.equal(diagonal.width, diagonal.height);
  assert.ok(diagonal.width < 1024 && diagonal.width > 500, `${diagonal.width} pixels`);
  assert.deepEqual(new Set(diagonal.red), new Set([ramp("light").colors[255]?.[0]]));
});

visit("<head-heatmap> has as many pixels as the screen", { deviceScaleFactor: 2 }, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS } });
  const [pixels, css] = await part(page, "canvas.cells").evaluate((canvas) => [
    (canvas as HTMLCanvasElement).width,
    canvas.getBoundingClientRect().width,
  ]);
  assert.equal(pixels, Math.round((css as number) * 2));
});

for (const [what, properties, message] of [
  [
    "a shape with too few numbers",
    { weights: { data: [1, 2, 3], shape: [2, 2] } },
    /^weights: the shape \[2, 2\] needs 4/,
  ],
  ["no shape", { weights: { data: [1] } }, /^weights: expected \{ data, shape \}/],
  ["two batch items", { weights: { data: [1, 1], shape: [2, 1, 1, 1] } }, /^weights: expected a shape \[heads/],
  ["too few tokens", { tokens: ["a"] }, /^tokens: expected 3 for the queries of weights \[2, 3, 4\], got 1/],
  ["no tokens for the keys", { keyTokens: null }, /^keyTokens: expected 4/],
  ["scores of another shape", { scores: { data: [0], shape: [1, 1, 1] } }, /^scores: expected the shape of weights/],
  ["a mask of another length", { masked: [0, 1] }, /^masked: expected 24 or 12 numbers, got 2/],
] as const) {
  visit(`${what} is said in words, and the last good picture stays`, {}, async (page) => {
    const good = { tokens: QUERIES, keyTokens: KEYS, weights: CROSS, scores: null, masked: null };
    await put(page, "head-heatmap", { properties: good });
    const before = await colors(page, 3, 4);
    await give(page, properties);
    const alert = part(page, '[role="alert"]');
    assert.match(await text(page, '[role="alert"]'), message);
    const spoken = await page.evaluate(() => document.querySelector("head-heatmap")?.problem);
    assert.match(spoken ?? "", message);
    assert.deepEqual(await colors(page, 3, 4), before);
    await give(page, good);
    assert.equal(await alert.isVisible(), false);
  });
}

visit("without weights an element shows nothing, before and after there were some", {}, async (page) => {
  for (const tag of ["head-heatmap", "head-grid", "head-lines", "head-compare"]) {
    await put(page, tag, { attributes: { controls: "" }, properties: { tokens: QUERIES } });
    const height = () => page.evaluate(() => document.querySelector("#place > *")?.getBoundingClientRect().height);
    assert.equal(await height(), 0, tag);
    await give(page, { keyTokens: KEYS, weights: CROSS });
    assert.ok(((await height()) ?? 0) > 100, tag);
    await give(page, { weights: null });
    assert.equal(await height(), 0, tag);
  }
});

visit(
  "before its first drawing nothing of an element can be seen or reached: its names come with that",
  {},
  async (page) => {
    const shown = await page.evaluate(() => {
      const place = document.querySelector("#place") as HTMLElement;
      const tags = [
        "cost-bills",
        "head-compare",
        "head-grid",
        "head-heatmap",
        "head-lines",
        "shape-trace",
        "token-strip",
      ];
      return tags.map((tag) => {
        const node = document.createElement(tag);
        node.setAttribute("controls", "");
        // No frame has passed when this is asked.
        place.replaceChildren(node);
        const parts = [...(node.shadowRoot?.querySelectorAll("*") ?? [])];
        const visible = parts.filter((part) => part.checkVisibility({ visibilityProperty: true }));
        return [tag, parts.length > 2, visible.map(({ localName }) => localName).join()] as const;
      });
    });
    for (const [tag, made, visible] of shown) {
      assert.ok(made, tag);
      assert.equal(visible, "", tag);
    }
  },
);

const ODD = ['<img src=x onerror="alert(1)">', "שלום", "👩‍👩‍👧", "x\u200by", "\n", "\t", " ", "e\u0301"];
const ODD_LABELS = ['<img␣src=x␣onerror="alert(1)">', "שלום", "👩‍👩‍👧", "x‹U+200B›y", "↵", "⇥", "␣", "e\u0301"];

visit("what a token holds is text: markup, right-to-left, emoji, invisible characters", {}, async (page) => {
  await put(page, "head-heatmap", { properties: { tokens: ODD, causal: true, weights: previousToken(ODD.length) } });
  assert.deepEqual(await part(page, ".rows .label").allTextContents(), ODD_LABELS);
  assert.deepEqual(await part(page, ".columns .label").allTextContents(), ODD_LABELS);
  const { x, y } = await middle(page, 1, 0, ODD.length, ODD.length);
  await page.mouse.move(x, y);
  await settled(page);
  assert.equal(
    await part(page, '[part="sentence"]').textContent(),
    `query ${ODD_LABELS[1]} reads key ${ODD_LABELS[0]} with weight 0.7500 · head 0`,
  );
  const found = await page.evaluate(() => {
    const root = document.querySelector("head-heatmap")?.shadowRoot as ShadowRoot;
    // Each label is isolated, so that a right-to-left word does not reorder the sentence.
    return [root.querySelectorAll("img").length, root.querySelectorAll(".sentence bdi").length];
  });
  assert.deepEqual(found, [0, 2]);
});

visit(
  "an element takes its theme and language from where it stands, or as it is told",
  { colorScheme: "dark" },
  async (page) => {
    await put(page, "head-heatmap", { properties: { tokens: QUERIES, keyTokens: KEYS, weights: CROSS } });
    const dark = () => part(page, '[part="base"]').evaluate((base) => base.classList.contains("dark"));
    assert.equal(await dark(), true);
    // The page is switched by its own attribute, and nobody tells the element.
    await page.evaluate(() => document.documentElement.style.setProperty("color-scheme", "light"));
    await until(page, () => !document.querySelector("head-heatmap")?.shadowRoot?.querySelector(".dark"));
    await give(page, { theme: "dark" });
    assert.equal(await dark(), true);
    await give(page, { theme: "" });
    assert.equal(await dark(), false);

    await page.evaluate(() => {
      document.documentElement.lang = "zh-CN";
    });
    await settled(page);
    assert.equal(await text(page, '[part="corner"]'), "查询 ↓ 键 →");
    await give(page, { language: "en" });
    assert.equal(await text(page, '[part="corner"]'), "query ↓ key →");
  },
);

visit("properties that were set before the element was known are taken", {}, async (page) => {
  await page.evaluate(() => {
    // Elements of another document have no definition until they are moved here.
    const node = new DOMParser().parseFromString("<head-heatmap></head-heatmap>", "text/html").body.firstElementChild;
    Object.assign(node as Element, { tokens: ["a", "b"], weights: { data: [1, 0, 0.25, 0.75], dims: [1, 1, 2, 2] } });
    document.querySelector("#place")?.replaceChildren(node as Element);
  });
  await settled(page);
  await cursor(page).focus();
  await page.keyboard.press("Control+End");
  await settled(page);
  assert.equal(await sentence(page), "query b reads key b with weight 0.7500 · head 0");
});

visit("src reads a JSON file; null is −Infinity; a file that is not there is said", {}, async (page) => {
  await page.route("**/heads.json", (route) =>
    route.fulfill({
      json: {
        tokens: ["a", "b"],
        weights: { shape: [1, 2, 2], data: [1, 0, 0.25, 0.75] },
        scores: { shape: [1, 2, 2], data: [0.5, null, 0, 1] },
      },
    }),
  );
  await put(page, "head-heatmap", { attributes: { src: "heads.json" } });
  await part(page, ".rows .label").first().waitFor();
  await settled(page);
  assert.deepEqual(await part(page, ".rows .label").allInnerTexts(), ["a", "b"]);
  assert.equal((await colors(page, 2, 2))[1], null);
  await page.route("**/broken.json", (route) => route.fulfill({ body: "{" }));
  await give(page, { src: "broken.json" });
  await part(page, '[role="alert"]').waitFor();
  assert.match(await text(page, '[role="alert"]'), /^broken\.json could not be read: /);
  assert.deepEqual(await part(page, ".rows .label").allInnerTexts(), ["a", "b"]);
});

// head-grid ------------------------------------------------------------------------------------------------------------

const grid = { tokens: words(6), causal: true, weights: previousToken(6, 8) };
const cards = (page: Page) => part(page, '[part="card"]');

visit("<head-grid> names what heads do, by the captions or else by the weights", {}, async (page) => {
  const even = new Array(36).fill(1 / 6);
  const weights = { data: [...previousToken(6).data, ...even], shape: [2, 6, 6] };
  await put(page, "head-grid", { properties: { tokens: words(6), weights } });
  const lines = (text: string) => text.split(/\s*\n\s*/).filter(Boolean);
  assert.deepEqual((await cards(page).allInnerTexts()).map(lines), [
    ["H0", "previous token", "0.75"],
    ["H1", "spread out"],
  ]);
  assert.equal(await cards(page).first().getAttribute("aria-description"), "head 0: 75 % on previous token");
  await give(page, { captions: [{ name: "nouns" }, { name: "<b>", measure: "0.31", spoken: "head 1: bold" }] });
  assert.deepEqual((await cards(page).allInnerTexts()).map(lines), [
    ["H0", "nouns"],
    ["H1", "<b>", "0.31"],
  ]);
  assert.equal(await cards(page).nth(1).getAttribute("aria-description"), "head 1: bold");
  await give(page, { ordering: [1, 0, 9] });
  assert.deepEqual(await part(page, '[part="name"]').allInnerTexts(), ["H1", "H0"]);
});

visit("<head-grid> picks a head by click and keys, several with Ctrl, and moves by rows", {}, async (page) => {
  await put(page, "head-grid", { properties: grid });
  const heard = await listen(page, "pick");
  const heads = () =>
    page.evaluate(() => (document.querySelector("head-grid") as HTMLElementTagNameMap["head-grid"]).state.heads);
  await cards(page).nth(3).click();
  assert.deepEqual(await heads(), [3]);
  assert.deepEqual(await heard(), [["pick", { head: 3, query: null, key: null }]]);
  await cards(page)
    .nth(5)
    .click({ modifiers: ["Control"] });
  assert.deepEqual(await heads(), [3, 5]);
  await cards(page)
    .nth(3)
    .click({ modifiers: ["Control"] });
  assert.deepEqual(await heads(), [5]);
  await settled(page);
  assert.equal(await cards(page).nth(5).getAttribute("aria-selected"), "true");
  const columns = Number(await part(page, '[role="grid"]').getAttribute("aria-colcount"));
  for (const [key, head] of [
    ["Home", 0],
    ["ArrowRight", 1],
    ["ArrowDown", Math.min(7, 1 + columns)],
    ["End", 7],
    ["ArrowLeft", 6],
  ] as const) {
    await page.keyboard.press(key);
    const focused = await page.evaluate(() => {
      const root = document.querySelector("head-grid")?.shadowRoot as ShadowRoot;
      return [...root.querySelectorAll('[part="card"]')].indexOf(root.activeElement as Element);
    });
    assert.equal(focused, key === "ArrowDown" && 1 + columns > 7 ? 1 : head, key);
  }
  await page.keyboard.press("Enter");
  assert.deepEqual(await heads(), [6]);
  await page.keyboard.press("[");
  assert.deepEqual(await heads(), [5]);
});

visit("<head-grid> switches heads off by Space and box, unless a listener prevents it", {}, async (page) => {
  await put(page, "head-grid", { properties: grid });
  const heard = await listen(page, "ablate");
  const off = () =>
    page.evaluate(() => [...(document.querySelector("head-grid") as HTMLElementTagNameMap["head-grid"]).state.off]);
  const box = (head: number) => cards(page).nth(head).locator("input");
  await cards(page).nth(2).focus();
  await page.keyboard.press(" ");
  await box(4).uncheck();
  await settled(page);
  assert.deepEqual(await off(), [2, 4]);
  assert.deepEqual(await heard(), [
    ["ablate", { head: 2, off: true }],
    ["ablate", { head: 4, off: true }],
  ]);
  assert.equal(await box(2).isChecked(), false);
  assert.match((await cards(page).nth(2).getAttribute("aria-description")) ?? "", /, switched off$/);
  await box(2).check();
  assert.deepEqual(await off(), [4]);
  await page.evaluate(() => document.addEventListener("ablate", (event) => event.preventDefault()));
  await box(0).click();
  await settled(page);
  assert.deepEqual(await off(), [4]);
  assert.equal(await box(0).isChecked(), true);
  await give(page, { fixed: true });
  assert.equal(await box(0).isVisible(), false);
});

visit("<head-grid> shows 144 heads, each with its own picture", {}, async (page) => {
  // Head h has all of its weight in one cell, each another one.
  const data = new Array(144 * 144).fill(0);
  for (let head = 0; head < 144; head++) data[head * 144 + head] = 1;
  await put(page, "head-grid", { properties: { weights: { data, shape: [144, 12, 12] } } });
  assert.equal(await cards(page).count(), 144);
  const strongest = () =>
    part(page, '[part="picture"] canvas').evaluateAll((all) =>
      all.map((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        const context = (canvas as HTMLCanvasElement).getContext("2d") as CanvasRenderingContext2D;
        const { data } = context.getImageData(0, 0, width, height);
        let best = 0;
        for (let i = 1; i < width * height; i++) {
          if ((data[i * 4] as number) < (data[best * 4] as number)) best = i;
        }
        return width === 12 && data[3] === 255 ? best : -1;
      }),
    );
  const wanted = Array.from({ length: 144 }, (_, i) => i);
  // What does not fit one frame follows in the next ones.
  for (let tries = 0; tries < 50 && (await strongest()).includes(-1); tries++) await settled(page);
  assert.deepEqual(await strongest(), wanted);
});

for (const [width, most, narrow] of [
  [360, 4, true],
  [560, 4, false],
  [1180, 8, false],
  [3840, 16, false],
] as const) {
  visit(
    `<head-grid> of 16 heads in a window of ${width} pixels`,
    { viewport: { width, height: 900 } },
    async (page) => {
      await put(page, "head-grid", { properties: { ...grid, weights: previousToken(6, 16) } });
      const boxes = await part(page, '[part="picture"]').evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ top, width, height }) => ({ top, width, height })),
      );
      const inFirstRow = boxes.filter((box) => box.top === boxes[0]?.top).length;
      assert.ok(inFirstRow <= most && inFirstRow >= 4, `${inFirstRow} in a row`);
      for (const { width, height } of boxes) {
        assert.equal(Math.round(width), Math.round(height));
        assert.ok(width <= 140 && (narrow || width >= 110), `${width} wide`);
      }
      if (narrow) assert.equal(inFirstRow, 4);
    },
  );
}

visit("<head-grid> keeps a diagonal of 512 tokens in a thumbnail", {}, async (page) => {
  const red = await page.evaluate(async () => {
    const node = document.createElement("head-grid");
    const data = new Float32Array(512 * 512);
    for (let i = 0; i < 512; i++) data[i * 513] = 1;
    Object.assign(node, { weights: { data, shape: [512, 512] } });
    document.querySelector("#place")?.replaceChildren(node);
    await node.updateComplete;
    const canvas = node.shadowRoot?.querySelector("canvas") as HTMLCanvasElement;
    const { width } = canvas;
    const { data: pixels } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(0, 0, width, width);
    return Array.from({ length: width }, (_, i) => pixels[(i * width + i) * 4] as number);
  });
  assert.ok(red.length >= 110 && red.length <= 140, `${red.length} pixels`);
  assert.deepEqual(new Set(red), new Set([ramp("light").colors[255]?.[0]]));
});

visit("elements that share a state are linked", {}, async (page) => {
  await page.evaluate(async () => {
    const { ViewState } = (await import(`${location.href}elements.js`)) as typeof import("../../web/elements/index.js");
    const state = new ViewState();
    const data = [1, 0, 0, 1, 0.25, 0.75, 0.5, 0.5];
    const place = document.querySelector("#place") as Element;
    for (const tag of ["head-heatmap", "head-grid", "token-strip"] as const) {
      const node = document.createElement(tag);
      Object.assign(node, { state, tokens: ["a", "b"], weights: { data, shape: [2, 2, 2] } });
      place.append(node);
    }
  });
  await settled(page);
  await page.locator("head-grid >> css=[part~=card]").nth(1).click();
  const box = await page.locator("head-heatmap >> css=[part=box]").boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.25);
  await settled(page);
  assert.equal(
    await page.locator("head-heatmap >> css=[part=sentence]").textContent(),
    "query a reads key b with weight 0.7500 · head 1",
  );
  // The row of the query stands in every thumbnail.
  const boxesOf = (selector: string) =>
    page
      .locator(`head-grid >> css=${selector}`)
      .evaluateAll((all) =>
        all
          .map((one) => one.getBoundingClientRect())
          .map(({ left, top, width, height }) => ({ left, top, width, height })),
      );
  const marks = async () => {
    const pictures = await boxesOf('[part~="picture"]');
    return (await boxesOf(".marks i")).map(({ left, top, width, height }, i) => {
      const picture = pictures[i] as (typeof pictures)[number];
      const beside = [left - picture.left, top - picture.top, width - picture.width].map(Math.round);
      return [...beside, Math.round((height / picture.height) * 100)];
    });
  };
  assert.deepEqual(await marks(), [
    [0, 0, 0, 50],
    [0, 0, 0, 50],
  ]);
  // Also where the page styles the cards.
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("head-grid::part(card) { padding: 14px 4px; }");
    document.adoptedStyleSheets = [sheet];
  });
  await settled(page);
  await page.mouse.move(box.x + box.width * 0.75, box.y + box.height * 0.75);
  await settled(page);
  assert.deepEqual(
    (await marks()).map(([left, , width, height]) => [left, width, height]),
    [
      [0, 0, 50],
      [0, 0, 50],
    ],
  );
});

for (const [tag, properties] of [
  ["head-heatmap", { tokens: words(100), causal: true, weights: previousToken(100), controls: true }],
  ["head-grid", grid],
] as const) {
  visit(`<${tag}> has nothing that axe complains about, in both themes`, {}, async (page) => {
    await put(page, tag, { properties });
    await page.evaluate(() => {
      (document.querySelector("#place > *") as HTMLElementTagNameMap["head-grid"]).state.pin({ query: 3, key: 2 });
    });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      await settled(page);
      assert.deepEqual(await violations(page), [], colorScheme);
    }
  });
}
