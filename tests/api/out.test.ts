import assert from "node:assert/strict";
import test from "node:test";
import { type Headscope, load, type ResultBuffers, type Tensor } from "headscope";
import { assertSameBits } from "../support/compare.ts";
import { drawWeights } from "../support/layer.ts";
import { Random } from "../support/random.ts";
import { eachVariant } from "../variants.ts";

// `out` as an object: results in the caller's memory. Each is compared, bit by bit, with what comes in fresh arrays.

type Results = Readonly<Record<string, Tensor>>;

const CONFIG = { dModel: 12, numHeads: 4, numKVHeads: 2, headDim: 5, valueHeadDim: 3, outDim: 7 };
const WANTS = ["weights", "scores", "q", "k", "v", "heads", "concat", "contributions"] as const;
const OLD = 7.25;

/** Arrays as long as these results, in the middle of larger ones, all full of old numbers. */
function buffersFor(results: Results, old = OLD) {
  const around = 5;
  const wholes: Float32Array[] = [];
  const buffers: Record<string, Float32Array> = {};
  for (const [name, { data }] of Object.entries(results)) {
    const whole = new Float32Array(data.length + 2 * around).fill(old);
    wholes.push(whole);
    buffers[name] = whole.subarray(around, around + data.length);
  }
  const intact = () =>
    wholes.every((whole) =>
      [...whole.subarray(0, around), ...whole.subarray(-around)].every((value) => Object.is(value, old)),
    );
  return { buffers: buffers as ResultBuffers & Record<string, Float32Array>, intact };
}

function assertWritten(result: object, buffers: Readonly<Record<string, Float32Array>>, fresh: Results, what: string) {
  const results = result as Results;
  assert.deepEqual(Object.keys(results), Object.keys(fresh), what);
  for (const [name, { data, shape }] of Object.entries(fresh)) {
    const to = results[name] as Tensor;
    if (name in buffers) assert.equal(to.data, buffers[name], `${what}: ${name} is not the very array`);
    else assert.notEqual(to.data.buffer, data.buffer, `${what}: ${name}`);
    assert.deepEqual(to.shape, shape, `${what}: ${name}`);
    assertSameBits(to.data.slice(), data, `${what}: ${name}`);
  }
}

/** Masks of every kind over T = 9 queries and S keys. */
function masksOf(random: Random, keys: number): Readonly<Record<string, object>> {
  return {
    none: {},
    causal: { causal: true },
    "causal, ahead": { causal: { offset: 2 } },
    "rows that see no key": { causal: { offset: -4 } },
    window: { window: { left: 2, right: 1 } },
    "causal window": { causal: { offset: keys - 9 }, window: { left: 3 } },
    "a window beside all keys": { window: { left: 0, right: 0 }, causal: { offset: -20 } },
    mask: { mask: { data: random.bits(9 * keys, 0.4), shape: [9, keys] } },
    "everything hidden": { mask: { data: new Uint8Array(1), shape: [1] } },
    bias: { bias: random.tensor([9, keys]), softcap: 3 },
    "bias that hides": { bias: { data: new Float32Array(keys).fill(Number.NEGATIVE_INFINITY), shape: [keys] } },
    "heads taken out": { headMask: Float32Array.of(1, 0, 0.5, 1), causal: true },
  };
}

eachVariant("out: every result in every mask, batched, with fewer K/V heads and other lengths of keys", (hs) => {
  const random = new Random(1);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  for (const lead of [[], [3]]) {
    for (const keys of [9, 4, 33]) {
      const x = random.tensor([...lead, 9, 12]);
      const key = keys === 9 ? undefined : random.tensor([...lead, keys, 12]);
      for (const [name, masks] of Object.entries(masksOf(random, keys))) {
        for (const scoresStage of ["scaled", "masked"] as const) {
          const options = { ...masks, key, scoresStage, want: WANTS };
          const fresh = layer.forward(x, options) as unknown as Results;
          for (const old of [OLD, Number.NaN]) {
            const { buffers, intact } = buffersFor(fresh, old);
            const what = `${name}, batch ${lead}, ${keys} keys, ${scoresStage}`;
            assertWritten(layer.forward(x, { ...options, out: buffers }), buffers, fresh, what);
            assert.ok(intact(), `${what}: numbers beside a buffer were written`);
          }
        }
      }
    }
  }
});

