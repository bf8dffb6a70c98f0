// What <head-lines> draws, before anything is drawn.
import assert from "node:assert/strict";
import test from "node:test";
import type { AttentionView } from "../../web/elements/attention-view.js";
import {
  along,
  crosses,
  curve,
  type LinesLayout,
  STRENGTHS,
  strength,
  strengthStyle,
  tokenAt,
  visibleRange,
} from "../../web/elements/lines/layout.js";
import { linksAt, selectLinks, strongestOf } from "../../web/elements/lines/links.js";
import { HUE_COUNT, seriesLook } from "../../web/elements/lines/series-look.js";
import { contrast, parseHex } from "../../web/elements/ramp.js";

// Two causal heads over three tokens.
const WEIGHTS = [...[1, 0, 9, 0.25, 0.75, Number.NaN, 0.5, 0.125, 0.375], ...[1, 0, 0, 0.75, 0.25, 0, 0.25, 0.5, 0.25]];
const causal: AttentionView = {
  heads: 2,
  queries: 3,
  keys: 3,
  weights: Float32Array.from(WEIGHTS),
  scores: null,
  // One mask for both heads; what a source leaves in hidden cells is not a weight.
  hidden: Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0]),
  queryTexts: ["a", "b", "c"],
  keyTexts: ["a", "b", "c"],
};

function lines(view: AttentionView, filter: Partial<Parameters<typeof selectLinks>[1]>): string[] {
  const links = selectLinks(view, { heads: [0], combine: "none", top: null, threshold: 0, ...filter });
  return Array.from({ length: links.count }, (_, i) =>
    [links.series[i], `${links.query[i]}→${links.key[i]}`, links.weight[i]].join(" "),
  );
}

test("selectLinks() gives the lines of a head, strongest first, and none to hidden keys", () => {
  assert.deepEqual(lines(causal, {}), [
    "0 0→0 1",
    "0 1→1 0.75",
    "0 1→0 0.25",
    "0 2→0 0.5",
    "0 2→2 0.375",
    "0 2→1 0.125",
  ]);
});

test("selectLinks() keeps the k strongest of each query and head", () => {
  assert.deepEqual(lines(causal, { heads: [0, 1], top: 1 }), [
    ...["0 0→0 1", "1 0→0 1", "0 1→1 0.75", "1 1→0 0.75", "0 2→0 0.5", "1 2→1 0.5"],
  ]);
});

test("selectLinks() drops what is below the threshold and keeps what equals it", () => {
  assert.deepEqual(lines(causal, { threshold: 0.5 }), ["0 0→0 1", "0 1→1 0.75", "0 2→0 0.5"]);
});

test("selectLinks() combines heads by mean and by maximum before it filters", () => {
  assert.deepEqual(lines(causal, { heads: [0, 1], combine: "mean", top: 1 }), ["0 0→0 1", "0 1→0 0.5", "0 2→0 0.375"]);
  assert.deepEqual(lines(causal, { heads: [0, 1], combine: "max", top: 1 }), ["0 0→0 1", "0 1→0 0.75", "0 2→0 0.5"]);
});

test("selectLinks() finds the lines of a query and of a key", () => {
  const links = selectLinks(causal, { heads: [0, 1], combine: "none", top: null, threshold: 0.3 });
  const at = (side: "query" | "key", token: number) =>
    linksAt(links, side, token).map((i) => `${links.series[i]}:${links.query[i]}→${links.key[i]}`);
  assert.deepEqual(at("query", 2), ["0:2→0", "0:2→2", "1:2→1"]);
  assert.deepEqual(at("key", 1), ["0:1→1", "1:2→1"]);
  assert.deepEqual(at("key", 7), []);
});

test("selectLinks() counts what is not a number and draws it nowhere", () => {
  const weights = Float32Array.from([Number.NaN, 0.5, 0.5, 0.5]);
  const view = { ...causal, heads: 1, queries: 2, keys: 2, weights, hidden: null };
  const links = selectLinks(view, { heads: [0], combine: "none", top: null, threshold: 0 });
  assert.equal(links.notNumbers, 1);
  assert.equal(links.count, 3);
  assert.equal(selectLinks(view, { heads: [0, 9], combine: "max", top: 2, threshold: 0 }).count, 3);
});

test("selectLinks() of no heads, no keys or no queries is empty", () => {
  assert.equal(selectLinks(causal, { heads: [], combine: "none", top: null, threshold: 0 }).count, 0);
  assert.equal(selectLinks(causal, { heads: [], combine: "mean", top: null, threshold: 0 }).count, 0);
  const empty = { ...causal, heads: 1, queries: 0, keys: 0, weights: new Float32Array(), hidden: null };
  assert.equal(selectLinks(empty, { heads: [0], combine: "none", top: 3, threshold: 0 }).count, 0);
});

