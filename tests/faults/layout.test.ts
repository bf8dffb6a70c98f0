import assert from "node:assert/strict";
import type { AttentionWeights, Headscope } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.js";
import { type DrawnWeights, drawWeights, joined, sideBySide, transposed } from "../support/layer.js";
import { Random } from "../support/random.js";
import { eachVariant } from "../variants.js";
import { probe } from "./probe.js";

// Group D of the fault list: layout of inputs.

const CONFIG = { dModel: 10, numHeads: 4, numKVHeads: 2, headDim: 8, valueHeadDim: 5, outDim: 7 };

/** The same numbers somewhere in the middle of a larger buffer whose other numbers would be noticed. */
type View = (data: Float32Array) => Float32Array;

const VIEWS: Record<string, View> = {
  "subarray(5, 5 + n)": (data) => {
    const big = new Float32Array(data.length + 12).fill(Number.NaN);
    big.set(data, 5);
    return big.subarray(5, 5 + data.length);
  },
  "byteOffset 4, not a multiple of 16": (data) => {
    const buffer = new ArrayBuffer(data.byteLength + 64);
    new Float32Array(buffer).fill(1e30);
    const view = new Float32Array(buffer, 4, data.length);
    view.set(data);
    return view;
  },
  "over a SharedArrayBuffer": (data) => {
    const view = new Float32Array(new SharedArrayBuffer(data.byteLength + 8), 8, data.length);
    view.set(data);
    return view;
  },
};

function eachArray(weights: DrawnWeights, view: View): DrawnWeights {
  return Object.fromEntries(
    Object.entries(weights).map(([name, x]) => [name, x instanceof Float32Array ? view(x) : x]),
  ) as unknown as DrawnWeights;
}

eachVariant("D01: views into larger, unaligned or shared buffers are read as what they show", (hs) => {
  const random = new Random(41);
  const weights = drawWeights(CONFIG, random);
  const query = random.tensor([2, 5, 10]);
  const key = random.tensor([2, 6, 10]);
  const value = random.tensor([2, 6, 10]);
  const bias = random.tensor([5, 6]);
  const headMask = Float32Array.of(1, 0.5, 2, 0);
  const bits = random.bits(30, 0.8);
  const real = random.bits(12, 0.8);
  const byteView = (data: Uint8Array): Uint8Array => {
    const big = new Uint8Array(data.length + 9).fill(1);
    big.set(data, 7);
    return big.subarray(7, 7 + data.length);
  };
  const run = (view: View, bytes: (data: Uint8Array) => Uint8Array) => {
    const layer = hs.multiHeadAttention(CONFIG, eachArray(weights, view));
    const of = (t: { data: Float32Array; shape: number[] }) => ({ data: view(t.data), shape: t.shape });
    const result = layer.forward(of(query), {
      key: of(key),
      value: of(value),
      bias: of(bias),
      headMask: view(headMask),
      mask: { data: bytes(bits), shape: [5, 6] },
      keyPadding: bytes(real),
      out: view(new Float32Array(2 * 5 * 7)),
    });
    layer.dispose();
    return result;
  };
  const expected = run(
    (data) => data.slice(),
    (data) => data.slice(),
  );
  for (const [name, view] of Object.entries(VIEWS)) {
    const result = run(view, byteView);
    assertSameBits(result.output.data.slice(), expected.output.data, `${name}: output`);
    assertSameBits(result.weights.data, expected.weights.data, `${name}: weights`);
  }
});

eachVariant("D02: inputs are unchanged and nobody's any more after the call", (hs) => {
  const random = new Random(42);
  const weights = drawWeights(CONFIG, random);
  const kept = structuredClone(weights);
  const layer = hs.multiHeadAttention(CONFIG, weights);
  const query = random.tensor([1, 4, 10]);
  const copy = query.data.slice();
  const options = {
    mask: { data: random.bits(16, 0.8), shape: [4, 4] },
    bias: random.tensor([4, 4]),
    headMask: Float32Array.of(1, 0, 1, 2),
    keyPadding: Uint8Array.of(1, 1, 1, 0),
  };
  const keptOptions = structuredClone(options);
  const first = layer.forward(query, options);
  const [firstOutput, firstWeights] = [first.output.data.slice(), first.weights.data.slice()];
  assertSameBits(query.data, copy, "the query");
  assert.deepEqual(options, keptOptions);
  assert.deepEqual(weights, kept);

  const second = layer.forward(query, options);
  assertSameBits(second.output.data, firstOutput, "the same call again");
  assertSameBits(second.weights.data, firstWeights, "its weights");

  // Neither the caller's later writes nor other calls reach what was returned or what was given.
  query.data.fill(99);
  layer.forward(random.tensor([1, 9, 10]));
  assertSameBits(first.output.data, firstOutput, "the first output after more calls");
  assertSameBits(first.weights.data, firstWeights, "the first weights after more calls");
  first.output.data.fill(-1);
  assertSameBits(second.output.data, firstOutput, "the second output beside the first");
  for (const array of Object.values(weights)) if (array instanceof Float32Array) array.fill(0);
  query.data.set(copy);
  assertSameBits(layer.forward(query, options).output.data, firstOutput, "after the weights' arrays were overwritten");
  layer.dispose();
});

