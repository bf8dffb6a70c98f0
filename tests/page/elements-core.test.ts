// What the elements decide without a document: the data they take, what a key does, how a grid is laid out, the state.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AttentionView, isHidden } from "../../web/elements/attention-view.js";
import { gridLayout } from "../../web/elements/grid/columns.js";
import { kindOf } from "../../web/elements/grid/kinds.js";
import { gridWords } from "../../web/elements/grid/words.js";
import { type HeadInput, readHeads } from "../../web/elements/head-data.js";
import { heatCommand } from "../../web/elements/heat/keys.js";
import { heatWords } from "../../web/elements/heat/words.js";
import { phrase, type Words } from "../../web/elements/strings.js";
import { ViewState } from "../../web/elements/view-state.js";

const EMPTY: HeadInput = { weights: null, tokens: [], keyTokens: null, scores: null, masked: null, causal: false };
const read = (input: Partial<HeadInput>) => readHeads({ ...EMPTY, ...input });
const ones = (...shape: number[]) => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(1), shape });

test("readHeads() takes [H,T,S], [T,S] and [1,H,T,S], and keeps a Float32Array as it is", () => {
  for (const [shape, heads] of [
    [[2, 3, 4], 2],
    [[3, 4], 1],
    [[1, 2, 3, 4], 2],
  ] as const) {
    const weights = ones(...shape);
    const view = read({ weights });
    assert.deepEqual([view?.heads, view?.queries, view?.keys], [heads, 3, 4]);
    assert.equal(view?.weights, weights.data);
  }
});

test("readHeads() takes plain arrays, dims for shape, and null for −Infinity", () => {
  const view = read({ weights: { data: [1, 0], dims: [1, 2] }, scores: { data: [0.5, null], shape: [1, 2] } });
  assert.deepEqual([...(view as AttentionView).weights], [1, 0]);
  assert.deepEqual(
    [0, 1].map((key) => isHidden(view as AttentionView, 0, 0, key)),
    [false, true],
  );
});

test("readHeads() numbers what has no tokens, and uses the tokens for the keys", () => {
  const numbered = read({ weights: ones(2, 3) });
  assert.deepEqual(
    [numbered?.queryTexts, numbered?.keyTexts],
    [
      ["0", "1"],
      ["0", "1", "2"],
    ],
  );
  const tokens = ["a", "b"];
  assert.equal(read({ weights: ones(2, 2), tokens })?.keyTexts, tokens);
});

test("causal hides later keys, and with cached keys the last query still sees the last key", () => {
  const hidden = (queries: number, keys: number) => [
    ...(read({ weights: ones(queries, keys), causal: true })?.hidden ?? []),
  ];
  assert.deepEqual(hidden(2, 2), [0, 1, 0, 0]);
  assert.deepEqual(hidden(2, 4), [0, 0, 0, 1, 0, 0, 0, 0]);
  // Scores say it themselves.
  assert.equal(read({ weights: ones(2, 2), scores: ones(2, 2), causal: true })?.hidden, null);
});

for (const [what, input, message] of [
  [
    "nothing that is a tensor",
    { weights: [1] as never },
    /^weights: expected a shape \[heads, queries, keys\] or \[queries, keys\], got \[1\]\.$/,
  ],
  ["no axis of heads", { weights: ones(3) }, /^weights: expected a shape .* got \[3\]\.$/],
  [
    "an empty axis",
    { weights: ones(1, 0, 2) },
    /^weights: expected whole sizes of at least 1, got the shape \[1, 0, 2\]/,
  ],
  [
    "half precision",
    { weights: { data: new Uint16Array(1), shape: [1, 1] } },
    /^weights: expected float32 .* Uint16Array/,
  ],
  ["64-bit integers", { weights: { data: new BigInt64Array(1) as never, shape: [1, 1] } }, /^weights: .*BigInt64Array/],
  ["five tokens for two", { weights: ones(2, 2), tokens: [..."abcde"] }, /^tokens: expected 2 .* got 5\.$/],
  ["keys without tokens", { weights: ones(2, 3), tokens: ["a", "b"] }, /^keyTokens: expected 3 for the keys/],
  ["a mask of three", { weights: ones(2, 2), masked: [0, 0, 1] }, /^masked: expected 4 or 4 numbers, got 3\.$/],
] as const) {
  test(`readHeads() refuses ${what} by the property's name`, () => {
    assert.throws(() => read(input as Partial<HeadInput>), { message });
  });
}

const key = (name: string, more = {}) => ({ key: name, ctrlKey: false, altKey: false, metaKey: false, ...more });

