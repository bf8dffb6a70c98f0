import assert from "node:assert/strict";
import type { Headscope, MultiHeadAttention, Tensor } from "headscope";
import { assertSameBits } from "../support/compare.ts";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

// J05 and J04 of the fault list: every argument against every kind of wrong value. Each is refused by a TypeError, a
// RangeError or a HeadscopeError whose message names the argument, and the module answers as before afterwards.

type Kind = "TypeError" | "RangeError" | "HeadscopeError";
type Case = readonly [label: string, kind: Kind, message: RegExp, run: () => unknown];

const WRONG_TYPES: readonly unknown[] = [undefined, null, "4", 4n, true, {}, [], () => 4, Symbol("4")];
const WRONG_NUMBERS = [Number.NaN, -1, 1.5, 2 ** 31, Number.POSITIVE_INFINITY, -(2 ** 31)];

function label(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function refuses(cases: readonly Case[]): void {
  for (const [name, kind, message, run] of cases) {
    assert.throws(
      run,
      (error: Error & { argument?: string; expected?: string; actual?: string; code?: string }) => {
        assert.ok(error instanceof Error, `${name}: threw ${typeof error}`);
        assert.equal(error.name, kind, `${name}: ${error.name}: ${error.message}`);
        assert.match(error.message, message, name);
        assert.match(error.message, /: expected .+, got .+/s, name);
        if (kind === "HeadscopeError") {
          assert.ok(error.code && error.argument && error.expected && error.actual, `${name}: fields are missing`);
          assert.ok(error.message.startsWith(error.argument), name);
        }
        return true;
      },
      `${name} was accepted`,
    );
  }
}

const CONFIG = { dModel: 8, numHeads: 2 };

interface Bench {
  hs: Headscope;
  layer: MultiHeadAttention;
  x: Tensor;
  weights: ReturnType<typeof drawWeights>;
}

/** A layer, an input, and the promise that the module still answers the same bits after the body. */
function guarded(name: string, body: (bench: Bench) => void): void {
  eachVariant(name, (hs) => {
    const random = new Random(11);
    const weights = drawWeights(CONFIG, random);
    const layer = hs.multiHeadAttention(CONFIG, weights);
    const x = random.tensor([3, 8]);
    const before = layer.forward(x, { causal: true });
    const memory = hs.memory();
    body({ hs, layer, x, weights });
    assert.deepEqual(hs.memory(), memory, "refusals took memory");
    const after = layer.forward(x, { causal: true });
    assertSameBits(after.output.data, before.output.data, "output after the refusals");
    assertSameBits(after.weights.data, before.weights.data, "weights after the refusals");
  });
}

guarded('J05: sizes of a layer: undefined, null, "4", 4n, NaN, -1, 1.5, 2^31 …', ({ hs, weights }) => {
  const names = ["dModel", "numHeads", "numKVHeads", "headDim", "valueHeadDim", "keyDim", "valueDim", "outDim"];
  const cases: Case[] = [];
  for (const name of names) {
    const message = new RegExp(`^${name}: expected a whole number from 1 to 2147483647, got `);
    for (const value of WRONG_TYPES) {
      if (value === undefined && name !== "dModel" && name !== "numHeads") continue; // has a default
      const config = { ...CONFIG, [name]: value } as never;
      cases.push([`${name} ${label(value)}`, "TypeError", message, () => hs.multiHeadAttention(config, weights)]);
    }
    for (const value of [0, ...WRONG_NUMBERS]) {
      const config = { ...CONFIG, [name]: value } as never;
      cases.push([`${name} ${value}`, "RangeError", message, () => hs.multiHeadAttention(config, weights)]);
    }
  }
  refuses(cases);
});

guarded("J05: settings of a layer that are no sizes", ({ hs, weights }) => {
  const make = (config: object) => () => hs.multiHeadAttention({ ...CONFIG, ...config } as never, weights);
  const cases: Case[] = [];
  for (const value of WRONG_TYPES.slice(1)) {
    cases.push([`scale ${label(value)}`, "TypeError", /^scale: /, make({ scale: value })]);
    cases.push([`softcap ${label(value)}`, "TypeError", /^softcap: /, make({ softcap: value })]);
    cases.push([
      `rope.base ${label(value)}`,
      "TypeError",
      /^rope\.base: /,
      make({ rope: { pairing: "halves", base: value } }),
    ]);
    cases.push([
      `rope.dims ${label(value)}`,
      "TypeError",
      /^rope\.dims: /,
      make({ rope: { pairing: "halves", dims: value } }),
    ]);
    cases.push([
      `pairing ${label(value)}`,
      "TypeError",
      /^rope\.pairing: expected "adjacent" or "halves"/,
      make({ rope: { pairing: value } }),
    ]);
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e39]) {
    cases.push([`scale ${value}`, "RangeError", /^scale: expected a finite/, make({ scale: value })]);
    cases.push([`softcap ${value}`, "RangeError", /^softcap: /, make({ softcap: value })]);
    cases.push([`base ${value}`, "RangeError", /^rope\.base: /, make({ rope: { pairing: "halves", base: value } })]);
  }
  cases.push([
    "softcap -1",
    "RangeError",
    /^softcap: expected a finite number above 0, or 0 for none, got -1/,
    make({ softcap: -1 }),
  ]);
  cases.push(["softcap 1e-60", "RangeError", /^softcap: /, make({ softcap: 1e-60 })]); // 0 in single precision
  cases.push(["base 0", "RangeError", /^rope\.base: /, make({ rope: { pairing: "halves", base: 0 } })]);
  cases.push([
    "dims 6",
    "RangeError",
    /^rope\.dims: expected a whole number from 0 to 4, got 6/,
    make({ rope: { pairing: "halves", dims: 6 } }),
  ]);
  cases.push([
    "dims 3",
    "HeadscopeError",
    /^rope\.dims: expected an even number, got 3/,
    make({ rope: { pairing: "halves", dims: 3 } }),
  ]);
  cases.push(["rope 10000", "TypeError", /^rope: /, make({ rope: 10000 })]);
  cases.push(["rope {}", "TypeError", /^rope\.pairing: .*undefined/, make({ rope: {} })]);
  for (const value of [...WRONG_TYPES.filter((v) => label(v) !== "{}"), new Float32Array(2)]) {
    cases.push([
      `config ${label(value)}`,
      "TypeError",
      /^config: /,
      () => hs.multiHeadAttention(value as never, weights),
    ]);
  }
  refuses(cases);
});

