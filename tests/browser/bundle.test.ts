// Fault L02 in a browser: an app of a user, built by Vite with nothing configured, and the package from bare modules.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import test, { after } from "node:test";
import { build } from "vite";
import { ANSWER, PROGRAM, packAndInstall } from "../package/packed.ts";
import { CSP, launchChromium, serveSite } from "./launch.ts";

const { project } = packAndInstall();
const browser = await launchChromium();
after(() => browser.close());

/** The icon is a file of the app: a browser asks for one anyway, and the policy forbids data: addresses. */
function writePage(folder: string, script: string): void {
  const head = '<meta charset="utf-8" /><title>app</title><link rel="icon" href="./icon.svg" />';
  writeFileSync(
    path.join(folder, "index.html"),
    `<!doctype html>${head}<script type="module" src="${script}"></script>`,
  );
  mkdirSync(path.join(folder, "public"), { recursive: true });
  for (const place of [".", "public"]) {
    writeFileSync(path.join(folder, place, "icon.svg"), '<svg xmlns="http://www.w3.org/2000/svg" />');
  }
}

/** Opens an app and returns what its program printed, or throws what went wrong in the page. */
async function printed(folder: string, options: { csp?: string; basePath?: string }): Promise<unknown> {
  const site = await serveSite(folder, options);
  const tab = await browser.newPage();
  try {
    const answer = new Promise<string>((resolve, reject) => {
      tab.on("console", (message) =>
        message.type() === "log" ? resolve(message.text()) : reject(new Error(message.text())),
      );
      tab.on("pageerror", reject);
    });
    await tab.goto(site.url);
    return JSON.parse(await answer);
  } finally {
    await tab.close();
    await site.close();
  }
}

const expected = { ...ANSWER, refusal: "HeadscopeError" };

test("L02: an app built by Vite runs under a sub-path and a strict policy", async () => {
  const root = path.join(project, "vite-app");
  mkdirSync(root);
  writeFileSync(path.join(root, "main.js"), PROGRAM);
  writePage(root, "/main.js");
  await build({ root, base: "/some/path/", configFile: false, logLevel: "error" });
  assert.deepEqual(await printed(path.join(root, "dist"), { csp: CSP, basePath: "/some/path/" }), expected);
});

test("L02: the package runs from a bare script of type module, without any build", async () => {
  const root = path.join(project, "node_modules");
  writeFileSync(path.join(root, "main.js"), PROGRAM.replace('"headscope"', '"./headscope/dist/index.js"'));
  writePage(root, "./main.js");
  assert.deepEqual(await printed(root, {}), expected);
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
  assert.deepEqual(await printed(root, {}), ANSWER);
});
