import assert from "node:assert/strict";
import { test } from "node:test";
import { type HeadStats, HeadscopeError, stats, type Tensor } from "headscope";

// Heads made by hand, whose numbers are known without calculating.

/** One head of `size` queries and keys, weight by weight. */
function head(size: number, weight: (i: number, j: number) => number): Tensor {
  const data = Float32Array.from({ length: size * size }, (_, at) => weight(Math.floor(at / size), at % size));
  return { data, shape: [1, size, size] };
}

function only(weights: Tensor, ids?: ArrayLike<number>): HeadStats {
  const all = stats.heads(weights, ids);
  assert.equal(all.length, 1);
  return all[0] as HeadStats;
}

const IDS = [5, 9, 5, 7, 9, 5];

test("stats.heads: a head that looks at the previous token", () => {
  const s = only(head(6, (i, j) => (j === Math.max(0, i - 1) ? 1 : 0)));
  assert.equal(s.previous, 1);
  assert.equal(s.self, 1 / 6); // the first token has only itself
  assert.equal(s.next, 0);
  assert.equal(s.first, 2 / 6);
  assert.equal(s.meanDistance, 5 / 6);
  assert.equal(s.entropy, 0);
  assert.equal(s.maxWeight, 1);
});

test("stats.heads: heads that look at the same, the next and the first token", () => {
  assert.equal(only(head(6, (i, j) => (i === j ? 1 : 0))).self, 1);
  const next = only(head(6, (i, j) => (j === Math.min(5, i + 1) ? 1 : 0)));
  assert.equal(next.next, 1);
  assert.equal(next.previous, 0);
  const first = only(head(6, (_, j) => (j === 0 ? 1 : 0)));
  assert.equal(first.first, 1);
  assert.equal(first.meanDistance, 15 / 6);
});

test("stats.heads: an even head over 8 keys has 3 bits of entropy and 1/8 everywhere", () => {
  const s = only(head(8, () => 1 / 8));
  assert.equal(s.entropy, 3);
  assert.equal(s.maxWeight, 0.125);
  assert.equal(s.self, 0.125);
  assert.equal(s.previous, 0.125);
});

test("stats.heads: duplicate, induction and rare follow the token ids", () => {
  // Of 5 9 5 7 9 5: rows 2, 4 and 5 have an earlier equal token; behind those stand places 1, {2} and {1, 3}.
  const duplicates = [[], [], [0], [], [1], [0, 2]];
  const duplicate = only(
    head(6, (i, j) => {
      const at = duplicates[i] as number[];
      return at.length === 0 ? (j === i ? 1 : 0) : at.includes(j) ? 1 / at.length : 0;
    }),
    IDS,
  );
  assert.equal(duplicate.duplicate, 1);
  assert.equal(duplicate.induction, 0);
  const followers = [[], [], [1], [], [2], [1, 3]];
  const induction = only(
    head(6, (i, j) => {
      const at = followers[i] as number[];
      return at.length === 0 ? (j === i ? 1 : 0) : at.includes(j) ? 1 / at.length : 0;
    }),
    IDS,
  );
  assert.equal(induction.induction, 1);
  assert.equal(induction.duplicate, 0);
  assert.equal(
    only(
      head(6, (_, j) => (j === 3 ? 1 : 0)),
      IDS,
    ).rare,
    1,
  ); // 7 is there once
});

test("stats.heads: of equally rare tokens the one with the highest id is the rarest", () => {
  const ids = [40, 11, 30, 11];
  assert.equal(
    only(
      head(4, (_, j) => (j === 0 ? 1 : 0)),
      ids,
    ).rare,
    1,
  );
  assert.equal(
    only(
      head(4, (_, j) => (j === 2 ? 1 : 0)),
      ids,
    ).rare,
    0,
  );
});

test("stats.heads: an immediate repetition is a duplicate; the place behind it is the query itself and is not induction", () => {
  const s = only(
    head(2, (i, j) => (i === j ? 1 : 0)),
    [3, 3],
  );
  assert.equal(s.duplicate, 0);
  assert.ok(Number.isNaN(s.induction)); // no row can be asked
});