guarded("E02: head counts that do not go together are config errors that name the numbers", ({ hs, weights }) => {
  const make = (config: object) => () => hs.multiHeadAttention({ ...CONFIG, ...config } as never, weights);
  refuses([
    [
      "5 and 2",
      "HeadscopeError",
      /^numKVHeads: expected a divisor of numHeads 5, got 2/,
      make({ dModel: 20, numHeads: 5, numKVHeads: 2 }),
    ],
    ["10 and 3", "HeadscopeError", /^headDim: .*dModel 10 and numHeads 3/, make({ dModel: 10, numHeads: 3 })],
    ["more K/V heads", "HeadscopeError", /^numKVHeads: .*2.*4/, make({ numKVHeads: 4 })],
  ]);
});

guarded("J05: weights of a layer: types, lengths, layouts, and both forms at once", ({ hs, weights }) => {
  const make = (change: object) => () => hs.multiHeadAttention(CONFIG, { ...weights, ...change } as never);
  const cases: Case[] = [];
  for (const name of ["wq", "wk", "wv", "wo", "bq", "bk", "bv", "bo"]) {
    for (const value of [
      null,
      "4",
      4n,
      4,
      {},
      [1, 2],
      new Float64Array(64),
      new Int32Array(64),
      new ArrayBuffer(256),
    ]) {
      cases.push([
        `${name} ${label(value)}`,
        "TypeError",
        new RegExp(`^weights\\.${name}: expected a Float32Array, got `),
        make({ [name]: value }),
      ]);
    }
    const wrong = new Float32Array(63);
    cases.push([
      `${name} short`,
      "HeadscopeError",
      new RegExp(`^weights\\.${name}: expected (64|8) numbers \\(.+\\), got 63`),
      make({ [name]: wrong }),
    ]);
  }
  for (const name of ["wq", "wk", "wv"]) {
    cases.push([
      `${name} missing`,
      "TypeError",
      new RegExp(`^weights\\.${name}: .*undefined`),
      make({ [name]: undefined }),
    ]);
  }
  for (const value of [undefined, null, "in_out", "out", 1, true]) {
    cases.push([
      `layout ${label(value)}`,
      "TypeError",
      /^weights\.layout: expected "in-out" or "out-in"/,
      make({ layout: value }),
    ]);
  }
  cases.push([
    "both forms",
    "HeadscopeError",
    /^weights\.wqkv: expected either wqkv or wq, wk and wv, got both/,
    make({ wqkv: new Float32Array(192) }),
  ]);
  cases.push(["bo alone", "HeadscopeError", /^weights\.bo: expected weights\.wo/, make({ wo: undefined })]);
  const detached = new Float32Array(64);
  structuredClone(detached, { transfer: [detached.buffer] });
  cases.push(["detached", "TypeError", /^weights\.wq: .*detached/, make({ wq: detached })]);
  const { wo, bo, layout } = weights;
  const fused = (config: object, change: object) => () =>
    hs.multiHeadAttention({ ...CONFIG, ...config }, {
      layout,
      wo,
      bo,
      wqkv: new Float32Array(192),
      ...change,
    } as never);
  cases.push([
    "fused short",
    "HeadscopeError",
    /^weights\.wqkv: expected 192 numbers \(dModel 8 × \(q 8 \+ k 8 \+ v 8\)\), got 100/,
    fused({}, { wqkv: new Float32Array(100) }),
  ]);
  cases.push(["fused bias", "HeadscopeError", /^weights\.bqkv: expected 24/, fused({}, { bqkv: new Float32Array(8) })]);
  cases.push(["fused and keyDim", "HeadscopeError", /^weights\.wqkv: .*keyDim 6/, fused({ keyDim: 6 }, {})]);
  cases.push([
    "outDim without wo",
    "HeadscopeError",
    /^outDim: expected numHeads · valueHeadDim = 8.*got 9/,
    fused({ outDim: 9 }, { wo: undefined, bo: undefined }),
  ]);
  for (const value of [undefined, null, 4, "4", new Float32Array(4)]) {
    cases.push([
      `weights ${label(value)}`,
      "TypeError",
      /^weights: /,
      () => hs.multiHeadAttention(CONFIG, value as never),
    ]);
  }
  refuses(cases);
});

