// headscope/worker in a real browser: found by every bundler without settings, under the strict policy, with the bits of
// the page.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import test, { after } from "node:test";
import { build as esbuild } from "esbuild";
import { build as vite } from "vite";
import { packAndInstall, projectRoot } from "../package/packed.ts";
import { printed, writePage } from "./app.ts";
import { CSP, launchChromium, serveSite } from "./launch.ts";
import { eventually } from "./until.ts";
import { EXPECTED, NEW_URL, workerApp } from "./worker-app.ts";

const { project } = packAndInstall();
const browser = await launchChromium();
after(() => browser.close());
const policy = `${CSP}; worker-src 'self'`;

function app(name: string, source: string): string {
  const root = path.join(project, name);
  mkdirSync(root);
  writeFileSync(path.join(root, "main.js"), source);
  writePage(root, "./main.js");
  return root;
}

for (const [name, imports, worker] of [
  ["new URL", "", NEW_URL],
  ["?worker", 'import Script from "headscope/worker-script?worker";', "new Script()"],
  ["?url", 'import script from "headscope/worker-script?url";', "script"],
] as const) {
  test(`Vite finds the worker's script by ${name}`, async () => {
    const root = app(`vite ${name.replace(/\W/g, "")}`, workerApp(imports, worker));
    await vite({ root, base: "/some/path/", configFile: false, logLevel: "error", build: { assetsInlineLimit: 0 } });
    const options = { csp: policy, basePath: "/some/path/" };
    assert.deepEqual(await printed(browser, path.join(root, "dist"), options), EXPECTED);
  });
}

test("esbuild takes the worker's script as a second entry", async () => {
  const root = app("esbuild", workerApp("", '"./worker-script.js"'));
  await esbuild({
    entryPoints: { main: path.join(root, "main.js"), "worker-script": "headscope/worker-script" },
    absWorkingDir: project,
    outdir: root,
    allowOverwrite: true,
    ...{ bundle: true, splitting: true, format: "esm", logLevel: "silent" },
  });
  assert.deepEqual(await printed(browser, root, { csp: policy }), EXPECTED);
});

test("a page without any build names the file, whose worker may be a classic one too", async () => {
  const root = path.join(project, "node_modules");
  const plain = (worker: string) =>
    workerApp("", worker)
      .replace('"headscope"', '"./headscope/dist/index.js"')
      .replace('"headscope/worker"', '"./headscope/dist/worker.js"');
  for (const worker of ['"./headscope/dist/worker-script.js"', 'new Worker("./headscope/dist/worker-script.js")']) {
    writeFileSync(path.join(root, "main.js"), plain(worker));
    writePage(root, "./main.js");
    assert.deepEqual(await printed(browser, root, { csp: policy }), EXPECTED);
  }
});

const CANCELLED = `
import { loadWorker } from "./headscope/dist/worker.js";
const hs = await loadWorker({ worker: "./headscope/dist/worker-script.js", variant: "simd" });
// A relative address counts from the page.
const loaded = [];
const model = await hs.openModel("model.gguf", { cache: "off", onProgress: (progress) => loaded.push(progress.loaded) });
const tokens = await model.tokenize("the cat saw the dog");
const shown = [];
let older;
let started;
const running = new Promise((done) => { started = done; });
const passes = [];
for (let i = 0; i < 5; i++) {
  older?.abort();
  older = new AbortController();
  const { signal } = older;
  passes.push((async () => {
    let layers = 0;
    try {
      for await (const { layer, weights } of model.run([...tokens, ...tokens].slice(0, 3 + i), { signal, keepWeights: true })) {
        shown.push([i, layer, weights.shape.at(-1)]);
        layers++;
        started();
        // While the first is looked at, its abort comes: nothing has run ahead.
        if (i === 0) await new Promise((done) => signal.addEventListener("abort", done));
      }
    } catch (error) {
      return error.code + " after " + layers;
    }
    return "whole";
  })());
  if (i === 0) await running;
}
const ends = await Promise.all(passes);
await model.dispose();
const { liveObjects } = await hs.memory();
const owed = hs.memory().catch((error) => error.code);
await hs.dispose();
console.log(JSON.stringify({ ends, shown, liveObjects, owed: await owed, read: loaded.at(-1) > 0 }));
`;

test("of five quick inputs only the last is computed to its end, and no result of an older one comes after its abort", async () => {
  const root = path.join(project, "node_modules");
  copyFileSync(path.join(projectRoot, "web/models/headscope.gguf"), path.join(root, "model.gguf"));
  writeFileSync(path.join(root, "main.js"), CANCELLED);
  writePage(root, "./main.js");
  assert.deepEqual(await printed(browser, root, { csp: policy }), {
    ends: ["aborted after 1", "aborted after 0", "aborted after 0", "aborted after 0", "whole"],
    shown: [[0, 0, 3], ...[0, 1, 2, 3].map((layer) => [4, layer, 7])],
    liveObjects: 0,
    owed: "disposed",
    read: true,
  });
});

test("a script that is not there, or another one, is told as an error of the code format", async () => {
  const root = path.join(project, "node_modules");
  writeFileSync(path.join(root, "broken.js"), "throw new Error('something else');");
  writeFileSync(
    path.join(root, "main.js"),
    `import { HeadscopeError, loadWorker } from "./headscope/dist/worker.js";
const outcome = (worker) => loadWorker({ worker }).then(() => "started", (error) => [error instanceof HeadscopeError, error.code, error.argument]);
console.log(JSON.stringify([await outcome("./headscope/dist/none.js"), await outcome("./broken.js"), await outcome("https://example.org/x.js")]));`,
  );
  writePage(root, "./main.js");
  // The browser itself complains about both on the console, as errors of the page.
  const lines: unknown[] = [];
  const site = await serveSite(root);
  const tab = await browser.newPage();
  tab.on("console", (message) => message.type() === "log" && lines.push(JSON.parse(message.text())));
  await tab.goto(site.url);
  await eventually(() => lines.length > 0);
  await tab.close();
  await site.close();
  const refused = [true, "format", "worker"];
  assert.deepEqual(lines, [[refused, refused, refused]]);
});
