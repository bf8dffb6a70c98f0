/**
 * What the elements cost in Chromium: `node --import tsx tests/bench/elements.ts`.
 *
 * First paint: from setting the data to the end of the frame that shows it. Hover: a frame after the place looked at has
 * changed, that is drawing, style, layout and paint, up to a message that is taken up after them. Both as time on the
 * clock, and as time that the page's main thread worked, which other programs on the machine do not add to. On a machine
 * that has other things to do, the fastest quarter of the frames is nearer to what the clock says on an idle one.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import type { CDPSession, Page } from "playwright-core";
import { launchChromium, serveSite } from "../browser/launch.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SIZES = [
  { heads: 12, tokens: 512 },
  { heads: 144, tokens: 128 },
  { heads: 12, tokens: 1024 },
];
const REPEATS = 6;
const HOVERS = 60;
const SETS = [["head-grid"], ["head-heatmap"], ["head-lines"], ["head-grid", "head-heatmap"]];

// A string: a function compiled for Node names helpers of Node's.
const IN_PAGE = `
elements.defineElements();
let heads, tokens, weights, texts;
function make(size) {
  ({ heads, tokens } = size);
  weights = new Float32Array(heads * tokens * tokens);
  let seed = 1;
  const random = () => (seed = (seed * 1664525 + 1013904223) >>> 0) / 2 ** 32;
  for (let row = 0; row < heads * tokens; row++) {
    const visible = (row % tokens) + 1;
    let sum = 0;
    for (let key = 0; key < visible; key++) sum += weights[row * tokens + key] = Math.exp(6 * random());
    for (let key = 0; key < visible; key++) weights[row * tokens + key] /= sum;
  }
  texts = Array.from({ length: tokens }, (_, i) => " word" + i);
}
// The end of a frame: a message is taken up after style, layout and paint.
const afterFrame = (begin) => new Promise((done) => requestAnimationFrame(() => {
  const start = begin ?? performance.now();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => done(performance.now() - start);
  port2.postMessage(0);
}));
let state;
async function prepare(tags) {
  document.body.replaceChildren();
  state = new elements.ViewState();
  for (const tag of tags) {
    const element = document.body.appendChild(document.createElement(tag));
    Object.assign(element, { state, tokens: texts, causal: true });
  }
  await afterFrame();
}
function fill() {
  const begin = performance.now();
  for (const element of document.body.children) element.weights = { data: weights, shape: [heads, tokens, tokens] };
  return afterFrame(begin);
}
async function settle() {
  for (let frame = 0; frame < 20; frame++) await afterFrame();
}
async function hover(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    // Before the elements ask for their frame, so that its whole work is counted.
    const frame = afterFrame();
    state.preview({ query: (i * 37) % tokens, key: (i * 23) % tokens });
    times.push(await frame);
  }
  return times;
}
`;

function quantile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)] as number;
}
const median = (times: readonly number[]) => quantile(times, 0.5);

/** Milliseconds that the page's main thread has worked so far. */
async function worked(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
}

async function measure(page: Page, cdp: CDPSession, tags: readonly string[]): Promise<void> {
  const clock = { first: [] as number[], hover: [] as number[] };
  const thread = { first: [] as number[], hover: [] as number[] };
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    await page.evaluate(`prepare(${JSON.stringify(tags)})`);
    const begin = await worked(cdp);
    clock.first.push((await page.evaluate("fill()")) as number);
    thread.first.push((await worked(cdp)) - begin);
    // Thumbnails that did not fit the first frame.
    await page.evaluate("settle()");
    const before = await worked(cdp);
    clock.hover.push(...((await page.evaluate(`hover(${HOVERS})`)) as number[]));
    thread.hover.push(((await worked(cdp)) - before) / HOVERS);
  }
  for (const what of ["first", "hover"] as const) {
    const name = `${tags.join(" + ")}: ${what === "first" ? "first paint" : "hover"}`;
    const numbers = [median(clock[what]), quantile(clock[what], 0.25), median(thread[what])];
    const [all, quick, main] = numbers.map((time) => time.toFixed(1));
    process.stdout.write(`${name.padEnd(40)}${all?.padStart(9)}${quick?.padStart(17)}${main?.padStart(13)}\n`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "headscope-elements-"));
try {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["web/elements/index.ts"],
    alias: { headscope: "./bindings/public.ts" },
    bundle: true,
    format: "iife",
    globalName: "elements",
    minify: true,
    target: "es2022",
    outfile: join(folder, "elements.js"),
  });
  writeFileSync(join(folder, "index.html"), '<!doctype html><meta charset="utf-8"><script src="elements.js"></script>');
  const site = await serveSite(folder);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    await page.goto(site.url);
    await page.addScriptTag({ content: IN_PAGE });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    process.stdout.write(`Chromium ${browser.version()}\n`);
    for (const size of SIZES) {
      await page.evaluate(`make(${JSON.stringify(size)})`);
      process.stdout.write(`\n${`${size.heads} heads of ${size.tokens} tokens`.padEnd(40)}`);
      process.stdout.write("    clock  fastest quarter  main thread (ms)\n");
      for (const tags of SETS) await measure(page, cdp, tags);
    }
  } finally {
    await browser.close();
    await site.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