guarded("J05: sizes whose product overflows 32 bits never wrap to something small", ({ hs, layer, weights }) => {
  const small = new Float32Array(4);
  const wide = { dModel: 65536, numHeads: 1 };
  refuses([
    [
      "65536 × 65536 weights",
      "HeadscopeError",
      /^weights\.wq: expected 4294967296 numbers .*got 64/,
      () => hs.multiHeadAttention(wide, weights),
    ],
    [
      "65536 × 65536 input",
      "HeadscopeError",
      /^query\.data: expected 4294967296 values for the shape \[65536, 65536\], got 4/,
      () => layer.forward({ data: small, shape: [65536, 65536] }),
    ],
    [
      "65536³",
      "HeadscopeError",
      /^query\.data: expected 281474976710656 values/,
      () => layer.forward({ data: small, shape: [65536, 65536, 65536] }),
    ],
    [
      "2^31 rows",
      "RangeError",
      /^query\.shape\[0\]: .*got 2147483648/,
      () => layer.forward({ data: small, shape: [2 ** 31, 8] }),
    ],
    [
      "2^62",
      "HeadscopeError",
      /^q\.data: expected 4611686014132420609 values/,
      () =>
        hs.attention(
          { data: small, shape: [1, 2 ** 31 - 1, 2 ** 31 - 1] },
          { data: small, shape: [1, 1, 4] },
          { data: small, shape: [1, 1, 4] },
        ),
    ],
  ]);
});

