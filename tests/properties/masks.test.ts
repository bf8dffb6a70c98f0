import assert from "node:assert/strict";
import type { AttentionOptions } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.js";
import { Random } from "../support/random.js";
import { assertSumsToOne, rowsOf } from "../support/rows.js";
import { eachVariant } from "../variants.js";

type Options = Omit<AttentionOptions<"weights">, "want">;

eachVariant("one visibility said in every form gives one answer", (hs) => {
  const random = new Random(101);
  for (const [queries, keys] of [
    [5, 7],
    [30, 30],
    [17, 66],
  ] as const) {
    const q = random.tensor([2, 2, queries, 8]);
    const k = random.tensor([2, 2, keys, 8]);
    const v = random.tensor([2, 2, keys, 6]);
    const offset = random.below(9) - 3;
    const left = 1 + random.below(6);
    const right = random.below(4);
    const lengths = Int32Array.of(1 + random.below(keys), keys);
    const real = Uint8Array.from({ length: 2 * keys }, (_, at) =>
      at % keys < (lengths[at < keys ? 0 : 1] as number) ? 1 : 0,
    );
    const table = (visible: (b: number, i: number, j: number) => boolean): Options[] => {
      const bits = new Uint8Array(2 * queries * keys);
      for (let at = 0; at < bits.length; ++at) {
        const [b, i, j] = [Math.floor(at / (queries * keys)), Math.floor(at / keys) % queries, at % keys];
        bits[at] = visible(b, i, j) ? 1 : 0;
      }
      const shape = [2, 1, queries, keys];
      return [
        { mask: { data: bits, shape } },
        { mask: { data: Array.from(bits, Boolean), shape } },
        { mask: { blocked: { data: bits.map((x) => 1 - x), shape } } },
        { bias: { data: Float32Array.from(bits, (x) => (x ? 0 : Number.NEGATIVE_INFINITY)), shape } },
      ];
    };
    const groups: [string, Options[]][] = [
      [
        "causal",
        [{ causal: { offset } }, { window: { right: 0 }, causal: { offset } }, ...table((_b, i, j) => j <= i + offset)],
      ],
      [
        "lengths",
        [
          { keyPadding: lengths },
          { keyPadding: real },
          { keyPadding: Int32Array.from(real) },
          ...table((b, _i, j) => j < (lengths[b] as number)),
        ],
      ],
      ["window", [{ window: { left, right } }, ...table((_b, i, j) => j >= i - left && j <= i + right)]],
      [
        "all of them",
        [
          { causal: { offset }, window: { left }, keyPadding: lengths },
          { causal: { offset }, window: { left, right: 5 }, keyPadding: real },
          ...table((b, i, j) => j <= i + offset && j >= i + offset - left && j < (lengths[b] as number)),
        ],
      ],
    ];
    for (const [name, forms] of groups) {
      const first = hs.attention(q, k, v, forms[0]);
      for (const [at, options] of forms.entries()) {
        const label = `T ${queries}, S ${keys}, ${name}, form ${at}`;
        const other = hs.attention(q, k, v, options);
        assertClose(other.weights, first.weights, { absolute: 1e-6 }, `${label}: weights`);
        assertClose(other.output, first.output, { absolute: 1e-6, relative: 1e-6 }, `${label}: output`);
        for (const want of [[], ["scores"]] as const) {
          const alone = hs.attention(q, k, v, { ...options, want });
          assertClose(alone.output, first.output, { absolute: 1e-6, relative: 1e-6 }, `${label}: want [${want}]`);
        }
        first.weights.data.forEach((w, i) => {
          if ((w === 0) !== (other.weights.data[i] === 0))
            assert.fail(`${label}: weight ${i} is hidden in one form only`);
        });
      }
    }
  }
});

