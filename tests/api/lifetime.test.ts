import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Headscope, load, type Tensor } from "headscope";
import { assertSameBits } from "../support/compare.ts";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

// Group J of the fault list: the module's memory and the life of its objects.

const CONFIG = { dModel: 16, numHeads: 4 };
const GIB = 2 ** 30;

eachVariant("J02: 1,000 calls of changing shapes leave the heap flat", (hs) => {
  const random = new Random(1);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const call = (round: number): void => {
    const [batch, tokens] = [1 + (round % 3), 1 + ((round * 7) % 40)];
    const x: Tensor = { data: new Float32Array(batch * tokens * 16).fill(round), shape: [batch, tokens, 16] };
    const mask = { data: new Uint8Array(tokens).fill(1), shape: [tokens] };
    layer.forward(x, {
      mask,
      causal: round % 2 === 0,
      want: round % 5 === 0 ? ["contributions", "scores"] : ["weights"],
    });
    const heads: Tensor = { data: x.data, shape: [4, batch * tokens, 4] };
    hs.attention(heads, heads, heads, { want: [] });
  };
  for (let round = 0; round < 120; ++round) call(round); // every shape once
  const warm = hs.memory();
  for (let round = 0; round < 1000; ++round) call(round);
  assert.deepEqual(hs.memory(), warm);
});

eachVariant("J02: 1,000 failing calls leave the heap flat", (hs) => {
  const random = new Random(2);
  const weights = drawWeights(CONFIG, random);
  const layer = hs.multiHeadAttention(CONFIG, weights);
  const x = random.tensor([5, 16]);
  const before = layer.forward(x).output.data;
  const warm = hs.memory();
  const failing = [
    () => layer.forward({ data: x.data, shape: [6, 16] }),
    () => layer.forward(x, { mask: { data: new Uint8Array(7), shape: [7] } }),
    () => layer.forward(x, { want: ["nothing"] as never }),
    () => hs.multiHeadAttention({ ...CONFIG, numKVHeads: 3 }, weights),
    () => hs.multiHeadAttention(CONFIG, { ...weights, bo: new Float32Array(3) }),
    () => layer.createCache({ capacity: 2 ** 31 - 1, batch: 1000 }),
    () => hs.attention(x, x, x),
  ];
  for (let round = 0; round < 1000; ++round) assert.throws(failing[round % failing.length] as () => unknown, Error);
  assert.deepEqual(hs.memory(), warm);
  assertSameBits(layer.forward(x).output.data, before, "the module works on");
});

eachVariant("J02: 50 rounds of layers and caches made and disposed leave the heap flat", (hs) => {
  const random = new Random(3);
  const config = { dModel: 64, numHeads: 4 };
  const weights = drawWeights(config, random);
  const x = random.tensor([4, 64]);
  const round = (): void => {
    const layer = hs.multiHeadAttention(config, weights);
    const cache = layer.createCache({ capacity: 256 });
    layer.forward(x, { cache });
    cache.dispose();
    layer.dispose();
  };
  for (let i = 0; i < 3; ++i) round();
  const warm = hs.memory();
  assert.equal(warm.liveObjects, 0);
  for (let i = 0; i < 50; ++i) round();
  assert.deepEqual(hs.memory(), warm);
});

eachVariant("J03: dispose twice is a no-op; use after dispose is a clear error; a new one works", (hs) => {
  const random = new Random(4);
  const weights = drawWeights(CONFIG, random);
  const x = random.tensor([3, 16]);
  const layer = hs.multiHeadAttention(CONFIG, weights);
  const cache = layer.createCache({ capacity: 8 });
  const before = layer.forward(x).output.data;
  assert.equal(hs.memory().liveObjects, 2);

  cache.dispose();
  cache.dispose();
  assert.equal(hs.memory().liveObjects, 1);
  const gone = {
    name: "HeadscopeError",
    code: "disposed",
    message: /^cache: expected a live cache, got one that was disposed/,
  };
  assert.throws(() => layer.forward(x, { cache }), gone);
  assert.throws(() => cache.truncate(0), gone);
  assert.throws(() => cache.length, gone);

  layer.dispose();
  layer.dispose();
  assert.equal(hs.memory().liveObjects, 0);
  const dead = {
    name: "HeadscopeError",
    code: "disposed",
    message: /^layer: expected a live layer, got one that was disposed/,
  };
  assert.throws(() => layer.forward(x), dead);
  assert.throws(() => layer.createCache({ capacity: 1 }), dead);

  const again = hs.multiHeadAttention(CONFIG, weights);
  assertSameBits(again.forward(x).output.data, before, "made again");
});