guarded("J05: tensors: the object, its data and its shape", ({ hs, layer, x }) => {
  const cases: Case[] = [];
  const run = (value: unknown) => () => layer.forward(value as never);
  for (const value of [...WRONG_TYPES, new Float32Array(24)]) {
    cases.push([
      `query ${label(value)}`,
      "TypeError",
      /^query: expected a tensor \{ data: Float32Array, shape: number\[\] \}, got /,
      run(value),
    ]);
  }
  for (const value of [null, "4", 4, [1, 2], new Float64Array(24), new Uint8Array(24), new ArrayBuffer(96)]) {
    cases.push([
      `data ${label(value)}`,
      "TypeError",
      /^query\.data: expected a Float32Array, got /,
      run({ data: value, shape: [3, 8] }),
    ]);
  }
  for (const value of [undefined, null, "3,8", 24, { 0: 3, 1: 8 }, Int32Array.of(3, 8)]) {
    cases.push([
      `shape ${label(value)}`,
      "TypeError",
      /^query\.shape: expected an array of whole numbers, got /,
      run({ data: x.data, shape: value }),
    ]);
  }
  for (const value of WRONG_TYPES) {
    cases.push([
      `size ${label(value)}`,
      "TypeError",
      /^query\.shape\[0\]: expected a whole number from 0/,
      run({ data: x.data, shape: [value, 8] }),
    ]);
  }
  for (const value of WRONG_NUMBERS) {
    cases.push([
      `size ${value}`,
      "RangeError",
      /^query\.shape\[1\]: expected a whole number from 0/,
      run({ data: x.data, shape: [3, value] }),
    ]);
  }
  cases.push([
    "length",
    "HeadscopeError",
    /^query\.data: expected 32 values for the shape \[4, 8\], got 24/,
    run({ data: x.data, shape: [4, 8] }),
  ]);
  cases.push([
    "width",
    "HeadscopeError",
    /^query\.shape: expected \[T, 8\] or \[B, T, 8\] \(dModel 8\), got \[6, 4\]/,
    run({ data: x.data, shape: [6, 4] }),
  ]);
  cases.push(["rank 1", "HeadscopeError", /^query\.shape: /, run({ data: new Float32Array(8), shape: [8] })]);
  cases.push(["rank 0", "HeadscopeError", /^query\.shape: /, run({ data: new Float32Array(1), shape: [] })]);
  cases.push([
    "rank 4",
    "HeadscopeError",
    /^query\.shape: expected at most 3 axes, got 4 axes/,
    run({ data: x.data, shape: [1, 1, 3, 8] }),
  ]);
  const detached = new Float32Array(24);
  structuredClone(detached, { transfer: [detached.buffer] });
  cases.push([
    "detached",
    "TypeError",
    /^query\.data: expected an array with its memory, got one whose buffer is detached/,
    run({ data: detached, shape: [3, 8] }),
  ]);
  cases.push([
    "detached, empty shape",
    "TypeError",
    /^query\.data: .*detached/,
    run({ data: detached, shape: [0, 8] }),
  ]);
  for (const [at, name] of [
    [0, "q"],
    [1, "k"],
    [2, "v"],
  ] as const) {
    for (const value of [undefined, null, 4, new Float32Array(4), { data: [1], shape: [1] }]) {
      const qkv: unknown[] = [0, 1, 2].map(() => ({ data: new Float32Array(6), shape: [1, 2, 3] }));
      qkv[at] = value;
      cases.push([
        `${name} ${label(value)}`,
        "TypeError",
        new RegExp(`^${name}(\\.data)?: expected a `),
        () => hs.attention(...(qkv as [never, never, never])),
      ]);
    }
  }
  refuses(cases);
});

guarded("shapes of q, k and v that do not fit each other are named with both numbers", ({ hs }) => {
  const t = (...shape: number[]): Tensor => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });
  refuses([
    [
      "rank 2",
      "HeadscopeError",
      /^q\.shape: expected \[B, H, T, dk\], or without B, got \[2, 3\]/,
      () => hs.attention(t(2, 3), t(1, 2, 3), t(1, 2, 3)),
    ],
    ["rank 5", "HeadscopeError", /^q\.shape: /, () => hs.attention(t(1, 1, 1, 2, 3), t(1, 2, 3), t(1, 2, 3))],
    [
      "head width",
      "HeadscopeError",
      /^k\.shape: .*width 3.*\[1, 2, 4\]/,
      () => hs.attention(t(1, 2, 3), t(1, 2, 4), t(1, 2, 3)),
    ],
    [
      "batch",
      "HeadscopeError",
      /^k\.shape: expected batch 2/,
      () => hs.attention(t(2, 1, 2, 3), t(3, 1, 2, 3), t(3, 1, 2, 3)),
    ],
    [
      "heads",
      "HeadscopeError",
      /^k\.shape: expected a number of heads that divides q's 5, got 2/,
      () => hs.attention(t(5, 2, 3), t(2, 2, 3), t(2, 2, 3)),
    ],
    ["no heads", "HeadscopeError", /^k\.shape: /, () => hs.attention(t(0, 2, 3), t(0, 2, 3), t(0, 2, 3))],
    [
      "width 0",
      "HeadscopeError",
      /^q\.shape: expected a head width of at least 1/,
      () => hs.attention(t(1, 2, 0), t(1, 2, 0), t(1, 2, 3)),
    ],
    [
      "rows of v",
      "HeadscopeError",
      /^v\.shape: .*4 rows.*\[1, 5, 3\]/,
      () => hs.attention(t(1, 2, 3), t(1, 4, 3), t(1, 5, 3)),
    ],
    ["heads of v", "HeadscopeError", /^v\.shape: .*2 heads/, () => hs.attention(t(2, 2, 3), t(2, 4, 3), t(1, 4, 3))],
  ]);
});

