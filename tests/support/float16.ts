/** IEEE 754 binary16 bits to a number: exact, subnormals, infinities and NaN included. */
export function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** A number to binary16 bits, ties to even. */
export function toFloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  // Halfway between the largest half, 65504, and the next step rounds up to infinity.
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, magnitude === 0 ? -14 : exponentOf(magnitude));
  let steps = roundHalfEven(magnitude / 2 ** (exponent - 10));
  let biased = exponent + 15;
  if (steps < 1024) return sign | steps; // subnormal, its exponent field is 0
  if (steps === 2048) {
    steps = 1024;
    biased += 1;
  }
  return sign | (biased << 10) | (steps - 1024);
}

function exponentOf(magnitude: number): number {
  let exponent = Math.floor(Math.log2(magnitude));
  if (2 ** exponent > magnitude) exponent -= 1; // log2 rounds up just below a power of two
  return exponent;
}

function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return Math.round(x);
  return low % 2 === 0 ? low : low + 1;
}
