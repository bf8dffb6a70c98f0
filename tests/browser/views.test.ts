// The views of a head and what can be done to its rows: values on screen against the package's own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { formatWeight } from "../../web/elements/format.js";
import { packFragment, unpackFragment } from "../../web/playground/fragment.js";
import { builtHeads } from "../../web/playground/sources/built-heads.js";
import { groupTokens } from "../../web/playground/view/groups.js";
import { mapsOf, mergeMaps, withoutRows } from "../../web/playground/view/maps.js";
import { expected } from "./heads.js";
import { addressed, firstPicture, settled, text, tokens, typeText, useBrowser, visit } from "./page.js";
import { until } from "./until.js";

useBrowser();

const SENTENCE = "The cat sat on the mat because it was";
const link = (rest: string) => `t=${encodeURIComponent(SENTENCE)}&s=built&h=6&l=en${rest}`;

const numbers = (page: Page) =>
  page
    .locator("#numbers table:not(.output) tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")));

async function openTab(page: Page, name: string): Promise<void> {
  await page.locator(`#tab-${name}`).click();
  await settled(page);
}

visit("rows by word: keys added up, queries averaged, said in a sentence", {}, async ({ page }) => {
  const chinese = "小明在北京的大学里学习";
  await typeText(page, chinese);
  await page.locator("#rows").selectOption("word");
  await openTab(page, "numbers");
  const { run } = await expected(chinese);
  const { tokens: list } = builtHeads.tokenize(chinese, "character");
  const groups = groupTokens(chinese, list, "word");
  assert.ok(groups.length < list.length);
  const joined = mergeMaps(mapsOf(run.weights, run.scores.data), groups);
  const size = groups.length;
  const shown = await numbers(page);
  const head = 6;
  assert.deepEqual(
    shown,
    groups.map((_, q) =>
      groups.map((_, k) => {
        const at = (head * size + q) * size + k;
        return formatWeight(joined.weights[at] as number, joined.hidden?.[at] === 1);
      }),
    ),
  );
  assert.equal((await tokens(page)).length, size);
  assert.match(await text(page, "#rows-note"), new RegExp(`^${list.length} tokens in ${size} rows`));
});

visit(
  "the first row left out: the rest of each row sums to 1, and the sentence says how much went",
  { fragment: link("&v=numbers&w=first") },
  async ({ page }) => {
    const { run } = await expected(SENTENCE);
    const { maps, share } = withoutRows(mapsOf(run.weights, run.scores.data), new Set([0]));
    const shown = await numbers(page);
    assert.equal(shown.length, 8);
    for (const [q, row] of shown.entries()) {
      for (const [k, cell] of row.entries()) {
        const at = (6 * 8 + q) * 8 + k;
        assert.equal(cell, formatWeight(maps.weights[at] as number, maps.hidden?.[at] === 1));
      }
    }
    const percent = ((share[6] as number) * 100).toFixed(1);
    assert.ok((await text(page, "#rows-note")).includes(`Row and column The left out, ${percent} %`));
    // Nothing is left of a head that only looks there: a dash, not a number out of nothing.
    await page.locator("#heads .card").nth(2).click();
    await settled(page);
    assert.match(await text(page, "#rows-note"), /99\.\d %|100\.0 %/);
    await page.locator("#hide").selectOption("none");
    await settled(page);
    assert.equal((await numbers(page)).length, 9);
    assert.equal(await page.locator("#rows-note").isHidden(), true);
  },
);

visit("a pin stays on its token when rows change", { fragment: link("&q=7&k=5") }, async ({ page }) => {
  const picked = () => text(page, "#tokens .chip[data-query] .token");
  assert.equal(await picked(), "␣it");
  await page.locator("#hide").selectOption("first");
  await settled(page);
  assert.equal(await picked(), "␣it");
  await page.locator("#rows").selectOption("word");
  await settled(page);
  assert.equal(await picked(), "␣it");
});

