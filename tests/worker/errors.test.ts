// What goes wrong is what goes wrong on the page: class, message and properties.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { HeadscopeError, load } from "headscope";
import { openModel } from "headscope/models";
import { loadWorker } from "headscope/worker";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { MODEL, SCRIPT, startWorker } from "./start.ts";

const config = { dModel: 32, numHeads: 4 };
const weights = drawWeights(config, new Random(11));

async function thrown(action: () => unknown): Promise<Error> {
  try {
    await action();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
  throw new Error("nothing was thrown");
}

/** Same class, same message, same properties. */
async function sameError(there: () => unknown, here: () => unknown): Promise<void> {
  const [actual, expected] = [await thrown(there), await thrown(here)];
  assert.equal(actual.constructor, expected.constructor, actual.message);
  assert.deepEqual({ ...actual, message: actual.message }, { ...expected, message: expected.message });
}

test("wrong arguments are refused in the worker as on the page", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const here = hs.multiHeadAttention(config, weights);
  const there = await worker.multiHeadAttention(config, weights);
  const other = await worker.multiHeadAttention(config, weights);
  const x = { data: new Float32Array(64), shape: [2, 32] };
  const wrongShape = { data: new Float32Array(64), shape: [2, 31] };
  const misspelt = { casual: true } as object;
  await sameError(
    () => there.forward(wrongShape),
    () => here.forward(wrongShape),
  );
  await sameError(
    () => there.forward(x, misspelt),
    () => here.forward(x, misspelt),
  );
  await sameError(
    () => there.forward(x, null as never),
    () => here.forward(x, null as never),
  );
  await sameError(
    () => there.forward(7 as never),
    () => here.forward(7 as never),
  );
  await sameError(
    () => worker.attention(x, x, x),
    () => hs.attention(x, x, x),
  );
  const odd = { dModel: 32, numHeads: 5 };
  await sameError(
    () => worker.multiHeadAttention(odd, weights),
    () => hs.multiHeadAttention(odd, weights),
  );
  await sameError(
    () => there.createCache({ capacity: -1 }),
    () => here.createCache({ capacity: -1 }),
  );
  await sameError(
    () => there.createCache({ capacity: 2 ** 31 - 1 }),
    () => here.createCache({ capacity: 2 ** 31 - 1 }),
  );
  const [cacheThere, cacheHere] = [await there.createCache({ capacity: 1 }), here.createCache({ capacity: 1 })];
  await sameError(
    () => there.forward(x, { cache: cacheThere }),
    () => here.forward(x, { cache: cacheHere }),
  );
  assert.equal(cacheThere.length, 0);
  const hereOther = hs.multiHeadAttention(config, weights);
  await sameError(
    () => other.forward(x, { cache: cacheThere }),
    () => hereOther.forward(x, { cache: cacheHere }),
  );
  const cacheOfPage = { cache: cacheHere as never };
  assert.match((await thrown(() => there.forward(x, cacheOfPage))).message, /^cache: expected a cache made by this/);
  // And it goes on working.
  assert.deepEqual(await there.forward(x), here.forward(x));
});

test("what cannot go to a worker is refused by its name", async () => {
  const worker = await startWorker();
  const layer = await worker.multiHeadAttention(config, weights);
  const x = { data: new Float32Array(32), shape: [1, 32] };
  const message = async (action: () => unknown) => {
    const error = await thrown(action);
    assert.equal(error.constructor, TypeError);
    return error.message;
  };
  assert.equal(
    await message(() => layer.forward(x, { mask: { data: () => 1, shape: [1] } as never })),
    "options.mask.data: expected a value that can be sent to a worker, got a function",
  );
  assert.match(
    await message(() => layer.forward(x, { out: new Float32Array(32) } as never)),
    /^options\.out: expected none in a worker/,
  );
  assert.match(
    await message(() => layer.forward(x, { out: { weights: new Float32Array(1) } } as never)),
    /^options\.out: expected none in a worker/,
  );
  const gone = { data: new Float32Array(32), shape: [1, 32] };
  structuredClone(gone.data.buffer, { transfer: [gone.data.buffer] });
  assert.equal(
    await message(() => layer.forward(gone)),
    "query.data: expected an array with its memory, got one whose buffer is detached",
  );
  const uncloneable = { mask: new Map([["data", () => 1]]) } as never;
  assert.match(await message(() => layer.forward(x, uncloneable)), /^forward: expected values that can be sent/);
  assert.match(
    await message(() => layer.forward(x, { signal: 1 as never })),
    /^signal: expected an AbortSignal, got 1/,
  );
  assert.equal((await layer.forward(x)).output.data.length, 32);

  const elsewhere = await startWorker();
  const foreign = await (await elsewhere.multiHeadAttention(config, weights)).createCache({ capacity: 4 });
  const error = await thrown(() => layer.forward(x, { cache: foreign }));
  assert.ok(error instanceof HeadscopeError && error.code === "config");
  assert.match(error.message, /a cache of another worker$/);
});

