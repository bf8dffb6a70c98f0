import assert from "node:assert/strict";
import { test } from "node:test";
import { CONVENTION, F, L } from "../../bindings/abi.ts";
import { B, W } from "../../bindings/models/words.ts";

/** FNV-1a, as embind.cpp has it. */
function hashOf(text: string): number {
  let hash = 2166136261;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 16777619);
  return hash >>> 0;
}

test("CONVENTION is the hash of all words in their order, so that load() refuses a module with other words", () => {
  const lists = Object.entries({ F, L, W, B }).map(([list, words]) => {
    const names = Object.keys(words).filter((name) => Number.isNaN(Number(name)));
    assert.deepEqual(
      names.map((name) => (words as Record<string, string | number>)[name]),
      names.map((_, place) => place),
      list,
    );
    return `${list}:${names.join(" ")} `;
  });
  const expected = hashOf(lists.join(";"));
  assert.equal(CONVENTION, expected, `set CONVENTION to 0x${expected.toString(16)}`);
});
