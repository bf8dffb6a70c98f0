#include "dequantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simd.h"

namespace headscope {
namespace {

constexpr size_t kSmallBlock = 32;
constexpr size_t kSuperBlock = 256;

float read_half(const uint8_t* from) { return half_to_float(static_cast<uint16_t>(from[0] | from[1] << 8)); }

uint32_t read_u32(const uint8_t* from) {
  uint32_t x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// to[i] = d · q[i], n a multiple of 16.
void scale_values(const int8_t* q, size_t n, float d, float* to) {
  using namespace simd;
  const Vec scale = splat(d);
  for (size_t i = 0; i < n; i += 4 * kLanes) {
    Vec values[4];
    widen_int8(q + i, values);
    for (size_t part = 0; part < 4; ++part) store(to + i + part * kLanes, scale * values[part]);
  }
}

/// to[i] = d · q[i] − m, n a multiple of 16. Two roundings, never fused: exactness needs them.
void scale_and_shift_values(const int8_t* q, size_t n, float d, float m, float* to) {
  using namespace simd;
  const Vec scale = splat(d);
  const Vec shift = splat(m);
  for (size_t i = 0; i < n; i += 4 * kLanes) {
    Vec values[4];
    widen_int8(q + i, values);
    for (size_t part = 0; part < 4; ++part) store(to + i + part * kLanes, scale * values[part] - shift);
  }
}

void f16_row(const uint8_t* from, size_t n, float* to) {
  for (size_t i = 0; i < n; ++i) to[i] = read_half(from + 2 * i);
}

void bf16_row(const uint8_t* from, size_t n, float* to) {
  for (size_t i = 0; i < n; ++i) {
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[2 * i] | from[2 * i + 1] << 8) << 16);
  }
}

// Q4_0: half d, 16 bytes; low nibbles are values 0 … 15, high ones 16 … 31; x = d · (q − 8).
void q4_0_block(const uint8_t* block, float* to) {
  int8_t q[kSmallBlock];
  for (size_t i = 0; i < 16; ++i) {
    q[i] = static_cast<int8_t>((block[2 + i] & 15) - 8);
    q[i + 16] = static_cast<int8_t>((block[2 + i] >> 4) - 8);
  }
  scale_values(q, kSmallBlock, read_half(block), to);
}

// Q4_1: half d, half m, 16 bytes; x = d · q + m.
void q4_1_block(const uint8_t* block, float* to) {
  int8_t q[kSmallBlock];
  for (size_t i = 0; i < 16; ++i) {
    q[i] = static_cast<int8_t>(block[4 + i] & 15);
    q[i + 16] = static_cast<int8_t>(block[4 + i] >> 4);
  }
  scale_and_shift_values(q, kSmallBlock, read_half(block), -read_half(block + 2), to);
}

/// Five-bit values: four bits as in Q4, the fifth of value i is bit i of `high`.
void five_bits(const uint8_t* nibbles, uint32_t high, int offset, int8_t* q) {
  for (size_t i = 0; i < 16; ++i) {
    const int low_fifth = static_cast<int>(high >> i & 1) << 4;
    const int high_fifth = static_cast<int>(high >> (i + 16) & 1) << 4;
    q[i] = static_cast<int8_t>(((nibbles[i] & 15) | low_fifth) - offset);
    q[i + 16] = static_cast<int8_t>(((nibbles[i] >> 4) | high_fifth) - offset);
  }
}

// Q5_0: half d, 32 fifth bits, 16 bytes; x = d · (q − 16).
void q5_0_block(const uint8_t* block, float* to) {
  int8_t q[kSmallBlock];
  five_bits(block + 6, read_u32(block + 2), 16, q);
  scale_values(q, kSmallBlock, read_half(block), to);
}

// Q5_1: half d, half m, 32 fifth bits, 16 bytes; x = d · q + m.
void q5_1_block(const uint8_t* block, float* to) {
  int8_t q[kSmallBlock];
  five_bits(block + 8, read_u32(block + 4), 0, q);
  scale_and_shift_values(q, kSmallBlock, read_half(block), -read_half(block + 2), to);
}

// Q8_0: half d, 32 signed bytes; x = d · q.
void q8_0_block(const uint8_t* block, float* to) {
  scale_values(reinterpret_cast<const int8_t*>(block + 2), kSmallBlock, read_half(block), to);
}

// Q2_K: 16 bytes of 4-bit scales and minima, 64 bytes of 2-bit values, half d, half dmin.
// Sixteen groups of 16: x = (d · scale) · q − (dmin · minimum).
void q2_k_block(const uint8_t* block, float* to) {
  const uint8_t* scales = block;
  const uint8_t* values = block + 16;
  const float d = read_half(block + 80);
  const float dmin = read_half(block + 82);
  for (size_t half = 0; half < 2; ++half, values += 32) {
    for (int shift = 0; shift < 8; shift += 2) {
      for (size_t part = 0; part < 2; ++part, ++scales, to += 16) {
        int8_t q[16];
        for (size_t i = 0; i < 16; ++i) q[i] = static_cast<int8_t>(values[16 * part + i] >> shift & 3);
        scale_and_shift_values(q, 16, d * static_cast<float>(*scales & 15), dmin * static_cast<float>(*scales >> 4),
                               to);
      }
    }
  }
}

// Q3_K: 32 bytes of high bits, 64 bytes of low two bits, 12 bytes of sixteen 6-bit scales, half d.
// x = (d · (scale − 32)) · q, q = low bits − 4 where the high bit is 0.
void q3_k_block(const uint8_t* block, float* to) {
  const uint8_t* high = block;
  const uint8_t* values = block + 32;
  const uint8_t* packed = block + 96;
  const float d = read_half(block + 108);
  int scales[16];
  for (int i = 0; i < 16; ++i) {
    // Low four bits: bytes 0 … 7, low nibbles for scales 0 … 7, high ones for 8 … 15. Upper two: bytes 8 … 11.
    const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
    const int upper = packed[8 + i % 4] >> (2 * (i / 4)) & 3;
    scales[i] = (low | upper << 4) - 32;
  }
  int group = 0;
  for (int half = 0; half < 2; ++half, values += 32) {
    for (int step = 0; step < 4; ++step) {
      const int bit = 4 * half + step;
      for (size_t part = 0; part < 2; ++part, ++group, to += 16) {
        int8_t q[16];
        for (size_t i = 0; i < 16; ++i) {
          const int low = values[16 * part + i] >> (2 * step) & 3;
          q[i] = static_cast<int8_t>(low - ((high[16 * part + i] >> bit & 1) != 0 ? 0 : 4));
        }
        scale_values(q, 16, d * static_cast<float>(scales[group]), to);
      }
    }
  }
}

/// Scale and minimum j (0 … 7) of Q4_K and Q5_K: six bits each in 12 bytes.
void scale_and_minimum(const uint8_t* packed, size_t j, uint8_t& scale, uint8_t& minimum) {
  if (j < 4) {
    scale = packed[j] & 63;
    minimum = packed[j + 4] & 63;
  } else {
    scale = static_cast<uint8_t>((packed[j + 4] & 15) | packed[j - 4] >> 6 << 4);
    minimum = static_cast<uint8_t>(packed[j + 4] >> 4 | packed[j] >> 6 << 4);
  }
}

/// The part that Q4_K and Q5_K share: eight groups of 32, x = (d · scale) · q − (dmin · minimum). `fifth` is null or
/// 32 bytes whose bit g is the fifth bit of group g.
void k_groups(const uint8_t* block, const uint8_t* fifth, const uint8_t* nibbles, float* to) {
  const float d = read_half(block);
  const float dmin = read_half(block + 2);
  for (size_t g = 0; g < 8; ++g, to += 32) {
    uint8_t scale;
    uint8_t minimum;
    scale_and_minimum(block + 4, g, scale, minimum);
    const uint8_t* from = nibbles + g / 2 * 32;
    const unsigned shift = g % 2 == 0 ? 0 : 4;
    int8_t q[32];
    for (size_t i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(from[i] >> shift & 15);
    if (fifth != nullptr) {
      for (size_t i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(q[i] | (fifth[i] >> g & 1) << 4);
    }
    scale_and_shift_values(q, 32, d * static_cast<float>(scale), dmin * static_cast<float>(minimum), to);
  }
}

// Q4_K: half d, half dmin, 12 bytes of scales and minima, 128 bytes of nibbles.
void q4_k_block(const uint8_t* block, float* to) { k_groups(block, nullptr, block + 16, to); }

// Q5_K: the same with 32 bytes of fifth bits before the nibbles.
void q5_k_block(const uint8_t* block, float* to) { k_groups(block, block + 16, block + 48, to); }

// Q6_K: 128 bytes of low nibbles, 64 bytes of high two bits, sixteen signed scales, half d.
// x = (d · scale) · (q − 32).
void q6_k_block(const uint8_t* block, float* to) {
  const uint8_t* low = block;
  const uint8_t* high = block + 128;
  const auto* scales = reinterpret_cast<const int8_t*>(block + 192);
  const float d = read_half(block + 208);
  for (size_t half = 0; half < 2; ++half, low += 64, high += 32) {
    for (size_t quarter = 0; quarter < 4; ++quarter) {
      const uint8_t* nibbles = low + quarter % 2 * 32;
      const unsigned nibble_shift = quarter < 2 ? 0 : 4;
      for (size_t part = 0; part < 2; ++part, ++scales, to += 16) {
        int8_t q[16];
        for (size_t i = 0; i < 16; ++i) {
          const size_t at = 16 * part + i;
          q[i] = static_cast<int8_t>(((nibbles[at] >> nibble_shift & 15) | (high[at] >> (2 * quarter) & 3) << 4) - 32);
        }
        scale_values(q, 16, d * static_cast<float>(*scales), to);
      }
    }
  }
}

using BlockDecoder = void (*)(const uint8_t* block, float* to);

BlockDecoder decoder_of(TensorType type) {
  switch (type) {
    case TensorType::q4_0: return q4_0_block;
    case TensorType::q4_1: return q4_1_block;
    case TensorType::q5_0: return q5_0_block;
    case TensorType::q5_1: return q5_1_block;
    case TensorType::q8_0: return q8_0_block;
    case TensorType::q2_k: return q2_k_block;
    case TensorType::q3_k: return q3_k_block;
    case TensorType::q4_k: return q4_k_block;
    case TensorType::q5_k: return q5_k_block;
    case TensorType::q6_k: return q6_k_block;
    default: return nullptr;
  }
}

// Q8_0 and Q8_1: one scale for 32 values, the largest magnitude becomes ±127; the scale is kept as a half, but the
// values are divided by the unrounded one.
void round_to_q8_0(float* x) {
  float largest = 0.0F;
  for (size_t i = 0; i < kSmallBlock; ++i) largest = std::max(largest, std::fabs(x[i]));
  const float d = largest / 127.0F;
  const float inverse = d != 0.0F ? 1.0F / d : 0.0F;
  const float kept = half_to_float(float_to_half(d));
  for (size_t i = 0; i < kSmallBlock; ++i) x[i] = kept * std::nearbyint(x[i] * inverse);
}

// Q8_K: one float scale for 256 values, the value of largest magnitude becomes −127.
void round_to_q8_k(float* x) {
  float extreme = 0.0F;
  for (size_t i = 0; i < kSuperBlock; ++i) {
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  if (extreme == 0.0F) return;
  const float inverse = -127.0F / extreme;
  const float d = 1.0F / inverse;
  for (size_t i = 0; i < kSuperBlock; ++i) x[i] = d * std::min(127.0F, std::nearbyint(x[i] * inverse));
}

}  // namespace

size_t block_values(TensorType type) {
  switch (type) {
    case TensorType::f32:
    case TensorType::f16:
    case TensorType::bf16: return 1;
    case TensorType::q4_0:
    case TensorType::q4_1:
    case TensorType::q5_0:
    case TensorType::q5_1:
    case TensorType::q8_0: return kSmallBlock;
    case TensorType::q2_k:
    case TensorType::q3_k:
    case TensorType::q4_k:
    case TensorType::q5_k:
    case TensorType::q6_k: return kSuperBlock;
  }
  return 0;
}

size_t block_bytes(TensorType type) {
  switch (type) {
    case TensorType::f32: return 4;
    case TensorType::f16:
    case TensorType::bf16: return 2;
    case TensorType::q4_0: return 18;
    case TensorType::q4_1: return 20;
    case TensorType::q5_0: return 22;
    case TensorType::q5_1: return 24;
    case TensorType::q8_0: return 34;
    case TensorType::q2_k: return 84;
    case TensorType::q3_k: return 110;
    case TensorType::q4_k: return 144;
    case TensorType::q5_k: return 176;
    case TensorType::q6_k: return 210;
  }
  return 0;
}

size_t stored_bytes(TensorType type, size_t n) { return n / block_values(type) * block_bytes(type); }

void dequantize(TensorType type, const void* from, size_t n, float* to) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  if (type == TensorType::f32) {
    std::memcpy(to, bytes, n * sizeof(float));
    return;
  }
  if (type == TensorType::f16) return f16_row(bytes, n, to);
  if (type == TensorType::bf16) return bf16_row(bytes, n, to);
  const BlockDecoder decode = decoder_of(type);
  const size_t values = block_values(type);
  const size_t stride = block_bytes(type);
  for (size_t i = 0; i < n; i += values, bytes += stride) decode(bytes, to + i);
}

float half_to_float(uint16_t half) {
  // The exponent of a normal half moves from bias 15 to 127 by 112; subnormals are fixed up by a subtraction
  // that normalises them; an exponent of 31 must become 255.
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFFU) << 13;
  const uint32_t exponent = magnitude & 0x0F800000U;
  uint32_t bits = magnitude + (112U << 23);
  if (exponent == 0x0F800000U) {
    bits += 112U << 23;
  } else if (exponent == 0) {
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(bits + (1U << 23)) - std::bit_cast<float>(113U << 23));
  }
  return std::bit_cast<float>(bits | sign);
}