eachVariant("out: rows that look past the end, hidden values, and rows of NaN come as in fresh arrays", (hs) => {
  const random = new Random(2);
  const [q, k, v] = [random.tensor([2, 7, 4]), random.tensor([2, 7, 4]), random.tensor([2, 7, 4])];
  q.data[5] = Number.NaN; // row 1 of head 0
  (v.data as Float32Array).fill(Number.POSITIVE_INFINITY, 24, 28); // the last key of head 0
  for (const options of [{}, { causal: true }, { window: { left: 1, right: 0 } }, { keyPadding: Int32Array.of(3) }]) {
    const want = ["weights", "scores", "heads"] as const;
    const fresh = hs.attention(q, k, v, { ...options, want }) as unknown as Results;
    const { buffers } = buffersFor(fresh, Number.NaN);
    const what = JSON.stringify(options);
    assertWritten(hs.attention(q, k, v, { ...options, want, out: buffers }), buffers, fresh, what);
  }
});

eachVariant("out: attention() alone, with grouped heads, batched, with lengths per item", (hs) => {
  const random = new Random(3);
  const want = ["weights", "scores", "q", "k", "v", "heads", "concat"] as const;
  for (const lead of [[], [2]]) {
    const [q, k, v] = [
      random.tensor([...lead, 4, 6, 5]),
      random.tensor([...lead, 2, 11, 5]),
      random.tensor([...lead, 2, 11, 3]),
    ];
    const keyPadding = Int32Array.of(4, 11).subarray(0, lead[0] ?? 1);
    for (const options of [{}, { causal: { offset: 5 } }, { keyPadding }, { keyPadding, causal: true }]) {
      const fresh = hs.attention(q, k, v, { ...options, want }) as unknown as Results;
      const { buffers, intact } = buffersFor(fresh);
      assertWritten(hs.attention(q, k, v, { ...options, want, out: buffers }), buffers, fresh, JSON.stringify(options));
      assert.ok(intact());
    }
  }
});

eachVariant("out: sizes around tiles, panels and blocks, causal and not, in memory full of NaN", (hs) => {
  const random = new Random(4);
  for (const size of [1, 2, 5, 7, 8, 47, 48, 49, 97, 130]) {
    const [q, k] = [random.tensor([2, size, 4]), random.tensor([1, size + 3, 4])];
    for (const options of [{}, { causal: true }, { causal: { offset: 3 }, window: { left: 40, right: 0 } }]) {
      const fresh = hs.attention(q, k, k, options) as unknown as Results;
      const { buffers, intact } = buffersFor(fresh, Number.NaN);
      const what = `size ${size}, ${JSON.stringify(options)}`;
      assertWritten(hs.attention(q, k, k, { ...options, out: buffers }), buffers, fresh, what);
      assert.ok(intact(), what);
    }
  }
});

eachVariant("out: some of the results, or none; the others come in fresh arrays", (hs) => {
  const random = new Random(5);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([6, 12]);
  const fresh = layer.forward(x, { want: WANTS }) as unknown as Results;
  for (const names of [[], ["output"], ["weights"], ["scores", "k"], ["output", "contributions"]]) {
    const { buffers } = buffersFor(Object.fromEntries(names.map((name) => [name, fresh[name] as Tensor])));
    assertWritten(layer.forward(x, { want: WANTS, out: buffers }), buffers, fresh, names.join());
  }
  const [output, only] = [new Float32Array(42), new Float32Array(42)];
  const alone = layer.forward(x, { want: [], out: { output } });
  assert.deepEqual(Object.keys(alone), ["output"]);
  assert.equal(alone.output.data, output);
  layer.forward(x, { want: [], out: only });
  assertSameBits(only, output, "an array is the output's");
  assert.deepEqual(Object.keys(layer.forward(x, { want: [], out: {} })), ["output"]);
  const weights = new Float32Array(4 * 6 * 6);
  assert.equal(layer.forward(x, { out: { weights, output: undefined } }).weights.data, weights, "want's default");
  const traced = layer.forward(x, { want: ["weights", "trace"], out: { weights } });
  assert.equal(traced.weights.data, weights);
  assert.equal(traced.trace[0]?.id, "input");
  layer.dispose();
});