test("a model's errors are those of the page", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const here = await openModel(hs, new Blob([MODEL]));
  const there = await worker.openModel(new Blob([MODEL]));
  await sameError(
    () => worker.openModel(new Blob(["no model"])),
    () => openModel(hs, new Blob(["no model"])),
  );
  await sameError(
    () => worker.openModel(5 as never),
    () => openModel(hs, 5 as never),
  );
  await sameError(
    () => worker.openModel("mailto:you"),
    () => openModel(hs, "mailto:you"),
  );
  await sameError(
    () => there.run([]).next(),
    () => here.run([]).next(),
  );
  await sameError(
    () => there.run([1], { layers: 99 }).next(),
    () => here.run([1], { layers: 99 }).next(),
  );
  await sameError(
    () => there.run("text" as never).next(),
    () => here.run("text" as never).next(),
  );
  await sameError(
    () => there.loss([1]),
    () => here.loss([1]),
  );
  await sameError(
    () => there.read("nothing"),
    () => here.read("nothing"),
  );
  await sameError(
    () => there.tokenize(1 as never),
    () => here.tokenize(1 as never),
  );
  const onProgress = { onProgress: 1 as never };
  await sameError(
    () => worker.openModel(new Blob([]), onProgress),
    () => openModel(hs, new Blob([]), onProgress),
  );
});

test("disposed objects say so, dispose is idempotent, and nothing stays alive in the worker", async () => {
  const hs = await load({ variant: "simd" });
  const worker = await startWorker({ variant: "simd" });
  const x = { data: new Float32Array(32), shape: [1, 32] };
  const here = hs.multiHeadAttention(config, weights);
  const there = await worker.multiHeadAttention(config, weights);
  const cache = await there.createCache({ capacity: 2 });
  const model = await worker.openModel(new Blob([MODEL]));
  assert.equal((await worker.memory()).liveObjects, 3);
  here.dispose();
  const before = there.forward(x);
  const disposed = there.dispose();
  const after = there.forward(x);
  assert.equal((await before).output.data.length, 32);
  await disposed;
  await there.dispose();
  await sameError(
    () => after,
    () => here.forward(x),
  );
  cache[Symbol.dispose]();
  await model[Symbol.asyncDispose]();
  assert.equal((await worker.memory()).liveObjects, 0);
  const error = await thrown(() => model.loss([1, 2]));
  assert.ok(error instanceof HeadscopeError && error.code === "disposed", error.message);
});

test("an object whose handle was collected is let go of in the worker, as a net", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const worker = await startWorker();
  await (async () => {
    const layer = await worker.multiHeadAttention(config, weights);
    await layer.forward({ data: new Float32Array(32), shape: [1, 32] });
  })();
  let { liveObjects } = await worker.memory();
  assert.equal(liveObjects, 1);
  for (let turn = 0; turn < 100 && liveObjects > 0; ++turn) {
    collect();
    await new Promise((done) => setTimeout(done, 5));
    ({ liveObjects } = await worker.memory());
  }
  assert.equal(liveObjects, 0);
});

