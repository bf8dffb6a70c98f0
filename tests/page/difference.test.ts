// What <head-compare> shows, before anything is drawn.
import assert from "node:assert/strict";
import test from "node:test";
import { difference, type MapSide, obstacle } from "../../web/elements/compare/difference.js";
import { divergingIndex, divergingRamp, STEPS } from "../../web/elements/compare/diverging.js";
import { contrast, luminance, parseHex, type Rgb } from "../../web/elements/ramp.js";

function side(weights: number[], texts = ["a", "b"], hidden: number[] | null = null): MapSide {
  return {
    queries: texts.length,
    keys: texts.length,
    weights: Float32Array.from(weights),
    hidden: hidden && Uint8Array.from(hidden),
    queryTexts: texts,
    keyTexts: texts,
  };
}

test("difference() is right minus left, with its largest cell and the share of each row that moved", () => {
  const found = difference(side([0.5, 0.5, 0.25, 0.75]), side([0.5, 0.5, 1, 0]));
  assert.deepEqual([...found.values], [0, 0, 0.75, -0.75]);
  assert.deepEqual([found.largest, found.query, found.key], [0.75, 1, 0]);
  assert.deepEqual([...found.moved], [0, 0.75]);
  assert.equal(found.hidden, null);
});

test("difference() counts a cell hidden on one side as 0 there, and hides what is hidden on both", () => {
  const causal = [0, 1, 0, 0];
  const one = difference(side([1, 9, 0.5, 0.5], undefined, causal), side([0.5, 0.5, 0.5, 0.5]));
  assert.deepEqual([...one.values], [-0.5, 0.5, 0, 0]);
  assert.equal(one.hidden, null);
  const both = difference(side([1, 9, 0.5, 0.5], undefined, causal), side([1, 5, 0.25, 0.75], undefined, causal));
  assert.deepEqual([...both.values], [0, 0, -0.25, 0.25]);
  assert.deepEqual([...(both.hidden ?? [])], causal);
});

test("difference() of equal maps, and of none, is 0", () => {
  assert.equal(difference(side([1, 0, 0, 1]), side([1, 0, 0, 1])).largest, 0);
  assert.equal(difference(side([], []), side([], [])).largest, 0);
});

test("obstacle() names the first token that differs, or both shapes", () => {
  const left = side([1, 0, 0, 1]);
  assert.equal(obstacle(left, side([0, 1, 1, 0])), null);
  assert.deepEqual(obstacle(left, side([0, 1, 1, 0], ["a", "c"])), { reason: "queries", at: 1, left: "b", right: "c" });
  assert.deepEqual(obstacle(left, { ...side([0, 1, 1, 0]), keyTexts: ["x", "b"] }), {
    ...{ reason: "keys", at: 0, left: "a", right: "x" },
  });
  assert.deepEqual(obstacle(left, side([1], ["a"])), { reason: "shape", left: [2, 2], right: [1, 1] });
});

for (const theme of ["light", "dark"] as const) {
  const { colors, ink } = divergingRamp(theme);
  /** Step 0 to 127 of the arm of greater (+) or smaller (−) values. */
  const at = (sign: 1 | -1, step: number) => colors[divergingIndex((sign * step) / (STEPS - 1), 1)] as Rgb;

  test(`divergingRamp("${theme}") starts at the background and grows in contrast both ways`, () => {
    assert.equal(colors.length, 2 * STEPS);
    const paper = parseHex(theme === "light" ? "#fbfaf7" : "#101216");
    for (const sign of [1, -1] as const) {
      assert.deepEqual(at(sign, 0), paper);
      let before = 1;
      for (let step = 1; step < STEPS; step++) {
        const now = contrast(at(sign, step), paper);
        assert.ok(now >= before - 0.02, `${sign * step}: ${now} after ${before}`);
        before = Math.max(before, now);
      }
      assert.ok(before > 7);
    }
    for (const [i, color] of colors.entries()) assert.ok(contrast(parseHex(ink[i] as string), color) >= 4.5);
  });

  test(`divergingRamp("${theme}") has more blue than red on the one arm and less on the other`, () => {
    for (let step = 20; step < STEPS; step++) {
      const [more, less] = [at(1, step), at(-1, step)];
      assert.ok(more[2] > more[0] + 10, `+${step}: ${more}`);
      assert.ok(less[0] > less[2] + 10, `−${step}: ${less}`);
      // Of one strength they are of like lightness: neither sign looks larger.
      assert.ok(Math.abs(luminance(more) - luminance(less)) < 0.12, `${step}: ${luminance(more)}, ${luminance(less)}`);
    }
  });
}

test("divergingRamp() starts at the paper it is given", () => {
  assert.deepEqual(divergingRamp("light", "#ffffff").colors[0], [255, 255, 255]);
});

test("divergingIndex() is 0 for 0, grows with the size, and keeps the sign in its last bit", () => {
  assert.equal(divergingIndex(0, 0.5), 0);
  assert.equal(divergingIndex(0, 0), 0);
  assert.equal(divergingIndex(0.5, 0.5), 2 * STEPS - 2);
  assert.equal(divergingIndex(-9, 0.5), 2 * STEPS - 1);
  assert.ok(divergingIndex(-0.3, 1) > divergingIndex(0.2, 1) && divergingIndex(0.3, 1) > divergingIndex(-0.2, 1));
  assert.equal(divergingIndex(Number.NaN, 1), -1);
});