eachVariant("J03: `using` and Symbol.dispose end layers and caches, also when the block throws", (hs) => {
  const weights = drawWeights(CONFIG, new Random(5));
  {
    using layer = hs.multiHeadAttention(CONFIG, weights);
    using cache = layer.createCache({ capacity: 4 });
    assert.equal(cache.capacity, 4);
    assert.equal(hs.memory().liveObjects, 2);
  }
  assert.equal(hs.memory().liveObjects, 0);
  assert.throws(() => {
    using layer = hs.multiHeadAttention(CONFIG, weights);
    layer.forward({ data: new Float32Array(1), shape: [1] });
  }, /query\.shape/);
  assert.equal(hs.memory().liveObjects, 0);
});

eachVariant("J03: a cache outlives its layer without harm, and is disposed after it", (hs) => {
  const random = new Random(6);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const cache = layer.createCache({ capacity: 4 });
  layer.forward(random.tensor([2, 16]), { cache });
  layer.dispose();
  assert.equal(cache.length, 2);
  cache.truncate(1);
  cache.dispose();
  assert.equal(hs.memory().liveObjects, 0);
});

eachVariant(
  "J03: an option's getter that disposes the layer, or feeds the cache, is found out before the call",
  (hs) => {
    const random = new Random(7);
    const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
    const x = random.tensor([1, 16]);
    const cache = layer.createCache({ capacity: 8 });
    const feeding = {
      cache,
      get scale() {
        layer.forward(x, { cache });
        return 1;
      },
    };
    assert.throws(() => layer.forward(x, feeding), { code: "config", message: /^cache: expected length 0 as before/ });
    const disposing = {
      get scale() {
        layer.dispose();
        return 1;
      },
    };
    assert.throws(() => layer.forward(x, disposing), { code: "disposed" });
  },
);

eachVariant("J03: an object that is only forgotten is freed once the collector runs", async (hs) => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const weights = drawWeights(CONFIG, new Random(8));
  (() => {
    for (let i = 0; i < 20; ++i) hs.multiHeadAttention(CONFIG, weights).createCache({ capacity: 16 });
  })();
  assert.equal(hs.memory().liveObjects, 40);
  for (let i = 0; i < 50 && hs.memory().liveObjects > 0; ++i) {
    collect();
    await delay(10);
  }
  assert.equal(hs.memory().liveObjects, 0);
});

eachVariant("J04: out of memory is an error with a name, and the module works on", (hs) => {
  const random = new Random(9);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([4, 16]);
  const before = layer.forward(x);
  const capacity = Math.floor((2.5 * GIB) / (4 * 8 * 4));
  // Address space only: nothing is written to it.
  const cache = layer.createCache({ capacity });
  const full = { name: "HeadscopeError", code: "memory" };
  assert.throws(() => layer.createCache({ capacity }), { ...full, argument: "capacity" });
  const rows: Tensor = { data: new Float32Array(20000), shape: [1, 20000, 1] };
  const columns: Tensor = { data: new Float32Array(24000), shape: [1, 24000, 1] };
  // Weights leave the module as they are made; a bias has to be in it as a whole. Nobody reads these zeros.
  const bias = (...shape: number[]): Tensor => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });
  assert.throws(() => hs.attention(rows, columns, columns, { bias: bias(20000, 24000) }), {
    ...full,
    message: /attention: .*bytes/,
  });
  const long: Tensor = { data: new Float32Array(11000 * 16), shape: [11000, 16] };
  const small = layer.createCache({ capacity: 11000 });
  assert.throws(() => layer.forward(long, { cache: small, bias: bias(4, 11000, 11000) }), full);
  assert.equal(small.length, 0);
  const { heapBytes } = hs.memory();
  assert.ok(heapBytes > 2.5 * GIB && heapBytes < 4 * GIB, String(heapBytes));

  const after = layer.forward(x);
  assertSameBits(after.output.data, before.output.data, "output");
  assertSameBits(after.weights.data, before.weights.data, "weights");
  // Above 2 GiB addresses are negative as 32-bit integers.
  const high = layer.createCache({ capacity: 4 });
  assertSameBits(
    layer.forward(x, { cache: high }).output.data,
    before.output.data,
    "through a cache at a high address",
  );

  cache.dispose();
  layer.createCache({ capacity }).dispose(); // what was given back can be had again
  assert.equal(hs.memory().heapBytes, heapBytes);
});

