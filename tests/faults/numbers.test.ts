import assert from "node:assert/strict";
import type { Headscope, Tensor } from "headscope";
import { assertClose, assertSameBits, OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { ExactLayer, exactAttention } from "../support/oracle.js";
import { Random } from "../support/random.js";
import { assertAllZero, assertSumsToOne, rowsOf, slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";
import { probe } from "./probe.js";

// Group K of the fault list: numbers and vector code.

eachVariant("K01: scores of any size give finite weights that sum to 1", (hs) => {
  const random = new Random(61);
  const q = random.tensor([1, 1, 4, 8]);
  const k = random.tensor([1, 1, 37, 8]);
  const v = random.tensor([1, 1, 37, 8]);
  for (const scale of [1e-30, 1e3, 1e6, 1e15, 1e30, -1e6]) {
    const { weights, output } = hs.attention(q, k, v, { scale });
    for (const row of rowsOf(weights)) assertSumsToOne(row, `scale ${scale}`);
    assert.ok(output.data.every(Number.isFinite), `scale ${scale}`);
    const alone = hs.attention(q, k, v, { scale, want: [] });
    assertClose(alone.output, output, { absolute: 1e-6 }, `scale ${scale}: output alone`);
  }
});

eachVariant("K01: equal scores give equal weights, within one rounding", (hs) => {
  const random = new Random(62);
  for (const keys of [1, 2, 3, 5, 7, 8, 9, 31, 33, 65, 100]) {
    const q = random.tensor([1, 2, 3, 4]);
    const v = random.tensor([1, 2, keys, 5]);
    const same = random.values(4);
    const k = {
      data: Float32Array.from({ length: 2 * keys * 4 }, (_, at) => same[at % 4] as number),
      shape: [1, 2, keys, 4],
    };
    for (const options of [{ scale: 0 }, {}]) {
      const { weights, output } = hs.attention(q, k, v, options);
      const expected = Math.fround(1 / keys);
      const rounding = 2 ** (Math.floor(Math.log2(expected)) - 23);
      for (const w of weights.data) assert.ok(Math.abs(w - expected) <= rounding, `${keys} keys: ${w}`);
      assertClose(output, exactAttention(q, k, v, { scale: 0 }).output, OUTPUT_TOLERANCE, `${keys} keys`);
    }
  }
});

eachVariant("K01: large finite biases only add, alone −Infinity hides", (hs) => {
  const random = new Random(63);
  const [q, k, v] = [random.tensor([1, 1, 3, 4]), random.tensor([1, 1, 6, 4]), random.tensor([1, 1, 6, 4])];
  for (const low of [-1e9, -3.4028234663852886e38]) {
    // Half of the keys at 0: the others get nothing. All keys at `low`: as if none were.
    const half = Float32Array.from({ length: 6 }, (_, j) => (j < 3 ? 0 : low));
    const some = hs.attention(q, k, v, { bias: { data: half, shape: [6] } });
    const seen = hs.attention(q, slice(k, 2, 0, 3), slice(v, 2, 0, 3));
    assertClose(some.output, seen.output, { absolute: 1e-6 }, `half at ${low}`);
    const all = hs.attention(q, k, v, { bias: { data: new Float32Array(6).fill(low), shape: [6] } });
    for (const row of rowsOf(all.weights)) {
      assertSumsToOne(row, `all at ${low}`);
      for (const w of row) assert.ok(w > 0, `all at ${low}: weight ${w}`);
    }
    const alone = hs.attention(q, k, v, { bias: { data: new Float32Array(6).fill(low), shape: [6] }, want: [] });
    assertClose(alone.output, all.output, { absolute: 1e-6 }, `all at ${low}: output alone`);
  }
});

probe("p-big-logits", "K01: scores near 1e5", ({ weights }) => {
  for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
});
probe("p-neg-logits", "K01: scores near −1e4", ({ weights }) => {
  for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
});
probe("p-equal", "K01: scale 0", ({ weights }) => {
  for (const w of weights.data) assert.ok(Math.abs(w - 1 / 7) <= 2 ** -26, `${w}`);
});

/** Leaves NaN all over the memory that calls of this size and smaller ones use. */
function poison(hs: Headscope): void {
  const nan = (shape: number[]): Tensor => ({
    data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(Number.NaN),
    shape,
  });
  const large = nan([1, 4, 70, 70]);
  hs.attention(large, large, large, { want: ["weights", "scores", "heads", "concat", "q", "k", "v"] });
  hs.attention(large, large, large, { want: [] });
  const config = { dModel: 70, numHeads: 2, headDim: 35 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, new Random(64)));
  layer.forward(nan([70, 70]), { want: ["weights", "contributions", "q", "k", "v", "heads", "concat"] });
  layer.dispose();
}

eachVariant("K02: the tails of odd sizes read nothing that earlier calls left behind", (hs) => {
  // The sizes themselves: tests/fixtures/sizes.test.ts.
  const sizes = [1, 2, 3, 5, 7, 9, 15, 17, 31, 33, 63, 65];
  sizes.forEach((n, at) => {
    const random = new Random(65 + n);
    const t = sizes[(at + 5) % sizes.length] as number;
    const dv = sizes[(at + 7) % sizes.length] as number;
    const q = random.tensor([1, 2, t, n]);
    const k = random.tensor([1, 1, n, n]);
    const v = random.tensor([1, 1, n, dv]);
    const config = { dModel: n, numHeads: 2, headDim: t, valueHeadDim: dv, outDim: dv };
    const weights = drawWeights(config, random);
    const x = random.tensor([t, n]);
    const run = (): Float32Array[] => {
      const all = hs.attention(q, k, v, { causal: { offset: 1 } });
      const alone = hs.attention(q, k, v, { want: [] });
      const layer = hs.multiHeadAttention(config, weights);
      const projected = layer.forward(x);
      layer.dispose();
      return [all.output, all.weights, alone.output, projected.output, projected.weights].map((r) => r.data);
    };
    const before = run();
    poison(hs);
    run().forEach((after, i) => {
      assert.ok(after.every(Number.isFinite), `size ${n}, result ${i}`);
      assertSameBits(after, before[i] as Float32Array, `size ${n}, result ${i}`);
    });
  });
});

eachVariant("K02: numbers beside the inputs do not get in, numbers beside the output stay", (hs) => {
  const random = new Random(66);
  const guarded = (data: Float32Array): Float32Array => {
    const big = new Float32Array(data.length + 32).fill(Number.NaN);
    big.set(data, 16);
    return big.subarray(16, 16 + data.length);
  };
  for (const n of [1, 3, 7, 9, 17, 33, 65]) {
    const q = random.tensor([2, n, n]);
    const v = random.tensor([2, n, n + 1]);
    const plain = hs.attention(q, q, v);
    const big = new Float32Array(plain.output.data.length + 32).fill(-8);
    const out = big.subarray(16, big.length - 16);
    const of = (t: Tensor): Tensor => ({ data: guarded(t.data), shape: t.shape });
    hs.attention(of(q), of(q), of(v), { out });
    assertSameBits(out.slice(), plain.output.data, `size ${n}`);
    assert.ok(big.subarray(0, 16).every((x) => x === -8) && big.subarray(-16).every((x) => x === -8), `size ${n}`);
  }
});

for (const sizes of [
  "1-1-1-1",
  "1-2-3-3",
  "2-3-5-7",
  "3-5-2-1",
  "5-7-9-11",
  "4-15-16-17",
  "7-17-31-33",
  "9-33-13-6",
  "3-65-64-63",
]) {
  probe(`p-tail-${sizes}`, `K02: T-S-dk-dv ${sizes}`);
  probe(`p-tail-causal-${sizes}`, `K02: T-S-dk-dv ${sizes}, causal`);
}

eachVariant("K03: empty axes give empty or zero results of the right shape", (hs) => {
  const random = new Random(67);
  const run = (batch: number, queries: number, keys: number, want: readonly ("weights" | "heads")[]) =>
    hs.attention(
      random.tensor([batch, 2, queries, 4]),
      random.tensor([batch, 2, keys, 4]),
      random.tensor([batch, 2, keys, 3]),
      {
        want,
      },
    );
  for (const want of [["weights", "heads"], []] as const) {
    for (const [b, t, s] of [
      [0, 3, 4],
      [2, 0, 4],
      [2, 3, 0],
      [0, 0, 0],
    ] as const) {
      const result = run(b, t, s, want);
      const label = `B ${b}, T ${t}, S ${s}, want [${want}]`;
      assert.deepEqual(result.output.shape, [b, 2, t, 3], label);
      assert.equal(result.output.data.length, b * 2 * t * 3, label);
      assertAllZero(result.output.data, label);
      if (want.length > 0) {
        assert.deepEqual(result.weights.shape, [b, 2, t, s], label);
        assert.equal(result.weights.data.length, b * 2 * t * s, label);
      }
    }
  }
  const config = { dModel: 8, numHeads: 2 };
  const weights = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, weights);
  assert.deepEqual(layer.forward(random.tensor([0, 8])).output.shape, [0, 8]);
  assert.deepEqual(layer.forward(random.tensor([0, 5, 8])).output.shape, [0, 5, 8]);
  const noKeys = layer.forward(random.tensor([3, 8]), { key: random.tensor([0, 8]) });
  for (const row of rowsOf(noKeys.output)) assertSameBits(row.slice(), weights.bo, "no keys: the output bias");
  layer.dispose();
});