eachVariant("D02: results lie in memory of their own", (hs) => {
  const random = new Random(43);
  const q = random.tensor([1, 2, 3, 4]);
  const { output, weights } = hs.attention(q, q, q);
  assert.equal(output.data.buffer.byteLength, output.data.byteLength);
  assert.equal(weights.data.buffer.byteLength, weights.data.byteLength);
  assert.notEqual(output.data.buffer, weights.data.buffer);
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(output.data, [output.data.buffer as ArrayBuffer]); // may be given away: nothing else looks at it
  port1.close();
  port2.close();
  assert.equal(output.data.length, 0);
  assert.ok(hs.attention(q, q, q).output.data.every(Number.isFinite));
});

eachVariant("D02: `out` is written and returned, its neighbours are not touched", (hs) => {
  const random = new Random(44);
  const q = random.tensor([2, 3, 5]);
  const expected = hs.attention(q, q, q).output.data;
  const big = new Float32Array(40).fill(7);
  const out = big.subarray(5, 35);
  const { output } = hs.attention(q, q, q, { out });
  assert.equal(output.data, out);
  assertSameBits(out.slice(), expected, "out");
  assert.deepEqual([...big.subarray(0, 5), ...big.subarray(35)], new Array(10).fill(7));
});

/** Layers of one configuration, whose weights come in different forms. */
function outputs(
  hs: Headscope,
  weights: AttentionWeights,
  config = CONFIG,
): { output: Float32Array; weights: Float32Array } {
  const layer = hs.multiHeadAttention(config, weights);
  const result = layer.forward(new Random(45).tensor([5, 10]), { causal: true });
  layer.dispose();
  return { output: result.output.data, weights: result.weights.data };
}

eachVariant("D03: fused weights split into all q, then all k, then all v", (hs) => {
  // dk 8, dv 5 and half as many K/V heads: any other order or equal widths would read other columns.
  const random = new Random(46);
  const { wq, wk, wv, wo, bq, bk, bv, bo } = drawWeights(CONFIG, random);
  const expected = outputs(hs, { layout: "in-out", wq, wk, wv, wo, bq, bk, bv, bo });
  const wqkv = sideBySide(10, wq, wk, wv);
  const bqkv = joined(bq, bk, bv);
  const total = bqkv.length;
  const forms: Record<string, AttentionWeights> = {
    "fused in-out": { layout: "in-out", wqkv, bqkv, wo, bo },
    "fused out-in": { layout: "out-in", wqkv: transposed(wqkv, 10, total), bqkv, wo: transposed(wo, 20, 7), bo },
  };
  for (const [name, weights] of Object.entries(forms)) {
    const result = outputs(hs, weights);
    assertSameBits(result.output, expected.output, `${name}: output`);
    assertSameBits(result.weights, expected.weights, `${name}: weights`);
  }
});

eachVariant("D03: head h is the h-th block of columns", (hs) => {
  // One head's value columns set: only that head's segment of the concatenation is not 0.
  const config = { dModel: 6, numHeads: 3, headDim: 2, valueHeadDim: 4, outDim: 12 };
  for (let h = 0; h < 3; ++h) {
    const wv = new Float32Array(6 * 12);
    for (let i = 0; i < 6; ++i) wv.fill(1, i * 12 + h * 4, i * 12 + h * 4 + 4);
    const random = new Random(47);
    const layer = hs.multiHeadAttention(config, {
      layout: "in-out",
      wq: random.values(36),
      wk: random.values(36),
      wv,
    });
    const { output, heads } = layer.forward({ data: new Float32Array(12).fill(1), shape: [2, 6] }, { want: ["heads"] });
    output.data.forEach((x, at) => {
      assert.equal(x !== 0, Math.floor((at % 12) / 4) === h, `head ${h}, value ${at}`);
    });
    heads.data.forEach((x, at) => {
      assert.equal(x !== 0, Math.floor(at / 8) === h, `head ${h} of heads, value ${at}`);
    });
    layer.dispose();
  }
});

probe("p-dv", "D03: value width 5, key width 8");

eachVariant("D04: in-out and out-in are each other's transpose, also where every matrix is square", (hs) => {
  const config = { ...CONFIG, dModel: 10, numHeads: 2, numKVHeads: 2, headDim: 5, valueHeadDim: 5, outDim: 10 };
  const { wq, wk, wv, wo, bq, bk, bv, bo } = drawWeights(config, new Random(48));
  const biases = { bq, bk, bv, bo };
  const flip = (w: Float32Array): Float32Array => transposed(w, 10, 10);
  const expected = outputs(hs, { layout: "in-out", wq, wk, wv, wo, ...biases }, config);
  const other = outputs(
    hs,
    { layout: "out-in", wq: flip(wq), wk: flip(wk), wv: flip(wv), wo: flip(wo), ...biases },
    config,
  );
  assertSameBits(other.output, expected.output, "output");
  // The shape gives nothing away: each matrix given the wrong way round shows.
  const wrong = { wq: flip(wq), wk: flip(wk), wv: flip(wv), wo: flip(wo) };
  for (const [name, matrix] of Object.entries(wrong)) {
    const result = outputs(hs, { layout: "in-out", wq, wk, wv, wo, ...biases, [name]: matrix }, config);
    assert.throws(() => assertClose(tensor(result.output), tensor(expected.output), { absolute: 1e-3 }, name));
  }
});

function tensor(data: Float32Array): { data: Float32Array; shape: number[] } {
  return { data, shape: [data.length] };
}
