/**
 * Eight attention heads made by hand. Nothing is learned: every projection matrix is written down below, and the
 * layer that runs them is the real one, of the size of the original Transformer's (D = 512, eight heads of 64).
 *
 * A token's vector says where it stands, what it is and two facts about it:
 *
 *     0 …  63   32 clock hands: cos and sin of position × speed, from a quarter turn a token to 1/1024 of a turn
 *    64 … 123   what the token is: 60 signs drawn from a hash of the word, so that different words are nearly orthogonal
 *   124 … 183   what the token before it is (in a real model a previous-token head one layer below writes this)
 *   184, 185, 186   1 for every token; 1 for the first token; minus its place in the order of rarity
 *   187 … 511   empty
 *
 * A head scores key j for query i by (x_i WQ)·(x_j WK) / √64. Two sets of clock hands agree best when they show the
 * same time: Σ cos(speed·(i − j)) is greatest at j = i. Turning the query's hands back by one token moves that peak to
 * j = i − 1, and turning is a matrix: that is the whole previous-token head. Keeping only the slow hands makes the peak
 * broad. Matching what-it-is against what-it-is finds copies; against what-came-before finds what followed a copy.
 */

import type { AttentionWeights, Tensor } from "headscope";
import { say } from "../../i18n/index.js";
import type { Token, Unit } from "../tokens.js";
import { tokenize, wordOf } from "../tokens.js";
import { rarityRanks } from "./rarity.js";
import { openLayer } from "./run-layer.js";
import type { HeadNote, HeadSource } from "./source.js";

export const D = 512;
export const HEADS = 8;
const WIDTH = D / HEADS;
const HANDS = 32;
const SIGNS = 60;

const POSITION = 0;
const IDENTITY = 2 * HANDS;
const PREVIOUS = IDENTITY + SIGNS;
const ONE = PREVIOUS + SIGNS;
const IS_FIRST = ONE + 1;
const RARITY = ONE + 2;

const FASTEST = Math.PI / 2;
const SLOWEST = (2 * Math.PI) / 1024;
const SPEEDS = Array.from({ length: HANDS }, (_, k) => FASTEST * (SLOWEST / FASTEST) ** (k / (HANDS - 1)));

/** Signs of ±1/√60 from a hash of the word: the same word always gives the same unit vector. */
export function identityVector(word: string): Float32Array {
  const vector = new Float32Array(SIGNS);
  // FNV-1a over UTF-16 units, then a xorshift32 walk for the bits.
  let state = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) state = Math.imul(state ^ word.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b) >>> 0 || 1;
  for (let i = 0; i < SIGNS; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    vector[i] = (state >>> 15) & 1 ? 1 / Math.sqrt(SIGNS) : -1 / Math.sqrt(SIGNS);
  }
  return vector;
}

/** [T, 512], the layer's input. */
export function embed(tokens: readonly Token[]): Tensor {
  const data = new Float32Array(tokens.length * D);
  const rarity = rarityRanks(tokens);
  let before: Float32Array | null = null;
  for (const [t, token] of tokens.entries()) {
    const row = data.subarray(t * D, (t + 1) * D);
    for (const [k, speed] of SPEEDS.entries()) {
      row[POSITION + 2 * k] = Math.cos(speed * t);
      row[POSITION + 2 * k + 1] = Math.sin(speed * t);
    }
    const identity = identityVector(wordOf(token.text));
    row.set(identity, IDENTITY);
    if (before) row.set(before, PREVIOUS);
    before = identity;
    row[ONE] = 1;
    row[IS_FIRST] = t === 0 ? 1 : 0;
    row[RARITY] = -(rarity[t] as number);
  }
  return { data, shape: [tokens.length, D] };
}

/** Columns of the fused matrix [512, 1536]: all of WQ, then all of WK, then all of WV. */
const QUERY = 0;
const KEY = D;
const VALUE = 2 * D;

/** Writes one head's 64 columns of WQ, WK and WV. `score` is what the entry adds to the scaled score at a full match. */
class HeadWriter {
  constructor(
    private readonly wqkv: Float32Array,
    private readonly head: number,
  ) {}

  private set(part: number, input: number, column: number, value: number): void {
    this.wqkv[input * 3 * D + part + this.head * WIDTH + column] = value;
  }

  /** What the head carries away: what the key is. */
  carryIdentity(): void {
    for (let i = 0; i < SIGNS; i++) this.set(VALUE, IDENTITY + i, i, 1);
  }

  /** The query's hands turned by `shift` tokens, compared with the key's; `weigh` says how much each speed counts. */
  compareHands(shift: number, weigh: (speed: number) => number): void {
    for (const [k, speed] of SPEEDS.entries()) {
      const size = Math.sqrt(weigh(speed) * Math.sqrt(WIDTH));
      const c = Math.cos(speed * shift) * size;
      const s = Math.sin(speed * shift) * size;
      const input = POSITION + 2 * k;
      this.set(QUERY, input, 2 * k, c);
      this.set(QUERY, input + 1, 2 * k, -s);
      this.set(QUERY, input, 2 * k + 1, s);
      this.set(QUERY, input + 1, 2 * k + 1, c);
      this.set(KEY, input, 2 * k, size);
      this.set(KEY, input + 1, 2 * k + 1, size);
    }
  }

