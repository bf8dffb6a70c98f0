import assert from "node:assert/strict";
import { formatWeight } from "../../web/elements/format.js";
import { ramp, rampIndex } from "../../web/elements/ramp.js";
import { expected } from "./heads.js";
import {
  addressed,
  cellAt,
  firstPicture,
  hover,
  sentence,
  settled,
  text,
  tokens,
  typeText,
  useBrowser,
  visit,
} from "./page.js";

useBrowser();

const SENTENCE = "The keys to the cabinet are on the table";
const HEADS = 8;

visit("typing a sentence shows one heatmap a head, each pixel the colour of the API's weight", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  const { count, weight } = await expected(SENTENCE);
  assert.equal(count, 9);
  assert.equal((await tokens(page)).length, count);
  const pictures = await page.locator("#heads canvas").evaluateAll((all) =>
    (all as HTMLCanvasElement[]).map((canvas) => {
      const image = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
      return { width: canvas.width, height: canvas.height, bytes: [...(image?.data ?? [])] };
    }),
  );
  assert.equal(pictures.length, HEADS);
  const { colors } = ramp("light");
  for (const [head, { width, height, bytes }] of pictures.entries()) {
    assert.deepEqual([width, height], [count, count]);
    for (let query = 0; query < count; query++) {
      for (let key = 0; key < count; key++) {
        const pixel = bytes.slice(4 * (query * count + key), 4 * (query * count + key + 1));
        const color = key > query ? [0, 0, 0, 0] : [...(colors[rampIndex(weight(head, query, key), 1)] ?? []), 255];
        const far = pixel.some((value, c) => Math.abs(value - (color[c] as number)) > 2);
        assert.ok(!far, `head ${head}, query ${query}, key ${key}: ${pixel}, not ${color}`);
      }
    }
  }
});

visit("the value under the pointer is the API's, to four decimals", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  const { count, weight } = await expected(SENTENCE);
  const labels = await tokens(page);
  for (const head of [0, 4, 6]) {
    await page.locator("#heads .card").nth(head).click();
    for (const [query, key] of [
      [3, 2],
      [8, 8],
      [7, 3],
      [0, 0],
      [5, 0],
    ] as const) {
      await hover(page, query, key, count);
      const value = formatWeight(weight(head, query, key));
      assert.equal(
        await sentence(page),
        `query ${labels[query]} reads key ${labels[key]} with weight ${value} · head ${head}`,
      );
    }
  }
  await hover(page, 2, 6, count);
  assert.equal(await sentence(page), `query ${labels[2]} cannot see key ${labels[6]}: —, hidden by the mask · head 6`);
});

visit(
  "the table of numbers has the API's weights, a dash where hidden, and rows that sum to 1",
  {},
  async ({ page }) => {
    await typeText(page, SENTENCE);
    const { count, weight } = await expected(SENTENCE);
    await page.locator("#heads .card").nth(6).click();
    await page.locator("#tab-numbers").click();
    await settled(page);
    const cells = await page
      .locator("#numbers tbody tr")
      .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")));
    assert.equal(cells.length, count);
    for (const [query, row] of cells.entries()) {
      assert.equal(row.length, count);
      for (const [key, cell] of row.entries()) assert.equal(cell, formatWeight(weight(6, query, key), key > query));
      const shown = row.filter((cell) => /^\d/.test(cell)).map(Number);
      const sum = shown.reduce((total, value) => total + value, 0);
      assert.ok(Math.abs(sum - 1) <= 0.0001 * count, `row ${query}: ${sum}`);
    }
  },
);

visit("click pins a cell, the pin stays while the pointer is away, Escape lets it go", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  const { x, y } = await cellAt(page, 5, 4, 9);
  await page.mouse.click(x, y);
  await page.mouse.move(5, 5);
  await settled(page);
  assert.match(await sentence(page), /^query ␣are reads key ␣cabinet with weight/);
  assert.equal(await text(page, "#tokens .chip[data-query] .token"), "␣are");
  assert.equal(await text(page, "#tokens .chip[data-key] .token"), "␣cabinet");
  assert.equal(await text(page, "#matrix .rows .picked:visible"), "␣are");
  assert.equal(await text(page, "#matrix .columns .picked:visible"), "␣cabinet");
  assert.equal(await page.locator("#matrix [role=gridcell]").getAttribute("aria-selected"), "true");
  await page.keyboard.press("Escape");
  await settled(page);
  assert.equal(await text(page, "#sentence"), "Point at a cell to read its weight, click to keep it.");
  assert.equal(await page.locator("#tokens .chip[data-query]").count(), 0);
});

