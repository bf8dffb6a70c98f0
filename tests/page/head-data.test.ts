// What comes into the elements from outside: tensors, lists, files made in Python, numbers that are none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rowsSumToOne } from "../../web/elements/attention-view.js";
import { difference } from "../../web/elements/compare/difference.js";
import { gridLayout } from "../../web/elements/grid/columns.js";
import { type HeadInput, readHeads } from "../../web/elements/head-data.js";
import { readJson } from "../../web/elements/read-json.js";

const input = (given: Partial<HeadInput>): HeadInput => ({
  ...{ weights: null, tokens: [], keyTokens: null, scores: null, masked: null, causal: false },
  ...given,
});
const weightsOf = (weights: HeadInput["weights"]) =>
  Array.from(readHeads(input({ weights, keyTokens: [] }))?.weights ?? []);

test("readHeads() takes the same numbers from any kind of array, and from lists in lists", () => {
  const numbers = [0.25, 0.75, 0.5, 0.5];
  const wanted = numbers;
  for (const data of [numbers, Float32Array.from(numbers), Float64Array.from(numbers)]) {
    assert.deepEqual(weightsOf({ data, shape: [1, 2, 2] }), wanted);
    assert.deepEqual(weightsOf({ data, dims: [1, 1, 2, 2] }), wanted);
  }
  const rows = [
    [0.25, 0.75],
    [0.5, 0.5],
  ];
  assert.deepEqual(weightsOf(rows), wanted);
  assert.deepEqual(weightsOf([rows]), wanted);
  assert.deepEqual(weightsOf([[rows]]), wanted);
  assert.throws(
    () => weightsOf([[0.25, 0.75], [1]]),
    /^RangeError: weights: the shape \[2, 2\] needs 4 numbers, data has 3/,
  );
  assert.throws(() => weightsOf([]), /^RangeError: weights: expected a shape/);
});

test("readHeads() takes null for NaN among weights and for −Infinity among scores", () => {
  const view = readHeads(input({ weights: [[null, 1]], keyTokens: ["a", "b"], scores: [[null, 0]] }));
  assert.deepEqual(Array.from(view?.weights ?? []), [Number.NaN, 1]);
  assert.deepEqual(Array.from(view?.scores ?? []), [-Infinity, 0]);
});

test("readJson() reads what Python's json.dump writes, and leaves texts alone", () => {
  const text = '{"tokens": ["NaN", "a \\" Infinity"], "weights": [[NaN, 1.0], [Infinity, -Infinity]]}';
  assert.deepEqual(readJson(text), {
    tokens: ["NaN", 'a " Infinity'],
    weights: [
      ["NaN", 1],
      ["Infinity", "-Infinity"],
    ],
  });
  const { weights } = readJson(text) as { weights: number[][] };
  assert.deepEqual(weightsOf(weights), [Number.NaN, 1, Infinity, -Infinity]);
  assert.throws(() => readJson('{"a": '), SyntaxError);
  assert.throws(() => readJson('{"a": nonsense, "b": NaN}'), SyntaxError);
});

test("rowsSumToOne() counts what a query sees, and takes rounded numbers", () => {
  const of = (given: Partial<HeadInput>, head = 0) => rowsSumToOne(readHeads(input(given)) as never, head);
  const even = [
    [0.5, 0.5],
    [0.5, 0.5],
  ];
  assert.equal(of({ weights: even }), true);
  assert.equal(of({ weights: even, causal: true }), false, "the first query sees half of its row");
  assert.equal(
    of({
      weights: [
        [1, 0],
        [0.5, 0.5],
      ],
      causal: true,
    }),
    true,
  );
  assert.equal(
    of({
      weights: [
        [0, 0],
        [0.3333, 0.6666],
      ],
    }),
    true,
    "no key in sight; rounded",
  );
  assert.equal(
    of({
      weights: [
        [Number.NaN, 1],
        [1, 0],
      ],
    }),
    false,
  );
  const heads = [
    [
      [1, 0],
      [1, 0],
    ],
    [
      [1, 0.5],
      [2, 0],
    ],
  ];
  assert.deepEqual([of({ weights: heads }), of({ weights: heads }, 1)], [true, false]);
  assert.deepEqual([of({ weights: heads, masked: [0, 1, 1, 0] }, 1)], [true], "one mask for all heads");
});

test("difference() finds the largest number where some cells are none", () => {
  const side = (weights: number[]) => ({
    ...{ queries: 2, keys: 2, hidden: null, queryTexts: ["a", "b"], keyTexts: ["a", "b"] },
    weights: Float32Array.from(weights),
  });
  const found = difference(side([Number.NaN, Infinity, 0.25, 0.75]), side([0, 0, 0.75, 0.25]));
  assert.deepEqual([found.largest, found.query, found.key], [0.5, 1, 0]);
  assert.deepEqual(Array.from(found.moved), [Number.NaN, 0.5]);
});

test("gridLayout() has fewer cards in a row where four have no room for their names", () => {
  assert.deepEqual(
    [200, 240, 328, 360].map((width) => gridLayout(width, 8).columns),
    [2, 3, 4, 4],
  );
  for (let width = 90; width < 600; width += 7) {
    const { columns, card, gap } = gridLayout(width, 12);
    assert.ok(columns * card + (columns - 1) * gap <= width, `${columns} cards of ${card} in ${width}`);
  }
});
