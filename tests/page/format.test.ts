import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes, formatCell, formatCount, formatInteger, formatWeight } from "../../web/elements/format.js";

test("formatWeight() gives four decimals, never 0.0000 and a dash for what is hidden", () => {
  assert.equal(formatWeight(0.43118), "0.4312");
  assert.equal(formatWeight(1), "1.0000");
  assert.equal(formatWeight(0.00005), "0.0001");
  assert.equal(formatWeight(0.0000499), "<0.0001");
  assert.equal(formatWeight(0), "<0.0001");
  assert.equal(formatWeight(0, true), "—");
  assert.equal(formatWeight(Number.NaN), "NaN");
});

test("formatWeight() shows what is no weight as it is", () => {
  assert.equal(formatWeight(-0.5), "−0.5000");
  assert.equal(formatWeight(-0.00001), "<0.0001");
  assert.equal(formatWeight(Infinity), "∞");
  assert.equal(formatWeight(-Infinity), "−∞");
  assert.deepEqual(
    [-0.5, -12.34, 12.34, 123456, Infinity, 1.5, 1.004].map((value) => formatCell(value, 2)),
    ["−0.5", "−12", "12", "1e5", "∞", "1.5", "1"],
  );
  assert.equal(formatCell(-0.001, 2), "·");
});

test("formatCell() writes a dot for what its digits cannot show", () => {
  assert.equal(formatCell(0.4312, 3), "0.431");
  assert.equal(formatCell(0.0004, 3), "·");
  assert.equal(formatCell(0.0005, 3), "0.001");
  assert.equal(formatCell(0.004, 2), "·");
  assert.equal(formatCell(0.43, 2), ".43");
  assert.equal(formatCell(0.994, 2), ".99");
  assert.equal(formatCell(0.996, 2), "1");
});

test("formatInteger(), formatBytes() and formatCount() keep the bills exact while they are short", () => {
  assert.equal(formatInteger(1_048_576n), "1,048,576");
  assert.equal(formatInteger(999), "999");
  assert.equal(formatBytes(2592n), "2,592 B");
  assert.equal(formatBytes(268_435_456n), "256.0 MiB");
  assert.equal(formatBytes(4_294_967_296n), "4.00 GiB");
  assert.equal(formatCount(2560n), "2,560");
  assert.equal(formatCount(274_877_906_944n), "274.88 G");
});
