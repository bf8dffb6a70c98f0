// Known faults of other viewers of attention, one test each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { load } from "headscope";
import { openModel } from "headscope/models";
import type { Browser, Page } from "playwright-core";
import { formatWeight } from "../../web/elements/format.js";
import { parseHex, ramp, rampIndex } from "../../web/elements/ramp.js";
import { put, useElements } from "./elements-page.js";
import { expected } from "./heads.js";
import { CSP, launchChromium, serveSite } from "./launch.js";
import { bertFiles, ggufFile } from "./model-files.js";
import {
  addressed,
  chooseFiles,
  firstPicture,
  hover,
  pictured,
  sentence,
  settled,
  text,
  tokens,
  typeText,
  useBrowser,
  visit,
} from "./page.js";
import { eventually, PATIENT, until } from "./until.js";

useBrowser();
const onElements = useElements();

const TWELVE = { numHeads: 12, numKVHeads: 12, headDim: 8, dModel: 96 };

/** How many colours each thumbnail has, and whether it has more pixels than the screen gives it. */
const thumbnails = (page: Page) =>
  page.locator("#heads canvas").evaluateAll((all) =>
    all.map((one) => {
      const canvas = one as HTMLCanvasElement;
      const image = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
      const colors = new Set(new Uint32Array(image?.data.buffer ?? new ArrayBuffer(0))).size;
      return { colors, width: canvas.width, shown: canvas.clientWidth * devicePixelRatio };
    }),
  );

visit(
  "H01: 512 tokens × 12 heads × 12 layers: every head of a layer is drawn, the next layer too, and a limit is said",
  { fragment: "t=How+are&s=built&h=0&l=en" },
  async ({ page }) => {
    const file = ggufFile("twelve.gguf", "gpt2", { ...TWELVE, layers: 12, context: 1024 });
    await chooseFiles(page, [file]);
    await page.locator("#about", { hasText: "12 layers × 12 heads" }).waitFor();
    await settled(page);
    await typeText(page, "How".concat(" are".repeat(699)));
    await until(page, () => document.querySelector("#tokens")?.shadowRoot?.querySelectorAll(".chip").length === 512);
    assert.match(await text(page, "#note"), /^Only the first 512 tokens are computed\./);
    const model = await openModel(await load({ variant: "simd" }), new Uint8Array(file.buffer));
    const list = model.tokenize("How".concat(" are".repeat(511)));
    assert.equal(list.length, 512);
    await page.locator("#heads .card").nth(7).click();
    await settled(page);
    await page.locator("#tokens .chip").nth(300).scrollIntoViewIfNeeded();
    await settled(page);
    await page.locator("#tokens .chip").nth(300).click();
    await page.mouse.move(5, 5);
    await settled(page);
    for await (const { layer, weights } of model.run(list, { layers: 12 })) {
      if (layer !== 0 && layer !== 11) continue;
      await page.locator(`fieldset#layers input[value="${layer}"]`).check();
      await settled(page);
      const drawn = await thumbnails(page);
      assert.equal(drawn.length, 12);
      for (const { colors, width, shown } of drawn) {
        assert.ok(colors > 1, "a picture, not a blank");
        assert.ok(width > 0 && width <= shown, `${width} pixels on ${shown}`);
      }
      const row = Array.from(weights.data.subarray((7 * 512 + 300) * 512, (7 * 512 + 301) * 512));
      const most = formatWeight(Math.max(...row));
      assert.ok((await sentence(page)).includes(`weight ${most} · head 7`), `${await sentence(page)}: not ${most}`);
    }
  },
);

let browser: Browser;
before(async () => {
  browser = await launchChromium();
});
after(() => browser?.close());

