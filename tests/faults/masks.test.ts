import assert from "node:assert/strict";
import type { AttentionOptions } from "headscope";
import { assertClose, assertSameBits, OUTPUT_TOLERANCE, WEIGHTS_TOLERANCE } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { exactAttention } from "../support/oracle.js";
import { product, Random } from "../support/random.js";
import { assertAllZero, assertSumsToOne, assertVisible, rowsOf, slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";
import { probe } from "./probe.js";

// Group A of the fault list: masks and softmax.

type Options = Omit<AttentionOptions<"weights">, "want">;

function draw(seed: number, batch: number, heads: number, queries: number, keys: number, dk = 8, dv = dk) {
  const random = new Random(seed);
  return {
    random,
    q: random.tensor([batch, heads, queries, dk]),
    k: random.tensor([batch, heads, keys, dk]),
    v: random.tensor([batch, heads, keys, dv]),
  };
}

function full(shape: number[], value: number): Float32Array {
  return new Float32Array(product(shape)).fill(value);
}

eachVariant("A01: a row that sees no key has weights and output of exactly 0", (hs) => {
  const { q, k, v } = draw(1, 1, 2, 4, 5);
  const bits = new Uint8Array(20).fill(1);
  bits.fill(0, 5, 10);
  const bias = full([4, 5], 0);
  bias.fill(Number.NEGATIVE_INFINITY, 5, 10);
  const forms: Record<string, Options> = {
    "boolean mask": { mask: { data: bits, shape: [4, 5] } },
    "−Infinity bias": { bias: { data: bias, shape: [4, 5] } },
  };
  const alive = [0, 2, 3];
  const without = { data: new Float32Array(2 * 3 * 8), shape: [1, 2, 3, 8] };
  alive.forEach((row, to) => {
    for (let h = 0; h < 2; ++h) without.data.set(slice(slice(q, 1, h, h + 1), 2, row, row + 1).data, (h * 3 + to) * 8);
  });
  const unmasked = hs.attention(without, k, v);
  for (const [form, options] of Object.entries(forms)) {
    for (const want of [["weights"], []] as const) {
      const result = hs.attention(q, k, v, { ...options, want });
      const label = `${form}, want [${want}]`;
      for (let h = 0; h < 2; ++h) {
        const heads = slice(result.output, 1, h, h + 1);
        assertAllZero(slice(heads, 2, 1, 2).data, `${label}: output`);
        alive.forEach((row, to) => {
          const expected = slice(slice(unmasked.output, 1, h, h + 1), 2, to, to + 1);
          assertClose(slice(heads, 2, row, row + 1), expected, { absolute: 1e-6 }, `${label}: row ${row}`);
        });
      }
    }
    const { weights } = hs.attention(q, k, v, options);
    assertVisible(weights, (_b, _h, i) => i !== 1, form);
  }
});

eachVariant("A01: every key of one batch item is padding", (hs) => {
  const { q, k, v } = draw(2, 2, 2, 3, 6);
  const forms: Options[] = [
    { keyPadding: Uint8Array.from([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]) },
    { keyPadding: Int32Array.from([1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]) },
    { keyPadding: Int32Array.of(6, 0) },
    { mask: { data: Uint8Array.of(1, 0), shape: [2, 1, 1, 1] } },
  ];
  const whole = hs.attention(q, k, v);
  for (const [at, options] of forms.entries()) {
    for (const want of [["weights"], []] as const) {
      const { output } = hs.attention(q, k, v, { ...options, want });
      assertAllZero(slice(output, 0, 1, 2).data, `form ${at}`);
      assertClose(slice(output, 0, 0, 1), slice(whole.output, 0, 0, 1), { absolute: 1e-6 }, `form ${at}: other item`);
    }
    assertVisible(hs.attention(q, k, v, options).weights, (b) => b === 0, `form ${at}`);
  }
});

eachVariant("A01: after the output projection such a row is the output bias", (hs) => {
  const random = new Random(3);
  const config = { dModel: 12, numHeads: 3 };
  const weights = drawWeights(config, random);
  const layer = hs.multiHeadAttention(config, weights);
  const query = random.tensor([5, 12]);
  const mask = new Uint8Array(25).fill(1);
  mask.fill(0, 10, 15);
  for (const want of [["weights"], []] as const) {
    const { output } = layer.forward(query, { mask: { data: mask, shape: [5, 5] }, want });
    assertSameBits(output.data.slice(24, 36), weights.bo, `want [${want}]: row 2`);
    assert.notDeepEqual(output.data.slice(0, 12), weights.bo);
  }
  layer.dispose();
});

probe("p-row-dead", "A01: boolean mask, row 1 sees nothing", ({ weights }) => {
  assertVisible(weights, (_b, _h, i) => i !== 1, "weights");
});
probe("p-row-dead-add", "A01: the same as a float mask", ({ weights }) => {
  assertVisible(weights, (_b, _h, i) => i !== 1, "weights");
});
probe("p-batch-dead", "A01: every key of batch item 1 is padding", ({ output, weights }) => {
  assertVisible(weights, (b) => b === 0, "weights");
  assertAllZero(slice(output, 0, 1, 2).data, "output of item 1");
});

eachVariant("A05: key padding runs along the key axis", (hs) => {
  // Laid along the query axis it would kill row 2, and columns 2 and 3 would keep their weight.
  const { q, k, v } = draw(5, 1, 1, 3, 4);
  for (const keyPadding of [Uint8Array.of(1, 1, 0, 0), Int32Array.of(1, 1, 0, 0), Int32Array.of(2)]) {
    const { weights, output } = hs.attention(q, k, v, { keyPadding });
    assertVisible(weights, (_b, _h, _i, j) => j < 2, "weights");
    for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
    assert.ok(output.data.every(Number.isFinite));
  }
});

eachVariant("A05: also where queries and keys are the same tokens", (hs) => {
  const random = new Random(6);
  const config = { dModel: 8, numHeads: 2 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const { weights } = layer.forward(random.tensor([1, 4, 8]), { keyPadding: Uint8Array.of(0, 1, 1, 0) });
  assertVisible(weights, (_b, _h, _i, j) => j === 1 || j === 2, "weights");
  for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
  layer.dispose();
});

probe("p-mask-axis", "A05: columns 2 and 3 are padding for every row", ({ weights }) => {
  assertVisible(weights, (_b, _h, _i, j) => j < 2, "weights");
});

const BROADCASTS = [
  [3, 1, 4, 6],
  [1, 2, 1, 6],
  [3, 2, 4, 1],
  [3, 1, 1, 6],
  [3, 1, 1, 1],
  [1, 1, 4, 1],
  [2, 4, 6],
  [2, 1, 6],
  [2, 1, 1],
  [4, 6],
  [4, 1],
  [6],
  [1],
  [1, 1],
];

eachVariant("A06: masks and biases broadcast from the right, with batch above 1", (hs) => {
  const { q, k, v, random } = draw(7, 3, 2, 4, 6);
  for (const shape of BROADCASTS) {
    const bits = random.bits(product(shape), 0.7);
    bits[0] = 1;
    const forms: Options[] = [
      { mask: { data: bits, shape } },
      { mask: { blocked: { data: bits.map((x) => 1 - x), shape } } },
      { mask: { data: Array.from(bits, Boolean), shape } },
      { bias: { data: Float32Array.from(bits, (x) => (x ? random.normal() : Number.NEGATIVE_INFINITY)), shape } },
      { bias: random.tensor(shape) },
    ];
    for (const [at, options] of forms.entries()) {
      const exact = exactAttention(q, k, v, options);
      const label = `[${shape}], form ${at}`;
      const { output, weights } = hs.attention(q, k, v, options);
      assertClose(output, exact.output, OUTPUT_TOLERANCE, `${label}: output`);
      assertClose(weights, exact.weights, WEIGHTS_TOLERANCE, `${label}: weights`);
      const alone = hs.attention(q, k, v, { ...options, want: [] });
      assertClose(alone.output, exact.output, OUTPUT_TOLERANCE, `${label}: output alone`);
    }
  }
});

eachVariant("A06: a shape that does not broadcast is refused with both shapes", (hs) => {
  const { q, k, v } = draw(8, 3, 2, 4, 6);
  for (const shape of [[5, 6], [4, 5], [2, 1, 4, 6], [3, 3, 4, 6], [5], [3, 4, 6], [1, 3, 2, 4, 6]]) {
    const mask = { data: new Uint8Array(product(shape)).fill(1), shape };
    const bias = { data: full(shape, 0), shape };
    for (const options of [{ mask }, { mask: { blocked: mask } }, { bias }]) {
      assert.throws(
        () => hs.attention(q, k, v, options),
        (error: Error) => {
          assert.equal(error.name, "HeadscopeError");
          assert.ok(error.message.includes(`[${shape.join(", ")}]`), error.message);
          assert.ok(error.message.includes("[3, 2, 4, 6]"), error.message);
          return true;
        },
      );
    }
  }
});

probe("p-bcast-batch", "A06: [B,1,T,S], each batch item one key more", ({ weights }) => {
  assertVisible(weights, (b, _h, _i, j) => j < b + 2, "weights");
});
probe("p-bcast-head", "A06: [1,H,1,S], a float for each head and key");
probe("p-bcast-rows", "A06: [B,H,T,1] adds a constant to a row, so changes nothing");

eachVariant("A07: the soft cap comes before the mask", (hs) => {
  const { q, k, v } = draw(9, 1, 1, 3, 5, 4);
  const bias = full([3, 5], 0);
  const bits = new Uint8Array(15).fill(1);
  for (let i = 0; i < 3; ++i) {
    bias.fill(Number.NEGATIVE_INFINITY, i * 5 + 3, i * 5 + 5);
    bits.fill(0, i * 5 + 3, i * 5 + 5);
  }
  const clean = hs.attention(q, slice(k, 2, 0, 3), slice(v, 2, 0, 3), { softcap: 0.5 });
  k.data.fill(1e6, 12);
  v.data.fill(1e6, 12);
  // Capped after the mask, −∞ would become −0.5 and the 1e6 would come through.
  for (const options of [{ bias: { data: bias, shape: [3, 5] } }, { mask: { data: bits, shape: [3, 5] } }]) {
    const { output, weights } = hs.attention(q, k, v, { ...options, softcap: 0.5 });
    assertVisible(weights, (_b, _h, _i, j) => j < 3, "weights");
    assertClose(output, clean.output, { absolute: 1e-6 }, "output");
    const alone = hs.attention(q, k, v, { ...options, softcap: 0.5, want: [] });
    assertClose(alone.output, clean.output, { absolute: 1e-6 }, "output alone");
  }
  const stages = ["scaled", "capped", "masked"] as const;
  const [scaled, capped, masked] = stages.map(
    (scoresStage) =>
      hs.attention(q, k, v, { bias: { data: bias, shape: [3, 5] }, softcap: 0.5, scoresStage, want: ["scores"] })
        .scores,
  );
  assert.ok(scaled && capped && masked);
  scaled.data.forEach((score, at) => {
    const cap = capped.data[at] as number;
    assert.ok(Math.abs(cap - 0.5 * Math.tanh(score / 0.5)) < 1e-6, `capped score ${cap} of ${score}`);
    assert.equal(masked.data[at], at % 5 < 3 ? cap : Number.NEGATIVE_INFINITY);
  });
});

probe("p-softcap-mask", "A07: hidden keys of 1e6 have no effect", ({ weights }) => {
  assertVisible(weights, (_b, _h, _i, j) => j < 3, "weights");
});

eachVariant("A08: the scale is 1/√dk of the query head, or what was given instead of it", (hs) => {
  // Unit vectors: q·k is 1, so a score is the scale itself.
  const ones = (shape: number[]) => ({ data: full(shape, 0).map((_, i) => (i % 8 === 0 ? 1 : 0)), shape });
  const q = ones([1, 3, 2, 8]);
  const k = ones([1, 3, 4, 8]);
  const v = { data: full([1, 3, 4, 5], 1), shape: [1, 3, 4, 5] };
  const score = (options: Options): number =>
    hs.attention(q, k, v, { ...options, want: ["scores"] }).scores.data[0] as number;
  assert.ok(Math.abs(score({}) - 1 / Math.sqrt(8)) < 1e-7, "not 1/√5 of the values, nor 1/√24 of all heads");
  assert.equal(score({ scale: 1 }), 1);
  assert.equal(score({ scale: 0 }), 0);
  assert.equal(score({ scale: -2 }), -2);
});

eachVariant("A08: in a layer too, whose heads are not D/H wide", (hs) => {
  const config = { dModel: 24, numHeads: 3, headDim: 4, valueHeadDim: 6 };
  const weights = { ...drawWeights(config, new Random(10)), wq: full([24, 12], 0), wk: full([24, 12], 0) };
  for (let h = 0; h < 3; ++h) {
    weights.bq.set([1, 0, 0, 0], h * 4);
    weights.bk.set([1, 0, 0, 0], h * 4);
  }
  const query = { data: full([2, 24], 1), shape: [2, 24] };
  const score = (scale?: number, given?: number): number => {
    const layer = hs.multiHeadAttention(scale === undefined ? config : { ...config, scale }, weights);
    const options = given === undefined ? {} : { scale: given };
    const { scores } = layer.forward(query, { ...options, want: ["scores"] });
    layer.dispose();
    return scores.data[0] as number;
  };
  assert.equal(score(), 0.5);
  assert.equal(score(3), 3);
  assert.equal(score(3, 7), 7);
});

probe("p-scale", "A08: a scale of 1");

/** Lower triangular: not symmetric, so the two polarities cannot agree. */
function triangle(n: number, below: number): Uint8Array {
  return Uint8Array.from({ length: n * n }, (_, at) => (at % n <= Math.floor(at / n) ? below : 1 - below));
}

eachVariant("A09: true means may attend, and { blocked } the opposite", (hs) => {
  const { q, k, v } = draw(11, 1, 2, 5, 5);
  const shape = [5, 5];
  const causal = hs.attention(q, k, v, { causal: true });
  const attend = hs.attention(q, k, v, { mask: { data: triangle(5, 1), shape } });
  const blocked = hs.attention(q, k, v, { mask: { blocked: { data: triangle(5, 0), shape } } });
  for (const other of [attend, blocked]) {
    assertClose(other.output, causal.output, { absolute: 1e-6 }, "output");
    assertClose(other.weights, causal.weights, { absolute: 1e-6 }, "weights");
  }
  const inverted = hs.attention(q, k, v, { mask: { data: triangle(5, 0), shape } });
  assertVisible(inverted.weights, (_b, _h, i, j) => j > i, "the upper triangle may attend");
  const padding = hs.attention(q, k, v, { keyPadding: Uint8Array.of(1, 1, 0, 0, 0) });
  assertVisible(padding.weights, (_b, _h, _i, j) => j < 2, "1 is a real token");
});

eachVariant("A10: one mask as bytes, as booleans and as 0 / −Infinity gives one answer", (hs) => {
  const { q, k, v } = draw(12, 1, 2, 5, 5);
  const shape = [5, 5];
  const bits = triangle(5, 1);
  const bytes = hs.attention(q, k, v, { mask: { data: bits, shape } });
  const forms: Options[] = [
    { mask: { data: Array.from(bits, Boolean), shape } },
    { mask: { data: bits.map((x) => x * 255), shape } },
    { bias: { data: Float32Array.from(bits, (x) => (x ? 0 : Number.NEGATIVE_INFINITY)), shape } },
  ];
  for (const [at, options] of forms.entries()) {
    const other = hs.attention(q, k, v, options);
    assertClose(other.output, bytes.output, { absolute: 1e-6 }, `form ${at}: output`);
    assertClose(other.weights, bytes.weights, { absolute: 1e-6 }, `form ${at}: weights`);
  }
});

eachVariant("A10: floats of 0 and 1 add as a bias and are refused as a mask", (hs) => {
  const { q, k, v } = draw(13, 1, 2, 5, 5);
  const shape = [5, 5];
  const floats = Float32Array.from(triangle(5, 1));
  const added = hs.attention(q, k, v, { bias: { data: floats, shape } });
  assertVisible(added.weights, () => true, "nothing is hidden");
  const exact = exactAttention(q, k, v, { bias: { data: floats, shape } });
  assertClose(added.weights, exact.weights, WEIGHTS_TOLERANCE, "weights");
  for (const data of [floats, Float64Array.from(floats), Array.from(floats), "11111"]) {
    assert.throws(() => hs.attention(q, k, v, { mask: { data, shape } as never }), {
      name: "TypeError",
      message: /mask/,
    });
  }
});
