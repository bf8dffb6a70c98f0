import assert from "node:assert/strict";
import { violations } from "./axe.js";
import { firstPicture, hover, sentence, settled, text, tokens, typeText, useBrowser, visit } from "./page.js";

useBrowser();

for (const colorScheme of ["light", "dark"] as const) {
  visit(
    `axe finds nothing, ${colorScheme}: heads, numbers, a head off, hidden cells, NumPy, empty`,
    { colorScheme },
    async ({ page }) => {
      assert.deepEqual(await violations(page), []);
      await page.locator("#heads .card input").nth(1).uncheck();
      await page.locator("#tokens .chip").nth(2).click();
      await settled(page);
      assert.deepEqual(await violations(page), [], "a head off");
      await page.locator("#tab-numbers").click();
      await settled(page);
      assert.deepEqual(await violations(page), [], "numbers");
      await page.locator('#source input[value="numpy"]').check();
      await settled(page);
      assert.deepEqual(await violations(page), [], "NumPy");
      await page.keyboard.press("?");
      assert.deepEqual(await violations(page), [], "keys");
      await page.keyboard.press("Escape");
      await page.locator('#source input[value="built"]').check();
      await page.locator("#language").click();
      await typeText(page, "");
      assert.deepEqual(await violations(page), [], "empty, Chinese");
    },
  );
}

visit(
  "axe finds nothing in a long text on a phone",
  { viewport: { width: 360, height: 740 }, fragment: `t=${"word+mat+".repeat(60)}&s=built&h=6&q=40&l=en` },
  async ({ page }) => {
    assert.deepEqual(await violations(page), []);
  },
);

for (const width of [320, 360, 390, 768, 1024, 3840]) {
  visit(`nothing scrolls sideways at ${width} px`, { viewport: { width, height: 800 } }, async ({ page }) => {
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok((await overflow()) <= 0);
    await typeText(page, `${"supercalifragilistic".repeat(6)} 小明在北京 ${"a b ".repeat(40)}`);
    await page.locator("#heads .card input").nth(1).uncheck();
    await settled(page);
    assert.ok((await overflow()) <= 0, "a long word");
    await page.locator("#tab-numbers").click();
    await settled(page);
    assert.ok((await overflow()) <= 0, "numbers");
    await page.locator('#source input[value="numpy"]').check();
    await page.locator("#language").click();
    await settled(page);
    assert.ok((await overflow()) <= 0, "NumPy, Chinese");
  });
}

visit(
  "a phone shows the large head first and four heads in a row",
  { viewport: { width: 360, height: 740 }, hasTouch: true },
  async ({ page }) => {
    const order = await page.evaluate(() =>
      ["#matrix", "#heads", "#trace", "#cost"].map(
        (id) => document.querySelector(id)?.getBoundingClientRect().top ?? 0,
      ),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    const tops = await page
      .locator("#heads .card")
      .evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().top));
    assert.equal(tops.filter((top) => top === tops[0]).length, 4);
    // Touch: a tap pins.
    await page.locator("#matrix .box").tap({ position: { x: 4, y: 60 } });
    await settled(page);
    assert.match(await text(page, "#sentence"), /reads key The with weight/);
  },
);

visit("the first language is the browser's: Chinese", { locale: "zh-CN" }, async ({ page }) => {
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  assert.equal(await page.title(), "headscope：看见句子里的每一个注意力头");
  assert.equal(await text(page, "#heads-title"), "8 个头");
  assert.equal(await page.locator("#text").inputValue(), "小明在北京的大学里学习计算机科学");
  assert.match(await text(page, "#sentence"), /^查询 学习 以权重 0\.\d{4} 读取键 /);
  // Not a word of English is left on the page, except names.
  const words = (await page.locator("body").textContent()) ?? "";
  const english = words.match(/\b(the|head|heads|query|key|weight|copy|token|tokens|scale|mask|reads|layer)\b/gi) ?? [];
  assert.deepEqual(
    english.filter((word) => !["The", "the", "mat"].includes(word)),
    [],
  );
});