visit("a token in the strip picks the query and shows what every head reads there", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  const { weight, count } = await expected(SENTENCE);
  await page.locator("#tokens .chip").nth(7).click();
  await page.mouse.move(5, 5);
  await settled(page);
  assert.equal(await text(page, "#readings h3"), "What query ␣the reads most, head by head");
  const rows = await page
    .locator("#readings li")
    .evaluateAll((items) =>
      items.map((item) => [
        item.querySelector(".token")?.textContent,
        item.querySelector(".reading-weight")?.textContent,
      ]),
    );
  const labels = await tokens(page);
  assert.equal(rows.length, HEADS);
  for (const [head, row] of rows.entries()) {
    const weights = Array.from({ length: count }, (_, key) => weight(head, 7, key));
    const best = weights.indexOf(Math.max(...weights));
    assert.deepEqual(row, [labels[best], formatWeight(weights[best] as number)]);
  }
  // A row there leads to its head and cell.
  await page.locator("#readings button").nth(0).click();
  await settled(page);
  assert.match(await sentence(page), /^query ␣the reads key ␣on with weight 0\.97\d\d · head 0$/);
});

visit("captions say in words what each head does", {}, async ({ page }) => {
  const captions = await page.locator("#heads .caption").allTextContents();
  assert.deepEqual(
    captions.map((caption) => caption.replace(/\s+/g, " ")),
    [
      "previous token 0.98",
      "two back 0.98",
      "first token 1.00",
      "same token 1.00",
      "after a copy 1.00",
      "rarest token 1.00",
      "nearby 0.91",
      "broad 2.05 bits",
    ],
  );
  const card = page.locator("#heads .card").first();
  assert.equal((await card.textContent())?.trim().replace(/\s+/g, " "), "H0 previous token 0.98");
  assert.equal(await card.getAttribute("aria-description"), "head 0: 98 % on previous token");
});

visit("the causal switch takes the mask away and puts it back", {}, async ({ page }) => {
  await typeText(page, SENTENCE);
  await page.locator("#causal").uncheck();
  const open = await expected(SENTENCE, { causal: false });
  await hover(page, 2, 6, 9);
  const value = formatWeight(open.weight(6, 2, 6));
  assert.equal(await sentence(page), `query ␣to reads key ␣on with weight ${value} · head 6`);
  await page.locator("#causal").check();
  await hover(page, 2, 6, 9);
  assert.match(await sentence(page), /cannot see/);
});

visit(
  "a head that is switched off leaves the output, by as much as the API says, and its map stays",
  {},
  async ({ page }) => {
    const before = await page
      .locator("#heads canvas")
      .nth(3)
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    await page.locator("#heads .card input").nth(3).uncheck();
    await page.locator("#heads .card input").nth(0).uncheck();
    await settled(page);
    const { run } = await expected("The cat sat on the mat because it was", { off: [0, 3] });
    const percent = (share: number | undefined) => `${((share ?? 0) * 100).toFixed(1)} %`;
    const change = await text(page, "#change");
    assert.ok(
      change.startsWith(`Without H0, H3 the layer's output changes by ${percent(run.change?.relative)}`),
      change,
    );
    assert.ok(change.includes(`(${percent(run.change?.queryRelative)})`), change);
    const after = await page
      .locator("#heads canvas")
      .nth(3)
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    assert.equal(after, before);
    assert.match((await page.locator("#heads .card").nth(3).getAttribute("aria-description")) ?? "", /switched off$/);
    await page.locator("#all-on").click();
    await settled(page);
    assert.equal(await page.locator("#change").isHidden(), true);
    assert.equal(await page.locator("#heads .card input:checked").count(), HEADS);
  },
);

visit("the scale shows its domain and stretches to the head's maximum", {}, async ({ page }) => {
  await page.locator("#heads .card").nth(7).click();
  await page.locator("#causal").uncheck();
  await settled(page);
  assert.equal(await text(page, "#matrix .ticks span:last-child"), "1");
  await page.locator("#scale").selectOption("head");
  await settled(page);
  assert.equal(await text(page, "#matrix .ticks span:last-child"), "0.111");
  const pixel = await page
    .locator("#heads canvas")
    .nth(7)
    .evaluate((canvas: HTMLCanvasElement) =>
      [...(canvas.getContext("2d")?.getImageData(3, 3, 1, 1).data ?? [])].slice(0, 3),
    );
  assert.deepEqual(pixel, [...(ramp("light").colors[255] ?? [])]);
});