guarded(
  "shapes of key and value that do not fit the query are named with both numbers",
  ({ hs, layer, x, weights }) => {
    const t = (...shape: number[]): Tensor => ({ data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape });
    const cross = hs.multiHeadAttention(
      { ...CONFIG, keyDim: 6, valueDim: 5 },
      drawWeights({ ...CONFIG, keyDim: 6, valueDim: 5 }, new Random(1)),
    );
    refuses([
      [
        "width",
        "HeadscopeError",
        /^key\.shape: expected \[S, 8\] or \[B, S, 8\] \(keyDim 8\), got \[4, 6\]/,
        () => layer.forward(x, { key: t(4, 6) }),
      ],
      [
        "batch",
        "HeadscopeError",
        /^key\.shape: expected the query's batch 1, got \[2, 4, 8\]/,
        () => layer.forward(x, { key: t(2, 4, 8) }),
      ],
      [
        "rows",
        "HeadscopeError",
        /^value\.shape: expected as many rows as keys, 3, got \[4, 8\]/,
        () => layer.forward(x, { value: t(4, 8) }),
      ],
      [
        "no key",
        "TypeError",
        /^key: expected a tensor, as keyDim 6 is not dModel 8, got undefined/,
        () => cross.forward(x),
      ],
      [
        "no value",
        "TypeError",
        /^value: expected a tensor, as valueDim 5 is not keyDim 6, got undefined/,
        () => cross.forward(x, { key: t(4, 6) }),
      ],
      ["key type", "TypeError", /^key: /, () => layer.forward(x, { key: null as never })],
      [
        "value data",
        "TypeError",
        /^value\.data: /,
        () => layer.forward(x, { value: { data: [1], shape: [1, 1] } as never }),
      ],
    ]);
    cross.dispose();
    assert.equal(weights.layout, "in-out");
  },
);

guarded("A06, A10: masks: types, shapes that do not broadcast, floats with a hint to bias", ({ layer, x }) => {
  const run = (mask: unknown) => () => layer.forward(x, { mask } as never);
  const cases: Case[] = [];
  for (const value of [null, "1", 1, true, new Uint8Array(9), [true]]) {
    cases.push([`mask ${label(value)}`, "TypeError", /^mask: expected a mask/, run(value)]);
    cases.push([`blocked ${label(value)}`, "TypeError", /^mask\.blocked: expected a mask/, run({ blocked: value })]);
  }
  for (const value of [undefined, null, "111", 9, new Int8Array(9), new Uint8ClampedArray(9), new Set([1])]) {
    cases.push([
      `data ${label(value)}`,
      "TypeError",
      /^mask\.data: expected a Uint8Array or an array of booleans, got /,
      run({ data: value, shape: [3, 3] }),
    ]);
  }
  cases.push([
    "floats",
    "TypeError",
    /^mask\.data: .*Float32Array of length 9; .*`bias`/,
    run({ data: new Float32Array(9), shape: [3, 3] }),
  ]);
  cases.push([
    "numbers",
    "TypeError",
    /^mask\.data\[0\]: expected a boolean, got 1/,
    run({ data: [1, 0, 1], shape: [3] }),
  ]);
  cases.push([
    "length",
    "HeadscopeError",
    /^mask\.data: expected 9 values for the shape \[3, 3\], got 8/,
    run({ data: new Uint8Array(8), shape: [3, 3] }),
  ]);
  for (const shape of [[4, 3], [3, 4], [2], [3, 3, 3], [2, 1, 3, 3], [1, 1, 1, 3, 3]]) {
    const data = new Uint8Array(shape.reduce((a, b) => a * b, 1));
    const text = shape.join(", ");
    cases.push([
      `shape ${text}`,
      "HeadscopeError",
      new RegExp(`^mask\\.shape: .*\\[1, 2, 3, 3\\].*\\[${text}\\]`),
      run({ data, shape }),
    ]);
  }
  cases.push([
    "blocked and more",
    "TypeError",
    /^mask\.data: expected a known name/,
    run({ blocked: { data: new Uint8Array(3), shape: [3] }, data: 1 }),
  ]);
  for (const value of [null, "1", new Float32Array(9)]) {
    cases.push([`bias ${label(value)}`, "TypeError", /^bias: /, () => layer.forward(x, { bias: value } as never)]);
  }
  cases.push([
    "bias bytes",
    "TypeError",
    /^bias\.data: expected a Float32Array/,
    () => layer.forward(x, { bias: { data: new Uint8Array(9), shape: [3, 3] } } as never),
  ]);
  cases.push([
    "bias shape",
    "HeadscopeError",
    /^bias\.shape: .*\[1, 2, 3, 3\] from the right, got \[2, 3\]/,
    () => layer.forward(x, { bias: { data: new Float32Array(6), shape: [2, 3] } }),
  ]);
  refuses(cases);
});

