import assert from "node:assert/strict";

interface Values {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** A value passes when |actual − expected| ≤ absolute + relative × largest finite magnitude of the expected values. */
export interface Tolerance {
  absolute?: number;
  relative?: number;
}

/** The design's promise against float64, up to D = 1024 and T = 1024. */
export const OUTPUT_TOLERANCE: Tolerance = { relative: 4e-6 };
export const WEIGHTS_TOLERANCE: Tolerance = { absolute: 1e-6 };

export function largestMagnitude(values: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < values.length; ++i) {
    const magnitude = Math.abs(values[i] as number);
    if (Number.isFinite(magnitude) && magnitude > largest) largest = magnitude;
  }
  return largest;
}

/** Shapes equal, NaN exactly where NaN is expected, infinities exactly, all else within the tolerance. */
export function assertClose(actual: Values, expected: Values, tolerance: Tolerance, label: string): void {
  assert.deepEqual([...actual.shape], [...expected.shape], `${label}: shape`);
  assertValuesClose(actual.data, expected.data, tolerance, label);
}

export function assertValuesClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  tolerance: Tolerance,
  label: string,
): void {
  assert.equal(actual.length, expected.length, `${label}: number of values`);
  const bound = (tolerance.absolute ?? 0) + (tolerance.relative ?? 0) * largestMagnitude(expected);
  let worst = -1;
  let worstError = bound;
  for (let i = 0; i < expected.length; ++i) {
    const a = actual[i] as number;
    const e = expected[i] as number;
    if (Number.isFinite(e) && Number.isFinite(a)) {
      const error = Math.abs(a - e);
      if (error > worstError) {
        worst = i;
        worstError = error;
      }
    } else if (!Object.is(a, e)) {
      assert.fail(`${label}: value ${i} of ${expected.length} is ${a}, expected ${e}`);
    }
  }
  if (worst >= 0) {
    assert.fail(
      `${label}: value ${worst} of ${expected.length} is ${actual[worst]}, expected ${expected[worst]}; ` +
        `error ${worstError.toExponential(2)} is above ${bound.toExponential(2)}`,
    );
  }
}

/** Bit for bit, so 0 and -0 differ and NaN equals NaN. */
export function assertSameBits(actual: Float32Array, expected: Float32Array, label: string): void {
  assert.equal(actual.length, expected.length, `${label}: number of values`);
  const a = new Uint32Array(actual.buffer, actual.byteOffset, actual.length);
  const e = new Uint32Array(expected.buffer, expected.byteOffset, expected.length);
  for (let i = 0; i < e.length; ++i) {
    if (a[i] !== e[i] && !Object.is(actual[i], expected[i]))
      assert.fail(`${label}: value ${i} is ${actual[i]}, expected the very bits of ${expected[i]}`);
  }
}
