import assert from "node:assert/strict";
import { test } from "node:test";
import { distanceOf, otherWeights, outputChange, outputOf } from "../../web/playground/labs/same-output.js";
import { Random } from "../support/random.ts";

function weightRow(random: Random, keys: number, visible: readonly number[], sharp = 2): Float32Array {
  const powers = visible.map(() => Math.exp(sharp * random.normal()));
  const sum = powers.reduce((total, power) => total + power, 0);
  const row = new Float32Array(keys);
  for (const [i, key] of visible.entries()) row[key] = (powers[i] as number) / sum;
  return row;
}

const everyKey = (keys: number) => Array.from({ length: keys }, (_, key) => key);
const sumOf = (row: ArrayLike<number>) => Array.from(row).reduce((total, weight) => total + weight, 0);

test("for 200 random rows: same output, same sum, nothing below 0, hidden keys untouched", () => {
  const random = new Random(11);
  for (let round = 0; round < 200; round++) {
    const keys = 2 + random.below(60);
    const width = 1 + random.below(24);
    const visible = everyKey(keys).filter((key) => key === 0 || random.uniform() < 0.8);
    const row = weightRow(random, keys, visible, round % 5);
    const values = random.values(keys * width);
    const { weights, freedom, moved } = otherWeights(row, values, width, visible);
    assert.equal(freedom, Math.max(0, visible.length - (width + 1)));
    assert.ok(outputChange(row, weights, values, width) <= 1e-10, `round ${round}`);
    assert.ok(Math.abs(sumOf(weights) - sumOf(row)) < 1e-12);
    assert.ok(weights.every((weight) => weight >= 0));
    for (let key = 0; key < keys; key++) if (!visible.includes(key)) assert.equal(weights[key], 0);
    assert.equal(moved, distanceOf(row, weights));
    if (freedom > 0) assert.ok(moved > 0, `round ${round}: ${moved}`);
    else assert.deepEqual([...weights], [...row]);
  }
});

test("with far more keys than numbers in a value, most of the weight moves, to at most dv + 1 keys", () => {
  const random = new Random(3);
  const row = weightRow(random, 64, everyKey(64), 1);
  const values = random.values(64 * 4);
  const { weights, moved, freedom } = otherWeights(row, values, 4, everyKey(64));
  assert.equal(freedom, 59);
  assert.ok(moved > 0.8, String(moved));
  assert.ok(weights.filter((weight) => weight > 0).length <= 5);
});

test("copies of a word have the same value: all the weight of one goes to the other", () => {
  const values = Float32Array.of(1, 0, 0, 1, 1, 0);
  const { weights, freedom, moved } = otherWeights([0.6, 0.3, 0.1], values, 2, [0, 1, 2]);
  assert.equal(freedom, 1);
  assert.deepEqual(
    [...weights].map((weight) => Number(weight.toFixed(12))),
    [0, 0.3, 0.7],
  );
  assert.ok(Math.abs(moved - 0.6) < 1e-12);
});

test("no freedom: too few keys, one key, or all weight on one corner", () => {
  const random = new Random(5);
  const values = random.values(5 * 4);
  assert.equal(otherWeights(weightRow(random, 5, everyKey(5)), values, 4, everyKey(5)).freedom, 0);
  assert.deepEqual(otherWeights([1], [2, 3], 2, [0]), { weights: Float64Array.of(1), freedom: 0, moved: 0 });
  // All weight on a value that no mixture of the others makes: free in number, but nowhere to go.
  const far = otherWeights([1, 0, 0, 0], [9, 0.1, 0.2, 0.3], 1, everyKey(4));
  assert.equal(far.freedom, 2);
  assert.equal(far.moved, 0);
  assert.deepEqual(otherWeights([0, 0], [1, 2], 1, []), { weights: Float64Array.of(0, 0), freedom: 0, moved: 0 });
});

test("a long row: the heaviest keys move, the output stays", () => {
  const random = new Random(8);
  const row = weightRow(random, 400, everyKey(400), 3);
  const values = random.values(400 * 16);
  const { weights, moved } = otherWeights(row, values, 16, everyKey(400));
  assert.ok(outputChange(row, weights, values, 16) <= 1e-10);
  assert.ok(moved > 0.15, String(moved));
});

test("outputOf() never looks at a hidden value, even NaN", () => {
  const values = [1, 2, Number.NaN, 4];
  assert.deepEqual([...outputOf([0.5, 0.5, 0], [1, 2, 3, 4, Number.NaN, Number.NaN], 2)], [2, 3]);
  const { weights } = otherWeights([0.25, 0.5, 0, 0.25], values, 1, [0, 1, 3]);
  assert.equal(weights[2], 0);
  assert.ok(outputChange([0.25, 0.5, 0, 0.25], weights, values, 1) <= 1e-15);
});
