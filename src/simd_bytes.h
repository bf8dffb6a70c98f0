// Sixteen bytes at a time: what the block formats of model files are taken apart with. Beside simd.h the only file that
// names an intrinsic; the native builds go byte by byte, for the tests.
//
// No constant vectors here either, see simd::constant: masks are read from memory, or come out of zeros.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "simd.h"

namespace headscope::simd {

#if defined(__wasm__)

struct Bytes {
  v128_t v;
};

inline Bytes load_bytes(const void* from) { return {wasm_v128_load(from)}; }
inline void store_bytes(void* to, Bytes x) { wasm_v128_store(to, x.v); }
inline Bytes operator|(Bytes a, Bytes b) { return {wasm_v128_or(a.v, b.v)}; }
inline Bytes operator&(Bytes a, Bytes b) { return {wasm_v128_and(a.v, b.v)}; }
inline Bytes operator-(Bytes a, Bytes b) { return {wasm_i8x16_sub(a.v, b.v)}; }

template <uint8_t value>
struct ConstantByte {
  static inline uint8_t memory = value;
};

/// 16 bytes `value`.
template <uint8_t value>
Bytes constant_byte() {
  return {wasm_v128_load8_splat(&ConstantByte<value>::memory)};
}

/// (x >> shift) & mask of every byte. The machine shifts pairs of bytes: mask ≤ 255 >> shift drops the neighbour's
/// bits.
inline Bytes bits(Bytes x, unsigned shift, Bytes mask) { return {wasm_v128_and(wasm_u16x8_shr(x.v, shift), mask.v)}; }

/// (x << shift) & mask of every byte, where mask has no bit below `shift`.
inline Bytes bits_up(Bytes x, unsigned shift, Bytes mask) {
  return {wasm_v128_and(wasm_i16x8_shl(x.v, shift), mask.v)};
}

/// The bytes of four words.
inline Bytes make_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return {wasm_u32x4_make(a, b, c, d)}; }

/// Byte i has bit i % 8.
inline uint64_t one_bit_in_memory = 0x8040201008040201U;
inline Bytes one_bit_each() { return {wasm_v128_load64_splat(&one_bit_in_memory)}; }

/// `bit` in byte i where bit i of x is set, else 0. one_bit is one_bit_each().
inline Bytes spread_bits(uint32_t x, Bytes one_bit, Bytes bit) {
  constexpr uint64_t kEverywhere = 0x0101010101010101U;
  const v128_t each = wasm_u64x2_make((x & 255) * kEverywhere, (x >> 8 & 255) * kEverywhere);
  return {wasm_v128_and(wasm_i8x16_eq(wasm_v128_and(each, one_bit.v), one_bit.v), bit.v)};
}

#else

struct Bytes {
  uint8_t v[16];
};

template <class Function>
Bytes each_byte(const Function& function) {
  Bytes result;
  for (size_t i = 0; i < 16; ++i) result.v[i] = static_cast<uint8_t>(function(i));
  return result;
}

inline Bytes load_bytes(const void* from) {
  Bytes x;
  std::memcpy(x.v, from, 16);
  return x;
}
inline void store_bytes(void* to, Bytes x) { std::memcpy(to, x.v, 16); }
template <uint8_t value>
Bytes constant_byte() {
  return each_byte([](size_t) { return value; });
}
inline Bytes operator|(Bytes a, Bytes b) {
  return each_byte([&](size_t i) { return a.v[i] | b.v[i]; });
}
inline Bytes operator&(Bytes a, Bytes b) {
  return each_byte([&](size_t i) { return a.v[i] & b.v[i]; });
}
inline Bytes operator-(Bytes a, Bytes b) {
  return each_byte([&](size_t i) { return a.v[i] - b.v[i]; });
}
inline Bytes bits(Bytes x, unsigned shift, Bytes mask) {
  return each_byte([&](size_t i) { return x.v[i] >> shift & mask.v[i]; });
}
inline Bytes bits_up(Bytes x, unsigned shift, Bytes mask) {
  return each_byte([&](size_t i) { return x.v[i] << shift & mask.v[i]; });
}
inline Bytes make_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t words[] = {a, b, c, d};
  return load_bytes(words);
}
inline Bytes one_bit_each() {
  return each_byte([](size_t i) { return 1 << i % 8; });
}
inline Bytes spread_bits(uint32_t x, Bytes one_bit, Bytes bit) {
  return each_byte([&](size_t i) { return (x >> i / 8 * 8 & one_bit.v[i]) != 0 ? bit.v[i] : 0; });
}

#endif

inline constexpr float kWidened = 1.0F / 16777216.0F;  // what the floats of `widen` have to be multiplied by