guarded("a mask [B,T,S] is refused with the shape that was meant", ({ layer }) => {
  const random = new Random(3);
  const mask = { data: new Uint8Array(3 * 16).fill(1), shape: [3, 4, 4] };
  refuses([
    [
      "3-D",
      "HeadscopeError",
      /^mask\.shape: .*got \[3, 4, 4\]; one per batch item is \[3, 1, 4, 4\]/,
      () => layer.forward(random.tensor([3, 4, 8]), { mask }),
    ],
  ]);
});

guarded("keyPadding: types, lengths and true lengths out of range", ({ layer }) => {
  const x = new Random(4).tensor([2, 3, 8]);
  const run = (keyPadding: unknown) => () => layer.forward(x, { keyPadding } as never);
  const cases: Case[] = [];
  for (const value of [
    null,
    "1",
    3,
    [1, 1, 1],
    [true],
    {},
    new Float32Array(6),
    new Int8Array(6),
    new Uint32Array(2),
    new BigInt64Array(2),
  ]) {
    const name = `keyPadding ${typeof value === "object" && value !== null ? value.constructor.name : label(value)}`;
    cases.push([name, "TypeError", /^keyPadding: expected a Uint8Array or an Int32Array, got /, run(value)]);
  }
  cases.push(["bytes", "HeadscopeError", /^keyPadding: expected B × S = 2 × 3 values, got 5/, run(new Uint8Array(5))]);
  cases.push([
    "byte lengths",
    "HeadscopeError",
    /^keyPadding: .*got 2; true lengths come as an Int32Array/,
    run(new Uint8Array(2)),
  ]);
  cases.push([
    "ints",
    "HeadscopeError",
    /^keyPadding: expected B × S = 2 × 3 values or B = 2 lengths, got 3/,
    run(new Int32Array(3)),
  ]);
  cases.push([
    "too long",
    "RangeError",
    /^keyPadding\[1\]: expected a length from 0 to S = 3, got 4/,
    run(Int32Array.of(3, 4)),
  ]);
  cases.push(["negative", "RangeError", /^keyPadding\[0\]: .*got -1/, run(Int32Array.of(-1, 2))]);
  refuses(cases);
});