visit("examples fill in the text and open on a cell worth reading", {}, async ({ page }) => {
  await page.locator(".example", { hasText: "小明" }).click();
  await settled(page);
  const { weight } = await expected("小明在北京的大学里学习计算机科学", { unit: "word" });
  const labels = await tokens(page);
  const query = labels.indexOf("学习");
  assert.ok(query > 0, labels.join("|"));
  assert.equal(
    await sentence(page),
    `query 学习 reads key 大学 with weight ${formatWeight(weight(6, query, labels.indexOf("大学")))} · head 6`,
  );
  await page.locator(".example", { hasText: "a b c d" }).click();
  await settled(page);
  assert.match(await sentence(page), /^query ␣b reads key ␣c with weight 0\.9\d+ · head 4$/);
});

visit("the shapes on the way and the bills are those of the layer", {}, async ({ page }) => {
  await page.locator("#trace").scrollIntoViewIfNeeded();
  await page.locator("#trace .step").first().waitFor();
  const steps = await page
    .locator("#trace .step")
    .evaluateAll((items) => items.map((item) => [...item.querySelectorAll("code")].map((code) => code.textContent)));
  assert.deepEqual(steps, [
    ["[9, 512]"],
    ["[9, 1536]"],
    ["3 × [9, 8, 64]", "strides [1536, 64, 1]"],
    ["3 × [8, 9, 64]", "strides [64, 1536, 1]"],
    ["[8, 9, 9]"],
    ["[8, 9, 9]"],
    ["[8, 9, 64]"],
    ["[9, 8, 64]", "strides [64, 576, 1]"],
    ["[9, 512]"],
    ["[9, 512]"],
  ]);
  await page.locator("#cost").scrollIntoViewIfNeeded();
  await page.locator("#cost [part~=bill]").first().waitFor();
  const bills = (await page.locator("#cost [part~=bill]").allTextContents()).join(" ");
  for (const bill of ["1,048,576", "165,888", "19,040,256", "2,592 B", "4,096 B"])
    assert.ok(bills.includes(bill), bill);
  // The sizes can be played with, and the layer's come back.
  await page.locator("#cost-change").click();
  await settled(page);
  assert.equal(await page.locator("#cost input[type=range]").first().isVisible(), true);
  await page.locator("#cost-change").click();
  await settled(page);
  assert.equal(await page.locator("#cost input[type=range]").first().isVisible(), false);
});

visit("NumPy's seed 42 shows the tutorial's numbers and says that they are random", {}, async ({ page }) => {
  await page.locator('#source input[value="numpy"]').check();
  await page.locator("#tab-numbers").click();
  await settled(page);
  assert.match(await text(page, "#about"), /Random, not learned.*\.230–\.274/);
  const table = (selector: string) =>
    page
      .locator(`${selector} tbody tr`)
      .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
  const weights = "#numbers table:not(.output)";
  assert.deepEqual(await table(weights), [
    ["0.2399", "0.2533", "0.2327", "0.2741"],
    ["0.2510", "0.2484", "0.2406", "0.2600"],
    ["0.2704", "0.2487", "0.2495", "0.2315"],
    ["0.2362", "0.2634", "0.2600", "0.2404"],
  ]);
  assert.deepEqual((await table("#numbers table.output"))[0], [
    "−0.027567",
    "−0.013464",
    "−0.053500",
    "−0.033562",
    "−0.014716",
    "0.013335",
    "0.067172",
    "−0.026077",
  ]);
  await page.locator("#next-head").click();
  await settled(page);
  assert.deepEqual((await table(weights))[0], ["0.2379", "0.2660", "0.2621", "0.2341"]);
  await page.locator("#causal").check();
  await settled(page);
  assert.deepEqual((await table(weights))[2], ["0.3392", "0.3208", "0.3400", "—"]);
  // Back to the text, which was not lost.
  await page.locator('#source input[value="built"]').check();
  await settled(page);
  assert.equal(await page.locator("#text").inputValue(), "The cat sat on the mat because it was");
});