test("strongestOf() equals sorting, whatever k is", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  for (let round = 0; round < 200; round++) {
    const row = Float32Array.from({ length: 1 + Math.floor(random() * 30) }, () => Math.floor(random() * 8) / 8);
    const sorted = [...row.keys()]
      .filter((i) => (row[i] as number) > 0)
      .sort((a, b) => (row[b] as number) - (row[a] as number));
    for (const top of [1, 2, 5, 40, null]) {
      assert.deepEqual(strongestOf(row, top, 0), sorted.slice(0, top ?? row.length));
    }
  }
});

const layout: LinesLayout = { direction: "vertical", slot: 24, gap: 200, extent: 240, offset: 60, series: 1 };

test("layout: tokens on screen, under the pointer and along their side", () => {
  assert.deepEqual(visibleRange(layout, 100), { first: 2, last: 12 });
  assert.deepEqual(visibleRange(layout, 5), { first: 2, last: 4 });
  assert.deepEqual(visibleRange({ ...layout, offset: 0 }, 0), { first: 0, last: -1 });
  assert.equal(along(layout, 2), 0);
  for (const token of [2, 7, 12]) assert.equal(tokenAt(layout, along(layout, token), 100), token);
  assert.equal(tokenAt(layout, 500, 10), null);
});

test("layout: a line from far above to far below crosses the screen, one that stays above does not", () => {
  assert.ok(crosses(layout, 0, 99));
  assert.ok(crosses(layout, 99, 0));
  assert.ok(!crosses(layout, 0, 1));
  assert.ok(!crosses(layout, 50, 99));
});

test("layout: curves run from the query's side to the key's", () => {
  assert.deepEqual(curve({ ...layout, offset: 0 }, 0, 2), [0, 12, 100, 12, 100, 60, 200, 60]);
  assert.deepEqual(curve({ ...layout, offset: 0, direction: "horizontal" }, 0, 2), [12, 0, 12, 100, 60, 100, 60, 200]);
});

test("layout: lines of different heads between the same tokens run side by side, inside their slot", () => {
  for (const series of [2, 5, 12]) {
    const starts = Array.from({ length: series }, (_, s) => curve({ ...layout, offset: 0, series }, 1, 1, s)[1]);
    for (const [i, start] of starts.entries()) {
      assert.ok(start > 24 && start < 48);
      assert.ok(i === 0 || start > (starts[i - 1] as number) + 1);
    }
    assert.ok(Math.abs((starts[0] as number) + (starts[series - 1] as number) - 72) < 1e-9);
  }
});

test("strength() grows along the scale, in steps of which none is invisible", () => {
  assert.deepEqual([0.0001, 0.49, 0.5, 1, 3, -1].map(strength), [0, 3, 4, STRENGTHS - 1, STRENGTHS - 1, 0]);
  const styles = Array.from({ length: STRENGTHS }, (_, step) => strengthStyle(step));
  for (const [i, { alpha, width }] of styles.entries()) {
    const before = styles[i - 1];
    assert.ok(alpha > (before?.alpha ?? 0.1) && alpha <= 1);
    assert.ok(width > (before?.width ?? 0.5) && width <= 4);
  }
});

// Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
const SIGHT = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function oklab(hex: string, sight: number[][]): number[] {
  const linear = parseHex(hex).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const times = (matrix: number[][], v: number[]) =>
    matrix.map((row) => row.reduce((sum, x, i) => sum + x * (v[i] ?? 0), 0));
  const seen = times(sight, linear).map((c) => Math.min(1, Math.max(0, c)));
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    seen,
  ).map(Math.cbrt);
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

for (const [theme, card] of [
  ["light", "#ffffff"],
  ["dark", "#171a20"],
] as const) {
  test(`seriesLook() of twelve heads on ${theme} cards: apart for every kind of sight, 3:1 against the card`, () => {
    const colors = Array.from({ length: HUE_COUNT }, (_, head) => seriesLook(head, theme).color);
    for (const color of colors) assert.ok(contrast(parseHex(color), parseHex(card)) >= 3, color);
    for (const [name, sight] of Object.entries(SIGHT)) {
      for (const [i, a] of colors.entries()) {
        for (const b of colors.slice(0, i)) {
          const [from, to] = [oklab(a, sight), oklab(b, sight)];
          const distance = Math.hypot(...from.map((x, axis) => x - (to[axis] as number)));
          assert.ok(distance >= 0.09, `${a} and ${b} are ${distance.toFixed(3)} apart for ${name}`);
        }
      }
    }
  });
}

test("seriesLook() of the thirteenth head has the first one's colour, dashed", () => {
  const [first, thirteenth] = [seriesLook(0, "light"), seriesLook(HUE_COUNT, "light")];
  assert.equal(first.color, thirteenth.color);
  assert.deepEqual(first.dash, []);
  assert.ok(thirteenth.dash.length > 0);
  assert.notDeepEqual(seriesLook(2 * HUE_COUNT, "light").dash, thirteenth.dash);
});
