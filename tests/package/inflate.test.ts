import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { constants, deflateRawSync } from "node:zlib";
import { inflate } from "../../bindings/inflate.ts";

const wasm = readFileSync(new URL("../../dist/simd.wasm", import.meta.url));
let seed = 1;
const noise = Uint8Array.from({ length: 70_000 }, () => {
  seed = (seed * 48271) % 2147483647;
  return seed & 255;
});
const text = new TextEncoder().encode(
  "The cat sat on the mat because it was. 小明在北京的大学里学习计算机科学。".repeat(900),
);

test("inflate gives back what zlib compressed, at every level and with every kind of block", () => {
  const inputs = {
    wasm,
    noise,
    text,
    zeros: new Uint8Array(300_000),
    one: Uint8Array.of(7),
    nothing: new Uint8Array(0),
  };
  for (const [name, bytes] of Object.entries(inputs)) {
    for (let level = 0; level <= 9; ++level) {
      for (const strategy of [
        constants.Z_DEFAULT_STRATEGY,
        constants.Z_FIXED,
        constants.Z_HUFFMAN_ONLY,
        constants.Z_RLE,
      ]) {
        const packed = deflateRawSync(bytes, { level, strategy });
        assert.ok(
          Buffer.from(inflate(packed, bytes.length)).equals(bytes),
          `${name}, level ${level}, strategy ${strategy}`,
        );
      }
    }
  }
});

test("inflate refuses data that is cut short, of another length, or no such data", () => {
  const packed = deflateRawSync(text);
  assert.throws(() => inflate(packed.subarray(0, -2), text.length), /RangeError|ends too early/);
  assert.throws(() => inflate(packed, text.length - 1), /longer than announced/);
  assert.throws(() => inflate(packed, text.length + 1), /instead of/);
  assert.throws(() => inflate(Uint8Array.of(7), 1), /no such kind/);
  assert.throws(() => inflate(new Uint8Array(0), 1), /ends too early/);
});