test("dispose ends the worker; what it owes and what comes later rejects with code disposed", async () => {
  const thread = new Worker(SCRIPT);
  const ended = new Promise((resolve) => thread.on("exit", resolve));
  const worker = await loadWorker({ worker: thread });
  const layer = await worker.multiHeadAttention(config, weights);
  const x = { data: new Float32Array(32), shape: [1, 32] };
  const owed = [layer.forward(x), layer.forward(x), worker.memory()];
  const settled = Promise.allSettled(owed);
  await worker.dispose();
  await worker.dispose();
  await ended;
  for (const each of await settled) {
    assert.ok(each.status === "rejected" && each.reason instanceof HeadscopeError);
    assert.equal(each.reason.code, "disposed");
  }
  const error = await thrown(() => layer.forward(x));
  assert.ok(error instanceof HeadscopeError && error.code === "disposed");
  assert.match(error.message, /^worker: expected a running worker/);
  await layer.dispose();
});

test("a worker that is not ours, of another version or dies is told, and never waited for", async () => {
  const refused = async (worker: Worker) => {
    const error = await thrown(() => loadWorker({ worker }));
    assert.ok(error instanceof HeadscopeError, String(error));
    assert.deepEqual([error.code, error.argument], ["format", "worker"]);
    return error.message;
  };
  assert.match(await refused(new Worker(`${SCRIPT}.none`)), /Cannot find module/);
  assert.match(await refused(new Worker("throw new Error('something else')", { eval: true })), /something else/);
  assert.match(await refused(new Worker("0", { eval: true })), /it has ended/);
  const script = readFileSync(SCRIPT, "utf8");
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  assert.ok(script.includes(`"${version}"`));
  const next = script.replaceAll(`"${version}"`, '"9.9.9"');
  assert.match(
    await refused(new Worker(next, { eval: true })),
    new RegExp(`headscope ${version}, got that of 9\\.9\\.9`),
  );

  const thread = new Worker(SCRIPT);
  const worker = await loadWorker({ worker: thread });
  const layer = await worker.multiHeadAttention(config, weights);
  const owed = layer.forward({ data: new Float32Array(32 * 2000), shape: [2000, 32] });
  const rejected = assert.rejects(owed, (error: HeadscopeError) => error.code === "format");
  await thread.terminate();
  await rejected;
});

test("options are checked, and a signal stops the start", async () => {
  assert.match((await thrown(() => loadWorker({} as never))).message, /^worker: expected a Worker, or the address/);
  assert.match((await thrown(() => loadWorker({ worker: "./x.js" }))).message, /no global one here/);
  const wrong = { worker: new Worker("0", { eval: true }), variants: "simd" } as never;
  assert.match((await thrown(() => loadWorker(wrong))).message, /^options\.variants: expected a known name/);
  const thread = new Worker(SCRIPT);
  const error = await thrown(() => loadWorker({ worker: thread, signal: AbortSignal.abort() }));
  assert.ok(error instanceof HeadscopeError && error.code === "aborted");
});

test("several instances live in one worker, and a module of the caller's is taken", async () => {
  const wasm = readFileSync(new URL("../../dist/simd.wasm", import.meta.url));
  const thread = new Worker(SCRIPT);
  const [a, b] = await Promise.all([
    loadWorker({ worker: thread, module: await WebAssembly.compile(wasm) }),
    loadWorker({ worker: thread, module: wasm }),
  ]);
  assert.equal(wasm.length > 0 && a.variant, "simd");
  await a.multiHeadAttention(config, weights);
  assert.equal((await a.memory()).liveObjects, 1);
  assert.equal((await b.memory()).liveObjects, 0);
  const error = await thrown(() => startWorker({ module: new Uint8Array(8) }));
  assert.ok(error instanceof HeadscopeError && error.code === "format" && error.argument === "module");
  await a.dispose();
});

test("the script outside of a worker names the first Node.js whose workers can run it, as the README does", async () => {
  const { code, message } = (await thrown(() => import("headscope/worker-script"))) as HeadscopeError;
  assert.equal(code, "unsupported");
  const [, version] =
    /^worker: expected a worker of a browser or of Node\.js (20\.\d+) or newer, got/.exec(message) ?? [];
  assert.ok(version, message);
  assert.ok(readFileSync(new URL("../../README.md", import.meta.url), "utf8").includes(`| Node.js ${version}+ |`));
});
