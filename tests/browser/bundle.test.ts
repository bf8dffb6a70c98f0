// Fault L02 in a browser: an app of a user, built by Vite with nothing configured, and the package from bare modules.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import test, { after } from "node:test";
import { build } from "vite";
import { ANSWER, PROGRAM, packAndInstall } from "../package/packed.ts";
import { printed, writePage } from "./app.ts";
import { CSP, launchChromium } from "./launch.ts";

const { project } = packAndInstall();
const browser = await launchChromium();
after(() => browser.close());

const expected = { ...ANSWER, refusal: "HeadscopeError" };

test("L02: an app built by Vite runs under a sub-path and a strict policy", async () => {
  const root = path.join(project, "vite-app");
  mkdirSync(root);
  writeFileSync(path.join(root, "main.js"), PROGRAM);
  writePage(root, "/main.js");
  await build({ root, base: "/some/path/", configFile: false, logLevel: "error" });
  assert.deepEqual(await printed(browser, path.join(root, "dist"), { csp: CSP, basePath: "/some/path/" }), expected);
});

test("L02: the package runs from a bare script of type module, without any build", async () => {
  const root = path.join(project, "node_modules");
  writeFileSync(path.join(root, "main.js"), PROGRAM.replace('"headscope"', '"./headscope/dist/index.js"'));
  writePage(root, "./main.js");
  assert.deepEqual(await printed(browser, root), expected);
});

test("L02: a module worker loads headscope/core with the module that the page fetched", async () => {
  const root = path.join(project, "node_modules");
  writeFileSync(
    path.join(root, "worker.js"),
    `import { load } from "./headscope/dist/core.js";
addEventListener("message", async ({ data }) => {
  const hs = await load({ variant: "simd", module: data });
  const q = { data: new Float32Array([1, 0, 0, 1]), shape: [1, 1, 2, 2] };
  const { weights } = hs.attention(q, q, q);
  postMessage({ shape: weights.shape, data: Array.from(weights.data, (x) => +x.toFixed(4)) });
});`,
  );
  writeFileSync(
    path.join(root, "page.js"),
    `const worker = new Worker("./worker.js", { type: "module" });
worker.onmessage = ({ data }) => console.log(JSON.stringify(data));
worker.onerror = (event) => console.error(event.message);
worker.postMessage(await WebAssembly.compileStreaming(fetch("./headscope/dist/simd.wasm")));`,
  );
  writePage(root, "./page.js");
  assert.deepEqual(await printed(browser, root), ANSWER);
});