/// 16 signed bytes as floats, times 2^24: zeros below bring a byte to the top of a lane, where it has its sign already,
/// and need no constant that says where to.
inline void widen(Bytes x, Vec (&to)[4]) {
#if defined(__wasm__)
  const v128_t zero = constant<0.0F>();
  const v128_t low = wasm_i8x16_shuffle(zero, x.v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const v128_t high = wasm_i8x16_shuffle(zero, x.v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  to[0] = Vec(wasm_f32x4_convert_i32x4(wasm_i16x8_shuffle(zero, low, 0, 8, 1, 9, 2, 10, 3, 11)));
  to[1] = Vec(wasm_f32x4_convert_i32x4(wasm_i16x8_shuffle(zero, low, 4, 12, 5, 13, 6, 14, 7, 15)));
  to[2] = Vec(wasm_f32x4_convert_i32x4(wasm_i16x8_shuffle(zero, high, 0, 8, 1, 9, 2, 10, 3, 11)));
  to[3] = Vec(wasm_f32x4_convert_i32x4(wasm_i16x8_shuffle(zero, high, 4, 12, 5, 13, 6, 14, 7, 15)));
#else
  for (size_t part = 0; part < 4; ++part) {
    float lanes[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = static_cast<float>(static_cast<int8_t>(x.v[4 * part + i])) * 16777216.0F;
    }
    to[part] = load(lanes);
  }
#endif
}

/// Rows a, b, c, d of 16 bytes become 16 columns of four bytes, four in each.
inline void transpose_bytes(Bytes& a, Bytes& b, Bytes& c, Bytes& d) {
#if defined(__wasm__)
  const v128_t ab_low = wasm_i8x16_shuffle(a.v, b.v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const v128_t ab_high = wasm_i8x16_shuffle(a.v, b.v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const v128_t cd_low = wasm_i8x16_shuffle(c.v, d.v, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const v128_t cd_high = wasm_i8x16_shuffle(c.v, d.v, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  a.v = wasm_i16x8_shuffle(ab_low, cd_low, 0, 8, 1, 9, 2, 10, 3, 11);
  b.v = wasm_i16x8_shuffle(ab_low, cd_low, 4, 12, 5, 13, 6, 14, 7, 15);
  c.v = wasm_i16x8_shuffle(ab_high, cd_high, 0, 8, 1, 9, 2, 10, 3, 11);
  d.v = wasm_i16x8_shuffle(ab_high, cd_high, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  const Bytes rows[4] = {a, b, c, d};
  Bytes* const to[4] = {&a, &b, &c, &d};
  for (size_t part = 0; part < 4; ++part) {
    *to[part] = each_byte([&](size_t i) { return rows[i % 4].v[4 * part + i / 4]; });
  }
#endif
}

/// x as a whole number of units of 2^15 and a rest, both 16 bits: high[i] · 2^15 + low[i] = the integer part of x[i] ·
/// scale, which is less than 2^29 in size.
inline void split_integers(const float* x, float scale, int16_t* high, int16_t* low) {
#if defined(__wasm__)
  const v128_t factor = wasm_f32x4_splat(scale);
  const v128_t a = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_mul(wasm_v128_load(x), factor));
  const v128_t b = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_mul(wasm_v128_load(x + kLanes), factor));
  const v128_t rest = wasm_i32x4_splat(32767);
  wasm_v128_store(high, wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(a, 15), wasm_i32x4_shr(b, 15)));
  wasm_v128_store(low, wasm_i16x8_narrow_i32x4(wasm_v128_and(a, rest), wasm_v128_and(b, rest)));
#else
  for (size_t i = 0; i < 2 * kLanes; ++i) {
    const float scaled = x[i] * scale;
    const int32_t whole = std::fabs(scaled) < 1e9F ? static_cast<int32_t>(scaled) : 0;
    high[i] = static_cast<int16_t>(whole >> 15);
    low[i] = static_cast<int16_t>(whole & 32767);
  }
#endif
}

/// 16 numbers in the two parts of split_integers.
struct SplitIntegers {
#if defined(__wasm__)
  v128_t high[2], low[2];
#else
  int16_t high[16], low[16];
#endif
};

inline SplitIntegers load_split(const int16_t* high, const int16_t* low) {
  SplitIntegers x;
  std::memcpy(x.high, high, sizeof x.high);
  std::memcpy(x.low, low, sizeof x.low);
  return x;
}

/// Four sums that together are Σ q[i] · x[i] of 16 bytes. Every integer on the way fits: 4 · 128 · 2^15 = 2^24, which
/// is also the last integer up to which floats have them all, so that only the last step rounds.
inline Vec dot_bytes(const int8_t* q, const SplitIntegers& x) {
#if defined(__wasm__)
  const v128_t first = wasm_i16x8_load8x8(q);
  const v128_t second = wasm_i16x8_load8x8(q + 8);
  const v128_t high = wasm_i32x4_add(wasm_i32x4_dot_i16x8(first, x.high[0]), wasm_i32x4_dot_i16x8(second, x.high[1]));
  const v128_t low = wasm_i32x4_add(wasm_i32x4_dot_i16x8(first, x.low[0]), wasm_i32x4_dot_i16x8(second, x.low[1]));
  return madd(Vec(wasm_f32x4_convert_i32x4(high)), constant<32768.0F>(), Vec(wasm_f32x4_convert_i32x4(low)));
#else
  float lanes[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) {
    int32_t high = 0;
    int32_t low = 0;
    for (const size_t i : {2 * lane, 2 * lane + 1, 2 * lane + 8, 2 * lane + 9}) {
      high += q[i] * x.high[i];
      low += q[i] * x.low[i];
    }
    lanes[lane] = static_cast<float>(high) * 32768.0F + static_cast<float>(low);
  }
  return load(lanes);
#endif
}

/// Lane i in every lane.
template <size_t i>
Vec broadcast(Vec x) {
#if defined(__wasm__)
  return Vec(wasm_i32x4_shuffle(x, x, i, i, i, i));
#else
  float lanes[kLanes];
  store(lanes, x);
  return splat(lanes[i]);
#endif
}

/// {x0, x0, x1, x1, x2, x2, x3, x3}
inline void store_pairs(float* to, Vec x) {
  store(to, xsimd::zip_lo(x, x));
  store(to + kLanes, xsimd::zip_hi(x, x));
}

#if defined(__wasm__)
/// Four sign-extended halves as floats, exact for every bit pattern as half_to_float is.
inline Vec floats_of_halves(v128_t half) {
  // The exponent of a half counts from 15, that of a float from 127. An exponent of 0 has come to mean 2^−15 · (1 + m)
  // then, where it is 2^−14 · m: twice as much, less 2^−14. (A product by 2^112 would do, but through subnormal floats,
  // which cost a hundred cycles on some machines.) An exponent of 31 (infinity, NaN) must become 255.
  const v128_t sign = wasm_v128_and(half, constant<-0.0F>());
  const v128_t magnitude = wasm_v128_and(wasm_i32x4_shl(half, 13), constant<std::bit_cast<float>(0x0FFFE000)>());
  const v128_t moved = wasm_i32x4_add(magnitude, constant<std::bit_cast<float>(112 << 23)>());
  const v128_t below = wasm_f32x4_pmin(wasm_f32x4_sub(moved, constant<0x1p-14F>()), wasm_i32x4_const_splat(0));
  const v128_t value = wasm_f32x4_add(moved, below);
  const v128_t special =
      wasm_v128_and(wasm_f32x4_ge(value, constant<65536.0F>()), constant<std::numeric_limits<float>::infinity()>());
  return Vec(wasm_v128_or(wasm_v128_or(value, special), sign));
}
#else
inline float float_of_half(const uint8_t* from) {
  const uint32_t half = from[0] | static_cast<uint32_t>(from[1]) << 8;
  const float value = std::bit_cast<float>((half & 0x7FFFU) << 13) * 0x1p112F;
  const uint32_t special = value >= 65536.0F ? 0x7F800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | special | (half & 0x8000U) << 16);
}
#endif

/// The halves at a, b, c and d as floats.
inline Vec load_halves(const uint8_t* a, const uint8_t* b, const uint8_t* c, const uint8_t* d) {
#if defined(__wasm__)
  v128_t halves = wasm_v128_load16_splat(a);
  halves = wasm_v128_load16_lane(b, halves, 1);
  halves = wasm_v128_load16_lane(c, halves, 2);
  halves = wasm_v128_load16_lane(d, halves, 3);
  return floats_of_halves(wasm_i32x4_extend_low_i16x8(halves));
#else
  const float lanes[] = {float_of_half(a), float_of_half(b), float_of_half(c), float_of_half(d)};
  return load(lanes);
#endif
}

/// Four halves as floats.
inline Vec load_halves(const uint8_t* from) {
#if defined(__wasm__)
  return floats_of_halves(wasm_i32x4_load16x4(from));
#else
  return load_halves(from, from + 2, from + 4, from + 6);
#endif
}

/// Four bfloat16 as floats: they are the upper halves.
inline Vec load_brain_halves(const void* from) {
#if defined(__wasm__)
  return Vec(wasm_i32x4_shl(wasm_u32x4_load16x4(from), 16));
#else
  const auto* bytes = static_cast<const uint8_t*>(from);
  std::array<uint32_t, kLanes> lanes;
  for (size_t i = 0; i < kLanes; ++i) {
    lanes[i] = static_cast<uint32_t>(bytes[2 * i]) << 16 | static_cast<uint32_t>(bytes[2 * i + 1]) << 24;
  }
  return load(std::bit_cast<std::array<float, kLanes>>(lanes).data());
#endif
}

}  // namespace headscope::simd
