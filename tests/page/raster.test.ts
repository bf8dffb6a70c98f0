import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttentionView } from "../../web/elements/attention-view.js";
import {
  type AxisSpan,
  axisPixels,
  codeWords,
  encodeHead,
  HIDDEN_CODE,
  NAN_CODE,
  raster,
} from "../../web/elements/raster.js";
import { evenShares, LOG_FLOOR, rampPlace, SCALES, scaleTicks, scaleTop } from "../../web/elements/scale.js";

function view(heads: number, queries: number, keys: number, weight: (cell: number) => number): AttentionView {
  const weights = Float32Array.from({ length: heads * queries * keys }, (_, cell) => weight(cell));
  return { heads, queries, keys, weights, scores: null, queryTexts: [], keyTexts: [] };
}

function encode(from: AttentionView, head = 0): Uint16Array {
  const codes = new Uint16Array(from.queries * from.keys);
  encodeHead(from, head, "unit", 1, codes);
  return codes;
}

const span = (count: number, pixels: number, more: Partial<AxisSpan> = {}): AxisSpan => ({
  count,
  first: 0,
  size: pixels / count,
  pixels,
  gap: 0,
  ...more,
});

// A word that is its own code.
const words = Uint32Array.from({ length: 258 }, (_, code) => code);

test("encodeHead() numbers the steps of the ramp from 1, hidden cells 0, not-a-number highest", () => {
  const scores = Float32Array.of(0, 0, 0, -Infinity, 0, 0);
  const codes = encode({ ...view(1, 2, 3, (cell) => [0, 1, 0.5, 0.7, Number.NaN, 7][cell] as number), scores });
  assert.deepEqual([...codes], [1, 256, 129, HIDDEN_CODE, NAN_CODE, 256]);
});

test("encodeHead() takes a mask for every head, or one for all", () => {
  const two = view(2, 1, 2, () => 1);
  assert.deepEqual([...encode({ ...two, hidden: Uint8Array.of(0, 1) }, 1)], [256, 0]);
  assert.deepEqual([...encode({ ...two, hidden: Uint8Array.of(0, 1, 1, 0) }, 1)], [0, 256]);
});

test("encodeHead() places each weight where its scale does, also outside 0 to 1", () => {
  const weights = [0, 1e-9, 1e-4, 0.003, 0.25, 0.5, 0.9, 1, 1.5, -0.2, Number.NaN, Number.POSITIVE_INFINITY];
  const from = view(1, 2, 6, (cell) => weights[cell] as number);
  for (const scale of SCALES) {
    const top = scale === "head" ? 0.8 : 1;
    const codes = new Uint16Array(12);
    encodeHead(from, 0, scale, top, codes);
    const place = rampPlace(scale, top);
    const wanted = [...from.weights].map((weight) => {
      const at = place(weight, 1 / 6);
      return Number.isNaN(at) ? NAN_CODE : 1 + Math.round(at * 255);
    });
    assert.deepEqual([...codes], wanted, scale);
  }
});

test("codeWords() makes hidden cells transparent", () => {
  const all = codeWords(
    Uint32Array.from({ length: 256 }, (_, i) => i + 1000),
    [1, 2, 3],
  );
  assert.equal(all[HIDDEN_CODE], 0);
  assert.equal(all[1], 1000);
  assert.equal(all[256], 1255);
  assert.deepEqual([...new Uint8Array(all.slice(NAN_CODE).buffer)], [1, 2, 3, 255]);
});

test("raster() of one pixel a cell is the codes themselves", () => {
  const codes = encode(view(1, 3, 4, (cell) => cell / 12));
  const out = new Uint32Array(12);
  raster(codes, span(3, 3), span(4, 4), words, out);
  assert.deepEqual([...out], [...codes]);
});

test("raster() of a thumbnail keeps a diagonal that is one of 512 cells wide", () => {
  const diagonal = encode(view(1, 512, 512, (cell) => (cell % 513 === 0 ? 1 : 0)));
  for (const pixels of [37, 110, 128, 256, 511]) {
    const out = new Uint32Array(pixels * pixels);
    raster(diagonal, span(512, pixels), span(512, pixels), words, out);
    for (let i = 0; i < pixels; i++) assert.equal(out[i * pixels + i], 256, `${pixels}: pixel ${i}`);
  }
});