guarded("the other options: causal, window, scale, softcap, headMask, scoresStage, out", ({ layer, x }) => {
  const run = (options: object) => () => layer.forward(x, options as never);
  const cases: Case[] = [];
  for (const value of WRONG_TYPES.slice(1)) {
    if (value !== true && label(value) !== "{}")
      cases.push([
        `causal ${label(value)}`,
        "TypeError",
        /^causal: expected a boolean or \{ offset \}/,
        run({ causal: value }),
      ]);
    cases.push([
      `offset ${label(value)}`,
      "TypeError",
      /^causal\.offset: expected a whole number/,
      run({ causal: { offset: value } }),
    ]);
    if (label(value) !== "{}") cases.push([`window ${label(value)}`, "TypeError", /^window: /, run({ window: value })]);
    cases.push([
      `left ${label(value)}`,
      "TypeError",
      /^window\.left: expected a whole number/,
      run({ window: { left: value } }),
    ]);
    cases.push([`scale ${label(value)}`, "TypeError", /^scale: /, run({ scale: value })]);
    cases.push([`softcap ${label(value)}`, "TypeError", /^softcap: /, run({ softcap: value })]);
    cases.push([
      `headMask ${label(value)}`,
      "TypeError",
      /^headMask: expected a Float32Array/,
      run({ headMask: value }),
    ]);
    cases.push([
      `scoresStage ${label(value)}`,
      "TypeError",
      /^scoresStage: expected "scaled" or "capped" or "masked"/,
      run({ scoresStage: value }),
    ]);
    if (label(value) !== "{}") {
      cases.push([`out ${label(value)}`, "TypeError", /^out: expected a Float32Array/, run({ out: value })]);
    }
  }
  cases.push(["causal {}", "TypeError", /^causal\.offset: .*undefined/, run({ causal: {} })]);
  for (const value of [Number.NaN, 1.5, 2 ** 31, Number.POSITIVE_INFINITY]) {
    cases.push([`offset ${value}`, "RangeError", /^causal\.offset: /, run({ causal: { offset: value } })]);
  }
  for (const value of [Number.NaN, 1.5, -1, -2, Number.POSITIVE_INFINITY]) {
    cases.push([`right ${value}`, "RangeError", /^window\.right: /, run({ window: { right: value } })]);
  }
  cases.push(["left -1", "RangeError", /^window\.left: .*leave it out for no limit/, run({ window: { left: -1 } })]);
  cases.push(["scale NaN", "RangeError", /^scale: /, run({ scale: Number.NaN })]);
  cases.push(["softcap -2", "RangeError", /^softcap: /, run({ softcap: -2 })]);
  cases.push([
    "headMask length",
    "HeadscopeError",
    /^headMask: expected 2 numbers \(numHeads\), got 3/,
    run({ headMask: new Float32Array(3) }),
  ]);
  cases.push([
    "out short",
    "HeadscopeError",
    /^out: expected 24 numbers \(output \[3, 8\]\), got 23/,
    run({ out: new Float32Array(23) }),
  ]);
  cases.push([
    "out doubles",
    "TypeError",
    /^out: expected a Float32Array, got Float64Array of length 24/,
    run({ out: new Float64Array(24) }),
  ]);
  const detached = new Float32Array(24);
  structuredClone(detached, { transfer: [detached.buffer] });
  cases.push(["out detached", "TypeError", /^out: .*detached/, run({ out: detached })]);
  for (const value of [null, 3, "x", true, [], new Float32Array(3)]) {
    cases.push([
      `options ${label(value)}`,
      "TypeError",
      /^options: expected an object/,
      () => layer.forward(x, value as never),
    ]);
  }
  refuses(cases);
});

guarded(
  "want: not an array, unknown names with a suggestion, contributions where there are none",
  ({ hs, layer, x, weights }) => {
    const run = (want: unknown) => () => layer.forward(x, { want } as never);
    const cases: Case[] = [];
    for (const value of [null, "weights", 1, true, {}, new Set(["weights"])]) {
      cases.push([`want ${label(value)}`, "TypeError", /^want: expected an array of result names/, run(value)]);
    }
    cases.push([
      "misspelt",
      "TypeError",
      /^want\[1\]: expected one of weights, .*trace, got "weigths" \(a string\); did you mean "weights"\?/,
      run(["q", "weigths"]),
    ]);
    cases.push(["attentions", "TypeError", /^want\[0\]: .*did you mean "weights"\?/, run(["attentions"])]);
    cases.push(["far off", "TypeError", /^want\[0\]: .*known are weights, scores/, run(["zzzzzzzz"])]);
    for (const value of [undefined, null, 1, {}, 4n])
      cases.push([`want [${label(value)}]`, "TypeError", /^want\[0\]: expected one of/, run([value])]);
    const { wq, wk, wv, layout } = weights;
    const bare = hs.multiHeadAttention(CONFIG, { layout, wq, wk, wv });
    cases.push([
      "no wo",
      "HeadscopeError",
      /^want: expected an output projection wo for contributions/,
      () => bare.forward(x, { want: ["contributions"] }),
    ]);
    const heads: Tensor = { data: new Float32Array(6), shape: [1, 2, 3] };
    cases.push([
      "attention()",
      "HeadscopeError",
      /^want: expected an output projection/,
      () => hs.attention(heads, heads, heads, { want: ["contributions"] }),
    ]);
    refuses(cases);
    bare.dispose();
  },
);

