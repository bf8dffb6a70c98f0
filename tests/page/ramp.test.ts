import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, luminance, parseHex, ramp, rampIndex } from "../../web/elements/ramp.js";

const THEMES = [
  { theme: "light", paper: "#fbfaf7", direction: -1 },
  { theme: "dark", paper: "#101216", direction: 1 },
] as const;

for (const { theme, paper, direction } of THEMES) {
  test(`the ${theme} ramp starts at the paper and is monotone in lightness over all 256 steps`, () => {
    const { colors } = ramp(theme);
    assert.equal(colors.length, 256);
    assert.deepEqual(colors[0], parseHex(paper));
    const step = (from: number, to: number) =>
      direction * (luminance(colors[to] as never) - luminance(colors[from] as never));
    for (let i = 1; i < 256; i++) {
      // Neighbours may share a colour of 8 bits a channel, or differ in hue alone.
      assert.ok(step(i - 1, i) > -0.0005, `step ${i} goes the wrong way`);
      if (i >= 4) assert.ok(step(i - 4, i) > 0, `the four steps to ${i} stand still`);
    }
  });

  test(`numbers on every step of the ${theme} ramp have a contrast of at least 4.5`, () => {
    const { colors, ink } = ramp(theme);
    for (const [i, color] of colors.entries()) {
      const ratio = contrast(parseHex(ink[i] as string), color);
      assert.ok(ratio >= 4.5, `step ${i}: ${ratio.toFixed(2)}`);
    }
  });
}

test("contrast() of black and white is 21", () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
});

test("rampIndex() covers the domain, clamps above it and has no entry for not-a-number", () => {
  assert.equal(rampIndex(0, 1), 0);
  assert.equal(rampIndex(1, 1), 255);
  assert.equal(rampIndex(0.25, 0.25), 255);
  assert.equal(rampIndex(2, 1), 255);
  assert.equal(rampIndex(Number.NaN, 1), -1);
});