eachVariant("out: one set of buffers over many calls holds each call's results and nothing older", (hs) => {
  const random = new Random(6);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const all = Object.entries(masksOf(random, 9));
  const first = layer.forward(random.tensor([9, 12]), { want: WANTS }) as unknown as Results;
  const { buffers, intact } = buffersFor(first);
  for (let turn = 0; turn < 40; ++turn) {
    const [name, masks] = all[turn % all.length] as [string, object];
    const x = random.tensor([9, 12]);
    if (turn % 5 === 3) x.data.fill(Number.NaN, 24, 36);
    const fresh = layer.forward(x, { ...masks, want: WANTS }) as unknown as Results;
    assertWritten(layer.forward(x, { ...masks, want: WANTS, out: buffers }), buffers, fresh, `${turn}: ${name}`);
    if (turn % 7 === 0) layer.forward(random.tensor([60 + turn, 12])); // the heap grows, and holds other numbers
  }
  assert.ok(intact());
});

eachVariant("out: no sizes at all, with arrays of length 0", (hs) => {
  const random = new Random(7);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  for (const [queries, keys] of [
    [0, 3],
    [3, 0],
    [0, 0],
  ] as const) {
    const options = { key: random.tensor([keys, 12]), want: WANTS };
    const fresh = layer.forward(random.tensor([queries, 12]), options) as unknown as Results;
    const { buffers } = buffersFor(fresh);
    const result = layer.forward(random.tensor([queries, 12]), { ...options, out: buffers });
    for (const [name, { data }] of Object.entries(result as unknown as Results)) {
      assert.equal(data, buffers[name]);
      assert.ok(data.every((value) => Number.isFinite(value) && value !== OLD));
    }
  }
});

eachVariant("out: with a cache, whose keys k, v, weights and scores count", (hs) => {
  const random = new Random(8);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const [mine, other] = [layer.createCache({ capacity: 20 }), layer.createCache({ capacity: 20 })];
  for (const tokens of [5, 1, 1, 4]) {
    const x = random.tensor([tokens, 12]);
    const options = { causal: true, want: WANTS };
    const fresh = layer.forward(x, { ...options, cache: other }) as unknown as Results;
    const { buffers, intact } = buffersFor(fresh, Number.NaN);
    assertWritten(layer.forward(x, { ...options, cache: mine, out: buffers }), buffers, fresh, `${mine.length} cached`);
    assert.ok(intact());
  }
  const wrong = { weights: new Float32Array(4 * 1 * 11) };
  const before = mine.length;
  assert.throws(() => layer.forward(random.tensor([1, 12]), { cache: mine, out: wrong }), {
    code: "shape",
    message: "out.weights: expected 48 numbers (weights [4, 1, 12]), got 44",
  });
  assert.equal(mine.length, before);
});

eachVariant("out: the caller's inputs may be the memory of results", (hs) => {
  const random = new Random(9);
  // T = S = dk = dv and H = G, so that q, k, v, weights, bias and output are all of one length.
  const draw = (): Tensor => random.tensor([2, 8, 8]);
  const given = [draw(), draw(), draw(), draw()] as const;
  const [q, k, v, bias] = given;
  const fresh = hs.attention(q, k, v, { bias, causal: true, want: ["weights", "scores"] });
  for (const [a, b, c] of [
    [0, 1, 2],
    [1, 2, 3],
    [3, 0, 1],
    [2, 3, 0],
  ] as const) {
    const copies = structuredClone(given) as unknown as typeof given;
    const at = (i: number) => (copies[i as 0] as Tensor).data;
    const out = { output: at(a), weights: at(b), scores: at(c) };
    const [q2, k2, v2, bias2] = copies;
    const result = hs.attention(q2, k2, v2, { bias: bias2, causal: true, want: ["weights", "scores"], out });
    assertWritten(result, out, fresh as unknown as Results, `${a}${b}${c}`);
  }
  // Half over an input: still read before anything is written.
  const whole = new Float32Array(192);
  whole.set(q.data);
  const result = hs.attention({ data: whole.subarray(0, 128), shape: [2, 8, 8] }, k, v, {
    bias,
    causal: true,
    out: { weights: whole.subarray(64, 192) },
  });
  assertSameBits(result.weights.data.slice(), fresh.weights.data, "half over the query");
});