guarded("names that nothing reads are refused, with a suggestion", ({ hs, layer, x, weights }) => {
  const heads: Tensor = { data: new Float32Array(6), shape: [1, 2, 3] };
  refuses([
    [
      "option",
      "TypeError",
      /^options\.casual: expected a known name, got "casual"; did you mean "causal"\?/,
      () => layer.forward(x, { casual: true } as never),
    ],
    [
      "torch's name",
      "TypeError",
      /^options\.attn_mask: .*did you mean "mask"\?/,
      () => layer.forward(x, { attn_mask: 1 } as never),
    ],
    [
      "torch's flag",
      "TypeError",
      /^options\.is_causal: .*did you mean "causal"\?/,
      () => layer.forward(x, { is_causal: true } as never),
    ],
    [
      "Python's case",
      "TypeError",
      /^config\.num_heads: .*did you mean "numHeads"\?/,
      () => hs.multiHeadAttention({ dModel: 8, num_heads: 2 } as never, weights),
    ],
    [
      "weight",
      "TypeError",
      /^weights\.bias: .*known are layout, wo, bo, wq/,
      () => hs.multiHeadAttention(CONFIG, { ...weights, bias: 1 } as never),
    ],
    [
      "rope",
      "TypeError",
      /^rope\.theta: .*did you mean "base"\?/,
      () => hs.multiHeadAttention({ ...CONFIG, rope: { pairing: "halves", theta: 1 } } as never, weights),
    ],
    ["causal", "TypeError", /^causal\.ofset: .*"offset"/, () => layer.forward(x, { causal: { ofset: 1 } } as never)],
    [
      "window",
      "TypeError",
      /^window\.size: .*known are left, right/,
      () => layer.forward(x, { window: { size: 4 } } as never),
    ],
    [
      "a layer's option",
      "TypeError",
      /^options\.cache: expected a known name/,
      () => hs.attention(heads, heads, heads, { cache: 1 } as never),
    ],
    ["cache", "TypeError", /^options\.length: /, () => layer.createCache({ capacity: 1, length: 4 } as never)],
    ["prototype names", "TypeError", /^options\.toString: /, () => layer.forward(x, { toString: 1 } as never)],
  ]);
});

guarded("caches: sizes, foreign objects, other layers, other batches, no room", ({ hs, layer, x, weights }) => {
  const cases: Case[] = [];
  for (const value of WRONG_TYPES) {
    cases.push([
      `capacity ${label(value)}`,
      "TypeError",
      /^capacity: expected a whole number from 1/,
      () => layer.createCache({ capacity: value } as never),
    ]);
    if (value !== undefined)
      cases.push([
        `batch ${label(value)}`,
        "TypeError",
        /^batch: /,
        () => layer.createCache({ capacity: 4, batch: value } as never),
      ]);
    if (value !== undefined)
      cases.push([
        `cache ${label(value)}`,
        "TypeError",
        /^cache: expected a cache made by this layer's createCache/,
        () => layer.forward(x, { cache: value } as never),
      ]);
  }
  for (const value of [0, ...WRONG_NUMBERS]) {
    cases.push([`capacity ${value}`, "RangeError", /^capacity: /, () => layer.createCache({ capacity: value })]);
    cases.push([`batch ${value}`, "RangeError", /^batch: /, () => layer.createCache({ capacity: 4, batch: value })]);
  }
  for (const value of [undefined, null, 4])
    cases.push([`options ${label(value)}`, "TypeError", /^options: /, () => layer.createCache(value as never)]);
  const other = hs.multiHeadAttention(CONFIG, weights);
  const foreign = other.createCache({ capacity: 4 });
  const cache = layer.createCache({ capacity: 4 });
  layer.forward(x, { cache });
  cases.push([
    "another layer's",
    "HeadscopeError",
    /^cache: .*got a cache of another layer/,
    () => layer.forward(x, { cache: foreign }),
  ]);
  cases.push([
    "full",
    "HeadscopeError",
    /^cache: expected room for 3 more tokens, got length 3 of capacity 4/,
    () => layer.forward(x, { cache }),
  ]);
  cases.push([
    "batch",
    "HeadscopeError",
    /^cache: expected a cache of the query's batch 2, got a cache of batch 1/,
    () => layer.forward(new Random(1).tensor([2, 1, 8]), { cache }),
  ]);
  for (const value of WRONG_TYPES)
    cases.push([
      `truncate ${label(value)}`,
      "TypeError",
      /^n: expected a whole number from 0 to 3/,
      () => cache.truncate(value as never),
    ]);
  for (const value of WRONG_NUMBERS.concat(4))
    cases.push([
      `truncate ${value}`,
      "RangeError",
      /^n: expected a whole number from 0 to 3/,
      () => cache.truncate(value),
    ]);
  refuses(cases);
  assert.equal(cache.length, 3);
  assert.equal(foreign.length, 0);
  for (const one of [cache, foreign, other]) one.dispose();
});
