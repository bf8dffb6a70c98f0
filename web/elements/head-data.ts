/** From the properties of an element to what it draws: the one place where data from outside is looked at. */

import type { AttentionView } from "./attention-view.js";

/**
 * Numbers and their shape, from any source: a `Tensor` of headscope, a tensor of transformers.js (`dims` instead of
 * `shape`), or plain arrays out of JSON, where null stands for −Infinity among scores and for NaN among weights.
 */
export interface TensorLike {
  readonly data: ArrayLike<number | null>;
  readonly shape?: readonly number[] | undefined;
  readonly dims?: readonly number[] | undefined;
}

/** Lists in lists, as Python's `tolist()` gives them: [heads][queries][keys] or [queries][keys]. */
export type NestedNumbers = readonly (number | null | NestedNumbers)[];

export interface HeadInput {
  readonly weights: TensorLike | NestedNumbers | null;
  readonly tokens: readonly string[];
  readonly keyTokens: readonly string[] | null;
  readonly scores: TensorLike | NestedNumbers | null;
  readonly masked: ArrayLike<number> | null;
  readonly causal: boolean;
}

/** Null while there are no weights. Throws a TypeError or RangeError that names the property that is wrong. */
export function readHeads(input: HeadInput): AttentionView | null {
  if (input.weights === null || input.weights === undefined) return null;
  const given = asTensor(input.weights);
  const [heads, queries, keys] = headShape("weights", given);
  const weights = numbers("weights", given, heads * queries * keys, Number.NaN);
  const shape = `[${heads}, ${queries}, ${keys}]`;
  const queryTexts = texts("tokens", input.tokens, queries, `queries of weights ${shape}`);
  const keyTexts =
    input.keyTokens === null || input.keyTokens === undefined
      ? ownKeys(queryTexts, input.tokens, keys, shape)
      : texts("keyTokens", input.keyTokens, keys, `keys of weights ${shape}`);
  const view = { heads, queries, keys, weights, queryTexts, keyTexts };
  if (input.scores) {
    const scores = asTensor(input.scores);
    const scoreShape = headShape("scores", scores);
    if (scoreShape.join() !== [heads, queries, keys].join()) {
      throw new RangeError(`scores: expected the shape of weights, ${shape}, got [${scoreShape.join(", ")}].`);
    }
    return { ...view, scores: numbers("scores", scores, weights.length, Number.NEGATIVE_INFINITY), hidden: null };
  }
  return { ...view, scores: null, hidden: hiddenCells(input, queries, keys, weights.length) };
}

/** Lists in lists as a shape and the numbers in a row; what has a shape is left alone. */
function asTensor(given: TensorLike | NestedNumbers): TensorLike {
  if (!Array.isArray(given)) return given as TensorLike;
  const shape: number[] = [];
  for (let at: unknown = given; Array.isArray(at); at = at[0]) shape.push(at.length);
  return { data: given.flat(shape.length - 1) as number[], shape };
}

function headShape(name: string, tensor: TensorLike): [heads: number, queries: number, keys: number] {
  const given = tensor?.shape ?? tensor?.dims;
  if (!tensor?.data || !given) throw new TypeError(`${name}: expected { data, shape }, got ${kind(tensor)}.`);
  const shape = Array.from(given, Number);
  const written = `[${shape.join(", ")}]`;
  if (shape.length === 4 && shape[0] === 1) shape.shift();
  if (shape.length === 2) shape.unshift(1);
  if (shape.length !== 3) {
    throw new RangeError(`${name}: expected a shape [heads, queries, keys] or [queries, keys], got ${written}.`);
  }
  if (shape.some((size) => !Number.isInteger(size) || size < 1)) {
    throw new RangeError(`${name}: expected whole sizes of at least 1, got the shape ${written}.`);
  }
  const [heads, queries, keys] = shape as [number, number, number];
  if (tensor.data.length !== heads * queries * keys) {
    throw new RangeError(
      `${name}: the shape ${written} needs ${heads * queries * keys} numbers, data has ${tensor.data.length}.`,
    );
  }
  return [heads, queries, keys];
}

/** `none` is what null stands for: JSON has no word for it. */
function numbers(name: string, { data }: TensorLike, count: number, none: number): Float32Array {
  if (data instanceof Float32Array) return data;
  if (data instanceof Uint16Array || data instanceof BigInt64Array) {
    throw new TypeError(`${name}: expected float32 numbers, got ${kind(data)}; convert them first.`);
  }
  const out = new Float32Array(count);
  for (let i = 0; i < count; i++) out[i] = data[i] === null ? none : Number(data[i]);
  return out;
}

function texts(name: string, given: readonly string[], count: number, what: string): readonly string[] {
  if (!given || given.length === 0) return positions(count);
  if (given.length !== count) throw new RangeError(`${name}: expected ${count} for the ${what}, got ${given.length}.`);
  return given.every((text) => typeof text === "string") ? given : Array.from(given, String);
}

function ownKeys(
  queryTexts: readonly string[],
  tokens: readonly string[],
  keys: number,
  shape: string,
): readonly string[] {
  if (!tokens || tokens.length === 0) return positions(keys);
  if (queryTexts.length === keys) return queryTexts;
  throw new RangeError(
    `keyTokens: expected ${keys} for the keys of weights ${shape}, got none; without them the tokens are the keys too.`,
  );
}

/** Without tokens, rows and columns are numbered. */
function positions(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(i));
}

function hiddenCells(input: HeadInput, queries: number, keys: number, all: number): Uint8Array | null {
  const { masked, causal } = input;
  if (masked) {
    if (masked.length !== all && masked.length !== queries * keys) {
      throw new RangeError(`masked: expected ${all} or ${queries * keys} numbers, got ${masked.length}.`);
    }
    return masked instanceof Uint8Array ? masked : Uint8Array.from(masked);
  }
  if (!causal) return null;
  const cells = new Uint8Array(queries * keys);
  // The last query sees the last key: with cached keys there are more of them.
  const offset = Math.max(0, keys - queries);
  for (let query = 0; query < queries; query++) {
    cells.fill(1, query * keys + Math.min(keys, query + offset + 1), (query + 1) * keys);
  }
  return cells;
}

function kind(value: unknown): string {
  if (value === null || typeof value !== "object") return String(value);
  const name = (value as object).constructor?.name ?? "object";
  return /^[AEIO]/.test(name) ? `an ${name}` : `a ${name}`;
}