probe("p-no-keys", "K03: no keys");
probe("p-no-queries", "K03: no queries");

function finiteRows(t: Tensor): boolean[] {
  return rowsOf(t).map((row) => row.every(Number.isFinite));
}

function assertRows(t: Tensor, expected: (row: number) => boolean, label: string): void {
  rowsOf(t).forEach((row, r) => {
    if (expected(r)) assert.ok(row.every(Number.isFinite), `${label}: row ${r} is finite`);
    else assert.ok(row.some(Number.isNaN), `${label}: row ${r} is NaN, not ${row}`);
  });
}

const POISONS = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

eachVariant("K04: a NaN reaches exactly the rows that see it", (hs) => {
  const random = new Random(68);
  for (const [queries, keys] of [
    [3, 5],
    [13, 13],
    [40, 40],
  ] as const) {
    const q = random.tensor([1, 1, queries, 4]);
    const k = random.tensor([1, 1, keys, 4]);
    const v = random.tensor([1, 1, keys, 3]);
    const at = Math.min(queries, keys) - 2;
    const with_ = (t: Tensor, row: number, x: number): Tensor => {
      const data = t.data.slice();
      data[row * (t.shape[3] as number) + 1] = x;
      return { data, shape: t.shape };
    };
    const label = `T ${queries}, S ${keys}`;
    for (const want of [["weights"], []] as const) {
      const clean = hs.attention(q, k, v, { want });
      const inQuery = hs.attention(with_(q, 1, Number.NaN), k, v, { want });
      assertRows(inQuery.output, (r) => r !== 1, `${label}: NaN in query 1`);
      rowsOf(inQuery.output).forEach((row, r) => {
        if (r !== 1)
          assertSameBits(row.slice(), (rowsOf(clean.output)[r] as Float32Array).slice(), `${label}: row ${r}`);
      });
      const inKey = hs.attention(q, with_(k, at, Number.NaN), v, { causal: true, want });
      assertRows(inKey.output, (r) => r < at, `${label}: NaN in key ${at}, causal`);
      const inValue = hs.attention(q, k, with_(v, at, Number.NaN), { causal: true, want });
      assertRows(inValue.output, (r) => r < at, `${label}: NaN in value ${at}, causal`);
    }
    const { weights } = hs.attention(with_(q, 1, Number.NaN), k, v);
    assert.deepEqual(
      finiteRows(weights),
      Array.from({ length: queries }, (_, r) => r !== 1),
      "weights",
    );
  }
});