test("every cell belongs to exactly one pixel where there are more cells than pixels", () => {
  for (const [count, pixels] of [
    [512, 128],
    [300, 299],
    [1024, 77],
    [1000, 333],
  ] as const) {
    const { from, to } = axisPixels(span(count, pixels));
    assert.equal(from[0], 0);
    for (let i = 1; i < pixels; i++) assert.equal(from[i], to[i - 1]);
    assert.equal(to[pixels - 1], count);
  }
});

test("raster() shows a pixel as hidden only where all of its cells are", () => {
  const causal = Uint8Array.from({ length: 16 }, (_, cell) => (cell % 4 > cell >> 2 ? 1 : 0));
  const codes = encode({ ...view(1, 4, 4, () => 0), hidden: causal });
  const out = new Uint32Array(4);
  raster(codes, span(4, 2), span(4, 2), words, out);
  assert.deepEqual([...out], [1, 0, 1, 1]);
});

test("raster() draws lines of paper between visible cells and none beside hidden ones", () => {
  const codes = Uint16Array.of(200, HIDDEN_CODE);
  const out = new Uint32Array(6 * 2);
  raster(codes, span(1, 2, { gap: 1 }), span(2, 6, { gap: 1 }), words, out);
  assert.deepEqual([...out], [200, 200, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]);
});

test("raster() of a part starts inside a cell", () => {
  const codes = Uint16Array.of(11, 12, 13, 14);
  const out = new Uint32Array(4);
  raster(codes, span(1, 1), span(4, 4, { first: 1.5, size: 2 }), words, out);
  assert.deepEqual([...out], [12, 13, 13, 14]);
});

for (const scale of SCALES) {
  test(`the ${scale} scale is monotone, inside 0 to 1, and 0 for no weight`, () => {
    const place = rampPlace(scale, 0.8);
    assert.equal(place(0, 0.1), 0);
    assert.ok(Number.isNaN(place(Number.NaN, 0.1)));
    let before = 0;
    for (let weight = 0; weight <= 1; weight += 1 / 4096) {
      const at = place(weight, 0.1);
      assert.ok(at >= before && at <= 1, `${weight}`);
      before = at;
    }
  });

  test(`the legend of the ${scale} scale has its ends at the ends of the ramp`, () => {
    const ticks = scaleTicks(scale, 0.25);
    assert.equal(ticks[0]?.place, 0);
    assert.equal(ticks.at(-1)?.place, 1);
  });
}

test("the uniform scale has the even share in the middle, and tells twice from four times as far", () => {
  const place = rampPlace("uniform", 1);
  assert.equal(place(1 / 512, 1 / 512), 0.5);
  assert.equal(place(1 / 1024, 1 / 512), 0.25);
  assert.ok(Math.abs(place(1, 1 / 512) - 1) < 1e-12);
  assert.ok(Math.abs(place(2 / 512, 1 / 512) - (0.5 + 0.5 / 9)) < 1e-12);
  // A row that sees one key has nothing to compare it with.
  assert.equal(place(1, 1), 0.5);
});

test("the log scale gives a quarter of the ramp to each power of ten", () => {
  const place = rampPlace("log", 1);
  for (const [weight, at] of [
    [1, 1],
    [0.1, 0.75],
    [0.01, 0.5],
    [LOG_FLOOR, 0],
    [1e-9, 0],
  ] as const) {
    assert.ok(Math.abs(place(weight, 1) - at) < 1e-12, `${weight}`);
  }
});

test("the scale of a head ends at its greatest weight, and the others at 1", () => {
  const two = view(2, 1, 3, (cell) => cell / 10);
  assert.ok(Math.abs(scaleTop(two, 0, "head") - 0.2) < 1e-7);
  assert.ok(Math.abs(scaleTop(two, 1, "head") - 0.5) < 1e-7);
  assert.equal(scaleTop(two, 1, "unit"), 1);
});

test("evenShares() counts the visible keys of each row", () => {
  const causal = { ...view(1, 3, 3, () => 0), hidden: Uint8Array.of(0, 1, 1, 0, 0, 1, 0, 0, 0) };
  assert.deepEqual([...evenShares(causal, 0)], [1, 0.5, Math.fround(1 / 3)]);
  assert.deepEqual([...evenShares({ ...causal, hidden: new Uint8Array(9).fill(1) }, 0)], [1, 1, 1]);
});