visit("the language switch changes every text, keeps the view and is remembered", {}, async ({ page, site }) => {
  const before = await page.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  await page.locator("#language").click();
  await settled(page);
  assert.equal(await text(page, "#language"), "English");
  assert.equal(await text(page, "#heads .card .kind"), "前一个词元");
  assert.match(await text(page, "#sentence"), /^查询 ␣it 以权重/);
  assert.equal(
    await page.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()),
    before,
  );
  await page.goto("about:blank");
  await page.goto(`${site.url}#s=built`);
  await firstPicture(page);
  assert.equal(await text(page, "#language"), "English");
  await page.locator("#language").click();
  await settled(page);
  assert.equal(await text(page, "#heads .card .kind"), "previous token");
});

visit(
  "the theme follows the system, can be chosen, and is there at the first paint of the next visit",
  { colorScheme: "dark" },
  async ({ page }) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const pixel = () =>
      page
        .locator("#heads canvas")
        .first()
        .evaluate((canvas: HTMLCanvasElement) =>
          [...(canvas.getContext("2d")?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3),
        );
    assert.equal(await paper(), "rgb(16, 18, 22)");
    assert.deepEqual(await pixel(), [253, 245, 211]);
    await page.locator("#theme").click();
    await settled(page);
    assert.equal(await page.locator("#theme").getAttribute("aria-label"), "Theme: light");
    assert.equal(await paper(), "rgb(251, 250, 247)");
    assert.deepEqual(await pixel(), [10, 31, 78]);
    await page.reload({ waitUntil: "commit" });
    await firstPicture(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset["theme"]), "light");
    assert.equal(await paper(), "rgb(251, 250, 247)");
  },
);

visit("reduced motion: nothing moves", { reducedMotion: "reduce" }, async ({ page }) => {
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll("*")].filter((node) => {
        const { transitionDuration, animationName } = getComputedStyle(node);
        return transitionDuration !== "0s" || animationName !== "none";
      }).length,
  );
  assert.equal(moving, 0);
});

visit("nothing below the sentence jumps while the pointer moves over the matrix", {}, async ({ page }) => {
  const tops = new Set<number>();
  for (let i = 0; i < 9; i++) {
    const box = await page.locator("#matrix .box").boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + ((i + 0.5) * box.width) / 9, box.y + ((8.5 - i) * box.height) / 9);
    await settled(page);
    tops.add(await page.locator("#trace").evaluate((node) => node.getBoundingClientRect().top));
  }
  assert.equal(tops.size, 1);
});

visit(
  "printing paints on paper, whatever the theme, and the screen has its own again",
  { colorScheme: "dark" },
  async ({ page }) => {
    const corner = () =>
      page
        .locator("#heads canvas")
        .first()
        .evaluate((canvas: HTMLCanvasElement) => [...(canvas.getContext("2d")?.getImageData(0, 0, 1, 1).data ?? [])]);
    assert.deepEqual(await corner(), [253, 245, 211, 255]);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.deepEqual(await corner(), [10, 31, 78, 255]);
    await page.emulateMedia({ media: "print" });
    assert.equal(
      await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--card").trim()),
      "#ffffff",
    );
    await page.emulateMedia({ media: null });
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.deepEqual(await corner(), [253, 245, 211, 255]);
  },
);

for (const [width, deviceScaleFactor] of [
  [3840, 1],
  [1280, 2],
  [360, 3],
] as const) {
  visit(
    `the pointer hits the cell it is over: ${width} px at ${deviceScaleFactor} pixels a px`,
    { viewport: { width, height: 900 }, deviceScaleFactor },
    async ({ page }) => {
      const labels = await tokens(page);
      for (const [query, key] of [
        [0, 0],
        [8, 0],
        [8, 8],
        [4, 3],
      ] as const) {
        await hover(page, query, key, 9);
        assert.ok(
          (await sentence(page)).startsWith(`query ${labels[query]} reads key ${labels[key]} `),
          await sentence(page),
        );
      }
      // The numbers are painted at the screen's own resolution.
      const sharp = await page
        .locator("#matrix canvas.cells")
        .evaluate((canvas: HTMLCanvasElement) => canvas.width / canvas.getBoundingClientRect().width);
      assert.ok(Math.abs(sharp - deviceScaleFactor) < 0.05, String(sharp));
    },
  );
}
