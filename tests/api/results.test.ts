import assert from "node:assert/strict";
import type { Tensor, Want } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.ts";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

const CONFIG = { dModel: 12, numHeads: 4, numKVHeads: 2, headDim: 5, valueHeadDim: 3, outDim: 7 };
const WANTS: Want[] = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions", "trace"];

eachVariant("want: exactly what was asked for comes back, with its shape, with and without a batch axis", (hs) => {
  const random = new Random(1);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const shapes = {
    output: [6, 7],
    weights: [4, 6, 6],
    scores: [4, 6, 6],
    q: [4, 6, 5],
    k: [2, 6, 5],
    v: [2, 6, 3],
    heads: [4, 6, 3],
    concat: [6, 12],
    contributions: [4, 6, 7],
  } as const;
  for (const batch of [undefined, 1, 3]) {
    const x = random.tensor(batch === undefined ? [6, 12] : [batch, 6, 12]);
    for (const want of [[], ...WANTS.map((name) => [name]), WANTS, ["q", "q"]] as Want[][]) {
      const result = layer.forward(x, { want }) as Record<string, unknown>;
      assert.deepEqual(Object.keys(result).sort(), [...new Set(["output", ...want])].sort());
      for (const [name, value] of Object.entries(result)) {
        if (name === "trace") continue;
        const { data, shape } = value as Tensor;
        const inner = shapes[name as keyof typeof shapes];
        assert.deepEqual(shape, batch === undefined ? inner : [batch, ...inner], name);
        assert.equal(
          data.length,
          shape.reduce((a, b) => a * b, 1),
          name,
        );
      }
    }
  }
});

eachVariant("want defaults to the weights; asking for more never changes the output by more than 1e-6", (hs) => {
  const random = new Random(2);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([2, 9, 12]);
  for (const options of [{}, { causal: true }, { softcap: 2, window: { left: 3 } }]) {
    const plain = layer.forward(x, options);
    assert.deepEqual(Object.keys(plain), ["output", "weights"]);
    for (const want of [[], ...WANTS.map((name) => [name]), WANTS] as Want[][]) {
      const { output } = layer.forward(x, { ...options, want });
      assertClose(output, plain.output, { absolute: 1e-6 }, `want ${want}`);
    }
  }
});

eachVariant("attention(): shapes with and without a batch axis, q k v heads as copies", (hs) => {
  const random = new Random(3);
  for (const lead of [[], [2]]) {
    const [q, k, v] = [
      random.tensor([...lead, 4, 3, 5]),
      random.tensor([...lead, 2, 6, 5]),
      random.tensor([...lead, 2, 6, 7]),
    ];
    const want = ["weights", "scores", "q", "k", "v", "heads", "concat"] as const;
    const result = hs.attention(q, k, v, { want });
    assert.deepEqual(result.output.shape, [...lead, 4, 3, 7]);
    assert.deepEqual(result.weights.shape, [...lead, 4, 3, 6]);
    assert.deepEqual(result.concat.shape, [...lead, 3, 28]);
    for (const [name, given] of [
      ["q", q],
      ["k", k],
      ["v", v],
    ] as const) {
      assert.deepEqual(result[name].shape, given.shape, name);
      assertSameBits(result[name].data, given.data, name);
      assert.notEqual(result[name].data.buffer, given.data.buffer);
    }
    assertSameBits(result.heads.data, result.output.data, "heads are the output when no gate is set");
    assert.deepEqual(Object.keys(hs.attention(q, k, v)), ["output", "weights"]);
  }
});

