import { productText, shapeText } from "./describe.js";
import { mismatch, outOfRange, wrongType } from "./errors.js";
import { suggest } from "./suggest.js";
import type { Tensor } from "./types.js";

/** The largest size of one axis or setting: what a 32-bit signed integer holds. */
export const MAX_SIZE = 2 ** 31 - 1;

// Release builds of Embind turn a missing number into 0 and −1 into a huge size without a word, so nothing below this
// line of files checks again: every value that reaches the module has passed here.

const brandOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as (this: unknown) => string | undefined;

/** `"Float32Array"` and so on, for arrays of other realms too (frames, jsdom); undefined for anything else. */
export function typedArrayName(value: unknown): string | undefined {
  return brandOf.call(value);
}

export type Properties = Readonly<Record<string, unknown>>;

/** An object to read properties from. Arrays and typed arrays are somebody's mistake. */
export function checkObject(argument: string, value: unknown, expected: string): Properties {
  if (typeof value !== "object" || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) {
    throw wrongType(argument, expected, value);
  }
  return value as Properties;
}

/** Refuses names that nothing reads: a misspelt option would otherwise do nothing without a word. */
export function checkNames(argument: string, object: Properties, known: readonly string[]): void {
  for (const name in object) {
    // Not `includes`, a call that compares texts, where engines compare pointers here.
    let place = 0;
    while (place < known.length && known[place] !== name) ++place;
    // Own names only: a polluted Object.prototype is not the caller's misspelling.
    if (place === known.length && Object.hasOwn(object, name)) {
      throw new TypeError(`${argument}.${name}: expected a known name, got "${name}"; ${suggest(name, known)}`);
    }
  }
}

/** One of a few words. */
export function checkWord<T extends string>(argument: string, value: unknown, words: readonly T[]): T {
  if (typeof value === "string" && (words as readonly string[]).includes(value)) return value as T;
  const expected = words.map((word) => JSON.stringify(word)).join(" or ");
  throw wrongType(argument, expected, value, typeof value === "string" ? suggest(value, words) : undefined);
}

export function checkBoolean(argument: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw wrongType(argument, "a boolean", value);
  return value;
}

/** A whole number from min to max. */
export function checkInteger(argument: string, value: unknown, min: number, max: number): number {
  if (typeof value !== "number") throw wrongType(argument, `a whole number from ${min} to ${max}`, value);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw outOfRange(argument, `a whole number from ${min} to ${max}`, value);
  }
  return value + 0; // −0 becomes 0
}

/** A number that is finite in single precision too. */
export function checkFinite(argument: string, value: unknown): number {
  if (typeof value !== "number") throw wrongType(argument, "a finite number", value);
  if (!Number.isFinite(Math.fround(value))) throw outOfRange(argument, "a finite single-precision number", value);
  return value;
}

/** A finite number above 0, in single precision too; 0 itself where `zero` allows it. */
export function checkPositive(argument: string, value: unknown, zero: boolean): number {
  const expected = zero ? "a finite number above 0, or 0 for none" : "a finite number above 0";
  if (typeof value !== "number") throw wrongType(argument, expected, value);
  const single = Math.fround(value);
  if (!Number.isFinite(single) || single < 0 || (single === 0 && !(zero && value === 0))) {
    throw outOfRange(argument, expected, value);
  }
  return value + 0;
}

/** A Float32Array whose memory is still there. */
export function checkFloat32(argument: string, value: unknown): Float32Array {
  if (brandOf.call(value) !== "Float32Array") throw wrongType(argument, "a Float32Array", value);
  const array = value as Float32Array;
  if (array.length === 0) checkAttached(argument, array);
  return array;
}

/** A Float32Array of exactly this many numbers; `meaning` says where the number comes from. */
export function checkLength(argument: string, value: unknown, length: number, meaning: string): Float32Array {
  const array = checkFloat32(argument, value);
  if (array.length !== length) {
    throw mismatch("shape", argument, `${length} numbers (${meaning})`, String(array.length));
  }
  return array;
}

/** An array whose buffer was transferred away has length 0, like an empty one: ask the buffer. */
export function checkAttached(argument: string, array: ArrayBufferView): void {
  try {
    new Uint8Array(array.buffer, 0, 0);
  } catch {
    throw new TypeError(`${argument}: expected an array with its memory, got one whose buffer is detached`);
  }
}

/** `argument.shape`: whole sizes from 0, at most `maxRank` of them, as a copy. */
export function checkShape(argument: string, value: unknown, maxRank: number): number[] {
  if (!Array.isArray(value)) throw wrongType(`${argument}.shape`, "an array of whole numbers", value);
  const rank = value.length;
  if (rank > maxRank) {
    throw mismatch("shape", `${argument}.shape`, `at most ${maxRank} axes`, `${rank} axes`);
  }
  // Not one by one into an empty array, which grows with the first.
  const shape: number[] = rank === 2 ? [0, 0] : rank === 3 ? [0, 0, 0] : [];
  for (let axis = 0; axis < rank; ++axis) {
    const size: unknown = value[axis];
    if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > MAX_SIZE) {
      checkInteger(`${argument}.shape[${axis}]`, size, 0, MAX_SIZE);
    }
    shape[axis] = (size as number) + 0;
  }
  return shape;
}

/** Refuses data whose length is not the product of its shape. */
export function checkProduct(argument: string, length: number, shape: readonly number[]): void {
  let product = 1;
  for (let axis = 0; axis < shape.length; ++axis) product *= shape[axis] as number;
  if (product !== length) {
    const expected = `${productText(shape)} values for the shape ${shapeText(shape)}`;
    throw mismatch("shape", `${argument}.data`, expected, String(length));
  }
}

/** A `{ data: Float32Array, shape }` that agrees with itself; the shape is a copy. */
export function checkTensor(argument: string, value: unknown, maxRank: number): Tensor {
  if (typeof value !== "object" || value === null) throw wrongTensor(argument, value);
  const { data, shape } = value as Partial<Tensor>;
  if (data === undefined) throw wrongTensor(argument, value);
  if (brandOf.call(data) !== "Float32Array" || data.length === 0) checkFloat32(`${argument}.data`, data);
  const sizes = checkShape(argument, shape, maxRank);
  checkProduct(argument, data.length, sizes);
  return { data, shape: sizes };
}

function wrongTensor(argument: string, value: unknown): TypeError {
  return wrongType(argument, "a tensor { data: Float32Array, shape: number[] }", value);
}
