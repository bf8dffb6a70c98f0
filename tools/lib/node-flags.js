/** Node 20 compiles relaxed SIMD only behind a flag; later ones do it anyway and may have dropped the flag. */
export function nodeFlags() {
  // A module whose one function is f32x4.relaxed_madd of three zero vectors.
  const zero = [65, 0, 253, 15];
  const body = [10, 19, 1, 17, 0, ...zero, ...zero, ...zero, 253, 133, 2, 11];
  const probe = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, ...body];
  return WebAssembly.validate(new Uint8Array(probe)) ? [] : ["--experimental-wasm-relaxed-simd"];
}
