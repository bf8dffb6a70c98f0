import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { cost, type Headscope, HeadscopeError, load, stats } from "headscope";
import * as core from "headscope/core";
import { VARIANTS } from "../variants.ts";

// Section L of the fault list as far as it can be seen without a bundler: how the module starts, and how it does not.

const require = createRequire(import.meta.url);
const { version } = require("headscope/package.json") as { version: string };
const wasm = Object.fromEntries(
  VARIANTS.map((variant) => [variant, new Uint8Array(readFileSync(require.resolve(`headscope/${variant}.wasm`)))]),
) as Record<(typeof VARIANTS)[number], Uint8Array<ArrayBuffer>>;

const relaxedHere = WebAssembly.validate(wasm.relaxed);
const skipRelaxed = relaxedHere ? {} : { skip: "this engine has no relaxed SIMD" };

/** The module answers: one token attends to itself. */
function answers(hs: Headscope): void {
  const one = { data: Float32Array.of(2, 3), shape: [1, 1, 2] };
  const { output, weights } = hs.attention(one, one, one);
  assert.deepEqual([...weights.data], [1]);
  assert.deepEqual([...output.data], [2, 3]);
}

async function rejects(promise: Promise<unknown>, code: string, message: RegExp): Promise<HeadscopeError> {
  const error = await promise.then(
    () => assert.fail("it loaded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof HeadscopeError, `rejected with ${error}`);
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return error;
}

/** Serves one answer on this machine for as long as the body runs. */
async function serving(answer: (response: ServerResponse) => void, body: (address: string) => Promise<void>) {
  const server: Server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/module.wasm`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const send =
  (type: string, body: string | Uint8Array, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { "content-type": type }).end(body);
  };

test("load() needs nothing and takes the relaxed build where the engine has it", async () => {
  const hs = await load();
  assert.equal(hs.version, version);
  assert.equal(hs.variant, relaxedHere ? "relaxed" : "simd");
  answers(hs);
});

for (const variant of VARIANTS) {
  test(`load({ variant: "${variant}" }) is that build`, variant === "relaxed" ? skipRelaxed : {}, async () => {
    const hs = await load({ variant });
    assert.equal(hs.variant, variant);
    answers(hs);
  });

  test(
    `bring your own ${variant} module: bytes, a view, a buffer, compiled`,
    variant === "relaxed" ? skipRelaxed : {},
    async () => {
      const bytes = wasm[variant];
      const view = new Uint8Array(bytes.length + 9).subarray(5, bytes.length + 5);
      view.set(bytes);
      const kept = bytes.slice();
      for (const module of [bytes, bytes.buffer, view, new DataView(bytes.buffer), await WebAssembly.compile(bytes)]) {
        for (const entry of [load, core.load]) {
          const hs = await entry({ module });
          assert.equal(hs.variant, variant);
          answers(hs);
        }
      }
      assert.deepEqual(bytes, kept);
      assert.equal((await load({ module: bytes, variant })).variant, variant);
    },
  );
}

test("bring your own module by address, whatever its MIME type", async () => {
  for (const type of ["application/wasm", "text/plain", "application/octet-stream"]) {
    await serving(send(type, wasm.simd), async (address) => {
      answers(await load({ module: address }));
      answers(await core.load({ module: new URL(address) }));
    });
  }
});

test("the entries share cost, stats and HeadscopeError; core has no bytes of its own", async () => {
  assert.equal(core.cost, cost);
  assert.equal(core.stats, stats);
  assert.equal(core.HeadscopeError, HeadscopeError);
  await rejects(
    core.load(undefined as never),
    "config",
    /^module: expected a WebAssembly\.Module, bytes.*got undefined/,
  );
  await rejects(core.load({} as never), "config", /^module: /);
});

test("F09, L06: HTML, a pointer file, a cut file and nothing are told apart", async () => {
  const text = (value: string) => new TextEncoder().encode(value);
  await rejects(
    load({ module: text("<!DOCTYPE html><html>") }),
    "format",
    /^module: expected a wasm file, got what looks like HTML/,
  );
  await rejects(load({ module: text("version https://git-lfs.github.com/spec/v1") }), "format", /Git LFS pointer/);
  await rejects(load({ module: new Uint8Array(0) }), "format", /nothing \(0 bytes\)/);
  await rejects(load({ module: new ArrayBuffer(8) }), "format", /8 bytes that start with 00 00 00 00/);
  const cut = await rejects(
    load({ module: wasm.simd.slice(0, 5000) }),
    "format",
    /a wasm file that this engine compiles/,
  );
  assert.ok(cut.cause instanceof WebAssembly.CompileError);
  await serving(send("text/html", "  <html><body>not found</body></html>"), async (address) => {
    await rejects(load({ module: address }), "format", /HTML in the file at http:.*module\.wasm/);
  });
});

test("an address that does not answer well is named, with the reason", async () => {
  await serving(send("text/plain", "no", 404), async (address) => {
    await rejects(load({ module: address }), "format", /"HTTP 404" for http:.*module\.wasm/);
  });
  let closed = "";
  await serving(send("text/plain", ""), async (address) => {
    closed = address;
  });
  const error = await rejects(load({ module: closed }), "format", /module: expected a file that can be fetched/);
  assert.ok(error.cause instanceof Error);
  await rejects(load({ module: "no address" }), "format", /no address/);
});

test("L03: a module of another version is refused, and the message names both", async () => {
  const older = wasm.simd.slice();
  const from = new TextEncoder().encode(`${version}\0`);
  const at = Buffer.from(older.buffer).indexOf(from);
  assert.ok(at > 0, "the version is in the module's data");
  older.set(new TextEncoder().encode(version.replace(/\d+$/, "9")), at);
  const error = await rejects(load({ module: older }), "format", /the versions differ/);
  assert.match(error.message, new RegExp(`version ${version}.*version ${version.replace(/\d+$/, "9")}`));
});

test("L03: a wasm module of another program, or with other imports, is refused", async () => {
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  await rejects(load({ module: empty }), "format", /^module: expected a headscope .* module/);
  // One import "a"."zz" of a function without parameters.
  const importing = Uint8Array.of(...empty, 1, 4, 1, 96, 0, 0, 2, 8, 1, 1, 97, 2, 122, 122, 0, 0);
  const error = await rejects(load({ module: importing }), "format", /another version or another program/);
  assert.ok(error.cause instanceof WebAssembly.LinkError);
});

test("a module of the other build than variant says is refused", async () => {
  await rejects(load({ module: wasm.simd, variant: "relaxed" }), relaxedHere ? "config" : "unsupported", /relaxed/);
  if (relaxedHere)
    await rejects(load({ module: wasm.relaxed, variant: "simd" }), "config", /^module: expected the simd build/);
});

test("signal: aborted before, while fetching, and after; the reason is kept", async () => {
  const reason = new Error("changed my mind");
  const before = await rejects(load({ signal: AbortSignal.abort(reason) }), "aborted", /stopped by its signal/);
  assert.equal(before.cause, reason);
  await serving(
    () => undefined, // never answers
    async (address) => {
      const controller = new AbortController();
      const loading = load({ module: address, signal: controller.signal });
      setTimeout(() => controller.abort(reason), 20);
      assert.equal((await rejects(loading, "aborted", /stopped/)).cause, reason);
    },
  );
  const during = new AbortController();
  const loading = load({ signal: during.signal });
  during.abort();
  await rejects(loading, "aborted", /stopped/);
  const late = new AbortController();
  const hs = await load({ signal: late.signal });
  late.abort();
  answers(hs);
});

test("load rejects bad options with code config; it never throws", async () => {
  for (const options of [null, 4, "simd", true]) await rejects(load(options as never), "config", /^options: /);
  for (const variant of ["SIMD", 1, null])
    await rejects(load({ variant } as never), "config", /^variant: expected "auto", "simd" or "relaxed"/);
  for (const module of [null, 4, true, () => 1]) await rejects(load({ module } as never), "config", /^module: /);
  for (const module of [{}, [], new Map()]) await rejects(load({ module } as never), "config", /^module: /);
  for (const signal of [null, 1, {}])
    await rejects(load({ signal } as never), "config", /^signal: expected an AbortSignal/);
  await rejects(load({ varient: "simd" } as never), "config", /^options\.varient: .*did you mean "variant"\?/);
});

test("L06: engines without SIMD, and without relaxed SIMD, get one clear error or the other build", async (t) => {
  const { validate } = WebAssembly;
  const stub = (answer: (bytes: BufferSource) => boolean) => t.mock.method(WebAssembly, "validate", answer);
  stub(() => false);
  await rejects(load(), "unsupported", /^engine: expected WebAssembly with 128-bit SIMD.*Chromium 91/);
  await rejects(load({ variant: "simd" }), "unsupported", /SIMD/);
  t.mock.restoreAll();
  const relaxedProbe = (bytes: BufferSource) => new Uint8Array(bytes as ArrayBuffer).includes(133);
  stub((bytes) => !relaxedProbe(bytes) && validate(bytes));
  assert.equal((await load()).variant, "simd");
  await rejects(
    load({ variant: "relaxed" }),
    "unsupported",
    /^variant: expected WebAssembly with relaxed SIMD.*"simd" runs here/,
  );
});