  /** What the query is, compared with 60 numbers of the key that start at `keyAt`. */
  compareIdentity(keyAt: number, score: number): void {
    const size = Math.sqrt(score * Math.sqrt(WIDTH));
    for (let i = 0; i < SIGNS; i++) {
      this.set(QUERY, IDENTITY + i, i, size);
      this.set(KEY, keyAt + i, i, size);
    }
  }

  /** The same question from every query: how much of one feature the key has. */
  seek(feature: number, score: number, column = WIDTH - 1): void {
    const size = Math.sqrt(score * Math.sqrt(WIDTH));
    this.set(QUERY, ONE, column, size);
    this.set(KEY, feature, column, size);
  }
}

interface BuiltHead extends HeadNote {
  write(head: HeadWriter): void;
}

const visible = (tokens: readonly Token[], query: number, causal: boolean) => (causal ? query + 1 : tokens.length);

const places = new WeakMap<readonly Token[], ReadonlyMap<number, readonly number[]>>();

/** Where each word of the text stands. */
function placesOf(tokens: readonly Token[]): ReadonlyMap<number, readonly number[]> {
  let found = places.get(tokens);
  if (!found) {
    const made = new Map<number, number[]>();
    for (const [t, { id }] of tokens.entries()) {
      const known = made.get(id);
      if (known) known.push(t);
      else made.set(id, [t]);
    }
    found = made;
    places.set(tokens, made);
  }
  return found;
}

function copies(tokens: readonly Token[], query: number): readonly number[] {
  return placesOf(tokens).get((tokens[query] as Token).id) as readonly number[];
}

const orNull = (keys: number[]) => (keys.length > 0 ? keys : null);

export const heads: readonly BuiltHead[] = [
  {
    name: "built.previous",
    how: "built.previous.how",
    write: (head) => head.compareHands(-1, () => 1.25),
    target: (_tokens, query) => (query >= 1 ? [query - 1] : null),
  },
  {
    name: "built.twoBack",
    how: "built.twoBack.how",
    write: (head) => head.compareHands(-2, () => 1.25),
    target: (_tokens, query) => (query >= 2 ? [query - 2] : null),
  },
  {
    name: "built.first",
    how: "built.first.how",
    write: (head) => head.seek(IS_FIRST, 9),
    target: () => [0],
  },
  {
    name: "built.same",
    how: "built.same.how",
    write: (head) => head.compareIdentity(IDENTITY, 11),
    target: (tokens, query, causal) => copies(tokens, query).filter((key) => key < visible(tokens, query, causal)),
  },
  {
    name: "built.induction",
    how: "built.induction.how",
    write: (head) => {
      head.compareIdentity(PREVIOUS, 20);
      // Where nothing matches the head rests on the first token, as induction heads of trained models do.
      head.seek(IS_FIRST, 12.5);
    },
    target: (tokens, query, causal) => {
      const after = copies(tokens, query).map((key) => key + 1);
      return orNull(after.filter((key) => key < visible(tokens, query, causal)));
    },
  },
  {
    name: "built.rare",
    how: "built.rare.how",
    write: (head) => head.seek(RARITY, 10),
    target: (tokens, query, causal) => {
      const ranks = rarityRanks(tokens);
      const keys: number[] = [];
      for (let key = 0; key < visible(tokens, query, causal); key++) {
        const least = ranks[keys[0] ?? key] as number;
        if ((ranks[key] as number) < least) keys.length = 0;
        if ((ranks[key] as number) <= least) keys.push(key);
      }
      return keys;
    },
  },
  {
    name: "built.nearby",
    how: "built.nearby.how",
    // Hands slower than about a third of a radian a token: the scores fall like a Gaussian of width 1.7 tokens.
    write: (head) => head.compareHands(0, (speed) => Math.exp(-((speed / 0.35) ** 2))),
    target: (tokens, query, causal) =>
      [-2, -1, 0, 1, 2].map((step) => query + step).filter((key) => key >= 0 && key < visible(tokens, query, causal)),
  },
  {
    name: "built.broad",
    how: "built.broad.how",
    // WQ = WK = 0: every score is 0, so every visible key gets the same weight.
    write: () => {},
  },
];

export function buildWeights(): AttentionWeights {
  const wqkv = new Float32Array(D * 3 * D);
  const wo = new Float32Array(D * D);
  for (const [h, head] of heads.entries()) {
    const writer = new HeadWriter(wqkv, h);
    head.write(writer);
    writer.carryIdentity();
    // All heads add what they carry to the same place of the output.
    for (let i = 0; i < SIGNS; i++) wo[(h * WIDTH + i) * D + IDENTITY + i] = 1;
  }
  return { layout: "in-out", wqkv, wo };
}

export const builtHeads = {
  id: "built",
  title: () => say("source.built"),
  about: () => say("source.built.about"),
  input: "text",
  maxTokens: 512,
  layers: 1,
  numHeads: HEADS,
  causal: "free",
  splits: true,
  tokenize: (text: string, unit: Unit) => tokenize(text, unit, 512),
  open: (core) => openLayer(core, { dModel: D, numHeads: HEADS }, buildWeights(), heads, embed),
} as const satisfies HeadSource;
