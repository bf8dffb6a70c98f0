import { checkTensor, typedArrayName } from "./check.js";
import { shapeText } from "./describe.js";
import { mismatch, wrongType } from "./errors.js";
import type { HeadStats, Tensor } from "./types.js";

interface Maps {
  readonly data: Float32Array;
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
}

function checkWeights(value: unknown): Maps {
  const { data, shape } = checkTensor("weights", value, 4);
  const expected = "[H, T, S] or [1, H, T, S]";
  if (shape.length < 3) throw mismatch("shape", "weights.shape", expected, shapeText(shape));
  if (shape.length === 4 && shape[0] !== 1) {
    throw mismatch("shape", "weights.shape", expected, shapeText(shape), "take the batch items one at a time");
  }
  const [heads, queries, keys] = shape.slice(-3) as [number, number, number];
  return { data, heads, queries, keys };
}

/** Ids as numbers; any two equal ones are the same token. */
function checkTokens(value: unknown, keys: number): ArrayLike<number> {
  const name = typedArrayName(value);
  if (!Array.isArray(value) && (name === undefined || name.startsWith("Big"))) {
    throw wrongType("tokenIds", "an array of numbers", value);
  }
  const ids = value as ArrayLike<unknown>;
  for (let i = 0; i < ids.length; ++i) {
    if (typeof ids[i] !== "number") throw wrongType(`tokenIds[${i}]`, "a number", ids[i]);
  }
  if (ids.length !== keys) {
    throw mismatch("shape", "tokenIds", `one id per key, S = ${keys}`, `${ids.length} ids`);
  }
  return ids as ArrayLike<number>;
}

/** Earlier places that a row's token points at, by position. */
interface TokenPlaces {
  /** Earlier places with the same token. */
  readonly duplicates: readonly (readonly number[])[];
  /** Places right behind those, before the row's own. */
  readonly followers: readonly (readonly number[])[];
  /** Places of the rarest token. */
  readonly rarest: readonly number[];
}

function findPlaces(ids: ArrayLike<number>): TokenPlaces {
  const places = new Map<number, number[]>();
  const duplicates: number[][] = [];
  const followers: number[][] = [];
  for (let i = 0; i < ids.length; ++i) {
    const id = ids[i] as number;
    const earlier = places.get(id) ?? [];
    duplicates.push([...earlier]);
    followers.push(earlier.map((place) => place + 1).filter((place) => place < i));
    earlier.push(i);
    places.set(id, earlier);
  }
  let rarest: number[] = [];
  let rarestId = Number.NEGATIVE_INFINITY;
  for (const [id, at] of places) {
    if (rarest.length === 0 || at.length < rarest.length || (at.length === rarest.length && id > rarestId)) {
      rarest = at;
      rarestId = id;
    }
  }
  return { duplicates, followers, rarest };
}

/** The mean of what was added; NaN when nothing was. */
class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  get value(): number {
    return this.#sum / this.#count;
  }
}

function sumAt(data: Float32Array, row: number, places: readonly number[]): number {
  let sum = 0;
  for (const place of places) sum += data[row + place] as number;
  return sum;
}

function headStats({ data, queries, keys }: Maps, head: number, tokens: TokenPlaces | undefined): HeadStats {
  const entropy = new Mean();
  const maxWeight = new Mean();
  const distance = new Mean();
  const previous = new Mean();
  const self = new Mean();
  const next = new Mean();
  const first = new Mean();
  const duplicate = new Mean();
  const induction = new Mean();
  const rare = new Mean();
  const shift = Math.max(0, keys - queries);
  for (let i = 0; i < queries; ++i) {
    const row = (head * queries + i) * keys;
    const p = i + shift;
    let total = 0;
    let bits = 0;
    let largest = 0;
    let far = 0;
    for (let j = 0; j < keys; ++j) {
      const w = data[row + j] as number;
      total += w;
      if (w > 0) bits -= w * Math.log2(w);
      if (w > largest) largest = w;
      far += w * Math.abs(p - j);
    }
    if (total === 0) continue; // the row saw no key: it attends to nothing, not evenly to everything
    entropy.add(bits);
    maxWeight.add(largest);
    distance.add(far);
    if (p >= 1 && p <= keys) previous.add(data[row + p - 1] as number);
    if (p < keys) self.add(data[row + p] as number);
    if (p + 1 < keys) next.add(data[row + p + 1] as number);
    first.add(data[row] as number);
    if (tokens === undefined) continue;
    rare.add(sumAt(data, row, tokens.rarest));
    const same = tokens.duplicates[p] ?? [];
    const behind = tokens.followers[p] ?? [];
    if (same.length > 0) duplicate.add(sumAt(data, row, same));
    if (behind.length > 0) induction.add(sumAt(data, row, behind));
  }
  return {
    entropy: entropy.value,
    maxWeight: maxWeight.value,
    meanDistance: distance.value,
    previous: previous.value,
    self: self.value,
    next: next.value,
    first: first.value,
    duplicate: duplicate.value,
    induction: induction.value,
    rare: rare.value,
  };
}

