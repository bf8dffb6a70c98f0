import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzz } from "./fuzz.js";

test("2,000 mutated files: read rightly or refused, soon and in little memory (npm run fuzz: 100,000)", async () => {
  const { rounds, read, refused, messages, memoryKB } = await fuzz(2000, 1);
  assert.equal(read + refused, rounds);
  // The mutations reach deep: some files stay good, and many different checks refuse the others.
  assert.ok(read > 100 && refused > 1000, `${read} read, ${refused} refused`);
  assert.ok(messages > 30, `${messages} different messages`);
  assert.ok(memoryKB < 200_000, `${memoryKB} KB`);
});
