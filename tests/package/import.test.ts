// Fault L04: importing must do nothing and need nothing; running works wherever WebAssembly does.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { unpack } from "../../bindings/unpack.ts";
import { ANSWER, PROGRAM, packAndInstall, runNode } from "./packed.ts";

const { project } = packAndInstall();
const script = (name: string, source: string) => {
  const file = path.join(project, name);
  writeFileSync(file, source);
  return file;
};
const answer = (output: string) => {
  const { shape, data } = JSON.parse(output);
  return { shape, data };
};

test("L04: importing in Node's ESM adds no global, no handle, no output and no listener", () => {
  const file = script(
    "quiet.mjs",
    `
await import("data:text/javascript,"); // the loader's own first steps
process.stdout;
const state = () => [
  ...Object.getOwnPropertyNames(globalThis),
  ...process.eventNames().map((name) => "listeners of " + String(name) + ": " + process.listenerCount(name)),
  ...process.getActiveResourcesInfo().filter((name) => name !== "CloseReq"),
];
const before = new Set(state());
await import("headscope");
await import("headscope/core");
await import("headscope/worker");
await import("headscope/elements");
process.stdout.write(JSON.stringify(state().filter((each) => !before.has(each))));
`,
  );
  // Nothing but this one line may come out: anything else is no JSON.
  assert.deepEqual(JSON.parse(runNode(project, [file])), []);
});

test("L04: a layer runs in Node's ESM", () => {
  assert.deepEqual(answer(runNode(project, [script("esm.mjs", PROGRAM)])), ANSWER);
});

test("L04: CommonJS gets it by import(), and by require where the engine requires ES modules", () => {
  const program = PROGRAM.replace(
    /import (.*) from "headscope";/,
    '(async () => { const $1 = await import("headscope");',
  );
  assert.deepEqual(answer(runNode(project, [script("dynamic.cjs", `${program}})();`)])), ANSWER);
  if (process.features.require_module) {
    const required = program.replace('await import("headscope")', 'require("headscope")');
    assert.deepEqual(answer(runNode(project, ["--no-warnings", script("require.cjs", `${required}})();`)])), ANSWER);
  }
});

test("L04: a layer runs in a worker thread, and the worker ends by itself", () => {
  script("worker.mjs", PROGRAM);
  const file = script(
    "main.mjs",
    `
import { Worker } from "node:worker_threads";
const worker = new Worker(new URL("./worker.mjs", import.meta.url), { stdout: true });
worker.stdout.on("data", (text) => process.stdout.write(text));
worker.on("error", (error) => { console.error(error); process.exitCode = 1; });
`,
  );
  assert.deepEqual(answer(runNode(project, [file])), ANSWER);
});

test("L04: importing needs no global but the language's own", () => {
  // A realm with neither console nor document, self, fetch, URL, atob, TextDecoder or process.
  const file = script(
    "bare.mjs",
    `
import { readFileSync } from "node:fs";
import path from "node:path";
import vm from "node:vm";
const folder = path.resolve("node_modules/headscope/dist");
const context = vm.createContext({}, { codeGeneration: { strings: false } });
const modules = new Map();
const link = (name) => {
  const file = path.join(folder, path.basename(name));
  if (!modules.has(file)) modules.set(file, new vm.SourceTextModule(readFileSync(file, "utf8"), { context, identifier: file }));
  return modules.get(file);
};
const names = () => vm.runInContext("Object.getOwnPropertyNames(globalThis).sort().join()", context);
const before = names();
const exported = { "index.js": "load", "core.js": "load", "worker.js": "loadWorker" };
for (const [entry, name] of Object.entries(exported)) {
  const module = link(entry);
  await module.link(link);
  await module.evaluate();
  if (typeof module.namespace[name] !== "function") throw new Error(entry + " exports no " + name);
}
process.stdout.write(String(before === names()));
`,
  );
  assert.equal(runNode(project, ["--no-warnings", "--experimental-vm-modules", file]), "true");
});

test("L04: a page of a server or a test (jsdom) whose document is half a document changes nothing", () => {
  const half = `globalThis.window = globalThis; globalThis.self = globalThis; globalThis.document = { currentScript: null };\n`;
  const program = PROGRAM.replace(/import (.*) from "headscope";/, 'const $1 = await import("headscope");');
  assert.deepEqual(answer(runNode(project, [script("jsdom.mjs", half + program)])), ANSWER);
});

test("a layer runs where code generation from strings is forbidden", () => {
  const file = script("strict.mjs", PROGRAM);
  assert.deepEqual(answer(runNode(project, ["--disallow-code-generation-from-strings", file])), ANSWER);
});

test("headscope/core runs the module that the caller brings: compiled, as bytes", () => {
  const source = `
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { load } from "headscope/core";
import { HeadscopeError } from "headscope";
const bytes = readFileSync(createRequire(import.meta.url).resolve("headscope/simd.wasm"));
const q = { data: new Float32Array([1, 0, 0, 1]), shape: [1, 1, 2, 2] };
for (const module of [bytes, await WebAssembly.compile(bytes)]) {
  const hs = await load({ variant: "simd", module });
  const { weights } = hs.attention(q, q, q);
  console.log(JSON.stringify({ shape: weights.shape, data: Array.from(weights.data, (x) => +x.toFixed(4)) }));
}
// One class in both entries, or instanceof would fail for who mixes them.
try {
  await load({ variant: "simd", module: new Uint8Array(8) });
} catch (error) {
  console.log(JSON.stringify(error instanceof HeadscopeError));
}
`;
  const lines = runNode(project, [script("core.mjs", source)])
    .trim()
    .split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [ANSWER, ANSWER, true],
  );
});

test("the bytes of headscope/simd.wasm are those inside the default entry", async () => {
  const dist = path.join(project, "node_modules/headscope/dist");
  const [, packedBase64 = ""] = readFileSync(path.join(dist, "index.js"), "utf8").match(/"([\w+/=]{10000,})"/) ?? [];
  const wasm = readFileSync(path.join(dist, "simd.wasm"));
  assert.ok(wasm.equals(await unpack({ size: wasm.length, packedBase64 })));
});
