// What happens to weights between a layer and the screen: rows by character or word, rows left out, order of heads.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Token } from "../../web/playground/tokens.js";
import { tokenize } from "../../web/playground/tokens.js";
import { groupText, groupTokens, merges } from "../../web/playground/view/groups.js";
import { draw, layOut, rowOf, tokenOf } from "../../web/playground/view/layout.js";
import { mapsOf, mergeMaps, withoutRows } from "../../web/playground/view/maps.js";
import { sortHeads } from "../../web/playground/view/sort-heads.js";
import { nextSort, parseSort, sortRows } from "../../web/playground/view/table-sort.js";
import { Random } from "../support/random.js";

const CHINESE = "小明在北京的大学里学习计算机科学";
/** Bytes of each of GPT-2's tokens for that sentence (r50k: 22887, 237, 23626, 236 …): pieces of characters. */
const PIECES = [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3, 3, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1];

/** Tokens of so many bytes each of a text of three-byte characters, each spanning all of its character. */
function bytePieces(sizes: readonly number[]): Token[] {
  let at = 0;
  return sizes.map((size, id) => {
    const start = Math.floor(at / 3);
    at += size;
    const end = Math.ceil(at / 3);
    return { id, text: CHINESE.slice(start, end), start, end };
  });
}

function token(id: number, start: number, end: number, special = false): Token {
  return { id, text: special ? "[CLS]" : `${start}`, start, end, special };
}

const rows = (text: string, tokens: readonly Token[], by: "character" | "word") =>
  groupTokens(text, tokens, by).map((group) => groupText(text, tokens, group));

test("K11: GPT-2's byte pieces of 16 Chinese characters become 16 rows, two by two, and words", () => {
  const tokens = bytePieces(PIECES);
  assert.equal(
    PIECES.reduce((a, b) => a + b),
    48,
  );
  assert.equal(tokens.length, 33);
  const groups = groupTokens(CHINESE, tokens, "character");
  assert.deepEqual(
    groups.map((group) => groupText(CHINESE, tokens, group)),
    [...CHINESE],
  );
  assert.deepEqual(groups.flat(), [...tokens.keys()]);
  const words = rows(CHINESE, tokens, "word");
  assert.ok(words.includes("北京") && words.includes("学习") && words.includes("大学"), words.join("|"));
  // Two pieces for each character: 32 tokens.
  const pairs = groupTokens(CHINESE, bytePieces(Array(16).fill([2, 1]).flat()), "character");
  assert.deepEqual(
    pairs,
    Array.from({ length: 16 }, (_, i) => [2 * i, 2 * i + 1]),
  );
});

test("rows by word join pieces of a word, and never cut a token", () => {
  const text = "unbelievable cats, naïve";
  const tokens = [token(0, 0, 2), token(1, 2, 7), token(2, 7, 12), token(3, 12, 15), token(4, 15, 17)];
  tokens.push(token(5, 17, 18), token(6, 18, 22), token(7, 22, 24));
  assert.deepEqual(groupTokens(text, tokens, "word"), [[0, 1, 2], [3, 4], [5], [6, 7]]);
  // By character every token is one row: none holds less than a character.
  assert.equal(merges(groupTokens(text, tokens, "character")), false);
});

test("a token that ends inside an emoji or a letter with its marks is joined with the rest of it", () => {
  const text = "e\u0301👨‍👩‍👧!";
  const tokens = [token(0, 0, 1), token(1, 1, 2), token(2, 2, 5), token(3, 5, 10), token(4, 10, 11)];
  assert.deepEqual(groupTokens(text, tokens, "character"), [[0, 1], [2, 3], [4]]);
});

test("marks of the model's own, and text between tokens, stay apart", () => {
  const text = "play ing";
  const tokens = [token(0, 0, 0, true), token(1, 0, 4), token(2, 5, 8), token(3, 8, 8, true)];
  assert.deepEqual(groupTokens(text, tokens, "word"), [[0], [1], [2], [3]]);
  assert.equal(groupText(text, tokens, [0]), "[CLS]");
});

