import assert from "node:assert/strict";
import type { Tensor } from "headscope";
import { assertClose, assertSameBits, assertValuesClose } from "../support/compare.ts";
import { drawWeights, joined, sideBySide } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { assertSumsToOne, rowsOf, slice } from "../support/rows.ts";
import { eachVariant } from "../variants.ts";

// The rows A, B, C and E of the feature list that the API answers, each as its sentence.

const NEAR = { relative: 4e-6 };

function identity(n: number): Float32Array {
  return Float32Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0));
}

function times(a: Float32Array, rows: number, inner: number, b: Float32Array, columns: number): Float64Array {
  const out = new Float64Array(rows * columns);
  for (let r = 0; r < rows; ++r)
    for (let i = 0; i < inner; ++i)
      for (let c = 0; c < columns; ++c) {
        const at = r * columns + c;
        out[at] = (out[at] as number) + (a[r * inner + i] as number) * (b[i * columns + c] as number);
      }
  return out;
}

eachVariant("A1: H heads are H independent averages: every row sums to 1, and no two heads agree", (hs) => {
  const random = new Random(1);
  const config = { dModel: 32, numHeads: 4 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  for (const tokens of [
    "小明在北京的大学里学习计算机科学".length,
    "The cat sat on the mat because it was".split(" ").length,
  ]) {
    const { weights } = layer.forward(random.tensor([tokens, 32]));
    assert.deepEqual(weights.shape, [4, tokens, tokens]);
    for (const row of rowsOf(weights)) assertSumsToOne(row, `${tokens} tokens`);
    const heads = [0, 1, 2, 3].map((h) => slice(weights, 0, h, h + 1).data.join());
    assert.equal(new Set(heads).size, 4);
  }
});

eachVariant("A2: MultiHead = Concat(head_1 … head_H) · W_O + b_O", (hs) => {
  const random = new Random(2);
  const config = { dModel: 12, numHeads: 3 };
  const weights = drawWeights(config, random);
  const { output, concat, heads } = hs
    .multiHeadAttention(config, weights)
    .forward(random.tensor([5, 12]), { want: ["concat", "heads"] });
  assert.deepEqual(concat.shape, [5, 12]);
  for (let h = 0; h < 3; ++h) {
    for (let t = 0; t < 5; ++t) {
      const column = concat.data.subarray(t * 12 + h * 4, t * 12 + h * 4 + 4);
      assert.deepEqual([...column], [...heads.data.subarray((h * 5 + t) * 4, (h * 5 + t) * 4 + 4)]);
    }
  }
  const product = times(concat.data, 5, 12, weights.wo, 12).map((x, at) => x + (weights.bo[at % 12] as number));
  assertValuesClose(output.data, product, NEAR, "output");
});

eachVariant("A3, A4, A5: dk ≠ dv, H·dk ≠ D, and keys and values of other widths and another length", (hs) => {
  const random = new Random(3);
  const config = { dModel: 10, numHeads: 4, headDim: 3, valueHeadDim: 5, keyDim: 7, valueDim: 6, outDim: 9 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const key = random.tensor([8, 7]);
  const value = random.tensor([8, 6]);
  const want = ["weights", "q", "k", "v", "heads", "concat", "contributions"] as const;
  const result = layer.forward(random.tensor([2, 10]), { key, value, want });
  assert.deepEqual(result.output.shape, [2, 9]);
  assert.deepEqual(result.weights.shape, [4, 2, 8]);
  assert.deepEqual(result.q.shape, [4, 2, 3]);
  assert.deepEqual(result.k.shape, [4, 8, 3]);
  assert.deepEqual(result.v.shape, [4, 8, 5]);
  assert.deepEqual(result.heads.shape, [4, 2, 5]);
  assert.deepEqual(result.concat.shape, [2, 20]);
  assert.deepEqual(result.contributions.shape, [4, 2, 9]);
  const parts = 4 * (10 * 3 + 7 * 3 + 6 * 5) + 20 * 9;
  assert.equal(layer.parameterCount, parts + 4 * (3 + 3 + 5) + 9);
});

eachVariant("A9: each head reads all of Z: every input column moves every head", (hs) => {
  const random = new Random(4);
  const config = { dModel: 8, numHeads: 4 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const z = random.tensor([3, 8]);
  const before = layer.forward(z, { want: ["heads"] }).heads;
  for (let column = 0; column < 8; ++column) {
    const moved: Tensor = { data: z.data.map((x, at) => (at % 8 === column ? x + 1 : x)), shape: z.shape };
    const { heads } = layer.forward(moved, { want: ["heads"] });
    for (let h = 0; h < 4; ++h) {
      assert.notDeepEqual(slice(heads, 0, h, h + 1), slice(before, 0, h, h + 1), `column ${column}, head ${h}`);
    }
  }
});

eachVariant(
  "B1, B4: D=4, H=2, d=2: columns 1 and 2 of W_Q make head 1, columns 3 and 4 head 2, and go back there",
  (hs) => {
    const weights = { layout: "in-out", wq: identity(4), wk: identity(4), wv: identity(4), wo: identity(4) } as const;
    const layer = hs.multiHeadAttention({ dModel: 4, numHeads: 2 }, weights);
    const x: Tensor = { data: Float32Array.of(11, 12, 13, 14), shape: [1, 4] };
    const { q, heads, concat } = layer.forward(x, { want: ["q", "heads", "concat"] });
    assert.deepEqual([...q.data], [11, 12, 13, 14]);
    assert.deepEqual(q.shape, [2, 1, 2]);
    assert.deepEqual([...heads.data], [11, 12, 13, 14]);
    assert.deepEqual([...concat.data], [11, 12, 13, 14]);
  },
);

eachVariant("B5: row block i of W_O is where head i writes: without it head i stays in its own columns", (hs) => {
  const random = new Random(5);
  const config = { dModel: 8, numHeads: 2 };
  const { bo: _, ...drawn } = drawWeights(config, random);
  const x = random.tensor([3, 8]);
  const alone = (h: number) => ({ headMask: Float32Array.of(h === 0 ? 1 : 0, h === 1 ? 1 : 0), want: [] }) as const;

  const plain = hs.multiHeadAttention(config, { ...drawn, wo: identity(8) });
  for (const row of rowsOf(plain.forward(x, alone(0)).output)) assert.deepEqual([...row.subarray(4)], [0, 0, 0, 0]);
  for (const row of rowsOf(plain.forward(x, alone(1)).output)) assert.deepEqual([...row.subarray(0, 4)], [0, 0, 0, 0]);

  // Both heads write the same thing with opposite signs: they cancel.
  const twice = (w: Float32Array): Float32Array => {
    const left = Float32Array.from({ length: 32 }, (_, at) => w[Math.floor(at / 4) * 8 + (at % 4)] as number);
    return sideBySide(8, left, left);
  };
  const block = random.values(32);
  const cancelling = hs.multiHeadAttention(config, {
    layout: "in-out",
    wq: twice(drawn.wq),
    wk: twice(drawn.wk),
    wv: twice(drawn.wv),
    wo: joined(
      block,
      block.map((w) => -w),
    ),
  });
  const { output, contributions } = cancelling.forward(x, { want: ["contributions"] });
  assert.ok(contributions.data.some((c) => Math.abs(c) > 0.1));
  for (const sum of output.data) assert.ok(Math.abs(sum) < 1e-6, String(sum));
});

eachVariant("B6: A = Σ_h O_h·W_O^(h) + b_O: 12 blocks of [64,768] equal the one big product", (hs) => {
  const random = new Random(6);
  const config = { dModel: 768, numHeads: 12 };
  const weights = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, weights);
  const { output, contributions, heads } = layer.forward(random.tensor([2, 768]), { want: ["contributions", "heads"] });
  assert.deepEqual(contributions.shape, [12, 2, 768]);
  const sum = Float64Array.from({ length: 2 * 768 }, (_, at) => weights.bo[at % 768] as number);
  for (let h = 0; h < 12; ++h) {
    const block = weights.wo.subarray(h * 64 * 768, (h + 1) * 64 * 768);
    const product = times(slice(heads, 0, h, h + 1).data, 2, 64, block, 768);
    assertValuesClose(slice(contributions, 0, h, h + 1).data, product, NEAR, `head ${h}`);
    contributions.data.subarray(h * 1536, (h + 1) * 1536).forEach((c, at) => {
      sum[at] = (sum[at] as number) + c;
    });
  }
  assertValuesClose(output.data, sum, NEAR, "sum of the contributions and the bias");
});

eachVariant("B7: concat puts 12 × 64 side by side, 768 wide, and has no parameters", (hs) => {
  const random = new Random(7);
  const config = { dModel: 768, numHeads: 12 };
  const { wq, wk, wv } = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, { layout: "in-out", wq, wk, wv });
  assert.equal(layer.parameterCount, 3 * 768 * 768);
  const { output, concat } = layer.forward(random.tensor([2, 768]), { want: ["concat"] });
  assert.deepEqual(concat.shape, [2, 768]);
  assertSameBits(output.data, concat.data, "without W_O the output is the concatenation");
});

eachVariant("B8: fused QKV with biases: the same parameters and the same result as split", (hs) => {
  const random = new Random(8);
  const config = { dModel: 768, numHeads: 12 };
  const { wq, wk, wv, wo, bq, bk, bv, bo } = drawWeights(config, random);
  const split = hs.multiHeadAttention(config, { layout: "in-out", wq, wk, wv, wo, bq, bk, bv, bo });
  const wqkv = sideBySide(768, wq, wk, wv);
  assert.equal(wqkv.length, 768 * 2304);
  const fused = hs.multiHeadAttention(config, { layout: "in-out", wqkv, bqkv: joined(bq, bk, bv), wo, bo });
  assert.equal(fused.parameterCount, split.parameterCount);
  assert.equal(fused.parameterCount, 4 * 768 * 768 + 4 * 768);
  const x = random.tensor([2, 768]);
  const want = ["weights", "q", "k", "v"] as const;
  const a = split.forward(x, { want, causal: true });
  const b = fused.forward(x, { want, causal: true });
  for (const name of ["output", ...want] as const) assertClose(b[name], a[name], NEAR, name);
});

eachVariant("C6: the rank of QKᵀ is at most dk: with dk = 2 no 6×6 pattern of rank 3 can be made", (hs) => {
  const random = new Random(9);
  const { scores } = hs.attention(random.tensor([1, 6, 2]), random.tensor([1, 6, 2]), random.tensor([1, 6, 2]), {
    scale: 1,
    want: ["scores"],
  });
  const rows = rowsOf(scores).map((row) => Float64Array.from(row));
  const lengths: number[] = [];
  for (let pivot = 0; pivot < 3; ++pivot) {
    rows.sort((a, b) => norm(b) - norm(a));
    const [first, ...rest] = rows.splice(0) as [Float64Array, ...Float64Array[]];
    const length = norm(first);
    lengths.push(length);
    const unit = first.map((x) => x / (length || 1));
    for (const row of rest) {
      const along = row.reduce((sum, x, j) => sum + x * (unit[j] as number), 0);
      rows.push(row.map((x, j) => x - along * (unit[j] as number)));
    }
  }
  assert.ok((lengths[1] as number) > 0.01, `second ${lengths[1]}`);
  assert.ok((lengths[2] as number) < 1e-5, `third ${lengths[2]}`);
});

function norm(row: Float64Array): number {
  return Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
}

eachVariant("E1: MHA, GQA and MQA: a group shares one K/V head, so copying it for each head changes nothing", (hs) => {
  const random = new Random(10);
  const q = random.tensor([4, 5, 6]);
  for (const groups of [4, 2, 1]) {
    const k = random.tensor([groups, 7, 6]);
    const v = random.tensor([groups, 7, 3]);
    const copied = (t: Tensor): Tensor => ({
      data: joined(
        ...[0, 1, 2, 3].map((h) => slice(t, 0, Math.floor(h / (4 / groups)), Math.floor(h / (4 / groups)) + 1).data),
      ),
      shape: [4, ...t.shape.slice(1)],
    });
    const shared = hs.attention(q, k, v);
    const apart = hs.attention(q, copied(k), copied(v));
    assertClose(shared.weights, apart.weights, { absolute: 1e-6 }, `G = ${groups}`);
    assertClose(shared.output, apart.output, NEAR, `G = ${groups}`);
  }
});