test("stats.heads: rows that see nothing are left out, and a head of such rows has no numbers", () => {
  const s = only(head(4, (i, j) => (i === 2 && j === 1 ? 1 : 0)));
  assert.deepEqual([s.entropy, s.maxWeight, s.previous, s.first, s.meanDistance], [0, 1, 1, 0, 1]);
  for (const value of Object.values(only(head(3, () => 0)))) assert.ok(Number.isNaN(value));
});

test("stats.heads: without token ids the three numbers that need them are NaN", () => {
  const s = only(head(3, () => 1 / 3));
  assert.deepEqual([s.duplicate, s.induction, s.rare], [Number.NaN, Number.NaN, Number.NaN]);
});

test("stats.heads: with fewer queries than keys the queries are the last ones, as in decoding", () => {
  const weights: Tensor = { data: Float32Array.of(0, 0, 1, 0), shape: [1, 1, 4] };
  const s = only(weights, [1, 2, 1, 2]);
  assert.equal(s.previous, 1);
  assert.equal(s.duplicate, 0);
  assert.equal(s.induction, 1);
});

test("stats.heads takes [1,H,T,S], any array of ids, and leaves both unchanged", () => {
  const one = head(6, (i, j) => (i === j ? 1 : 0));
  const batched: Tensor = { data: one.data, shape: [1, 1, 6, 6] };
  const before = one.data.slice();
  const expected = stats.heads(one, IDS);
  for (const ids of [Int32Array.from(IDS), Uint32Array.from(IDS), Float64Array.from(IDS)]) {
    assert.deepEqual(stats.heads(batched, ids), expected);
  }
  assert.deepEqual(one.data, before);
});

test("C06: stats.heads refuses a batch, and ids that are not one per key, naming both numbers", () => {
  const data = new Float32Array(2 * 3 * 144);
  assert.throws(() => stats.heads({ data, shape: [2, 3, 12, 12] }), {
    name: "HeadscopeError",
    code: "shape",
    message: /weights\.shape.*\[2, 3, 12, 12\].*one at a time/,
  });
  assert.throws(() => stats.heads({ data: new Float32Array(256), shape: [1, 16, 16] }, new Int32Array(12)), {
    name: "HeadscopeError",
    code: "shape",
    message: /tokenIds.*16.*12/,
  });
  assert.throws(() => stats.heads({ data: new Float32Array(256), shape: [16, 16] }), HeadscopeError);
  assert.throws(
    () =>
      stats.heads(
        head(2, () => 0.5),
        "ab" as never,
      ),
    { name: "TypeError", message: /tokenIds/ },
  );
  assert.throws(
    () =>
      stats.heads(
        head(2, () => 0.5),
        [1, "2"] as never,
      ),
    {
      name: "TypeError",
      message: /tokenIds\[1\]: expected a number, got "2"/,
    },
  );
  assert.throws(
    () =>
      stats.heads(
        head(2, () => 0.5),
        new BigInt64Array(2) as never,
      ),
    TypeError,
  );
});

test("stats.similarity: 1 for the same head, 0 for heads with no key in common, symmetric, between for the rest", () => {
  const heads = [
    head(4, (i, j) => (i === j ? 1 : 0)),
    head(4, (i, j) => ((i + 1) % 4 === j ? 1 : 0)),
    head(4, () => 0.25),
  ];
  const data = new Float32Array(48);
  heads.forEach((one, h) => {
    data.set(one.data, h * 16);
  });
  const { data: alike, shape } = stats.similarity({ data, shape: [3, 4, 4] });
  assert.deepEqual(shape, [3, 3]);
  assert.deepEqual([alike[0], alike[4], alike[8]], [1, 1, 1]);
  assert.deepEqual([alike[1], alike[3]], [0, 0]);
  // One key against four even ones: mixture entropy 1.5488 bits, less the mean of 0 and 2.
  const mixture = -(0.625 * Math.log2(0.625) + 3 * 0.125 * Math.log2(0.125));
  assert.ok(Math.abs((alike[2] as number) - (1 - (mixture - 1))) < 1e-6, String(alike[2]));
  assert.equal(alike[2], alike[6]);
});

test("stats.similarity compares only rows that both heads have, and is NaN without any", () => {
  const data = Float32Array.of(1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0);
  const { data: alike } = stats.similarity({ data, shape: [3, 2, 2] });
  assert.equal(alike[1], 1);
  assert.ok(Number.isNaN(alike[2]));
});