visit("heads by entropy and by importance keep their numbers, and [ ] follow the order", {}, async ({ page }) => {
  const order = async () =>
    (await page.locator("#heads .name").allTextContents()).map((name) => Number(name.replace("H", "")));
  assert.deepEqual(await order(), [0, 1, 2, 3, 4, 5, 6, 7]);
  await page.locator("#sort").selectOption("entropy");
  await settled(page);
  const byEntropy = await order();
  assert.equal(byEntropy.at(-1), 7, "the broad head spreads most");
  await page.locator("#heads .card").first().click();
  await settled(page);
  await page.locator("#tab-matrix").focus();
  await page.keyboard.press("]");
  await settled(page);
  assert.match(await text(page, "#detail-title"), new RegExp(`^Head ${byEntropy[1]} `));
  await page.locator("#sort").selectOption("importance");
  await page.locator("#sort-note", { hasText: "comes first" }).waitFor();
  await settled(page);
  const byImportance = await order();
  // Against the layer itself, one head out at a time.
  const changes: number[] = [];
  for (let head = 0; head < 8; head++) {
    changes.push((await expected(SENTENCE, { off: [head] })).run.change?.relative ?? 0);
  }
  const right = changes.map((_, head) => head).sort((a, b) => (changes[b] as number) - (changes[a] as number) || a - b);
  assert.deepEqual(byImportance, right);
  const percent = ((changes[right[0] as number] as number) * 100).toFixed(1);
  assert.ok((await text(page, "#sort-note")).includes(`H${right[0]} ${percent} %`));
});

visit("every scale has its own legend, and links keep it", {}, async ({ page }) => {
  const marks = () => page.locator("#matrix .ticks span").allTextContents();
  assert.deepEqual(await marks(), ["0", "1"]);
  await page.locator("#scale").selectOption("log");
  await settled(page);
  assert.deepEqual(await marks(), ["≤0.0001", "0.001", "0.01", "0.1", "1"]);
  await page.locator("#scale").selectOption("uniform");
  await settled(page);
  assert.deepEqual(await marks(), ["0", "1/n", "1"]);
  await addressed(page);
  assert.match(page.url(), /&d=uniform/);
});

visit("lines: heads looked at beside the enlarged one, filters, and all of it in the link", {}, async ({ page }) => {
  await openTab(page, "lines");
  await page.locator("#lines [part~=frame]").waitFor();
  await page
    .locator("#heads .card")
    .nth(4)
    .click({ modifiers: ["Shift"] });
  await settled(page);
  assert.equal(await page.locator("#heads .card[aria-selected=true]").count(), 2);
  await page.locator("#lines select").first().selectOption("2");
  await addressed(page);
  assert.match(page.url(), /&v=lines/);
  assert.match(page.url(), /&g=4&n=2/);
  const sent = await text(page, "#lines .sentence");
  const url = page.url();
  const again = await page.context().newPage();
  await again.goto(url);
  await firstPicture(again);
  await again.locator("#lines [part~=frame]").waitFor();
  await settled(again);
  assert.equal(await text(again, "#lines .sentence"), sent);
});

visit("compare: another head, another text, and before and after a head is out", {}, async ({ page }) => {
  await openTab(page, "compare");
  await page.locator("#compare [part~=difference]").waitFor();
  const captions = [await text(page, "#compare .left .caption"), await text(page, "#compare .right .caption")];
  const numbers = captions.map((caption) => /\d+/.exec(caption)?.[0]);
  assert.notEqual(numbers[0], numbers[1], "a head beside itself shows nothing");
  await page.locator("#other-head").selectOption("3");
  await settled(page);
  assert.match(await text(page, "#compare .right .caption"), /3/);
  await page.locator("#against").selectOption("text");
  await settled(page);
  assert.equal(await text(page, "#compare-note"), "Type a text to compare with.");
  await page.locator("#other-text").fill("The dog sat on the mat because it was");
  await settled(page);
  await page.locator("#compare .right .caption", { hasText: "The dog sat" }).waitFor();
  await page.locator("#against").selectOption("off");
  await settled(page);
  assert.match(await text(page, "#compare-note"), /^No head is switched off/);
  await page.locator("#heads .card input").nth(2).uncheck();
  await settled(page);
  await page.locator("#compare .right .caption", { hasText: "without H2" }).waitFor();
  assert.match(await text(page, "#compare-note"), /^Within one layer the maps are the same/);
});

