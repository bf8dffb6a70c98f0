import assert from "node:assert/strict";
import { test } from "node:test";
import { randomTarget, reachOf, scoreProduct, softmaxRows } from "../../web/playground/labs/low-rank.js";
import {
  bestOfRank,
  errorOfRank,
  norm,
  numericalRank,
  type Svd,
  solveLeastSquares,
  svd,
  transpose,
} from "../../web/playground/labs/svd.js";
import { assertValuesClose } from "../support/compare.ts";
import { Random } from "../support/random.ts";

const close = (actual: ArrayLike<number>, expected: ArrayLike<number>, absolute: number, name: string) =>
  assertValuesClose(Float64Array.from(actual), Float64Array.from(expected), { absolute }, name);

function multiply(a: ArrayLike<number>, b: ArrayLike<number>, rows: number, depth: number, columns: number) {
  return Float64Array.from({ length: rows * columns }, (_, at) => {
    const [r, c] = [Math.floor(at / columns), at % columns];
    let sum = 0;
    for (let i = 0; i < depth; i++) sum += (a[r * depth + i] as number) * (b[i * columns + c] as number);
    return sum;
  });
}

/** U Uᵀ of vectors that lie one after the other. */
const gram = (vectors: Float64Array, count: number, length: number) =>
  multiply(vectors, transpose(vectors, count, length), count, length, count);

const identity = (n: number) => Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));

function assertSvd(found: Svd, matrix: ArrayLike<number>, absolute: number): void {
  const { rows, columns, values, left, right } = found;
  const count = Math.min(rows, columns);
  assert.equal(values.length, count);
  assert.deepEqual(
    [...values],
    [...values].sort((a, b) => b - a),
  );
  close(bestOfRank(found, count), matrix, absolute, "U S Vᵀ");
  close(gram(right, count, columns), identity(count), 1e-13, "VᵀV");
  if ((values.at(-1) as number) > 0) close(gram(left, count, rows), identity(count), 1e-12, "UᵀU");
}

test("svd() of a matrix whose singular values are known", () => {
  // [[3, 0], [4, 5]]: AᵀA has eigenvalues 45 and 5.
  const found = svd([3, 0, 4, 5], 2, 2);
  close(found.values, [Math.sqrt(45), Math.sqrt(5)], 1e-14, "values");
  assertSvd(found, [3, 0, 4, 5], 1e-14);
  // The Hilbert matrix of order 4 (values as LAPACK gives them), badly conditioned.
  const hilbert = Array.from({ length: 16 }, (_, i) => 1 / (Math.floor(i / 4) + (i % 4) + 1));
  const expected = [1.5002142800592426, 0.16914122022144987, 0.0067382736057607, 0.00009670230402258907];
  close(svd(hilbert, 4, 4).values, expected, 1e-15, "Hilbert");
});

for (const [rows, columns] of [
  [1, 1],
  [5, 5],
  [9, 4],
  [4, 9],
  [1, 7],
  [64, 32],
] as const) {
  test(`svd() of a random ${rows} × ${columns} matrix gives it back, with orthonormal vectors`, () => {
    const matrix = new Random(rows * 100 + columns).values(rows * columns);
    const found = svd(matrix, rows, columns);
    assertSvd(found, matrix, 1e-13);
    const trace = matrix.reduce((sum, value) => sum + value * value, 0);
    assert.ok(Math.abs(found.values.reduce((sum, value) => sum + value * value, 0) - trace) < 1e-11);
  });
}

test("svd() of zeros, and of columns that are all the same", () => {
  assert.deepEqual([...svd(new Float64Array(6), 3, 2).values], [0, 0]);
  const found = svd(new Float64Array(12).fill(2), 4, 3);
  close(found.values, [2 * Math.sqrt(12), 0, 0], 1e-14, "values");
  assert.equal(numericalRank(found), 1);
});