test("heatCommand() stays inside the matrix and starts at its first cell", () => {
  assert.deepEqual(heatCommand(key("ArrowLeft"), null, 3, 4), { do: "move", query: 0, key: 0 });
  assert.deepEqual(heatCommand(key("ArrowDown"), { query: 2, key: null }, 3, 4), { do: "move", query: 2, key: 0 });
  assert.deepEqual(heatCommand(key("End", { ctrlKey: true }), null, 3, 4), { do: "move", query: 2, key: 3 });
  assert.deepEqual(heatCommand(key("PageUp"), { query: 13, key: 2 }, 20, 4), { do: "move", query: 3, key: 2 });
});

test("heatCommand() leaves the browser its own keys", () => {
  for (const event of [
    key("+", { ctrlKey: true }),
    key("0", { metaKey: true }),
    key("ArrowLeft", { altKey: true }),
    key("Tab"),
    key("a"),
  ]) {
    assert.equal(heatCommand(event, null, 3, 4), null);
  }
});

test("gridLayout() keeps thumbnails at 110 to 140 pixels, and four a row where there is no room", () => {
  for (let width = 521; width < 4000; width += 37) {
    for (const count of [1, 4, 8, 12, 16, 144]) {
      const { columns, thumb, card, gap } = gridLayout(width, count);
      assert.ok(thumb <= 140 && columns <= count, `${count} in ${width}`);
      assert.ok(columns * card + (columns - 1) * gap <= width);
      if (width > 560) assert.ok(thumb >= 110, `${count} in ${width}: ${thumb}`);
    }
  }
  assert.equal(gridLayout(336, 12).columns, 4);
  assert.equal(gridLayout(336, 2).columns, 2);
});

test("gridLayout() makes rows of the same length", () => {
  assert.equal(gridLayout(1284, 12).columns, 6);
  assert.equal(gridLayout(1284, 16).columns, 8);
});

function head(queries: number, keys: number, weight: (query: number, key: number) => number): AttentionView {
  const weights = Float32Array.from({ length: queries * keys }, (_, i) => weight(Math.floor(i / keys), i % keys));
  return { heads: 1, queries, keys, weights, scores: null, queryTexts: [], keyTexts: [] };
}

test("kindOf() names a head by what it reads most", () => {
  assert.deepEqual(
    kindOf(
      head(4, 4, (q, k) => (k === q ? 0.75 : 0)),
      0,
    ),
    { kind: "self", share: 0.75 },
  );
  assert.deepEqual(
    kindOf(
      head(4, 4, (q, k) => (k === q - 1 ? 0.75 : 0)),
      0,
    ),
    { kind: "previous", share: 0.75 },
  );
  assert.deepEqual(
    kindOf(
      head(4, 4, (q, k) => (k === q + 1 ? 0.5 : 0)),
      0,
    ),
    { kind: "next", share: 0.5 },
  );
  assert.deepEqual(
    kindOf(
      head(4, 4, (_, k) => (k === 0 ? 1 : 0)),
      0,
    ),
    { kind: "first", share: 1 },
  );
  assert.equal(
    kindOf(
      head(4, 4, () => 0.25),
      0,
    ),
    null,
  );
  // Where queries and keys are two texts, their positions are not the same thing.
  assert.equal(
    kindOf(
      head(2, 3, (q, k) => (k === q ? 1 : 0)),
      0,
    )?.kind,
    "first",
  );
  assert.equal(
    kindOf(
      head(1, 1, () => 1),
      0,
    ),
    null,
  );
});

test("a ViewState tells about a change once, and about none never", () => {
  const state = new ViewState({ heads: [2], pinned: { query: 1, key: 0 }, query: 1, key: 0 });
  let told = 0;
  state.addEventListener("change", () => told++);
  state.set({ heads: [2], pinned: { query: 1, key: 0 }, off: new Set() });
  assert.equal(told, 0);
  state.preview({ query: 3, key: 4 });
  assert.deepEqual([state.query, state.key, told], [3, 4, 1]);
  // The pointer leaves: back to what is pinned.
  state.preview(null);
  assert.deepEqual([state.query, state.key, state.pinned, told], [1, 0, { query: 1, key: 0 }, 2]);
  state.pin(null);
  assert.deepEqual([state.query, state.key, state.pinned], [null, null, null]);
  state.ablate(5, true);
  state.ablate(5, true);
  assert.deepEqual([[...state.off], told], [[5], 4]);
});

test("the elements' words exist in both languages, with the same places to fill", () => {
  const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const [name, pair] of Object.entries<Words>({ ...heatWords, ...gridWords })) {
    assert.ok(pair[0].length > 0 && pair[1].length > 0, name);
    assert.deepEqual(places(pair[0]), places(pair[1]), name);
  }
  assert.equal(phrase("zh", heatWords.cell, { query: "猫", key: "坐", weight: "0.5000" }), "查询 猫，键 坐：0.5000");
  // What is filled in is not read for places again.
  assert.equal(phrase("en", heatWords.cell, { query: "{key}", key: "b", weight: "1" }), "query {key}, key b: 1");
});