eachVariant("K04: what is hidden never reaches a row: NaN and infinities behind every kind of mask", (hs) => {
  const random = new Random(69);
  const [queries, keys] = [6, 21];
  const q = random.tensor([1, 2, queries, 4]);
  const k = random.tensor([1, 2, keys, 4]);
  const v = random.tensor([1, 2, keys, 3]);
  const bits = new Uint8Array(keys).fill(1);
  bits[4] = 0;
  bits[20] = 0;
  const hiding = Float32Array.from(bits, (x) => (x ? 0 : Number.NEGATIVE_INFINITY));
  const forms = {
    mask: { mask: { data: bits, shape: [keys] } },
    bias: { bias: { data: hiding, shape: [keys] } },
    padding: { keyPadding: bits },
    gates: { mask: { data: bits, shape: [keys] }, headMask: Float32Array.of(1, 0) },
    "mask and soft cap": { mask: { data: bits, shape: [keys] }, softcap: 2 },
  };
  for (const [form, options] of Object.entries(forms)) {
    for (const want of [["weights"], []] as const) {
      const clean = hs.attention(q, k, v, { ...options, want });
      for (const poisoned of POISONS) {
        for (const target of ["keys", "values", "both"]) {
          const [dirtyK, dirtyV] = [k.data.slice(), v.data.slice()];
          for (let h = 0; h < 2; ++h)
            for (const j of [4, 20]) {
              if (target !== "values") dirtyK.fill(poisoned, (h * keys + j) * 4, (h * keys + j + 1) * 4);
              if (target !== "keys") dirtyV.fill(poisoned, (h * keys + j) * 3, (h * keys + j + 1) * 3);
            }
          const dirty = hs.attention(
            q,
            { data: dirtyK, shape: k.shape },
            { data: dirtyV, shape: v.shape },
            { ...options, want },
          );
          assertClose(
            dirty.output,
            clean.output,
            { absolute: 1e-6 },
            `${form}, ${poisoned} in ${target}, want [${want}]`,
          );
        }
      }
    }
  }
});