eachVariant("J04, K06: results that no 32-bit memory can hold are refused by their size", (hs) => {
  const t = (...shape: number[]): Tensor => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });
  const before = hs.memory();
  for (const [heads, rows] of [
    [1, 33000],
    [8, 16400],
    [64, 65536],
  ] as const) {
    assert.throws(() => hs.attention(t(heads, rows, 1), t(1, rows, 1), t(1, rows, 1)), {
      name: "HeadscopeError",
      code: "memory",
      message: /attention: expected at most 4294901760 bytes, got a result of \d{10,} bytes/,
    });
  }
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, new Random(10)));
  assert.throws(() => layer.createCache({ capacity: 2 ** 31 - 1, batch: 2 ** 31 - 1 }), {
    name: "HeadscopeError",
    code: "memory",
    argument: "capacity",
  });
  assert.equal(hs.memory().heapBytes, before.heapBytes);
});

eachVariant(
  "J06: overwriting the arrays that a layer was made from changes nothing, nor does what is made later",
  (hs) => {
    const random = new Random(11);
    const weights = drawWeights(CONFIG, random);
    const layer = hs.multiHeadAttention(CONFIG, weights);
    const x = random.tensor([4, 16]);
    const before = layer.forward(x).output.data;
    for (const values of Object.values(weights)) if (values instanceof Float32Array) values.fill(Number.NaN);
    const other = drawWeights({ dModel: 256, numHeads: 4 }, random);
    for (let i = 0; i < 10; ++i) hs.multiHeadAttention({ dModel: 256, numHeads: 4 }, other);
    hs.attention(random.tensor([2, 300, 8]), random.tensor([2, 300, 8]), random.tensor([2, 300, 8]));
    assertSameBits(layer.forward(x).output.data, before, "after overwriting");
  },
);

eachVariant("J07: two instances and two layers used in turn are independent", async (hs) => {
  const random = new Random(12);
  const other = await load({ variant: hs.variant });
  const [a, b] = [drawWeights(CONFIG, random), drawWeights(CONFIG, random)];
  const x = random.tensor([5, 16]);
  const makers: [Headscope, typeof a][] = [
    [hs, a],
    [other, b],
    [hs, b],
    [other, a],
  ];
  const layers = makers.map(([instance, weights]) => instance.multiHeadAttention(CONFIG, weights));
  const alone = layers.map((layer) => layer.forward(x).output.data);
  assert.notDeepEqual(alone[0], alone[1]);
  assertSameBits(alone[3] as Float32Array, alone[0] as Float32Array, "the same weights in another instance");
  const runs = Array.from({ length: 40 }, async (_, i) => {
    if (i % 3 === 0) await delay(1);
    return layers[i % 4]?.forward(x, { causal: false }).output.data as Float32Array;
  });
  (await Promise.all(runs)).forEach((data, i) => {
    assertSameBits(data, alone[i % 4] as Float32Array, `run ${i}`);
  });
  layers[0]?.dispose();
  assertSameBits(layers[2]?.forward(x).output.data as Float32Array, alone[2] as Float32Array, "its neighbour disposed");
  assert.equal(hs.memory().liveObjects, 1);
  assert.equal(other.memory().liveObjects, 2);
});