eachVariant("out: the caller's buffer is the output, also as a view, and may be the input itself", (hs) => {
  const random = new Random(4);
  const config = { dModel: 8, numHeads: 2 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const x = random.tensor([3, 8]);
  const { output } = layer.forward(x);
  const big = new Float32Array(50).fill(9);
  const out = big.subarray(11, 35);
  const result = layer.forward(x, { out });
  assert.equal(result.output.data, out);
  assert.deepEqual(result.output.shape, [3, 8]);
  assertSameBits(out, output.data, "view");
  assert.ok(big.subarray(0, 11).every((value) => value === 9) && big.subarray(35).every((value) => value === 9));
  const shared = new Float32Array(new SharedArrayBuffer(96));
  assertSameBits(layer.forward(x, { out: shared, want: [] }).output.data, output.data, "shared");
  const inPlace: Tensor = { data: x.data.slice(), shape: x.shape };
  layer.forward(inPlace, { out: inPlace.data });
  assertSameBits(inPlace.data, output.data, "in place");
  const heads = { data: x.data, shape: [1, 3, 8] };
  assert.equal(hs.attention(heads, heads, heads, { out }).output.data, out);
});

eachVariant("D01: an input over shared memory, or at an odd place of a larger buffer, reads as its copy", (hs) => {
  const random = new Random(5);
  const config = { dModel: 8, numHeads: 2 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const x = random.tensor([40, 8]);
  const expected = layer.forward(x).output.data;
  const shared = new Float32Array(new SharedArrayBuffer(4 * 321), 4);
  shared.set(x.data);
  const offset = new Float32Array(330).subarray(7, 327);
  offset.set(x.data);
  for (const data of [shared, offset])
    assertSameBits(layer.forward({ data, shape: [40, 8] }).output.data, expected, "view");
});

eachVariant("inputs, masks and options are as they were, and results are the caller's own", (hs) => {
  const random = new Random(6);
  const config = { dModel: 8, numHeads: 2 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const x = random.tensor([3, 8]);
  const options = {
    mask: { blocked: { data: [false, true, false], shape: [3] } },
    bias: random.tensor([3, 3]),
    keyPadding: Int32Array.of(3),
    headMask: Float32Array.of(1, 0.5),
    window: { left: 1, right: 1 },
    causal: { offset: 1 },
    want: ["weights", "scores"],
  } as const;
  const before = structuredClone([x, options]);
  const first = layer.forward(x, options);
  const kept = structuredClone(first);
  layer.forward(random.tensor([30, 8]), { want: ["scores", "contributions"] });
  assert.deepEqual(structuredClone([x, options]), before);
  assert.deepEqual(first, kept, "a later call changed an earlier result");
  first.output.data.fill(0);
  first.weights.data.fill(0);
  assertSameBits(layer.forward(x, options).output.data, kept.output.data, "writing into a result changed the layer");
});

eachVariant("options frozen, with undefined in them, or from null-prototype objects are options", (hs) => {
  const random = new Random(7);
  const config = { dModel: 8, numHeads: 2 };
  const layer = hs.multiHeadAttention(config, drawWeights(config, random));
  const x = random.tensor([3, 8]);
  const plain = layer.forward(x).output.data;
  const empty = {
    causal: undefined,
    mask: undefined,
    want: undefined,
    cache: undefined,
    out: undefined,
    key: undefined,
  };
  assertSameBits(layer.forward(x, empty).output.data, plain, "undefined");
  const causal = layer.forward(x, { causal: true }).output.data;
  const bare = Object.assign(Object.create(null) as object, { causal: true as const });
  assertSameBits(layer.forward(x, Object.freeze(bare)).output.data, causal, "null prototype");
  const frozen = Object.freeze({ data: x.data, shape: Object.freeze([3, 8]) });
  assertSameBits(layer.forward(frozen).output.data, plain, "frozen tensor");
});

eachVariant("the resolved configuration has every default, is frozen, and makes the same layer again", (hs) => {
  const random = new Random(8);
  const weights = drawWeights({ dModel: 8, numHeads: 2 }, random);
  const layer = hs.multiHeadAttention({ dModel: 8, numHeads: 2 }, weights);
  assert.deepEqual(layer.config, {
    dModel: 8,
    numHeads: 2,
    numKVHeads: 2,
    headDim: 4,
    valueHeadDim: 4,
    keyDim: 8,
    valueDim: 8,
    outDim: 8,
    scale: 0.5,
    softcap: 0,
    rope: { base: 10000, dims: 0, pairing: "adjacent" },
  });
  assert.ok(Object.isFrozen(layer.config) && Object.isFrozen(layer.config.rope));
  assert.equal(layer.parameterCount, 4 * 64 + 4 * 8);
  const x = random.tensor([3, 8]);
  const again = hs.multiHeadAttention(layer.config, weights);
  assertSameBits(again.forward(x).output.data, layer.forward(x).output.data, "the same layer");
});

eachVariant(
  "keyPadding: bytes, 32-bit integers and true lengths say the same; where S is 1 lengths are the mask",
  (hs) => {
    const random = new Random(9);
    const config = { dModel: 8, numHeads: 2 };
    const layer = hs.multiHeadAttention(config, drawWeights(config, random));
    const x = random.tensor([2, 4, 8]);
    const forms = [Uint8Array.of(1, 1, 0, 0, 1, 1, 1, 1), Int32Array.of(1, 1, 0, 0, 1, 1, 1, 1), Int32Array.of(2, 4)];
    const [bytes, ints, lengths] = forms.map((keyPadding) => layer.forward(x, { keyPadding }).weights.data);
    assert.ok(bytes?.some((w) => w === 0));
    assertSameBits(ints as Float32Array, bytes as Float32Array, "ints");
    assertSameBits(lengths as Float32Array, bytes as Float32Array, "lengths");
    const one = random.tensor([2, 1, 8]);
    const flags = [Uint8Array.of(1, 0), Int32Array.of(1, 0)].map(
      (keyPadding) => layer.forward(one, { keyPadding }).weights.data,
    );
    assert.deepEqual(
      flags.map((w) => [...w]),
      [
        [1, 1, 0, 0],
        [1, 1, 0, 0],
      ],
    );
  },
);

eachVariant("a window that reaches past everything is no window; one of 2 keeps 3 keys of a causal row", (hs) => {
  const random = new Random(10);
  const t = () => random.tensor([1, 6, 4]);
  const [q, k, v] = [t(), t(), t()];
  const causal = hs.attention(q, k, v, { causal: true }).weights.data;
  for (const reach of [6, 2 ** 30, 2 ** 31, 1e15]) {
    assertSameBits(
      hs.attention(q, k, v, { causal: true, window: { left: reach, right: reach } }).weights.data,
      causal,
      `${reach}`,
    );
  }
  const near = hs.attention(q, k, v, { causal: true, window: { left: 2 } }).weights.data;
  assert.deepEqual(
    [...near.subarray(30)].map((w) => w > 0),
    [false, false, false, true, true, true],
  );
});

/** One head of a [B, H, T, width] tensor of one item. */
function headOf({ data, shape }: Tensor, h: number): Tensor {
  const [, , rows, width] = shape as [number, number, number, number];
  const size = rows * width;
  return { data: data.slice(h * size, (h + 1) * size), shape: [1, 1, rows, width] };
}

eachVariant("large weights and scores, which come block by block, are what a head alone gives", (hs) => {
  const random = new Random(21);
  for (const [H, T, S] of [
    [4, 150, 130], // blocks of queries, the last one short
    [120, 24, 24], // short heads
    [8, 1, 9001], // one query
    [9, 61, 150], // one query left over
  ] as const) {
    const q = random.tensor([1, H, T, 8]);
    const k = random.tensor([1, H, S, 8]);
    const v = random.tensor([1, H, S, 6]);
    const allowed = { data: random.bits(T * S, 0.7), shape: [T, S] };
    for (const options of [{}, { causal: { offset: S - T } }, { mask: allowed, softcap: 2 }]) {
      for (const want of [["weights"], ["scores"], ["weights", "scores"]] as Want[][]) {
        for (const scoresStage of ["scaled", "capped", "masked"] as const) {
          const whole = hs.attention(q, k, v, { ...options, want, scoresStage }) as unknown as Record<string, Tensor>;
          for (let h = 0; h < H; h += Math.ceil(H / 5)) {
            const [headQ, headK, headV] = [q, k, v].map((each) => headOf(each, h)) as [Tensor, Tensor, Tensor];
            const alone = hs.attention(headQ, headK, headV, { ...options, want, scoresStage });
            for (const [name, { data }] of Object.entries(alone as unknown as Record<string, Tensor>)) {
              const label = `${H} × ${T} × ${S}, ${name}, head ${h}`;
              assertSameBits(headOf(whole[name] as Tensor, h).data, data, label);
            }
          }
        }
      }
    }
  }
});

eachVariant("large weights and scores do not stay in the module's memory", (hs) => {
  const random = new Random(22);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([3, 1000, 12]);
  layer.forward(x, { want: [] });
  const before = hs.memory().heapBytes;
  const out = { scores: new Float32Array(3 * 4 * 1000 * 1000).fill(Number.NaN) };
  const result = layer.forward(x, { causal: true, want: ["weights", "scores"], out });
  const bytes = result.weights.data.byteLength + out.scores.byteLength;
  assert.equal(bytes, 96e6);
  assert.equal(result.scores.data, out.scores);
  const grown = hs.memory().heapBytes - before;
  assert.ok(grown < 2e6, `${grown} bytes for ${bytes} of results`);
  assert.ok(out.scores.every((score) => !Number.isNaN(score)));
  // The last row of each head sees every key.
  for (let row = 999; row < 12_000; row += 1000) {
    let sum = 0;
    for (let j = 0; j < 1000; ++j) sum += result.weights.data[row * 1000 + j] as number;
    assert.ok(Math.abs(sum - 1) < 1e-5, `row ${row}: ${sum}`);
  }
  assert.ok(result.weights.data.every((w) => w >= 0 && w <= 1.000001));
});
