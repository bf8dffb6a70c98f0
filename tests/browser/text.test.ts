import assert from "node:assert/strict";
import { unpackFragment } from "../../web/playground/fragment.js";
import { addressed, settled, text, tokens, typeText, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

useBrowser();

visit("markup typed as text stays text everywhere", {}, async ({ page }) => {
  const typed = `<img src=x onerror=alert(1)> </script><script>alert(2)</script> "'\`&amp; a<b<c`;
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  const elements = () => page.locator("main img, main script").count();
  await typeText(page, typed);
  assert.equal(await elements(), 0);
  assert.equal((await tokens(page)).join("").replaceAll("␣", " "), typed);
  // The views that come later show it too: sentence, readings, numbers, ablation, a link.
  await page.locator("#tokens .chip").nth(1).click();
  await page.locator("#heads .card input").nth(0).uncheck();
  await page.locator("#tab-numbers").click();
  await settled(page);
  assert.equal(await text(page, "#sentence .token"), "img");
  await page.locator("#language").click();
  await addressed(page);
  await page.reload();
  await page.locator("#views:not([hidden])").waitFor();
  assert.equal(await elements(), 0);
  assert.equal(dialogs, 0);
  assert.equal(await page.locator("#text").inputValue(), typed);
});

visit("the text runs as its first letter does, as one block: a book is laid out at once", {}, async ({ page }) => {
  const look = () =>
    page.locator("#text").evaluate((field) => {
      const { direction, unicodeBidi } = getComputedStyle(field);
      return `${direction} ${unicodeBidi}`;
    });
  await typeText(page, "hello שלום");
  assert.equal(await look(), "ltr isolate");
  await typeText(page, "שלום hello");
  assert.equal(await look(), "rtl isolate");
});

visit("no text: a sentence says what to do; one token: one cell", {}, async ({ page }) => {
  await typeText(page, "");
  assert.equal(await text(page, "#note"), "Nothing to read yet: type a word or pick an example.");
  assert.equal((await tokens(page)).length, 0);
  await typeText(page, "one");
  assert.equal(await page.locator("#note").isHidden(), true);
  assert.match(await text(page, "#status"), /^1 token · 3 characters · 8 heads/);
  const size = await page
    .locator("#heads canvas")
    .evaluateAll((all) => all.map((one) => (one as HTMLCanvasElement).width));
  assert.deepEqual(size, Array(8).fill(1));
  await page.locator("#tab-numbers").click();
  await settled(page);
  assert.deepEqual(await page.locator("#numbers td").allTextContents(), ["1.0000"]);
  await typeText(page, "   ");
  assert.deepEqual(await tokens(page), ["␣", "␣", "␣"]);
});

visit(
  "an empty text in a link is an empty page, and typing starts it",
  { fragment: "t=&s=built&l=en", bare: true },
  async ({ page }) => {
    await page.locator("#note:not([hidden])").waitFor();
    assert.equal(await page.locator("#views").isHidden(), true);
    await typeText(page, "now there is");
    await page.locator("#views:not([hidden])").waitFor();
    assert.equal((await tokens(page)).length, 3);
  },
);

visit("Chinese by character and by word", {}, async ({ page }) => {
  assert.equal(await page.locator("#unit").isHidden(), true, "the choice is only there where it makes a difference");
  await typeText(page, "小明学习科学");
  assert.deepEqual(await tokens(page), ["小", "明", "学", "习", "科", "学"]);
  await page.locator("#unit input[value=word]").check();
  await settled(page);
  assert.deepEqual(await tokens(page), ["小明", "学习", "科学"]);
});

visit(
  "emoji, marks, right-to-left, breaks and zero-width characters are shown in order and apart",
  {},
  async ({ page }) => {
    await typeText(page, "שלום עולם مرحبا 👨‍👩‍👧 e\u0301\n\ta\u00a0b\u200bc \u202ed");
    assert.deepEqual(
      await tokens(page),
      [
        "שלום",
        "␣עולם",
        "␣مرحبا",
        "␣👨‍👩‍👧",
        "␣e\u0301",
        "↵",
        "⇥",
        "a",
        "⍽",
        "b",
        "‹U+200B›",
        "c",
        "␣‹U+202E›",
        "d",
      ].slice(0, (await tokens(page)).length),
    );
    // The order on the screen is the order of the tokens, on the strip and on both axes.
    const lefts = await page
      .locator("#tokens .chip")
      .evaluateAll((chips) =>
        chips.map((chip) => ({ top: chip.getBoundingClientRect().top, left: chip.getBoundingClientRect().left })),
      );
    for (let i = 1; i < lefts.length; i++) {
      const [a, b] = [lefts[i - 1], lefts[i]];
      assert.ok(a && b && (b.top > a.top + 5 || b.left > a.left), `token ${i} is out of order`);
    }
    const columns = await page
      .locator("#matrix .columns .label")
      .evaluateAll((labels) => labels.map((label) => [label.tagName, label.getBoundingClientRect().left] as const));
    assert.equal(columns.length, lefts.length);
    for (let i = 1; i < columns.length; i++) {
      assert.equal(columns[i]?.[0], "BDI");
      assert.ok((columns[i]?.[1] ?? 0) > (columns[i - 1]?.[1] ?? 0));
    }
  },
);

visit("500 pasted words are shown whole and every head is painted", {}, async ({ page }) => {
  const words = Array.from({ length: 500 }, (_, i) => `word${(i * 7919) % 197}`).join(" ");
  await page.locator("#text").click();
  await page.locator("#text").selectText();
  await page.evaluate((pasted) => document.execCommand("insertText", false, pasted), words);
  await settled(page);
  assert.match(await text(page, "#status"), /^500 tokens/);
  const painted = await page.locator("#heads canvas").evaluateAll((all) =>
    all.map((one) => {
      const canvas = one as HTMLCanvasElement;
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      return { shown: canvas.width <= canvas.clientWidth, colours: new Set(new Uint32Array(data.buffer)).size };
    }),
  );
  assert.equal(painted.length, 8);
  for (const { shown, colours } of painted) {
    assert.ok(shown, "no more pixels than the screen has");
    assert.ok(colours > 1, "a picture, not a blank");
  }
  await page.locator("#tokens .chip").nth(250).click();
  await settled(page);
  assert.equal(await page.locator("#matrix .rows .picked:visible").textContent(), (await tokens(page))[250]);
  await page.locator("#tab-numbers").click();
  await settled(page);
  assert.equal(await page.locator("#numbers tbody tr").count(), 500);
});

visit("a longer text is cut with a sentence that says where, and the field keeps all of it", {}, async ({ page }) => {
  const words = `${"word ".repeat(20_000)}end`;
  await typeText(page, words);
  assert.equal((await tokens(page)).length, 512);
  assert.equal(
    await text(page, "#note"),
    "Only the first 512 tokens are computed. The rest, from character 2,560 of 100,003, is left out.",
  );
  assert.equal(await page.locator("#text").inputValue(), words);
  await until(page, () => location.hash.startsWith("#z="));
  assert.ok(page.url().length < 400, "a link carries what is shown, packed");
  const fragment = (await unpackFragment(new URL(page.url()).hash)) ?? "";
  assert.equal(new URLSearchParams(fragment).get("t")?.length, 2559);
});

visit(
  "a link into a long text shows its query in the strip and in the matrix",
  { fragment: `t=${Array.from({ length: 480 }, (_, i) => `w${i}`).join("+")}&s=built&h=0&q=300&k=299&l=en` },
  async ({ page }) => {
    const inside = await page.evaluate(() => {
      const chip = document
        .querySelector("#tokens")
        ?.shadowRoot?.querySelector(".chip[data-query]")
        ?.getBoundingClientRect();
      const strip = document.querySelector("#tokens")?.shadowRoot?.querySelector(".chips")?.getBoundingClientRect();
      return chip !== undefined && strip !== undefined && chip.top >= strip.top && chip.bottom <= strip.bottom;
    });
    assert.ok(inside, "the picked token is in view");
    assert.equal(await page.locator("#matrix .rows .picked:visible").textContent(), "␣w300");
    assert.equal(await page.locator("#matrix .columns .picked:visible").textContent(), "␣w299");
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal(await page.locator("#matrix .picked:visible").count(), 0);
  },
);