test("H02: without a network, after one visit, every tab, laboratory and export opens", PATIENT, async () => {
  const site = await serveSite(undefined, { csp: CSP, basePath: "/some/where/" });
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  await page.goto(`${site.url}#s=built&l=en`);
  await firstPicture(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await site.close();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto("about:blank");
  await page.goto(`${site.url}#t=no+network+here&s=built&l=en`);
  await firstPicture(page);
  for (const tab of ["lines", "compare", "numbers", "matrix"]) {
    await page.locator(`#tab-${tab}`).click();
    await page.locator(`#panel-${tab} :is([part~=frame], [part~=difference], td, .box)`).first().waitFor();
  }
  await page.locator("#export").click();
  await page.locator("#export-menu:not([hidden])").waitFor();
  assert.ok((await page.locator("#export-menu [data-export]").count()) >= 5);
  await page.keyboard.press("Escape");
  await page.locator("#labs").scrollIntoViewIfNeeded();
  const labs = page.locator("details.lab:visible");
  await labs.first().waitFor();
  assert.ok((await labs.count()) >= 4);
  for (const lab of await labs.all()) {
    await lab.locator("summary").first().click();
    await lab.locator(".lab-host > *").first().waitFor();
  }
  assert.equal(await page.locator(".problem:visible").count(), 0);
  assert.deepEqual(complaints, []);
  await context.close();
});

visit("H03: markup in tokens is text in every view, in titles, in the address and in exports", {}, async ({ page }) => {
  const typed = `a<b<c <img src=x onerror=alert(1)> </script> "'\`&amp;`;
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  await typeText(page, typed);
  const shown = (await tokens(page)).join("").replaceAll("␣", " ");
  assert.equal(shown, typed);
  /** Elements in the page and in every shadow tree that no part of the page makes. */
  const strangers = () =>
    page.evaluate(() => {
      const roots: (Document | ShadowRoot)[] = [document];
      let found = 0;
      for (let root = roots.pop(); root; root = roots.pop()) {
        found += root.querySelectorAll("img, b:empty, c, main script, [onerror]").length;
        for (const node of root.querySelectorAll("*")) if (node.shadowRoot) roots.push(node.shadowRoot);
      }
      return found;
    });
  for (const tab of ["lines", "compare", "numbers", "matrix"]) {
    await page.locator(`#tab-${tab}`).click();
    await page.locator("#tokens .chip").nth(2).hover();
    await page.locator("#tokens .chip").nth(3).click();
    await settled(page);
    assert.equal(await strangers(), 0, tab);
  }
  const saved = async (id: string) => {
    await page.locator("#export").click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`[data-export=${id}]`).click()]);
    return readFileSync(await download.path(), "utf8");
  };
  assert.equal(JSON.parse(await saved("json")).tokens.join(""), typed);
  const svg = await saved("svg");
  assert.ok(svg.includes("&lt;img src=x onerror=alert(1)&gt;"));
  assert.doesNotMatch(svg, /<img|<\/script/);
  await addressed(page);
  await page.goto(page.url());
  await page.reload();
  await firstPicture(page);
  assert.equal(await page.locator("#text").inputValue(), typed);
  assert.equal(await strangers(), 0);
  assert.equal(dialogs, 0);
});

visit(
  "H04: white space and special tokens are told apart by sight, and a typed [CLS] from the model's own",
  {},
  async ({ page }) => {
    await typeText(page, "a a\n\t\u00a0a\u200d Ġa ␣a");
    const shown = await tokens(page);
    for (const mark of ["↵", "⇥", "⍽", "‹U+200D›"]) assert.ok(shown.join("|").includes(mark), `${mark}: ${shown}`);
    // A stand-in is drawn softer than the same sign typed by the reader.
    const marks = await page
      .locator("#tokens .chip .token")
      .evaluateAll((all) =>
        all.map((one) => [...one.querySelectorAll(".mark")].map((mark) => mark.textContent).join("")),
      );
    const typedSign = shown.indexOf("␣␣");
    assert.ok(typedSign >= 0, shown.join("|"));
    assert.equal(marks[typedSign], "␣", "one stand-in, and the typed sign is not one");
    assert.ok(shown.some((label) => label.includes("Ġ")));
    await chooseFiles(page, bertFiles());
    await page.locator("#about", { hasText: "model.safetensors" }).waitFor();
    await typeText(page, "[CLS] the cat");
    const special = await page
      .locator("#tokens .chip")
      .evaluateAll((all) =>
        all.map((one) => [one.querySelector(".token")?.textContent, one.classList.contains("special")]),
      );
    assert.deepEqual(special[0], ["[CLS]", true]);
    assert.deepEqual(special.at(-1), ["[SEP]", true]);
    for (const [label, own] of special.slice(1, -1)) assert.equal(own, false, String(label));
  },
);