function randomMaps(queries: number, causal: boolean) {
  const random = new Random(7);
  const heads = 3;
  const data = new Float32Array(heads * queries * queries);
  const scores = new Float32Array(data.length);
  for (let row = 0; row < heads * queries; row++) {
    const visible = causal ? (row % queries) + 1 : queries;
    const weights = Array.from({ length: visible }, () => random.uniform() + 0.01);
    const sum = weights.reduce((a, b) => a + b);
    for (let key = 0; key < queries; key++) {
      data[row * queries + key] = key < visible ? (weights[key] as number) / sum : 0;
      scores[row * queries + key] = key < visible ? 1 : Number.NEGATIVE_INFINITY;
    }
  }
  return mapsOf({ data, shape: [heads, queries, queries] }, scores);
}

test("K11: joined rows add up keys and average queries, and still sum to 1", () => {
  const whole = randomMaps(33, true);
  const groups = groupTokens(CHINESE, bytePieces(PIECES), "character");
  const joined = mergeMaps(whole, groups);
  assert.deepEqual([joined.queries, joined.keys], [16, 16]);
  for (let head = 0; head < 3; head++) {
    for (const [q, queries] of groups.entries()) {
      let sum = 0;
      for (const [k, keys] of groups.entries()) {
        let expected = 0;
        for (const query of queries)
          for (const key of keys)
            expected += (whole.weights[(head * 33 + query) * 33 + key] as number) / queries.length;
        const at = (head * 16 + q) * 16 + k;
        assert.ok(Math.abs((joined.weights[at] as number) - expected) < 1e-6);
        // Hidden where all of it was: a character never reads a later one.
        assert.equal(joined.hidden?.[at], k > q ? 1 : 0);
        sum += joined.weights[at] as number;
      }
      assert.ok(Math.abs(sum - 1) < 1e-6, `row ${q}: ${sum}`);
    }
  }
});

test("rows that are left out: the rest is divided by its sum, and a row of which nothing is left is marked", () => {
  const { maps, kept, share } = withoutRows(randomMaps(6, true), new Set([0]));
  assert.deepEqual(kept, [1, 2, 3, 4, 5]);
  for (let row = 0; row < 15; row++) {
    let sum = 0;
    for (let key = 0; key < 5; key++) sum += maps.weights[row * 5 + key] as number;
    assert.ok(Math.abs(sum - 1) < 1e-6, `${row}: ${sum}`);
  }
  assert.ok([...share].every((part) => part > 0 && part < 1));
  // All of the second row lies on the first key.
  const sink = mapsOf({ data: Float32Array.of(1, 0, 1, 0), shape: [1, 2, 2] }, null);
  const rest = withoutRows(sink, new Set([0]));
  assert.deepEqual([...rest.maps.weights], [0]);
  assert.deepEqual([...(rest.maps.hidden ?? [])], [1]);
  assert.equal(rest.share[0], 1);
});

test("not-a-number stays in the rows that have it", () => {
  const maps = mapsOf({ data: Float32Array.of(Number.NaN, 0.5, 0.5, 0.5), shape: [1, 2, 2] }, null);
  const joined = mergeMaps(maps, [[0], [1]]);
  assert.ok(Number.isNaN(joined.weights[0]));
  assert.deepEqual([...joined.weights.slice(2)], [0.5, 0.5]);
});

test("a layout keeps texts, drops special tokens or the first row, and finds rows again", () => {
  const text = "a b";
  const tokens = [token(9, 0, 0, true), { ...token(1, 0, 1), text: "a" }, { ...token(2, 1, 3), text: " b" }];
  assert.deepEqual(layOut(text, tokens, "token", "none").texts, ["[CLS]", "a", " b"]);
  const special = layOut(text, tokens, "token", "special");
  assert.deepEqual(special.texts, ["a", " b"]);
  assert.deepEqual(
    [rowOf(special, 0), rowOf(special, 2), tokenOf(special, 0), tokenOf(special, 5)],
    [null, 1, 1, null],
  );
  assert.deepEqual(layOut(text, tokens, "token", "first").texts, ["a", " b"]);
  // One row is all there is: it stays.
  const lone = layOut("a", [token(0, 0, 1)], "token", "first");
  assert.deepEqual([lone.kept, lone.out.size], [[0], 0]);
  assert.deepEqual(layOut("", [], "word", "first").texts, []);
});

