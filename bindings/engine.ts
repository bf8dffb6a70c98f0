/** The two builds of the module. */
export type Variant = "simd" | "relaxed";

// The smallest modules that use one instruction of each proposal; a function that makes a vector and returns it.
// prettier-ignore
const HEAD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0];
const SPLAT_ZERO = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
const SIMD_PROBE = [...HEAD, 10, 10, 1, 8, 0, ...SPLAT_ZERO, 253, 98, 11]; // i8x16.popcnt
const RELAXED_PROBE = [...HEAD, 10, 19, 1, 17, 0, ...SPLAT_ZERO, ...SPLAT_ZERO, ...SPLAT_ZERO, 253, 133, 2, 11]; // f32x4.relaxed_madd

function validates(bytes: readonly number[]): boolean {
  return typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array(bytes));
}

/** Whether this engine runs a build. Asked at load, not at import. */
export function supports(variant: Variant): boolean {
  return validates(variant === "simd" ? SIMD_PROBE : RELAXED_PROBE);
}

/**
 * Whether this engine's compiler keeps the sums of five rows in registers: 2 to 6 % faster than four in V8 13.6 and 14 and in
 * Firefox, 13 to 17 % slower in V8 11.3 and 12.4 (Node.js 20 and 22). Engines do not tell; Float16Array came with V8 13.5.
 */
export const keepsTallTiles = (): boolean => "Float16Array" in globalThis;
