import assert from "node:assert/strict";
import type { Tensor } from "headscope";
import { assertClose, OUTPUT_TOLERANCE } from "../support/compare.js";
import { exactAttention } from "../support/oracle.js";
import { Random } from "../support/random.js";
import { eachVariant } from "../variants.js";

// want: [] takes the keys block by block with a running softmax; the borders of the blocks must not show.

const KEYS = [1, 2, 31, 63, 64, 65, 127, 128, 129, 191, 255, 256, 257, 383, 511, 512, 513, 767, 1023, 1024, 1025, 1100];

eachVariant("output alone equals output with weights, for keys across block borders", (hs) => {
  for (const keys of KEYS) {
    const random = new Random(110 + keys);
    const queries = 1 + random.below(9);
    const dv = 1 + random.below(20);
    const q = random.tensor([1, 2, queries, 8], 2);
    const k = random.tensor([1, 1, keys, 8]);
    const v = random.tensor([1, 1, keys, dv]);
    const bits = random.bits(queries * keys, 0.5);
    const bias = random.tensor([queries, keys]);
    // Whole blocks hidden at either end, and in the middle.
    const islands = Uint8Array.from({ length: keys }, (_, j) => (j > keys * 0.45 && j < keys * 0.55 ? 1 : 0));
    const forms = {
      plain: {},
      causal: { causal: { offset: keys - queries } },
      "early causal": { causal: { offset: Math.floor(keys / 3) } },
      window: { causal: { offset: keys - queries }, window: { left: 40 } },
      mask: { mask: { data: bits, shape: [queries, keys] } },
      islands: { mask: { data: islands, shape: [keys] } },
      holes: { mask: { blocked: { data: islands, shape: [keys] } } },
      bias: { bias },
      lengths: { keyPadding: Int32Array.of(Math.ceil(keys * 0.6)) },
      "soft cap": { softcap: 1.5, mask: { data: bits, shape: [queries, keys] } },
    };
    for (const [name, options] of Object.entries(forms)) {
      const label = `S ${keys}, ${name}`;
      const both = hs.attention(q, k, v, options);
      const alone = hs.attention(q, k, v, { ...options, want: [] });
      assertClose(alone.output, both.output, { absolute: 1e-6, relative: 1e-6 }, label);
      const exact = exactAttention(q, k, v, options);
      assertClose(alone.output, exact.output, OUTPUT_TOLERANCE, `${label}: against float64`);
      assertClose(both.output, exact.output, OUTPUT_TOLERANCE, `${label}: with weights against float64`);
    }
  }
});

eachVariant("scores that grow and fall over the blocks keep the running maximum right", (hs) => {
  const keys = 700;
  const q = { data: Float32Array.of(1, 1, 1), shape: [1, 1, 3, 1] };
  const v = new Random(120).tensor([1, 1, keys, 4]);
  const ramps = {
    rising: (j: number) => j * 0.5,
    falling: (j: number) => -j * 0.5,
    "one peak": (j: number) => -Math.abs(j - 333),
    "one valley": (j: number) => Math.abs(j - 333) - 400,
    "far below 0": (j: number) => -5000 + (j % 7),
  };
  for (const [name, ramp] of Object.entries(ramps)) {
    const k = { data: Float32Array.from({ length: keys }, (_, j) => ramp(j)), shape: [1, 1, keys, 1] };
    const exact = exactAttention(q, k, v, {});
    const alone = hs.attention(q, k, v, { want: [] });
    assertClose(alone.output, exact.output, { absolute: 4e-6 }, name);
    assertClose(hs.attention(q, k, v).output, exact.output, { absolute: 4e-6 }, `${name}, with weights`);
  }
});

// Blocks of queries take the keys in turn, several at a time: neither their borders nor where a call begins may show.
eachVariant(
  "queries across block borders equal those of float64, and rows of a call equal rows of a shorter call",
  (hs) => {
    const [heads, dk, dv] = [2, 8, 12];
    for (const queries of [47, 48, 49, 59, 60, 61, 119, 121, 193, 239, 240, 241, 299, 301, 400]) {
      const random = new Random(130 + queries);
      const keys = queries + 270;
      const q = random.tensor([1, heads, queries, dk], 2);
      const k = random.tensor([1, heads, keys, dk]);
      const v = random.tensor([1, heads, keys, dv]);
      const forms = {
        plain: () => ({}),
        causal: (first: number) => ({ causal: { offset: keys - queries + first } }),
        window: (first: number) => ({ causal: { offset: keys - queries + first }, window: { left: 60 } }),
      };
      for (const [name, form] of Object.entries(forms)) {
        const label = `T ${queries}, ${name}`;
        const { output } = hs.attention(q, k, v, { ...form(0), want: [] });
        assertClose(output, exactAttention(q, k, v, form(0)).output, OUTPUT_TOLERANCE, label);
        for (const count of [1, 5, 50]) {
          const first = random.below(Math.max(queries - count, 1));
          const last = Math.min(first + count, queries);
          const rows = (x: Tensor, width: number, h: number) =>
            x.data.subarray((h * queries + first) * width, (h * queries + last) * width);
          const part = { data: new Float32Array(heads * (last - first) * dk), shape: [1, heads, last - first, dk] };
          for (let h = 0; h < heads; ++h) part.data.set(rows(q, dk, h), h * (last - first) * dk);
          const alone = hs.attention(part, k, v, { ...form(first), want: [] }).output.data;
          for (let h = 0; h < heads; ++h) {
            const expected = rows(output, dv, h);
            assert.deepEqual(alone.subarray(h * expected.length, (h + 1) * expected.length), expected, label);
          }
        }
      }
    }
  },
);