visit("H05: labels stand in the order of the tokens, each isolated, on every axis", {}, async ({ page }) => {
  await typeText(page, "שלום עולם مرحبا e\u0301 (a) ש");
  const wanted = ["שלום", "␣עולם", "␣مرحبا", "␣e\u0301", "␣(", "a", ")", "␣ש"];
  const shown = await tokens(page);
  assert.equal(shown.join(""), wanted.join(""));
  /** Labels by their place on the screen, not in the document. */
  const inPlace = (selector: string, axis: "left" | "top") =>
    page.locator(selector).evaluateAll(
      (labels, side) =>
        labels
          .filter((label) => (label as HTMLElement).checkVisibility())
          .map((label) => ({ at: label.getBoundingClientRect()[side], words: label.textContent, name: label.tagName }))
          .sort((a, b) => a.at - b.at),
      axis,
    );
  for (const [axis, side] of [
    ["#matrix .rows .label", "top"],
    ["#matrix .columns .label", "left"],
  ] as const) {
    const labels = await inPlace(axis, side);
    assert.deepEqual(
      labels.map(({ words }) => words),
      shown,
      axis,
    );
    assert.deepEqual(new Set(labels.map(({ name }) => name)), new Set(["BDI"]));
  }
  await page.locator("#tab-numbers").click();
  await page.locator("#numbers table").waitFor();
  const heads = await inPlace("#numbers thead bdi", "left");
  assert.deepEqual(
    heads.map(({ words }) => words),
    shown,
  );
  await page.locator("#tab-lines").click();
  await page.locator("#lines [part~=frame]").waitFor();
  await settled(page);
  for (const side of ["query", "key"]) {
    const labels = await inPlace(`#lines .side.${side} bdi`, "top");
    assert.deepEqual(
      labels.map(({ words }) => words),
      shown,
      side,
    );
  }
});

visit(
  "H06: colours are those of one shown scale for all heads, unless another is chosen and shown",
  {},
  async ({ page }) => {
    await page.locator("#causal").uncheck();
    await settled(page);
    const { count, weight } = await expected("The cat sat on the mat because it was", { causal: false });
    const colour = (head: number, query: number, key: number) =>
      page
        .locator("#heads canvas")
        .nth(head)
        .evaluate(
          (canvas, [x, y]) =>
            [...((canvas as HTMLCanvasElement).getContext("2d")?.getImageData(x, y, 1, 1).data ?? [])].slice(0, 3),
          [key, query] as const,
        );
    const { colors } = ramp("light");
    const legend = () => page.locator("#matrix .ticks span").last().textContent();
    // A head that looks at one token beside one that looks at all alike.
    assert.ok(weight(3, 1, 1) > 0.9);
    assert.ok(Math.abs(weight(7, 1, 1) - 1 / count) < 0.05);
    for (const head of [3, 7])
      assert.deepEqual(await colour(head, 1, 1), [...(colors[rampIndex(weight(head, 1, 1), 1)] ?? [])]);
    assert.equal(await legend(), "1");
    await page.locator("#heads .card").nth(7).click();
    await page.locator("#scale").selectOption("head");
    await settled(page);
    const most = Math.max(
      ...Array.from({ length: count * count }, (_, i) => weight(7, Math.floor(i / count), i % count)),
    );
    assert.deepEqual(await colour(7, 1, 1), [...(colors[rampIndex(weight(7, 1, 1), most)] ?? [])]);
    assert.equal(await legend(), String(Number(most.toPrecision(3))));
  },
);

onElements("H06: rows that see nothing and rows of NaN do not look like low attention", {}, async (page) => {
  const NOT = Number.NaN;
  await page.evaluate(() => document.querySelector("#place")?.replaceChildren(document.createElement("head-heatmap")));
  await put(page, "head-heatmap", {
    properties: {
      tokens: ["a", "b", "c"],
      weights: { shape: [1, 3, 3], data: [0, 0, 0, NOT, NOT, NOT, 0.5, 0.5, 0] },
      masked: [1, 1, 1, 0, 0, 0, 0, 0, 0],
    },
  });
  const rows = await page.evaluate(() => {
    const root = document.querySelector("head-heatmap")?.shadowRoot;
    const canvas = root?.querySelector("canvas.cells") as HTMLCanvasElement;
    const { width, height } = canvas;
    return [0, 1, 2].map((query) =>
      [0, 1, 2].map((key) => {
        const at = [((key + 0.1) * width) / 3, ((query + 0.1) * height) / 3].map(Math.floor) as [number, number];
        return [...(canvas.getContext("2d")?.getImageData(...at, 1, 1).data ?? [])];
      }),
    );
  });
  const { colors, accent } = ramp("light");
  assert.deepEqual(
    rows[0]?.map((cell) => cell[3]),
    [0, 0, 0],
    "open to the hatch behind",
  );
  assert.deepEqual(rows[1]?.[0], [...parseHex(accent), 255]);
  assert.deepEqual(rows[2]?.[2], [...(colors[0] ?? []), 255]);
  const behind = await page.evaluate(() => {
    const box = document.querySelector("head-heatmap")?.shadowRoot?.querySelector("canvas.cells")?.parentElement;
    return box ? getComputedStyle(box).backgroundImage : "";
  });
  assert.match(behind, /gradient/);
});

