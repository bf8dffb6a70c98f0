import assert from "node:assert/strict";
import type { Headscope, MultiHeadAttention, Tensor } from "headscope";
import { assertClose, assertSameBits } from "../support/compare.js";
import { drawWeights } from "../support/layer.js";
import { Random } from "../support/random.js";
import { assertAllZero, assertSumsToOne, assertVisible, rowsOf, slice } from "../support/rows.js";
import { eachVariant } from "../variants.js";
import { probe } from "./probe.js";

// Group B of the fault list: causal masks, caches, positions.

const CONFIG = { dModel: 12, numHeads: 4, numKVHeads: 2 };

function makeLayer(hs: Headscope, seed: number): { layer: MultiHeadAttention; random: Random } {
  const random = new Random(seed);
  return { layer: hs.multiHeadAttention(CONFIG, drawWeights(CONFIG, random)), random };
}

eachVariant("B01: causal is aligned at the first key, or as far right as its offset says", (hs) => {
  for (const [queries, keys] of [
    [3, 7],
    [1, 6],
    [5, 2],
    [9, 9],
    [33, 70],
  ] as const) {
    const random = new Random(queries * 100 + keys);
    const q = random.tensor([1, 2, queries, 8]);
    const k = random.tensor([1, 2, keys, 8]);
    const v = random.tensor([1, 2, keys, 8]);
    const label = `T ${queries}, S ${keys}`;
    assertVisible(hs.attention(q, k, v, { causal: true }).weights, (_b, _h, i, j) => j <= i, `${label}, top left`);
    const offset = keys - queries;
    const right = hs.attention(q, k, v, { causal: { offset } });
    assertVisible(right.weights, (_b, _h, i, j) => j <= i + offset, `${label}, bottom right`);
    const alone = hs.attention(q, k, v, { causal: { offset }, want: [] });
    assertClose(alone.output, right.output, { absolute: 1e-6 }, `${label}: output alone`);
    // Rows before the first key see nothing.
    if (offset < 0) assertAllZero(slice(right.output, 2, 0, -offset).data, `${label}: first ${-offset} rows`);
  }
});

eachVariant("B01: with a cache the position is absolute", (hs) => {
  const { layer, random } = makeLayer(hs, 21);
  const cache = layer.createCache({ capacity: 6 });
  layer.forward(random.tensor([1, 5, 12]), { cache, causal: true });
  const { weights } = layer.forward(random.tensor([1, 1, 12]), { cache, causal: true });
  assert.deepEqual(weights.shape, [1, 4, 1, 6]);
  assertVisible(weights, () => true, "one query after five cached tokens sees all six");
  cache.truncate(2);
  const later = layer.forward(random.tensor([1, 3, 12]), { cache, causal: true });
  assertVisible(later.weights, (_b, _h, i, j) => j <= i + 2, "three queries after two tokens");
  cache.dispose();
  layer.dispose();
});

probe("p-causal-tl", "B01: T 3, S 7, top left", ({ weights }) =>
  assertVisible(weights, (_b, _h, i, j) => j <= i, "tl"),
);
probe("p-causal-br", "B01: T 3, S 7, bottom right", ({ weights }) => {
  assertVisible(weights, (_b, _h, i, j) => j <= i + 4, "br");
});
probe("p-causal-one", "B01: one query sees all six keys", ({ weights }) => assertVisible(weights, () => true, "one"));
probe("p-causal-tall", "B01: T 5, S 2, bottom right", ({ weights }) => {
  assertVisible(weights, (_b, _h, i, j) => j <= i - 3, "tall");
});
probe("p-causal-tall-tl", "B01: T 5, S 2, top left", ({ weights }) => {
  assertVisible(weights, (_b, _h, i, j) => j <= i, "tall tl");
});

eachVariant("B02: causal and padding hold together", (hs) => {
  const random = new Random(22);
  const [q, k, v] = [random.tensor([2, 2, 5, 8]), random.tensor([2, 2, 5, 8]), random.tensor([2, 2, 5, 8])];
  const lengths = [2, 5];
  const real = Uint8Array.from([1, 1, 0, 0, 0, 1, 1, 1, 1, 1]);
  for (const keyPadding of [Int32Array.from(lengths), real, Int32Array.from(real)]) {
    const { weights, output } = hs.attention(q, k, v, { causal: true, keyPadding });
    assertVisible(weights, (b, _h, i, j) => j <= i && j < (lengths[b] as number), "weights");
    for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
    const alone = hs.attention(q, k, v, { causal: true, keyPadding, want: [] });
    assertClose(alone.output, output, { absolute: 1e-6 }, "output alone");
  }
  // Left padding and causal leave the first rows nothing to see.
  const left = hs.attention(q, k, v, { causal: true, keyPadding: Uint8Array.from([0, 0, 1, 1, 1, 1, 1, 1, 1, 1]) });
  assertVisible(left.weights, (b, _h, i, j) => j <= i && (b === 1 || j >= 2), "left padding");
  assertAllZero(slice(slice(left.output, 0, 0, 1), 2, 0, 2).data, "rows 0 and 1 of item 0");
});

probe("p-causal-pad", "B02: causal, lengths 2 and 5", ({ weights }) => {
  assertVisible(weights, (b, _h, i, j) => j <= i && j < (b === 0 ? 2 : 5), "weights");
});

/** The causal pass over the tokens in pieces through a cache, rows of the output put together again. */
function inPieces(layer: MultiHeadAttention, tokens: Tensor, pieces: readonly number[]): Float32Array[] {
  const cache = layer.createCache({ capacity: tokens.shape[1] as number, batch: tokens.shape[0] as number });
  const out: Float32Array[] = [];
  let at = 0;
  for (const n of pieces) {
    out.push(...rowsOf(layer.forward(slice(tokens, 1, at, at + n), { cache, causal: true }).output));
    at += n;
    assert.equal(cache.length, at);
  }
  cache.dispose();
  return out;
}