eachVariant("out: shared memory, and neighbours in one buffer", (hs) => {
  const random = new Random(10);
  const x = random.tensor([2, 5, 4]);
  const fresh = hs.attention(x, x, x);
  const memory = new SharedArrayBuffer(4 * (40 + 50));
  const out = { output: new Float32Array(memory, 0, 40), weights: new Float32Array(memory, 160, 50) };
  assertWritten(hs.attention(x, x, x, { out }), out, fresh as unknown as Results, "shared");
});

type Refusal = readonly [what: string, out: object, name: string, code: string | undefined, message: RegExp];

eachVariant("out: what does not fit is refused by name, and nothing is written anywhere", (hs) => {
  const random = new Random(11);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const x = random.tensor([6, 12]);
  const good = { output: new Float32Array(42).fill(OLD), weights: new Float32Array(144).fill(OLD) };
  const detached = new Float32Array(144);
  structuredClone(detached, { transfer: [detached.buffer] });
  const both = new Float32Array(185).fill(OLD);
  const refusals: Refusal[] = [
    [
      "short",
      { weights: new Float32Array(143) },
      "HeadscopeError",
      "shape",
      /^out\.weights: expected 144 numbers \(weights \[4, 6, 6\]\), got 143$/,
    ],
    ["long", { weights: new Float32Array(145) }, "HeadscopeError", "shape", /^out\.weights: expected 144 .*, got 145$/],
    [
      "short output",
      { output: new Float32Array(41) },
      "HeadscopeError",
      "shape",
      /^out\.output: expected 42 numbers \(output \[6, 7\]\), got 41$/,
    ],
    [
      "not wanted",
      { scores: new Float32Array(144) },
      "HeadscopeError",
      "config",
      /^out\.scores: expected "scores" in want, got a want without it$/,
    ],
    [
      "doubles",
      { weights: new Float64Array(144) },
      "TypeError",
      undefined,
      /^out\.weights: expected a Float32Array, got Float64Array of length 144$/,
    ],
    ["null", { weights: null }, "TypeError", undefined, /^out\.weights: expected a Float32Array, got null$/],
    [
      "a tensor",
      { weights: { data: good.weights, shape: [4, 6, 6] } },
      "TypeError",
      undefined,
      /^out\.weights: expected a Float32Array, got an object$/,
    ],
    [
      "a tensor as out",
      { data: good.output, shape: [6, 7] },
      "TypeError",
      undefined,
      /^out\.data: expected a known name, got "data"; known are output, weights, /,
    ],
    ["misspelt", { weight: good.weights }, "TypeError", undefined, /^out\.weight: .*did you mean "weights"\?$/],
    ["other libraries' name", { attentions: good.weights }, "TypeError", undefined, /did you mean "weights"\?$/],
    ["trace", { trace: good.weights }, "TypeError", undefined, /^out\.trace: expected a known name/],
    [
      "an array of arrays",
      [good.output, good.weights],
      "TypeError",
      undefined,
      /^out: expected a Float32Array or an object of them/,
    ],
    [
      "detached",
      { weights: detached },
      "TypeError",
      undefined,
      /^out\.weights: expected an array with its memory, got one whose buffer is detached$/,
    ],
    [
      "one number in both",
      { weights: both.subarray(0, 144), output: both.subarray(143, 185) },
      "HeadscopeError",
      "config",
      /^out\.weights: expected memory apart from out\.output, got memory that out\.output has too$/,
    ],
  ];
  for (const [what, out, name, code, message] of refusals) {
    const given = { ...good, ...out };
    const run = () => layer.forward(x, { out: Array.isArray(out) ? out : given } as never);
    assert.throws(run, { name, message, ...(code && { code }) }, what);
    for (const array of [good.output, good.weights, both]) {
      assert.ok(
        array.every((value) => value === OLD),
        `${what}: a buffer was written`,
      );
    }
  }
  const scores = new Float32Array(72);
  const same = { weights: scores, scores };
  const heads = random.tensor([2, 6, 4]);
  assert.throws(() => hs.attention(heads, heads, heads, { want: ["weights", "scores"], out: same }), {
    code: "config",
    argument: "out.scores",
  });
  assert.throws(() => hs.attention(heads, heads, heads, { want: ["contributions"], out: { contributions: scores } }), {
    code: "config",
    argument: "want",
  });
  // Errors of other options come first or later, but never between two writes.
  assert.throws(() => layer.forward(x, { out: good, headMask: new Float32Array(3) }), { argument: "headMask" });
  assert.ok(good.weights.every((value) => value === OLD));
  layer.forward(x, { out: good });
  assert.ok(good.weights.every((value) => value !== OLD));
});