/** A worker whose answers take their time. */
const SLOWLY = `{
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (...given) {
    const end = performance.now() + 250;
    while (performance.now() < end);
    return post.apply(this, given);
  };
}`;

visit(
  "H07: five quick edits and a change of source: nothing but the last result is ever shown after it",
  {
    worker: async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: SLOWLY + (await answer.text()) });
    },
  },
  async ({ page, site }) => {
    // Every width that a thumbnail ever has from now on; a string, because names of functions are helped along in Node.
    await page.evaluate(`{
      window.widths = [];
      const look = () => {
        const width = document.querySelector("#heads").shadowRoot.querySelector("canvas")?.width ?? 0;
        if (window.widths.at(-1) !== width) window.widths.push(width);
        requestAnimationFrame(look);
      };
      look();
    }`);
    for (const words of ["one", "one two", "one two three", "x", "last one wins here today"]) {
      await page.locator("#text").fill(words);
    }
    await settled(page);
    await pictured(page, 5);
    const widths = await page.evaluate(() => (window as unknown as { widths: number[] }).widths);
    // Results of older texts may come before the newest; none comes after it.
    assert.equal(widths.at(-1), 5);
    assert.equal(widths.indexOf(5), widths.length - 1, widths.join());
    const { weight } = await expected("last one wins here today");
    await page.locator("#heads .card").nth(6).click();
    await hover(page, 4, 1, 5);
    assert.ok((await sentence(page)).includes(formatWeight(weight(6, 4, 1))));
    // From source to source, faster than any answers.
    for (const source of ["numpy", "tiny", "built", "numpy"])
      await page.locator(`#source input[value="${source}"]`).check();
    await settled(page);
    await page.locator("#status", { hasText: "4 tokens · 2 heads" }).waitFor();
    // The model comes all the same, and whatever was asked before is answered before the next question is.
    await eventually(() => site.requests.some((path) => path.endsWith(".gguf")));
    await page.locator("#causal").check();
    await settled(page);
    assert.match(await text(page, "#status"), /^4 tokens · 2 heads/);
    assert.equal(await page.locator("#source input:checked").getAttribute("value"), "numpy");
    assert.equal(await page.locator("#heads canvas").count(), 2);
  },
);

visit(
  "H07: a model that is still being read does not take the place of what was chosen meanwhile",
  { fragment: "t=How+are&s=built&h=0&l=en" },
  async ({ page, site, complaints }) => {
    let release: () => void = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    const answered = new Promise<void>((done) => {
      void page.route("**/slow.gguf", async (route) => {
        await released;
        await route.fulfill({ body: ggufFile("slow.gguf", "llama").buffer }).catch(() => {});
        done();
      });
    });
    await page.locator("#open-button").click();
    await page.locator("#open-address").fill(`${site.url}slow.gguf`);
    await page.locator("#open-form button").click();
    await page.locator("#open-progress:not([hidden])").waitFor();
    // A second file, read at once, is the newer wish.
    await page.setInputFiles("#open-files", [ggufFile("quick.gguf", "gpt2", TWELVE)]);
    await page.locator("#about", { hasText: "quick.gguf" }).waitFor();
    release();
    await answered;
    // What the worker may make of that is done before the next question is answered.
    await typeText(page, "How are How");
    assert.match(await text(page, "#about"), /^quick\.gguf/);
    assert.equal(await page.locator("#heads .card").count(), 12);
    assert.deepEqual(
      complaints.splice(0).filter((complaint) => !/slow\.gguf|ERR_/.test(complaint)),
      [],
    );
  },
);