eachVariant("B04: 8 tokens at once, as 3 + 1 + 4 and one by one give the same rows", (hs) => {
  const { layer, random } = makeLayer(hs, 23);
  const tokens = random.tensor([1, 8, 12]);
  const whole = rowsOf(layer.forward(tokens, { causal: true }).output);
  for (const pieces of [[8], [3, 1, 4], [1, 1, 1, 1, 1, 1, 1, 1], [7, 1], [0, 8], [3, 0, 5]]) {
    const rows = inPieces(layer, tokens, pieces);
    rows.forEach((row, i) => {
      assertClose(
        { data: row, shape: [12] },
        { data: whole[i] as Float32Array, shape: [12] },
        { absolute: 1e-6, relative: 1e-6 },
        `${pieces}: row ${i}`,
      );
    });
    assert.equal(rows.length, 8);
  }
  layer.dispose();
});

eachVariant("B04: an emptied cache starts over, and two caches keep apart", (hs) => {
  const { layer, random } = makeLayer(hs, 24);
  const [first, second] = [random.tensor([1, 4, 12]), random.tensor([1, 4, 12])];
  const fresh = layer.createCache({ capacity: 8 });
  const expected = layer.forward(first, { cache: fresh, causal: true });
  const expectedNext = layer.forward(second, { cache: fresh, causal: true });

  const used = layer.createCache({ capacity: 8 });
  const other = layer.createCache({ capacity: 8 });
  layer.forward(random.tensor([1, 7, 12]), { cache: used, causal: true });
  used.truncate(0);
  assert.equal(used.length, 0);
  const again = layer.forward(first, { cache: used, causal: true });
  layer.forward(random.tensor([1, 5, 12]), { cache: other, causal: true }); // between the two, into another cache
  const againNext = layer.forward(second, { cache: used, causal: true });
  assertSameBits(again.output.data, expected.output.data, "after truncate(0)");
  assertSameBits(againNext.output.data, expectedNext.output.data, "beside another cache");
  assertSameBits(againNext.weights.data, expectedNext.weights.data, "weights beside another cache");
  for (const cache of [fresh, used, other]) cache.dispose();
  layer.dispose();
});

probe("p-cache-full", "B04: causal over 8 tokens");

eachVariant("B05: padding counts in a batch of one as in a batch of two", (hs) => {
  const { layer, random } = makeLayer(hs, 25);
  const pair = random.tensor([2, 5, 12]);
  const both = layer.forward(pair, { keyPadding: Int32Array.of(3, 4) });
  for (const [item, length] of [3, 4].entries()) {
    const forms = [Int32Array.of(length), Uint8Array.from({ length: 5 }, (_, j) => (j < length ? 1 : 0))];
    for (const keyPadding of forms) {
      const single = layer.forward(slice(pair, 0, item, item + 1), { keyPadding });
      assertVisible(single.weights, (_b, _h, _i, j) => j < length, `item ${item} alone`);
      assertClose(single.output, slice(both.output, 0, item, item + 1), { absolute: 1e-6 }, `item ${item}`);
      const bare = slice(pair, 0, item, item + 1);
      const unbatched = layer.forward({ data: bare.data, shape: [5, 12] }, { keyPadding });
      assertClose(
        { data: unbatched.output.data, shape: [1, 5, 12] },
        slice(both.output, 0, item, item + 1),
        { absolute: 1e-6 },
        `item ${item} without a batch axis`,
      );
    }
  }
  layer.dispose();
});

eachVariant("B06: causal alone hides what comes later, bit for bit", (hs) => {
  const { layer, random } = makeLayer(hs, 26);
  for (const length of [8, 40]) {
    const tokens = random.tensor([1, length, 12]);
    const changed = { data: tokens.data.slice(), shape: tokens.shape };
    const last = length - 1;
    changed.data.set(random.values(12), last * 12);
    for (const want of [["weights"], []] as const) {
      const before = layer.forward(tokens, { causal: true, want });
      const after = layer.forward(changed, { causal: true, want });
      const label = `${length} tokens, want [${want}]`;
      assertSameBits(after.output.data.slice(0, last * 12), before.output.data.slice(0, last * 12), label);
      assert.notDeepEqual(after.output.data.slice(last * 12), before.output.data.slice(last * 12), label);
    }
    // Without the flag every row moves: the test can fail.
    const before = layer.forward(tokens, { want: [] });
    const after = layer.forward(changed, { want: [] });
    assert.notDeepEqual(after.output.data.slice(0, 12), before.output.data.slice(0, 12));
  }
  layer.dispose();
});

eachVariant("B07: the output keeps its length when every sequence is padded", (hs) => {
  const { layer, random } = makeLayer(hs, 27);
  const tokens = random.tensor([2, 7, 12]);
  const keyPadding = Uint8Array.from([1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]);
  const { output, weights } = layer.forward(tokens, { keyPadding });
  assert.deepEqual(output.shape, [2, 7, 12]);
  assertVisible(weights, (_b, _h, _i, j) => j < 4, "padded queries are computed like the others");
  for (const row of rowsOf(weights)) assertSumsToOne(row, "row");
  const short = layer.forward(slice(tokens, 1, 0, 4));
  assertClose(slice(output, 1, 0, 4), short.output, { absolute: 1e-6 }, "real rows are as without the padding");
  layer.dispose();
});
