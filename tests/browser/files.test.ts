// headscope/models where it lives: Range requests from another origin, the real Cache API, Files.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { open } from "../models/open-source.js";
import { type Behaviour, type Server, serve } from "../models/range-server.js";
import { sampleModel } from "../models/sample-model.js";
import { launchChromium, SITE, serveSite } from "./launch.js";
import { until } from "./until.js";

const DIST = path.join(SITE, "../../dist");
const { file } = sampleModel();
const QKV = "blk.0.attn_qkv.weight";

let browser: Browser;
before(async () => {
  browser = await launchChromium();
});
after(() => browser?.close());

/** What a page of another origin gets of a file. */
interface Answer {
  readonly size: number | undefined;
  readonly tensors: number;
  readonly bytesRead: number;
  readonly values: number[];
  readonly error?: string;
}

/** Runs in the page. */
async function read([address, name]: readonly [string, string]): Promise<Answer> {
  const folder = document.baseURI;
  const { load } = await import(new URL("index.js", folder).href);
  const { openTensors } = await import(new URL("models.js", folder).href);
  const hs = await load();
  try {
    const opened = await openTensors(hs, address);
    const { data } = await opened.read(name);
    const { size, tensors, bytesRead } = opened;
    return { size, tensors: tensors.size, bytesRead, values: [...data] };
  } catch (error) {
    return { size: undefined, tensors: 0, bytesRead: 0, values: [], error: String(error) };
  }
}

async function pageOf(t: TestContext): Promise<Page> {
  const site = await serveSite(DIST);
  const context = await browser.newContext();
  t.after(async () => {
    await context.close();
    await site.close();
  });
  const page = await context.newPage();
  await page.goto(`${site.url}index.js`);
  return page;
}

async function serveAcross(t: TestContext, exposed: string, behaviour?: Behaviour): Promise<Server> {
  const server = await serve(t, file, behaviour);
  server.headers = { "Access-Control-Allow-Origin": "*", ETag: '"1"', "Cache-Control": "no-store" };
  if (exposed !== "") server.headers["Access-Control-Expose-Headers"] = exposed;
  return server;
}

async function expectedValues(): Promise<number[]> {
  return [...(await (await open(file)).read(QKV)).data];
}

test("a file of another origin is read by ranges without a preflight, and from the cache on the second visit", async (t) => {
  const page = await pageOf(t);
  const methods: string[] = [];
  const server = await serveAcross(t, "Content-Range, ETag", ({ method }) => {
    methods.push(method);
    return false;
  });
  const first = await page.evaluate(read, [server.url, QKV] as const);
  assert.equal(first.error, undefined);
  assert.equal(first.size, file.length);
  assert.deepEqual(first.values, await expectedValues());
  assert.ok(first.bytesRead < file.length);
  assert.deepEqual(new Set(methods), new Set(["GET"]));
  assert.ok(server.requests.every(({ range }) => range !== undefined));

  await until(
    page,
    async () => (await (await caches.open("headscope-files-1")).keys()).length >= 4, // three steps and the tensor
  );
  const requests = server.requests.length;
  await page.reload();
  const second = await page.evaluate(read, [server.url, QKV] as const);
  assert.deepEqual(second, { ...first, bytesRead: 0 });
  assert.equal(server.requests.length, requests);
});

test("a server that exposes no header is read all the same", async (t) => {
  const page = await pageOf(t);
  const server = await serveAcross(t, "");
  const { error, values } = await page.evaluate(read, [server.url, QKV] as const);
  assert.equal(error, undefined);
  assert.deepEqual(values, await expectedValues());
});

test("a server that allows no other origin is an error with the address", async (t) => {
  const page = await pageOf(t);
  const server = await serve(t, file);
  const { error } = await page.evaluate(read, [server.url, QKV] as const);
  assert.match(error ?? "", /HeadscopeError: .*model\.gguf: byte 0: expected an answer, got "Failed to fetch"/);
  assert.ok(error?.includes(server.url));
});

test("a File from an input is read by slices", async (t) => {
  const page = await pageOf(t);
  await page.setContent("<input type=file>", { waitUntil: "load" });
  await page.setInputFiles("input", { name: "tiny.gguf", mimeType: "", buffer: Buffer.from(file) });
  const answer = await page.evaluate(async (name) => {
    const folder = document.baseURI;
    const { load } = await import(new URL("index.js", folder).href);
    const { openTensors } = await import(new URL("models.js", folder).href);
    const chosen = document.querySelector("input")?.files?.[0];
    const opened = await openTensors(await load(), chosen);
    const { data } = await opened.read(name);
    return { name: opened.name, bytesRead: opened.bytesRead, values: [...data] };
  }, QKV);
  assert.equal(answer.name, "tiny.gguf");
  assert.ok(answer.bytesRead < file.length);
  assert.deepEqual(answer.values, await expectedValues());
});