uint16_t float_to_half(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<uint16_t>(sign | 0x7E00U);   // NaN
  if (magnitude >= 0x477FF000U) return static_cast<uint16_t>(sign | 0x7C00U);  // 65520 and more round to infinity
  if (magnitude < 0x38800000U) {
    // A subnormal half: adding 0.5 leaves the rounded value, in units of 2^−24, in the low mantissa bits.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(0.5F)));
  }
  const uint32_t odd = magnitude >> 13 & 1U;
  return static_cast<uint16_t>(sign | ((magnitude - (112U << 23) + 0xFFFU + odd) >> 13));
}

void round_like_ggml(TensorType weight_type, float* x, size_t n) {
  const size_t block = block_values(weight_type);
  if (block == kSmallBlock) {
    for (size_t i = 0; i < n; i += kSmallBlock) round_to_q8_0(x + i);
  } else if (block == kSuperBlock) {
    for (size_t i = 0; i < n; i += kSuperBlock) round_to_q8_k(x + i);
  } else if (weight_type == TensorType::f16) {
    for (size_t i = 0; i < n; ++i) x[i] = half_to_float(float_to_half(x[i]));
  } else if (weight_type == TensorType::bf16) {
    for (size_t i = 0; i < n; ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
      x[i] = std::bit_cast<float>((bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U);
    }
  }
}

}  // namespace headscope
