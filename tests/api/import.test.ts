import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

// L04 of the fault list: importing works and does nothing wherever there are modules; running works wherever there is
// WebAssembly. Each case is a process of its own, in a folder where the package is installed by copying.

const run = promisify(execFile);
const root = dirname(createRequire(import.meta.url).resolve("headscope/package.json"));

async function node(program: string, ...flags: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "headscope-import-"));
  try {
    return (await run(process.execPath, [...flags, "--input-type=module", "-e", program], { cwd: install(folder) }))
      .stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** node_modules/headscope as npm would lay it. */
function install(folder: string): string {
  const target = join(folder, "node_modules/headscope");
  mkdirSync(target, { recursive: true });
  cpSync(join(root, "dist"), join(target, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(target, "package.json"));
  return folder;
}

const RUN = `
  const t = { data: Float32Array.of(2, 3), shape: [1, 1, 2] };
  const hs = await load();
  console.log(hs.variant, hs.attention(t, t, t).output.data.join());
`;

test("L04: an ES module in Node.js", async () => {
  assert.match(await node(`import { load } from "headscope"; ${RUN}`), /^(simd|relaxed) 2,3\n$/);
});

test("L04: import() from CommonJS", async () => {
  const folder = mkdtempSync(join(tmpdir(), "headscope-import-"));
  try {
    const program = `import("headscope").then(async ({ load }) => { ${RUN} })`;
    const { stdout } = await run(process.execPath, ["--input-type=commonjs", "-e", program], { cwd: install(folder) });
    assert.match(stdout, /^(simd|relaxed) 2,3\n$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("L04: a module worker", async () => {
  const worker = `
    import { parentPort } from "node:worker_threads";
    import { load } from "headscope";
    const hs = await load({ variant: "simd" });
    parentPort.postMessage(hs.variant);
  `;
  const program = `
    import { writeFileSync } from "node:fs";
    import { Worker } from "node:worker_threads";
    writeFileSync("worker.mjs", ${JSON.stringify(worker)});
    new Worker("./worker.mjs", { execArgv: [] }).on("message", (variant) => console.log("from the worker:", variant));
  `;
  assert.equal(await node(program), "from the worker: simd\n");
});

test("L04: importing needs no globals, adds none and starts nothing; it only looks whether there is a document", async () => {
  const names = ["document", "window", "self", "navigator", "location", "WebAssembly", "fetch", "process", "Buffer"];
  const program = `
    const touched = [];
    const real = process;
    for (const name of ${JSON.stringify(names)}) {
      Object.defineProperty(globalThis, name, { configurable: true, get() { touched.push(name); return undefined; } });
    }
    const before = Object.getOwnPropertyNames(globalThis).sort().join();
    const running = () => real.getActiveResourcesInfo().filter((name) => /Timeout|Immediate|Worker|TCP/.test(name));
    await import("headscope");
    await import("headscope/core");
    const after = Object.getOwnPropertyNames(globalThis).sort().join();
    real.stdout.write(JSON.stringify({ touched: [...new Set(touched)], same: before === after, running: running() }));
  `;
  assert.deepEqual(JSON.parse(await node(program)), { touched: ["document"], same: true, running: [] });
});

test("L04: cost and stats work without WebAssembly; load says what is missing", async () => {
  const program = `
    delete globalThis.WebAssembly;
    const { load, cost, stats } = await import("headscope");
    console.log(cost.parameters({ dModel: 512, numHeads: 8 }).total, stats.heads({ data: Float32Array.of(1), shape: [1, 1, 1] })[0].self);
    await load().catch((error) => console.log(error.name, error.code, error.message));
  `;
  assert.match(await node(program), /^1048576n 1\nHeadscopeError unsupported engine: expected WebAssembly, got none/);
});

test("L04: engines without Symbol.dispose and FinalizationRegistry, and globals are left as they were", async () => {
  const program = `
    delete globalThis.FinalizationRegistry;
    const dispose = Symbol.dispose;
    const { load } = await import("headscope");
    const hs = await load();
    const w = new Float32Array(4);
    const layer = hs.multiHeadAttention({ dModel: 2, numHeads: 1 }, { layout: "in-out", wq: w, wk: w, wv: w, wo: w });
    layer[dispose ?? Symbol.for("Symbol.dispose")]();
    console.log(hs.memory().liveObjects, dispose === Symbol.dispose);
  `;
  assert.equal(await node(program), "0 true\n");
});

test("no code is made from strings, so the module runs under a strict Content-Security-Policy", async () => {
  const output = await node(`import { load } from "headscope"; ${RUN}`, "--disallow-code-generation-from-strings");
  assert.match(output, /^(simd|relaxed) 2,3\n$/);
});

test("without the file of the relaxed build the baseline runs; asking for relaxed is an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "headscope-import-"));
  try {
    install(folder);
    const dist = join(folder, "node_modules/headscope/dist");
    const removed = readdirSync(dist).filter((name) => /^relaxed.*\.js$/.test(name));
    assert.ok(removed.length > 0);
    for (const name of removed) rmSync(join(dist, name));
    writeFileSync(
      join(folder, "program.mjs"),
      `import { load } from "headscope"; ${RUN}
       await load({ variant: "relaxed" }).catch((error) => console.log(error.name, error.code));`,
    );
    const { stdout } = await run(process.execPath, ["--experimental-wasm-relaxed-simd", "program.mjs"], {
      cwd: folder,
    });
    assert.equal(stdout, "simd 2,3\nHeadscopeError format\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