visit("the table sorts by a column and says so; the CSV has every weight", {}, async ({ page }) => {
  await openTab(page, "numbers");
  const column = page.locator("#numbers thead th").nth(3);
  await column.locator("button").click();
  await settled(page);
  assert.equal(await page.locator("#numbers thead th").nth(3).getAttribute("aria-sort"), "descending");
  const values = (await numbers(page)).map((row) => row[2] as string);
  const shown = values.filter((value) => value !== "—").map((value) => Number(value.replace("<", "")));
  assert.deepEqual(
    shown,
    [...shown].sort((a, b) => b - a),
  );
  // Hidden cells come last, and the focus stays where the visitor sorts.
  assert.deepEqual(values.slice(shown.length), Array(9 - shown.length).fill("—"));
  assert.equal(await page.evaluate(() => (document.activeElement as HTMLElement).dataset["sort"]), "k2");
  const saving = page.waitForEvent("download");
  await page.locator("#numbers-csv").click();
  const file = await (await saving).path();
  const { weight } = await expected(SENTENCE);
  const lines = readFileSync(file, "utf8").trim().split(/\r?\n/);
  assert.equal(lines.length, 82);
  assert.ok(lines.some((line) => line.includes(String(Math.fround(weight(6, 8, 8))).slice(0, 6))));
});