eachVariant("out: a getter that gives memory away while options are read is found out", (hs) => {
  const random = new Random(12);
  const x = random.tensor([2, 4, 4]);
  const output = new Float32Array(32);
  const out = {
    output,
    get weights(): Float32Array {
      structuredClone(output, { transfer: [output.buffer] });
      return new Float32Array(32);
    },
  };
  assert.throws(() => hs.attention(x, x, x, { out }), { name: "TypeError", message: /^out\.output: .*detached$/ });
});

eachVariant("out: a getter that gives an input away after it was looked at is found out", (hs) => {
  const random = new Random(15);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const give = ({ buffer }: { readonly buffer: ArrayBufferLike }) =>
    structuredClone(null, { transfer: [buffer as ArrayBuffer] });
  const [key, value] = [random.tensor([4, 12]), random.tensor([4, 12])];
  const [data, keyPadding, headMask] = [new Uint8Array(16).fill(1), new Uint8Array(4).fill(1), new Float32Array(4)];
  const x = random.tensor([4, 12]);
  const inputs = {
    key: [{ key }, key.data],
    value: [{ value }, value.data],
    mask: [{ mask: { data, shape: [4, 4] } }, data],
    keyPadding: [{ keyPadding }, keyPadding],
    headMask: [{ headMask }, headMask],
    query: [{}, x.data],
  } as const;
  for (const [name, [options, lost]] of Object.entries(inputs)) {
    const weights = new Float32Array(64).fill(OLD);
    const out = {
      weights,
      get output() {
        give(lost);
        return undefined;
      },
    };
    assert.throws(() => layer.forward(x, { ...options, out }), {
      name: "TypeError",
      message: new RegExp(`^${name}: .*whose buffer is detached$`),
    });
    assert.ok(weights.every((each) => each === OLD));
  }
});

eachVariant("out: a full cache, or too little memory for the other results, leaves buffers as they were", (hs) => {
  const random = new Random(13);
  const layer = hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random));
  const cache = layer.createCache({ capacity: 4 });
  const weights = new Float32Array(4 * 5 * 5).fill(OLD);
  assert.throws(() => layer.forward(random.tensor([5, 12]), { cache, out: { weights } }), { code: "memory" });
  assert.ok(weights.every((value) => value === OLD));
  const rows: Tensor = { data: new Float32Array(20000), shape: [1, 20000, 1] };
  const columns: Tensor = { data: new Float32Array(60000), shape: [1, 60000, 1] };
  const output = new Float32Array(20000).fill(OLD);
  assert.throws(() => hs.attention(rows, columns, columns, { out: { output } }), { code: "memory" });
  assert.ok(output.every((value) => value === OLD));
});

test("out: a view of the module's own heap is refused", async () => {
  const memories: WebAssembly.Memory[] = [];
  const { instantiate } = WebAssembly;
  // The heap is nobody's to have: a program would have to go to these lengths.
  WebAssembly.instantiate = (async (...args: Parameters<typeof instantiate>) => {
    const made = await instantiate(...args);
    const instance =
      (made as { instance?: WebAssembly.Instance }).instance ?? (made as unknown as WebAssembly.Instance);
    for (const each of Object.values(instance.exports)) if (each instanceof WebAssembly.Memory) memories.push(each);
    return made;
  }) as typeof instantiate;
  let hs: Headscope;
  try {
    hs = await load({ variant: "simd" });
  } finally {
    WebAssembly.instantiate = instantiate;
  }
  const x = new Random(14).tensor([1, 2, 2]);
  hs.attention(x, x, x);
  const views = memories.map(({ buffer }) => new Float32Array(buffer, 0, 4));
  assert.ok(views.length > 0);
  const refused = (out: ResultBuffers | Float32Array) => {
    try {
      hs.attention(x, x, x, { out });
      return false;
    } catch (error) {
      assert.match((error as Error).message, /^out: expected memory of the caller's, got a view of the module's heap$/);
      return true;
    }
  };
  // The decoder of the packed bytes has a memory as well, which is not the heap.
  assert.ok(views.some((view) => refused(view)));
  assert.ok(views.some((view) => refused({ weights: view })));
});
