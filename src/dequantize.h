// Stored tensors to float32, exact against the definitions of the formats: every value is computed with the very
// roundings of ggml's own reference (one for d · q, one more where a minimum is added).
//
// A quantised row is a run of blocks, 32 values each (Q8_0, Q4_0, Q4_1, Q5_0, Q5_1) or 256 (Q2_K … Q6_K).
// Source of the layouts: ggml, ggml-common.h and ggml-quants.c.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope {

/// Numbers as in a GGUF file.
enum class TensorType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  bf16 = 30,
};

/// Values in a block; 1 for plain floats; 0 for a type that is not supported.
size_t block_values(TensorType type);
/// Bytes of a block.
size_t block_bytes(TensorType type);
/// Bytes of n values; n is a multiple of block_values(type).
size_t stored_bytes(TensorType type, size_t n);

/// to[0 … n) = the n values stored at `from`; n is a multiple of block_values(type). `from` needs no alignment.
void dequantize(TensorType type, const void* from, size_t n, float* to);

/// A run of quantised values taken apart, whatever the type: value i is scale[i / 16] · byte(i) − minimum[i / 16], with
/// one rounding for the product and one for the difference, as the formats demand.
struct Parts {
  static constexpr size_t kValues = 256;
  static constexpr size_t kGroup = 16;
  const int8_t* q;  // 32 bytes, and the next 32 `stride` bytes further on: where they were stored, or in `bytes`
  size_t stride;
  alignas(16) float scale[kValues / kGroup];
  alignas(16) float minimum[kValues / kGroup];  // only where has_minimum; else taken for 0
  alignas(16) int8_t bytes[kValues];
  // Of the K types, what scale and minimum are products of: one float for all 256 values, and a small integer for each
  // 32 of them in Q4_K and Q5_K, for each 16 in the others.
  float d[2];
  alignas(16) int8_t factors[2][kValues / kGroup];

  /// The 16 bytes of a group.
  [[nodiscard]] const int8_t* group(size_t g) const { return q + g / 2 * stride + g % 2 * kGroup; }
};

/// Whether a type has a minimum beside the scale (Q4_1, Q5_1, Q2_K, Q4_K, Q5_K).
bool has_minimum(TensorType type);

/// Takes the first n ≤ 256 values at `from` apart; n is a multiple of block_values(type), which is more than 1.
void take_apart(TensorType type, const void* from, size_t n, Parts& parts);

/// IEEE half precision to float, exact for every bit pattern (subnormals, −0, infinities; NaN stays NaN).
float half_to_float(uint16_t half);
/// The nearest half, ties to even; beyond ±65504 an infinity.
uint16_t float_to_half(float x);

/// How llama.cpp rounds the other side of a product with a stored weight (`numerics: "ggml"`): the values of x are
/// replaced by what they would be after quantising them to the type's companion (ggml's vec_dot_type): Q8_0 or Q8_1
/// blocks of 32 for the 32-blocks, Q8_K blocks of 256 for the K types, F16 for F16, BF16 for BF16; F32 is left alone.
/// n is a multiple of the companion's block.
void round_like_ggml(TensorType weight_type, float* x, size_t n);

}  // namespace headscope