/** What heads do, from their weights. Plain arithmetic on weights of any source: no module has to be loaded. */
export const stats = {
  /**
   * One entry per head. Each number is the mean over the rows in which it can be asked: rows that saw no key are left
   * out, `previous` needs a key before the query, `duplicate` an earlier place with the same token, `induction` a place
   * behind one (and before the query's own). A number that no row can answer is NaN, as are the last three without
   * `tokenIds`.
   *
   * The queries are taken for the last T of the S tokens, as in decoding with a cache; the numbers that need a position
   * mean nothing for cross-attention.
   *
   * `rare`: the rarest token is the one that is least often among `tokenIds`; of those equally rare, the one with the
   * highest id, since byte-pair and frequency-sorted vocabularies number rare tokens last.
   *
   * @param weights `[H,T,S]` or `[1,H,T,S]`
   * @param tokenIds S numbers
   * @throws TypeError, HeadscopeError `"shape"`
   */
  heads(weights: Tensor, tokenIds?: ArrayLike<number>): HeadStats[] {
    const maps = checkWeights(weights);
    const tokens = tokenIds === undefined ? undefined : findPlaces(checkTokens(tokenIds, maps.keys));
    return Array.from({ length: maps.heads }, (_, head) => headStats(maps, head, tokens));
  },

  /**
   * How alike two heads look: 1 − Jensen–Shannon divergence (base 2) of their rows, averaged over the rows where both
   * see a key. 1 = the same weights, 0 = no key in common. It is symmetric and needs no smoothing where a weight is 0;
   * Clark et al. 2019 (section 6) cluster BERT's heads by this divergence. NaN where no row can be compared.
   *
   * @param weights `[H,T,S]` or `[1,H,T,S]`
   * @returns `[H,H]`
   */
  similarity(weights: Tensor): Tensor {
    const maps = checkWeights(weights);
    const { heads } = maps;
    const data = new Float32Array(heads * heads);
    const entropies = rowEntropies(maps);
    for (let a = 0; a < heads; ++a) {
      for (let b = 0; b <= a; ++b) {
        const alike = 1 - divergence(maps, entropies, a, b);
        data[a * heads + b] = alike;
        data[b * heads + a] = alike;
      }
    }
    return { data, shape: [heads, heads] };
  },
};

/** Entropy of every row of every head in bits; NaN for a row that saw no key. */
function rowEntropies({ data, heads, queries, keys }: Maps): Float64Array {
  const entropies = new Float64Array(heads * queries);
  for (let row = 0; row < entropies.length; ++row) {
    let bits = 0;
    let total = 0;
    for (let j = 0; j < keys; ++j) {
      const w = data[row * keys + j] as number;
      total += w;
      if (w > 0) bits -= w * Math.log2(w);
    }
    entropies[row] = total === 0 ? Number.NaN : bits;
  }
  return entropies;
}

/** Mean over rows of H((p + q) / 2) − (H(p) + H(q)) / 2. */
function divergence({ data, queries, keys }: Maps, entropies: Float64Array, a: number, b: number): number {
  const mean = new Mean();
  for (let i = 0; i < queries; ++i) {
    const apart = ((entropies[a * queries + i] as number) + (entropies[b * queries + i] as number)) / 2;
    if (Number.isNaN(apart)) continue;
    const rowA = (a * queries + i) * keys;
    const rowB = (b * queries + i) * keys;
    let together = 0;
    for (let j = 0; j < keys; ++j) {
      const w = ((data[rowA + j] as number) + (data[rowB + j] as number)) / 2;
      if (w > 0) together -= w * Math.log2(w);
    }
    mean.add(Math.min(1, Math.max(0, together - apart)));
  }
  return mean.value;
}