eachVariant("K04: a head that is NaN is taken out whole by a gate of 0", (hs) => {
  const random = new Random(70);
  const config = { dModel: 8, numHeads: 2 };
  const weights = drawWeights(config, random);
  weights.bv.fill(Number.NaN, 4); // head 1's values
  const layer = hs.multiHeadAttention(config, weights);
  const x = random.tensor([3, 8]);
  assert.ok(layer.forward(x).output.data.every(Number.isNaN));
  const { output } = layer.forward(x, { headMask: Float32Array.of(1, 0) });
  const exact = new ExactLayer(config, weights).forward(x, { headMask: Float32Array.of(1, 0) });
  assertClose({ ...output, shape: [1, 3, 8] }, exact.output, OUTPUT_TOLERANCE, "output");
  layer.dispose();
});

probe("p-nan-query", "K04: a NaN in query 1", ({ output, weights }) => {
  assert.deepEqual(finiteRows(output), [true, false, true]);
  assert.deepEqual(finiteRows(weights), [true, false, true]);
});

const firstAnswers = new Map<string, Float32Array[]>();

eachVariant("K05: every build is within its tolerance of float64, and so of the others", (hs) => {
  const random = new Random(71);
  const config = { dModel: 48, numHeads: 6, numKVHeads: 2, rope: { pairing: "halves" } } as const;
  const weights = drawWeights(config, random);
  const x = random.tensor([1, 50, 48]);
  const layer = hs.multiHeadAttention(config, weights);
  const result = layer.forward(x, { causal: true });
  layer.dispose();
  const exact = new ExactLayer(config, weights).forward(x, { causal: true });
  assertClose(result.output, exact.output, OUTPUT_TOLERANCE, "output");
  assertClose(result.weights, exact.weights, WEIGHTS_TOLERANCE, "weights");
  const answers = [result.output.data, result.weights.data];
  const others = firstAnswers.get("K05");
  if (others) {
    answers.forEach((a, i) => {
      const shape = [a.length];
      assertClose({ data: a, shape }, { data: others[i] as Float32Array, shape }, { absolute: 4e-6 }, `result ${i}`);
    });
  }
  firstAnswers.set("K05", answers);
});

eachVariant("K06: sizes whose product passes 2^31 are refused, never wrapped", (hs) => {
  // 65,536 queries and keys: 2^32 weights. Each input alone is small.
  const n = 65_536;
  const q = { data: new Float32Array(n), shape: [1, 1, n, 1] };
  const before = hs.memory().heapBytes;
  assert.throws(() => hs.attention(q, q, q), { name: "HeadscopeError", code: "memory" });
  assert.throws(() => hs.attention(q, q, q, { want: ["scores"] }), { name: "HeadscopeError", code: "memory" });
  // 46,341² is just above 2^31; 4 bytes each make it more than the heap can be.
  const m = 46_341;
  const r = { data: new Float32Array(m), shape: [1, 1, m, 1] };
  assert.throws(() => hs.attention(r, r, r), { name: "HeadscopeError", code: "memory" });
  // A shape whose product wraps to the data's length in 32 bits.
  const wrapped = { data: new Float32Array(0), shape: [1, 1, 65_536, 65_536] };
  assert.throws(
    () => hs.attention(wrapped, wrapped, wrapped),
    (error: Error) => /4294967296/.test(error.message),
  );
  const small = { data: Float32Array.of(1, 2, 3, 4), shape: [1, 1, 2, 2] };
  assert.ok(hs.attention(small, small, small).output.data.every(Number.isFinite), "works on afterwards");
  assert.ok(hs.memory().heapBytes - before < 2 ** 26, "nothing was taken for them");
});