visit("a long text travels packed in the link, and comes back whole", {}, async ({ page, context }) => {
  const long = "It was the best of times, it was the worst of times, 小明\n".repeat(12);
  await typeText(page, long);
  await until(page, () => location.hash.startsWith("#z="));
  const url = page.url();
  assert.match(url, /#z=[\w-]+&/);
  assert.equal(new URLSearchParams((await unpackFragment(new URL(url).hash)) ?? "").get("t"), long);
  const other = await context.newPage();
  await other.goto(url);
  await firstPicture(other);
  assert.equal(await other.locator("#text").inputValue(), long);
  assert.deepEqual(await tokens(other), await tokens(page));
});

const PACKED = await packFragment(`t=${"packed words ".repeat(30).replaceAll(" ", "+")}&s=built&h=0&l=en`);

visit(
  "the first picture of a packed link is that of its text, however long unpacking takes",
  {
    fragment: PACKED,
    init: `{
      const { read } = ReadableStreamDefaultReader.prototype;
      ReadableStreamDefaultReader.prototype.read = async function () {
        await new Promise((done) => setTimeout(done, 1000));
        return read.call(this);
      };
    }`,
  },
  async ({ page }) => {
    assert.match(PACKED, /^z=/);
    assert.equal((await tokens(page)).length, 61);
    assert.equal(await page.locator("#heads canvas").first().getAttribute("width"), "61");
  },
);

visit(
  "a damaged packed link says so and leaves a page that works",
  { fragment: "z=AAAA&s=built&l=en", bare: true },
  async ({ page }) => {
    await page.locator("#problem:not([hidden])").waitFor();
    assert.match(await text(page, "#problem"), /^The text in this link could not be unpacked/);
    await typeText(page, "new words");
    assert.deepEqual(await tokens(page), ["new", "␣words"]);
  },
);

visit("? lists the keys in a dialog, Escape closes it and keeps the pin", {}, async ({ page }) => {
  await page.locator("#tab-matrix").focus();
  await page.keyboard.press("?");
  assert.equal(await page.locator("#keys").isVisible(), true);
  assert.ok((await page.locator("#keys li").count()) >= 6);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#keys").isVisible(), false);
  assert.equal(await page.locator("#tokens .chip[data-query]").count(), 1);
});

visit(
  "typing waits for nothing: tokens follow while the worker is at work, and the last text wins",
  {
    // Answers wait while the test holds them.
    worker: async (route) => {
      const answer = await route.fetch();
      const patch = `{
        const post = MessagePort.prototype.postMessage;
        let held = null;
        MessagePort.prototype.postMessage = function (...given) {
          if (held) held.push(() => post.apply(this, given));
          else post.apply(this, given);
        };
        const hold = new BroadcastChannel("hold");
        hold.onmessage = ({ data }) => {
          const before = held ?? [];
          held = data ? before : null;
          if (!data) for (const send of before) send();
          hold.postMessage("done");
        };
      }`;
      await route.fulfill({ response: answer, body: patch + (await answer.text()) });
    },
  },
  async ({ page }) => {
    const busy = () => page.locator("#main").getAttribute("aria-busy");
    const hold = (answers: boolean) =>
      page.evaluate((given) => {
        const channel = new BroadcastChannel("hold");
        const heard = new Promise((done) => channel.addEventListener("message", done, { once: true }));
        channel.postMessage(given);
        return heard.then(() => channel.close());
      }, answers);
    await hold(true);
    for (const words of ["one two three", "one two", "four five six seven"]) {
      await page.locator("#text").fill(words);
      await until(
        page,
        (shown) => document.querySelector("#tokens")?.shadowRoot?.querySelectorAll(".chip").length === shown,
        words.split(" ").length,
      );
      assert.equal(await busy(), "true");
    }
    await hold(false);
    await settled(page);
    assert.match(await text(page, "#status"), /^4 tokens/);
    assert.equal(await page.locator("#heads canvas").first().getAttribute("width"), "4");
  },
);

visit(
  "the first picture is there without any script, in the visitor's theme, and goes when the live one comes",
  { fragment: "", bare: true, colorScheme: "dark" },
  async ({ page, context, site }) => {
    await until(page, () => document.querySelector("#first") === null);
    const html = await (await context.request.get(site.url)).text();
    const { weight } = await expected(SENTENCE);
    assert.equal(html.match(/data-first="/g)?.length, 2);
    // Every visible cell is in it once for each theme.
    const english = html.slice(html.indexOf('data-first="en"'), html.indexOf("</figure>"));
    assert.equal(english.match(/h39v39h-39z/g)?.length, 2 * 45);
    assert.ok(weight(6, 8, 8) > 0.3);
  },
);

visit(
  "without scripts there is a picture and a sentence",
  { fragment: "", bare: true, javaScriptEnabled: false },
  async ({ page, complaints }) => {
    assert.equal(await page.locator(".first:visible svg").count(), 1);
    assert.match(await page.content(), /needs JavaScript/);
    // The markup names the modules of its entry, and a browser that runs none lets go of them.
    const modules = /^failed request: .*\/assets\/[\w-]+\.js$/;
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !modules.test(complaint)),
      [],
    );
  },
);

for (const width of [2560, 3840]) {
  visit(
    `at ${width} px heads and the enlarged one are as large as on any screen, and more of them stand in a row`,
    { viewport: { width, height: 1400 } },
    async ({ page }) => {
      const pictures = await page.locator("#heads canvas").evaluateAll((all) =>
        all.map((canvas) => {
          const { width, top } = canvas.getBoundingClientRect();
          return { width, top };
        }),
      );
      for (const picture of pictures) assert.ok(picture.width >= 110 && picture.width <= 140, `${picture.width} px`);
      assert.equal(new Set(pictures.map(({ top }) => top)).size, 1, "eight in a row");
      const card = (await page.locator(".detail").boundingBox()) ?? assert.fail();
      assert.ok(card.width <= 560, `${card.width} px`);
    },
  );
}

for (const locale of ["en-US", "zh-CN"]) {
  visit(
    `the name of a head stands beside the tabs at 1280 px, and whole below them on a phone: ${locale}`,
    { locale, fragment: `s=tiny&y=0&h=0&l=${locale.slice(0, 2)}` },
    async ({ page }) => {
      await page.locator("fieldset#layers:not([hidden])").waitFor();
      await settled(page);
      const middle = async (selector: string) => {
        const { y, height } = (await page.locator(selector).boundingBox()) ?? assert.fail(selector);
        return y + height / 2;
      };
      for (let head = 0; head < 8; head++) {
        for (const part of ["#detail-title", "#previous-head", "#next-head"]) {
          const [tab, at] = [await middle("#tab-numbers"), await middle(part)];
          assert.ok(Math.abs(tab - at) < 6, `${await text(page, "#detail-title")}, ${part}: ${at} beside ${tab}`);
        }
        const [title, name] = await Promise.all(
          ["#detail-title", "#detail-title > :first-child"].map((selector) => page.locator(selector).boundingBox()),
        );
        assert.ok(title && name && name.x >= title.x - 1 && name.x + name.width <= title.x + title.width + 1);
        await page.locator("#next-head").click();
        await settled(page);
      }
      await page.setViewportSize({ width: 390, height: 800 });
      await settled(page);
      const [title, kind] = await Promise.all(
        ["#detail-title", "#detail-title > .kind"].map((selector) => page.locator(selector).boundingBox()),
      );
      assert.ok(title && kind && kind.y < title.y + title.height / 2, "what the head does is seen");
    },
  );
}