test("scores are shown only where every row is a token and none is left out", () => {
  const { tokens } = tokenize("one two three", "character", 512);
  const data = Float32Array.of(1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5);
  const hidden = Number.NEGATIVE_INFINITY;
  const scores = Float32Array.of(1, hidden, hidden, 1, 1, hidden, 1, 1, 1);
  const plain = draw(layOut("one two three", tokens, "token", "none"), { data, shape: [1, 3, 3] }, scores);
  assert.equal(plain.view.scores, scores);
  assert.equal(plain.share, null);
  const less = draw(layOut("one two three", tokens, "token", "first"), { data, shape: [1, 3, 3] }, scores);
  assert.equal(less.view.scores, null);
  assert.deepEqual([...less.view.weights], [1, 0, 0.375, 0.625].map(Math.fround));
  assert.ok(Math.abs((less.share?.[0] ?? 0) - 0.35) < 1e-6);
});

test("of a text that was cut no more is divided than its tokens reach", () => {
  const { segment } = Intl.Segmenter.prototype;
  const divided: number[] = [];
  Intl.Segmenter.prototype.segment = function (this: Intl.Segmenter, text: string) {
    divided.push(text.length);
    return segment.call(this, text);
  };
  try {
    const { tokens } = tokenize(`${"one two ".repeat(10)}${"three ".repeat(50_000)}`, "character", 20);
    const end = tokens[tokens.length - 1]?.end as number;
    divided.length = 0;
    for (const rows of ["character", "word"] as const) {
      const text = `${"one two ".repeat(10)}${"three ".repeat(50_000)}`;
      assert.deepEqual(
        groupTokens(text, tokens, rows),
        tokens.map((_, i) => [i]),
      );
    }
    assert.deepEqual(divided, [end, end]);
  } finally {
    Intl.Segmenter.prototype.segment = segment;
  }
});

test("heads by kind, entropy and importance; what is not known goes by number", () => {
  const kinds = [
    { name: "b", share: 0.6 },
    { name: "a", share: Number.NaN },
    { name: "b", share: 0.9 },
    { name: "a", share: 0.7 },
  ];
  const facts = { kinds, entropy: [2, 0.5, 1, Number.NaN], importance: null };
  assert.deepEqual(sortHeads("index", facts), [0, 1, 2, 3]);
  assert.deepEqual(sortHeads("kind", facts), [2, 0, 3, 1]);
  assert.deepEqual(sortHeads("entropy", facts), [1, 2, 0, 3]);
  assert.deepEqual(sortHeads("importance", facts), [0, 1, 2, 3]);
  assert.deepEqual(sortHeads("importance", { ...facts, importance: [0.1, 0.4, -0.2, 0.4] }), [1, 3, 0, 2]);
});

test("the table sorts by a column, turns round at the second click, and puts hidden cells last", () => {
  const values = [0.2, Number.NaN, 0.7, 0.1];
  const by = (code: string) => sortRows(4, parseSort(code), (row) => values[row] as number);
  assert.deepEqual(by("k0-"), [2, 0, 3, 1]);
  assert.deepEqual(by("k0"), [3, 0, 2, 1]);
  assert.deepEqual(
    sortRows(3, parseSort("t"), (row) => ["b", "ä", "a"][row] as string),
    [2, 1, 0],
  );
  assert.deepEqual([nextSort("q", "k3"), nextSort("k3-", "k3"), nextSort("k3", "k3")], ["k3-", "k3", "k3-"]);
  assert.deepEqual([nextSort("w-", "q"), nextSort("q", "q")], ["q", "q-"]);
});
