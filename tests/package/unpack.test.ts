import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unpack } from "../../bindings/unpack.ts";
import { pack } from "../../tools/lib/lzma.js";

const wasm = readFileSync(new URL("../../dist/simd.wasm", import.meta.url));
let seed = 1;
const noise = Uint8Array.from({ length: 70_000 }, () => {
  seed = (seed * 48271) % 2147483647;
  return seed & 255;
});
const sentence = new TextEncoder().encode("The cat sat on the mat because it was. 小明在北京的大学里学习计算机科学。");
const text = Uint8Array.from({ length: 100_000 }, (_, i) => sentence[i % sentence.length] as number);
/** Two texts in turn, with a difference each time: matches at all four of the latest distances, near and far. */
const mixed = Uint8Array.from({ length: 300_000 }, (_, i) =>
  i % 97 === 0 ? (noise[i % noise.length] as number) : (((i >> 9) & 1 ? text : noise)[(i * 3) % 65_536] as number),
);

const unpackBytes = (packed: Uint8Array, size: number) =>
  unpack({ size, packedBase64: Buffer.from(packed).toString("base64") });

test("unpack gives back what LZMA packed: code, noise, text, runs, next to nothing and nothing", async () => {
  const inputs = {
    wasm,
    noise,
    text,
    mixed,
    zeros: new Uint8Array(300_000),
    one: Uint8Array.of(7),
    nothing: new Uint8Array(0),
  };
  for (const [name, bytes] of Object.entries(inputs)) {
    const unpacked = await unpackBytes(pack(bytes), bytes.length);
    assert.ok(Buffer.from(unpacked).equals(bytes), name);
  }
});

test("unpack refuses data that is cut short, of another length, or no such data", async () => {
  const packed = pack(text);
  const damaged = { name: "RangeError", message: /damaged/ };
  await assert.rejects(unpackBytes(packed.subarray(0, packed.length >> 1), text.length), damaged);
  await assert.rejects(unpackBytes(packed, text.length - 1), damaged);
  await assert.rejects(unpackBytes(new Uint8Array(0), 1), damaged);
  await assert.rejects(unpackBytes(Uint8Array.of(0, 255, 255, 255, 255, 255, 255), 100), damaged);
});

test("unpack never reads or writes outside its areas, whatever the bytes are", async () => {
  const whole = pack(text);
  for (let i = 0; i < 200; ++i) {
    const packed = Uint8Array.from(whole);
    for (let j = 0; j < 4; ++j) packed[(noise[i * 4 + j] as number) % packed.length] = noise[i + j] as number;
    const outcome = await unpackBytes(packed, 5000).then(
      (bytes) => bytes.length,
      (error: unknown) => (error instanceof RangeError ? "refused" : error),
    );
    assert.ok(outcome === 5000 || outcome === "refused", String(outcome));
  }
});
