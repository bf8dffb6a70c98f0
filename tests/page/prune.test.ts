import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FRAME, pathOf, scaleOf, ticks } from "../../web/playground/prune/chart.js";
import { MEASURED } from "../../web/playground/prune/measured.js";

test("the measured curve is the model card's", () => {
  const card = readFileSync(new URL("../../web/models/README.md", import.meta.url), "utf8");
  const table = card.slice(card.indexOf("| heads out |"));
  const rows = [...table.matchAll(/^\| (\d+) \| \d+ % \| [\d.]+ \| ([\d.]+) \|$/gm)].slice(0, MEASURED.length);
  assert.deepEqual(
    rows.map(([, removed, cost]) => ({ removed: Number(removed), cost: Number(cost) })),
    MEASURED,
  );
});

test("ticks() are round and reach the largest value", () => {
  assert.deepEqual(ticks(1.881), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(ticks(4), [0, 1, 2, 3, 4]);
  assert.equal(ticks(0.03).length, 4);
  assert.deepEqual(ticks(0), [0]);
});

test("the curve starts at no cost on the left and ends with all heads on the right, also below 0", () => {
  const points = [
    { removed: 0, cost: 0 },
    { removed: 16, cost: -0.2 },
    { removed: 32, cost: 1.8 },
  ];
  const scale = scaleOf([{ points, className: "live" }], 32);
  assert.equal(scale.x(0), FRAME.left);
  assert.equal(scale.x(32), FRAME.width - FRAME.right);
  assert.equal(scale.y(-0.2), FRAME.height - FRAME.bottom);
  assert.ok(scale.y(1.8) >= FRAME.top && scale.y(0) < FRAME.height - FRAME.bottom);
  assert.match(pathOf(points, scale), /^M46\.0 [\d.]+L[\d.]+ 216\.0L548\.0 [\d.]+$/);
});