eachVariant("rows of weights sum to 1, or are all 0", (hs) => {
  const random = new Random(102);
  for (let round = 0; round < 40; ++round) {
    const [queries, keys] = [1 + random.below(70), 1 + random.below(140)];
    const q = random.tensor([1, 2, queries, 16], 1 + 3 * random.uniform());
    const k = random.tensor([1, 2, keys, 16]);
    const v = random.tensor([1, 2, keys, 4]);
    const mask = { data: random.bits(queries * keys, 0.1 + 0.8 * random.uniform()), shape: [queries, keys] };
    const { weights } = hs.attention(q, k, v, { mask, ...(round % 2 ? { causal: true } : {}) });
    rowsOf(weights).forEach((row, r) => {
      assert.ok(
        row.every((w) => w >= 0 && w <= 1),
        `row ${r}`,
      );
      if (row.some((w) => w > 0)) assertSumsToOne(row, `row ${r} of ${queries}×${keys}`);
    });
  }
});

eachVariant("the order of the keys does not matter", (hs) => {
  const random = new Random(103);
  for (const keys of [2, 9, 33, 130]) {
    const q = random.tensor([1, 2, 5, 8]);
    const k = random.tensor([1, 2, keys, 8]);
    const v = random.tensor([1, 2, keys, 6]);
    const bias = random.tensor([keys]);
    const order = random.shuffled(keys);
    const moved = (data: Float32Array, width: number, heads: number): Float32Array => {
      const out = new Float32Array(data.length);
      for (let h = 0; h < heads; ++h)
        order.forEach((from, to) => {
          out.set(data.subarray((h * keys + from) * width, (h * keys + from + 1) * width), (h * keys + to) * width);
        });
      return out;
    };
    const before = hs.attention(q, k, v, { bias });
    const after = hs.attention(
      q,
      { data: moved(k.data, 8, 2), shape: k.shape },
      { data: moved(v.data, 6, 2), shape: v.shape },
      { bias: { data: moved(bias.data, 1, 1), shape: [keys] } },
    );
    assertClose(after.output, before.output, { absolute: 2e-6 }, `${keys} keys: output`);
    rowsOf(before.weights).forEach((row, r) => {
      const other = rowsOf(after.weights)[r] as Float32Array;
      order.forEach((from, to) => {
        assert.ok(Math.abs((other[to] as number) - (row[from] as number)) <= 1e-6, `${keys} keys, row ${r}`);
      });
    });
  }
});

eachVariant("what is behind the causal border or outside the window never moves a row, bit for bit", (hs) => {
  const random = new Random(104);
  for (const length of [5, 16, 50, 150]) {
    const [q, k, v] = [
      random.tensor([1, 2, length, 8]),
      random.tensor([1, 2, length, 8]),
      random.tensor([1, 2, length, 8]),
    ];
    const changed = Math.floor(length * 0.7);
    const poisoned = (t: { data: Float32Array; shape: number[] }) => {
      const data = t.data.slice();
      for (let h = 0; h < 2; ++h) data.fill(Number.NaN, (h * length + changed) * 8, (h * length + changed + 1) * 8);
      return { data, shape: t.shape };
    };
    for (const options of [
      { causal: true },
      { causal: true, window: { left: 3 } },
      { window: { left: 3, right: 2 } },
    ]) {
      for (const want of [["weights"], []] as const) {
        const before = rowsOf(hs.attention(q, k, v, { ...options, want }).output);
        const after = rowsOf(hs.attention(q, poisoned(k), poisoned(v), { ...options, want }).output);
        const right = options.window && "right" in options.window ? options.window.right : 0;
        after.forEach((row, r) => {
          const i = r % length;
          const sees = changed <= i + right && (!options.window || changed >= i - 3);
          const label = `${length} tokens, ${JSON.stringify(options)}, want [${want}], row ${i}`;
          if (sees) assert.ok(row.every(Number.isNaN), `${label} sees key ${changed}`);
          else assertSameBits(row.slice(), (before[r] as Float32Array).slice(), label);
        });
      }
    }
  }
});