test("errorOfRank() is the distance of bestOfRank(), and no other matrix of that rank is nearer", () => {
  const random = new Random(4);
  const matrix = random.values(100);
  const parts = svd(matrix, 10, 10);
  for (let rank = 0; rank <= 10; rank++) {
    const best = bestOfRank(parts, rank);
    const distance = norm(best.map((value, i) => value - (matrix[i] as number))) / norm(matrix);
    assert.ok(Math.abs(distance - errorOfRank(parts, rank)) < 1e-14);
    for (let attempt = 0; attempt < 20; attempt++) {
      // The same columns turned a little: still of that rank.
      const noise = random.values(100, 0.02).map((value, i) => value + (i % 11 === 0 ? 1 : 0));
      const other = multiply(best, noise, 10, 10, 10);
      const further = norm(other.map((value, i) => value - (matrix[i] as number))) / norm(matrix);
      assert.ok(further >= distance - 1e-14);
    }
  }
});

test("rank(QKᵀ) ≤ d_k: a product of n × d_k matrices in float32 has no more singular values", () => {
  for (const [n, dk] of [
    [12, 1],
    [12, 4],
    [24, 8],
    [8, 8],
    [6, 16],
  ] as const) {
    const random = new Random(n + dk);
    const q = { data: random.values(2 * n * dk), shape: [2, n, dk] };
    const k = { data: random.values(n * dk), shape: [1, n, dk] };
    const { scores } = scoreProduct(q, k, 1, 512);
    const turned = transpose(k.data, n, dk);
    close(scores, multiply(q.data.subarray(n * dk), turned, n, dk, n), 1e-12, "QKᵀ of a shared key head");
    assert.equal(numericalRank(svd(scores, n, n)), Math.min(n, dk));
  }
});

test("scoreProduct() takes the first tokens of a long text", () => {
  const random = new Random(1);
  const q = random.tensor([2, 9, 3]);
  const k = random.tensor([2, 9, 3]);
  assert.equal(scoreProduct(q, k, 0, 5).n, 5);
  assert.equal(scoreProduct(q, k, 0, 5).scores[6], scoreProduct(q, k, 0, 9).scores[10]);
});

test("reachOf(): nearer with every rank, there with rank n, and softmax of exactly the best scores", () => {
  const target = randomTarget(16, 7);
  const wanted = softmaxRows(target.scores, 16);
  const errors = Array.from({ length: 17 }, (_, rank) => errorOfRank(target.svd, rank));
  for (let rank = 1; rank <= 16; rank++) assert.ok((errors[rank] as number) < (errors[rank - 1] as number));
  assert.equal(errors[0], 1);
  assert.equal(errors[16], 0);
  assert.deepEqual(reachOf(target, 16), { weights: wanted, worst: 0 });
  assert.ok(reachOf(target, 2).worst > 0.3);
  assert.deepEqual(reachOf(target, 5).weights, softmaxRows(bestOfRank(target.svd, 5), 16));
  // What nothing can aim at: with rank 0 all weights are alike.
  for (const weight of reachOf(target, 0).weights) assert.equal(weight, 1 / 16);
});

test("randomTarget() is standard normal times its spread, the same for the same seed", () => {
  const { scores } = randomTarget(32, 1);
  assert.deepEqual(randomTarget(32, 1).scores, scores);
  assert.notDeepEqual(randomTarget(32, 2).scores, scores);
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  const deviation = Math.sqrt(scores.reduce((sum, value) => sum + (value - mean) ** 2, 0) / scores.length);
  assert.ok(Math.abs(mean) < 0.2, String(mean));
  assert.ok(Math.abs(deviation - 2) < 0.15, String(deviation));
});

test("solveLeastSquares() solves what can be solved, and comes nearest where not", () => {
  const random = new Random(6);
  const a = random.values(12);
  const wanted = random.values(6);
  const b = multiply(a, wanted, 4, 3, 2);
  close(solveLeastSquares(svd(a, 4, 3), b, 2, 1e-12), wanted, 1e-12, "X");
  const far = random.values(8);
  const x = solveLeastSquares(svd(a, 4, 3), far, 2, 1e-12);
  const rest = multiply(a, x, 4, 3, 2).map((value, i) => value - (far[i] as number));
  // What is left is orthogonal to all that A can make.
  close(multiply(transpose(a, 4, 3), rest, 3, 4, 2), new Float64Array(6), 1e-12, "Aᵀ rest");
});
