// A second visit: parts of a file behind an address are kept in the browser's Cache API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type FakeCache, withCaches } from "./fake-caches.js";
import { type HeadscopeError, type OpenOptions, open } from "./open-source.js";
import { serve } from "./range-server.js";
import { sampleModel } from "./sample-model.js";

const { file } = sampleModel();
const QKV = "blk.0.attn_qkv.weight";

/** Opens, reads one tensor, and waits until what was read is kept. */
async function visit(cache: FakeCache, url: string, options?: OpenOptions) {
  const opened = await open(url, options);
  const { data } = await opened.read(QKV);
  for (let tries = 0; cache.bytes < opened.bytesRead && tries < 100; ++tries) await sleep(5);
  return { opened, data, bytesRead: opened.bytesRead };
}

test("the second visit reads nothing from the network", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  server.headers = { ETag: '"1"' };
  const first = await visit(cache, server.url);
  assert.equal(cache.bytes, first.bytesRead);
  const requests = server.requests.length;
  const loaded: number[] = [];
  const second = await visit(cache, server.url, { onProgress: (progress) => loaded.push(progress.loaded) });
  assert.equal(server.requests.length, requests);
  assert.equal(second.bytesRead, 0);
  assert.equal(second.opened.size, file.length);
  assert.deepEqual(second.data, first.data);
  assert.equal(loaded.at(-1), first.bytesRead); // progress counts them all the same
});

test("the second visit asks only for what is missing, between and around what is kept", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  const { opened } = await visit(cache, server.url);
  await opened.read("token_embd.weight", { rows: [3000, 3002] });
  const again = await open(server.url);
  const before = server.requests.length;
  const all = await again.read("token_embd.weight");
  assert.deepEqual(all.data, (await (await open(file)).read("token_embd.weight")).data);
  const { offset, bytes } = again.tensors.get("token_embd.weight") ?? assert.fail();
  assert.equal(again.bytesRead, bytes - 2 * 68 - Math.max(0, 64 * 1024 + 128 * 1024 + 256 * 1024 - offset));
  assert.equal(server.requests.length - before, 2);
});

test("files of a server that sends only whole files are kept by their parts too", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file, (_, response) => {
    response.writeHead(200, { "Content-Length": file.length }).end(file);
    return true;
  });
  const first = await open(server.url);
  const { data } = await first.read(QKV);
  await sleep(50);
  assert.ok(cache.bytes < file.length);
  const second = await open(server.url);
  assert.deepEqual((await second.read(QKV)).data, data);
  assert.deepEqual([second.bytesRead, server.requests.length], [0, 1]);
});

test("a file that has changed meanwhile: what is kept is thrown away, and the next opening reads the new one", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  server.headers = { ETag: '"1"' };
  await visit(cache, server.url);
  const stale = await open(server.url); // from the cache alone
  assert.equal(stale.bytesRead, 0);
  server.headers = { ETag: '"2"' };
  await assert.rejects(stale.read("blk.0.ffn_up.weight"), (error: HeadscopeError) => {
    assert.equal(error.code, "format");
    assert.match(error.message, /expected the ETag "1", got "2"; open it again/);
    return true;
  });
  assert.equal(cache.entries.size, 0);
  const fresh = await open(server.url);
  assert.ok(fresh.bytesRead > 0);
  await fresh.read("blk.0.ffn_up.weight");
});

test("a file whose header is kept in part opens in its new version by itself", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  server.headers = { ETag: '"1"' };
  await visit(cache, server.url);
  const begins = (url: string) => Number(/bytes=(\d+)-/.exec(url)?.[1]);
  for (const url of [...cache.entries.keys()]) if (begins(url) > 0) cache.entries.delete(url);
  server.headers = { ETag: '"2"' };
  const opened = await open(server.url);
  assert.equal(opened.tensors.size, 5);
  assert.ok(opened.bytesRead >= opened.dataOffset);
});

test('cache: "reload" forgets first, "off" leaves the cache alone', async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  await visit(cache, server.url);
  const { size } = cache.entries;
  const off = await open(server.url, { cache: "off" });
  assert.ok(off.bytesRead > 0);
  assert.equal(cache.entries.size, size);
  const { bytesRead } = await visit(cache, server.url, { cache: "reload" });
  assert.ok(bytesRead > 0);
  assert.equal(cache.bytes, bytesRead);
  assert.equal((await visit(cache, server.url)).bytesRead, 0);
});

test("files of different addresses are kept apart, and entries have addresses that no page asks for", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  await visit(cache, `${server.url}?a=1`);
  const { bytesRead } = await visit(cache, `${server.url}?a=2`);
  assert.ok(bytesRead > 0);
  assert.equal((await visit(cache, `${server.url}?a=1#part`)).bytesRead, 0);
  for (const url of cache.entries.keys()) assert.equal(new URL(url).hostname, "headscope.invalid");
});

test("no room, no cache, a cache that may not be used: the file is read without, and nobody notices", async (t) => {
  const full = withCaches(t);
  full.room = 70_000;
  const server = await serve(t, file);
  const expected = await (await open(file)).read(QKV);
  assert.deepEqual((await (await open(server.url)).read(QKV)).data, expected.data);
  assert.ok(full.bytes <= 70_000);
  withCaches(t, () => Promise.reject(new DOMException("no", "SecurityError")));
  assert.deepEqual((await (await open(server.url)).read(QKV)).data, expected.data);
});

test("entries that the browser has thrown out or cut are read anew", async (t) => {
  const cache = withCaches(t);
  const server = await serve(t, file);
  const { data } = await visit(cache, server.url);
  const opened = await open(server.url);
  for (const [url, entry] of cache.entries) {
    if (/bytes=0-/.test(url)) continue;
    if (cache.entries.size % 2 === 0) cache.entries.delete(url);
    else cache.entries.set(url, { ...entry, body: entry.body.slice(1) });
  }
  assert.deepEqual((await opened.read(QKV)).data, data);
  assert.ok(opened.bytesRead > 0);
  assert.deepEqual((await (await open(server.url)).read(QKV)).data, data);
});
