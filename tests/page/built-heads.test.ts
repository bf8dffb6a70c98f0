import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "headscope";
import { loadLanguage, setLanguage } from "../../web/i18n/index.js";
import { describeHeads, shareOnTarget } from "../../web/playground/describe-heads.js";
import { builtHeads, D, embed, HEADS, heads, identityVector } from "../../web/playground/sources/built-heads.js";
import { rarityRanks } from "../../web/playground/sources/rarity.js";
import type { Token, Unit } from "../../web/playground/tokens.js";
import { inThread } from "../support/in-thread.js";

const open = await builtHeads.open(inThread(await load({ variant: "simd" })));

const LONG = Array.from({ length: 600 }, (_, i) => `w${(i * 7919) % 433}`).join(" ");
const SAMPLES: readonly { name: string; text: string; unit: Unit }[] = [
  { name: "the English example", text: "The cat sat on the mat because it was", unit: "character" },
  { name: "the Chinese example by character", text: "小明在北京的大学里学习计算机科学", unit: "character" },
  { name: "the Chinese example by word", text: "小明在北京的大学里学习计算机科学", unit: "word" },
  { name: "repeats", text: "a b c d a b c d", unit: "character" },
  { name: "one token", text: "word", unit: "character" },
  { name: "emoji, Hebrew, punctuation", text: "👨‍👩‍👧 שלום, (a) <b>!\n\n1 2 2 2", unit: "character" },
  { name: "one word 300 times", text: "na ".repeat(300).trim(), unit: "character" },
  { name: "512 tokens", text: LONG, unit: "character" },
];

/** Mean share on the target that each head has to reach on any text of up to 512 tokens. */
const LEAST: Readonly<Record<string, number>> = {
  "built.previous": 0.97,
  "built.twoBack": 0.97,
  "built.first": 0.93,
  "built.same": 0.9,
  "built.induction": 0.95,
  "built.rare": 0.95,
  "built.nearby": 0.8,
};

const result = async (tokens: readonly Token[], causal: boolean) =>
  open.run(tokens, { causal, layer: 0, off: new Set() });

for (const { name, text, unit } of SAMPLES) {
  for (const causal of [true, false]) {
    test(`built heads read what they were made for: ${name}, ${causal ? "causal" : "no mask"}`, async () => {
      const { tokens } = builtHeads.tokenize(text, unit);
      const { weights } = await result(tokens, causal);
      assert.deepEqual(weights.shape, [HEADS, tokens.length, tokens.length]);
      for (const [h, head] of heads.entries()) {
        if (!head.target) continue;
        const share = shareOnTarget(h, head.target, weights, tokens, causal);
        const least = LEAST[head.name as string] as number;
        assert.ok(share === null || share >= least, `${head.name}: ${share} < ${least}`);
      }
    });
  }
}

test("the previous-token head puts at least 0.9 on the previous token at each of 512 positions", async () => {
  const { tokens } = builtHeads.tokenize(LONG, "character");
  assert.equal(tokens.length, 512);
  for (const causal of [true, false]) {
    const { weights } = await result(tokens, causal);
    for (let query = 1; query < 512; query++) {
      const weight = weights.data[query * 512 + query - 1] as number;
      assert.ok(weight >= 0.9, `query ${query}: ${weight}`);
    }
  }
});

test("the broad head is the plain average of what a token can see", async () => {
  const { tokens } = builtHeads.tokenize("one two three four", "character");
  const { weights } = await result(tokens, true);
  const head = heads.findIndex(({ name }) => name === "built.broad");
  for (let query = 0; query < 4; query++) {
    for (let key = 0; key <= query; key++) {
      assert.ok(Math.abs((weights.data[(head * 4 + query) * 4 + key] as number) - 1 / (query + 1)) < 1e-6);
    }
  }
});

test("every row sums to 1 and hidden keys have exactly 0", async () => {
  const { tokens } = builtHeads.tokenize(LONG, "character");
  const { weights, scores } = await result(tokens, true);
  const T = tokens.length;
  for (let row = 0; row < HEADS * T; row++) {
    let sum = 0;
    for (let key = 0; key < T; key++) {
      const at = row * T + key;
      sum += weights.data[at] as number;
      if (key > row % T) {
        assert.equal(weights.data[at], 0);
        assert.equal(scores.data[at], Number.NEGATIVE_INFINITY);
      }
    }
    assert.ok(Math.abs(sum - 1) < 1e-5, `row ${row}: ${sum}`);
  }
});

test("leaving a head out changes the output and not the weights", async () => {
  const { tokens } = builtHeads.tokenize("a b c d a b c d", "character");
  const whole = await result(tokens, true);
  const without = await open.run(tokens, { causal: true, layer: 0, off: new Set([3]) });
  assert.equal(whole.change, null);
  assert.deepEqual(without.weights.data, whole.weights.data);
  assert.ok(without.change && without.change.relative > 0.01 && without.change.relative < 1);
  const none = await open.run(tokens, { causal: true, layer: 0, off: new Set(heads.keys()) });
  assert.equal(none.change?.relative, 1);
  assert.ok(none.output?.data.every((value) => value === 0));
});

test("word vectors are unit vectors, equal for equal words and nearly orthogonal for others", () => {
  const words = Array.from({ length: 300 }, (_, i) => `word${i}`);
  const vectors = words.map(identityVector);
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
  assert.ok(Math.abs(dot(vectors[0] as Float32Array, identityVector("word0")) - 1) < 1e-6);
  let squares = 0;
  let pairs = 0;
  for (let i = 0; i < vectors.length; i++) {
    for (let j = 0; j < i; j++) {
      squares += dot(vectors[i] as Float32Array, vectors[j] as Float32Array) ** 2;
      pairs++;
    }
  }
  // Random signs: the mean square is 1/60.
  assert.ok(Math.abs(squares / pairs - 1 / 60) < 0.002, String(squares / pairs));
});

test("embed() is [T, 512] and finite", () => {
  const { tokens } = builtHeads.tokenize("The cat", "character");
  const { data, shape } = embed(tokens);
  assert.deepEqual(shape, [2, D]);
  assert.ok(data.every(Number.isFinite));
});

test("rarityRanks(): unlisted and long before common, once before often", () => {
  const { tokens } = builtHeads.tokenize("the xylophone of the cat, cat", "character");
  const ranks = rarityRanks(tokens);
  assert.equal(ranks[1], 0);
  assert.ok((ranks[4] as number) < (ranks[0] as number), "cat is rarer than the");
});

test("captions say what a head does and how much, from the weights at hand", async () => {
  await loadLanguage("en");
  setLanguage("en");
  const { tokens } = builtHeads.tokenize("The cat sat on the mat because it was", "character");
  const { weights } = await result(tokens, true);
  const captions = describeHeads(open.config, open.heads, weights, tokens, true);
  assert.deepEqual(
    captions.map(({ name }) => name),
    ["previous token", "two back", "first token", "same token", "after a copy", "rarest token", "nearby", "broad"],
  );
  assert.equal(captions[0]?.measure, "0.98");
  assert.equal(captions[0]?.spoken, "head 0: 98 % on previous token");
  // A head that was not built is described by its weights alone.
  const learned = describeHeads(open.config, [], weights, tokens, true);
  assert.equal(learned[0]?.name, "previous token");
  assert.equal(learned[2]?.name, "first token");
  assert.equal(learned[7]?.name, "spread out");
});
