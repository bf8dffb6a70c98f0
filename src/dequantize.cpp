#include "dequantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "simd.h"
#include "simd_bytes.h"

namespace headscope {
namespace {

using namespace simd;

constexpr size_t kSmallBlock = 32;
constexpr size_t kSuperBlock = 256;

// Of each byte of a word: where six-bit scales of the K types lie in parts.
constexpr uint32_t kFourBits = 0x0F0F0F0FU;
constexpr uint32_t kUpperBits = 0x30303030U;

// Out of line what runs once in a few hundred values: inlined everywhere, these were a kilobyte of gzipped wasm.
[[gnu::noinline]] float read_half(const uint8_t* from) {
  return half_to_float(static_cast<uint16_t>(from[0] | from[1] << 8));
}

uint32_t read_u32(const uint8_t* from) {
  uint32_t x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// The n halves at `from`, `stride` bytes apart, times `sign`, as floats, each for a pair of groups.
[[gnu::noinline]] void pairs_of_halves(const uint8_t* from, size_t stride, size_t n, float sign, float* to) {
  for (; n > 0; n -= std::min(n, kLanes), from += kLanes * stride, to += 2 * kLanes) {
    const uint8_t* second = from + (n > 1 ? stride : 0);
    const uint8_t* third = second + (n > 2 ? stride : 0);
    const uint8_t* fourth = third + (n > 3 ? stride : 0);
    store_pairs(to, splat(sign) * load_halves(from, second, third, fourth));
  }
}

/// The factors of a K type with one for each group: part 0 of them makes the scales, part 1 the minima.
[[gnu::noinline]] void keep_factors(float d, Bytes x, size_t part, Parts& parts) {
  float* to = part == 0 ? parts.scale : parts.minimum;
  parts.d[part] = d;
  store_bytes(parts.factors[part], x);
  Vec wide[4];
  widen(x, wide);
  for (size_t i = 0; i < 4; ++i) store(to + i * kLanes, splat(d) * (wide[i] * constant<kWidened>()));
}

// The blocks of 32: half d, in the _1 types half m, in the Q5 types 32 fifth bits, then 16 bytes whose low nibbles are
// values 0 … 15 and whose high ones are 16 … 31.
//   Q4_0  d · (q − 8)      Q4_1  d · q + m      Q5_0  d · (q − 16)      Q5_1  d · q + m
void small_blocks(TensorType type, const uint8_t* block, size_t n, Parts& parts) {
  const bool minimum = has_minimum(type);
  const bool five = type == TensorType::q5_0 || type == TensorType::q5_1;
  const size_t stride = block_bytes(type);
  pairs_of_halves(block, stride, n / kSmallBlock, 1.0F, parts.scale);
  if (minimum) pairs_of_halves(block + 2, stride, n / kSmallBlock, -1.0F, parts.minimum);
  const Bytes fifteen = constant_byte<15>();
  const Bytes sixteen = constant_byte<16>();
  const Bytes one_bit = one_bit_each();
  const Bytes offset = minimum ? constant_byte<0>() : five ? sixteen : constant_byte<8>();
  for (int8_t *q = parts.bytes, *end = q + n; q < end; q += kSmallBlock, block += stride) {
    const Bytes nibbles = load_bytes(block + stride - 16);
    Bytes low = nibbles & fifteen;
    Bytes high = bits(nibbles, 4, fifteen);
    if (five) {
      const uint32_t fifth = read_u32(block + stride - 20);
      low = low | spread_bits(fifth, one_bit, sixteen);
      high = high | spread_bits(fifth >> 16, one_bit, sixteen);
    }
    store_bytes(q, low - offset);
    store_bytes(q + 16, high - offset);
  }
}

// Q8_0: half d, 32 signed bytes; x = d · q.
void q8_0_blocks(const uint8_t* block, size_t n, Parts& parts) {
  pairs_of_halves(block, 34, n / kSmallBlock, 1.0F, parts.scale);
  parts.q = reinterpret_cast<const int8_t*>(block + 2);
  parts.stride = 34;
}

// Q2_K: 16 bytes of 4-bit scales and minima, 64 bytes of 2-bit values, half d, half dmin.
// Sixteen groups of 16: x = (d · scale) · q − (dmin · minimum).
void q2_k_block(const uint8_t* block, Parts& parts) {
  const Bytes both = load_bytes(block);
  keep_factors(read_half(block + 80), both & constant_byte<15>(), 0, parts);
  keep_factors(read_half(block + 82), bits(both, 4, constant_byte<15>()), 1, parts);
  const Bytes three = constant_byte<3>();
  for (size_t i = 0; i < 64; i += 16) {
    const Bytes values = load_bytes(block + 16 + i);
    int8_t* q = parts.bytes + i / 32 * 128 + i % 32;
    store_bytes(q, values & three);
    store_bytes(q + 32, bits(values, 2, three));
    store_bytes(q + 64, bits(values, 4, three));
    store_bytes(q + 96, bits(values, 6, three));
  }
}

// Q3_K: 32 bytes of high bits, 64 bytes of low two bits, 12 bytes of sixteen 6-bit scales, half d.
// x = (d · (scale − 32)) · q, q = low bits − 4 where the high bit is 0.
void q3_k_block(const uint8_t* block, Parts& parts) {
  // Low four bits: bytes 0 … 7, low nibbles for scales 0 … 7, high ones for 8 … 15. Upper two: bytes 8 … 11.
  const uint32_t s = read_u32(block + 96);
  const uint32_t t = read_u32(block + 100);
  const uint32_t upper = read_u32(block + 104);
  const Bytes scales =
      make_bytes((s & kFourBits) | (upper << 4 & kUpperBits), (t & kFourBits) | (upper << 2 & kUpperBits),
                 (s >> 4 & kFourBits) | (upper & kUpperBits), (t >> 4 & kFourBits) | (upper >> 2 & kUpperBits));
  keep_factors(read_half(block + 108), scales - constant_byte<32>(), 0, parts);
  const Bytes three = constant_byte<3>();
  const Bytes four = constant_byte<4>();
  for (size_t i = 0; i < 64; i += 16) {
    const Bytes values = load_bytes(block + 32 + i);
    const Bytes high = bits(load_bytes(block + i % 32), static_cast<unsigned>(i / 32 * 4), constant_byte<15>());
    int8_t* q = parts.bytes + i / 32 * 128 + i % 32;
    store_bytes(q, ((values & three) | bits_up(high, 2, four)) - four);
    store_bytes(q + 32, (bits(values, 2, three) | bits_up(high, 1, four)) - four);
    store_bytes(q + 64, (bits(values, 4, three) | (high & four)) - four);
    store_bytes(q + 96, (bits(values, 6, three) | bits(high, 1, four)) - four);
  }
}

// Q4_K and Q5_K: half d, half dmin, 12 bytes of scales and minima (six bits each), in Q5_K 32 bytes whose bit p is the
// fifth bit of pair p, 128 bytes of nibbles. Eight groups of 32: x = (d · scale) · q − (dmin · minimum).
void nibble_k_block(const uint8_t* block, bool five, Parts& parts) {
  // Four bytes at a time: s and m are the six bits of the first four scales and minima, with the upper two bits of the
  // last four above them; t holds the lower four bits of those.
  const uint32_t s = read_u32(block + 4);
  const uint32_t m = read_u32(block + 8);
  const uint32_t t = read_u32(block + 12);
  constexpr uint32_t kSixBits = 0x3F3F3F3FU;
  const Bytes sixes = make_bytes(s & kSixBits, (t & kFourBits) | (s >> 2 & kUpperBits), m & kSixBits,
                                 (t >> 4 & kFourBits) | (m >> 2 & kUpperBits));
  Vec wide[4];
  widen(sixes, wide);
  const Vec halves = load_halves(block, block + 2, block, block + 2);
  const Vec d = broadcast<0>(halves);
  const Vec dmin = broadcast<1>(halves);
  store_bytes(parts.factors[0], sixes);
  std::memcpy(parts.factors[1], parts.factors[0] + 8, 8);
  parts.d[0] = read_half(block);
  parts.d[1] = read_half(block + 2);
  for (size_t half = 0; half < 2; ++half) {
    store_pairs(parts.scale + 8 * half, d * (wide[half] * constant<kWidened>()));
    store_pairs(parts.minimum + 8 * half, dmin * (wide[2 + half] * constant<kWidened>()));
  }
  const uint8_t* nibbles = block + (five ? 48 : 16);
  const Bytes fifteen = constant_byte<15>();
  const Bytes sixteen = constant_byte<16>();
  for (size_t i = 0; i < 128; i += 16) {
    const Bytes both = load_bytes(nibbles + i);
    Bytes low = both & fifteen;
    Bytes high = bits(both, 4, fifteen);
    if (five) {
      const Bytes fifths = bits(load_bytes(block + 16 + i % 32), static_cast<unsigned>(i / 32 * 2), constant_byte<3>());
      low = low | bits_up(fifths, 4, sixteen);
      high = high | bits_up(fifths, 3, sixteen);
    }
    int8_t* q = parts.bytes + i / 32 * 64 + i % 32;
    store_bytes(q, low);
    store_bytes(q + 32, high);
  }
}

// Q6_K: 128 bytes of low nibbles, 64 bytes of high two bits, sixteen signed scales, half d.
// x = (d · scale) · (q − 32).
void q6_k_block(const uint8_t* block, Parts& parts) {
  keep_factors(read_half(block + 208), load_bytes(block + 192), 0, parts);
  const Bytes fifteen = constant_byte<15>();
  const Bytes offset = constant_byte<32>();
  const Bytes upper = constant_byte<48>();
  for (size_t i = 0; i < 64; i += 16) {
    const Bytes first = load_bytes(block + i / 32 * 64 + i % 32);
    const Bytes second = load_bytes(block + i / 32 * 64 + 32 + i % 32);
    const Bytes high = load_bytes(block + 128 + i);
    int8_t* q = parts.bytes + i / 32 * 128 + i % 32;
    store_bytes(q, ((first & fifteen) | bits_up(high, 4, upper)) - offset);
    store_bytes(q + 32, ((second & fifteen) | bits_up(high, 2, upper)) - offset);
    store_bytes(q + 64, (bits(first, 4, fifteen) | (high & upper)) - offset);
    store_bytes(q + 96, (bits(second, 4, fifteen) | bits(high, 2, upper)) - offset);
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

bool has_minimum(TensorType type) {
  return type == TensorType::q4_1 || type == TensorType::q5_1 || type == TensorType::q2_k || type == TensorType::q4_k ||
         type == TensorType::q5_k;
}

void take_apart(TensorType type, const void* from, size_t n, Parts& parts) {
  const auto* block = static_cast<const uint8_t*>(from);
  parts.q = parts.bytes;
  parts.stride = kSmallBlock;
  switch (type) {
    case TensorType::q8_0: return q8_0_blocks(block, n, parts);
    case TensorType::q2_k: return q2_k_block(block, parts);
    case TensorType::q3_k: return q3_k_block(block, parts);
    case TensorType::q4_k: return nibble_k_block(block, false, parts);
    case TensorType::q5_k: return nibble_k_block(block, true, parts);
    case TensorType::q6_k: return q6_k_block(block, parts);
    default: return small_blocks(type, block, n, parts);
  }
}

void dequantize(TensorType type, const void* from, size_t n, float* to) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  if (type == TensorType::f32) {
    std::memcpy(to, bytes, n * sizeof(float));
    return;
  }
  if (block_values(type) == 1) {
    size_t i = 0;
    if (type == TensorType::f16) {
      for (; i + kLanes <= n; i += kLanes) store(to + i, load_halves(bytes + 2 * i));
      for (; i < n; ++i) to[i] = read_half(bytes + 2 * i);
    } else {
      for (; i + kLanes <= n; i += kLanes)
        store(to + i, load_brain_halves(reinterpret_cast<const uint16_t*>(bytes + 2 * i)));
      for (; i < n; ++i) {
        to[i] = std::bit_cast<float>(static_cast<uint32_t>(bytes[2 * i] | bytes[2 * i + 1] << 8) << 16);
      }
    }
    return;
  }
  const bool shifted = has_minimum(type);
  Parts parts;
  for (size_t i = 0; i < n; i += Parts::kValues) {
    const size_t count = std::min(Parts::kValues, n - i);
    take_apart(type, bytes + stored_bytes(type, i), count, parts);
    for (size_t g = 0; g < count / Parts::kGroup; ++g) {
      const Vec scale = splat(parts.scale[g] * kWidened);
      const Vec minimum = splat(shifted ? parts.minimum[g] : 0.0F);
      Vec q[4];
      widen(load_bytes(parts.group(g)), q);
      // Two roundings, never fused: exactness needs them.
      float* group = to + i + g * Parts::kGroup;
      for (size_t part = 0; part < 4; ++part) store(group + part * kLanes, scale * q[part] - minimum);
    }
  }
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