visit("a link opens the same view", {}, async ({ page, context, site }) => {
  await typeText(page, "小明 sat <b>&</b> 100% #1 👨‍👩‍👧");
  await page.locator("#unit input[value=word]").check();
  await page.locator("#heads .card").nth(3).click();
  await page.locator("#heads .card input").nth(5).uncheck();
  await page.locator("#causal").uncheck();
  await page.locator("#scale").selectOption("head");
  const count = (await tokens(page)).length;
  const { x, y } = await cellAt(page, 2, 4, count);
  await page.mouse.click(x, y);
  await page.mouse.move(5, 5);
  await page.locator("#language").click();
  await addressed(page);
  const look = async (shown: typeof page) => ({
    url: shown.url(),
    tokens: await tokens(shown),
    sentence: await sentence(shown),
    title: await text(shown, "#detail-title"),
    change: await text(shown, "#change"),
    checked: await shown
      .locator("input:checked")
      .evaluateAll((inputs) => inputs.map((input) => (input as HTMLInputElement).value || input.id)),
    chosen: await shown
      .locator("select")
      .evaluateAll((selects) => selects.map((select) => (select as HTMLSelectElement).value)),
    matrix: await shown.locator("#matrix canvas.cells").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()),
  });
  const sent = await look(page);
  assert.match(sent.sentence, /^查询 .* 以权重 .* · 第 3 头$/);
  const other = await context.newPage();
  await other.goto(sent.url);
  await firstPicture(other);
  assert.deepEqual(await look(other), sent);
  // A link pasted into the open page works too.
  await other.goto(`${site.url}#t=one+two+three&s=built&h=0&q=2&k=1&l=en`);
  await settled(other);
  assert.match(await sentence(other), /^query ␣three reads key ␣two with weight 0\.97\d\d · head 0$/);
});

visit(
  "Copy link puts the address of this view on the clipboard",
  { permissions: ["clipboard-read", "clipboard-write"] },
  async ({ page }) => {
    await typeText(page, "copy me");
    await page.locator("#copy").click();
    await page.getByText("Link copied").first().waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, page.url());
    assert.match(copied, /#t=copy\+me&/);
  },
);

visit("five quick edits: the picture is that of the last", {}, async ({ page }) => {
  await page.evaluate(() => {
    const field = document.querySelector<HTMLTextAreaElement>("#text");
    for (const value of ["one", "one two", "one two three", "x", "last one wins here"]) {
      if (!field) return;
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  await settled(page);
  assert.deepEqual(await tokens(page), ["last", "␣one", "␣wins", "␣here"]);
  assert.equal(
    await page
      .locator("#heads canvas")
      .first()
      .evaluate((canvas: HTMLCanvasElement) => canvas.width),
    4,
  );
});

visit(
  "edits made before the core is ready: the first picture is that of the last edit",
  {
    bare: true,
    // A core that takes its time.
    worker: async (route) => {
      await new Promise((done) => setTimeout(done, 600));
      await route.continue();
    },
  },
  async ({ page }) => {
    await typeText(page, "first try");
    // Tokens need no core.
    assert.deepEqual(await tokens(page), ["first", "␣try"]);
    await typeText(page, "second try is longer");
    await firstPicture(page);
    assert.equal(
      await page
        .locator("#heads canvas")
        .first()
        .evaluate((canvas: HTMLCanvasElement) => canvas.width),
      4,
    );
    assert.match(await text(page, "#status"), /^4 tokens/);
  },
);

visit(
  "when computing fails the message stands beside the field and the last good picture stays",
  {
    init: `
      const now = performance.now.bind(performance);
      performance.now = () => {
        if (document.documentElement.dataset.fail) throw new Error("out of <b>memory</b>");
        return now();
      };
    `,
  },
  async ({ page }) => {
    const before = await page
      .locator("#heads canvas")
      .first()
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    await page.evaluate(() => {
      document.documentElement.dataset["fail"] = "yes";
    });
    await typeText(page, "this fails");
    const words = "This could not be computed: out of <b>memory</b>. The last good picture is kept.";
    assert.equal(await text(page, "#problem"), words);
    assert.equal(await page.locator("#problem b").count(), 0);
    assert.equal(await page.locator("#problem").getAttribute("role"), "alert");
    const after = await page
      .locator("#heads canvas")
      .first()
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
    assert.equal(after, before);
    await page.evaluate(() => {
      delete document.documentElement.dataset["fail"];
    });
    await typeText(page, "this works");
    assert.equal(await page.locator("#problem").isHidden(), true);
    assert.equal(
      await page
        .locator("#heads canvas")
        .first()
        .evaluate((canvas: HTMLCanvasElement) => canvas.width),
      2,
    );
  },
);

visit(
  "without WebAssembly the page says so in a sentence",
  {
    bare: true,
    worker: async (route) => {
      const answer = await route.fetch();
      const without = `
        WebAssembly.validate = () => false;
        WebAssembly.compile = WebAssembly.instantiate = () => Promise.reject(new Error("no WebAssembly here"));
      `;
      await route.fulfill({ response: answer, body: `${without}${await answer.text()}` });
    },
  },
  async ({ page }) => {
    await page.locator("#problem:not([hidden])").waitFor();
    assert.match(await text(page, "#problem"), /^The WebAssembly core could not start: ./);
    assert.equal(await page.locator("#views").isHidden(), true);
  },
);
