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

inline Bytes splat_byte(uint8_t value) { return {wasm_u8x16_splat(value)}; }

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
inline Bytes splat_byte(uint8_t value) {
  return each_byte([&](size_t) { return value; });
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

/// Rows a, b, c, d of four words become columns.
inline void transpose_words(Bytes& a, Bytes& b, Bytes& c, Bytes& d) {
#if defined(__wasm__)
  Vec rows[] = {Vec(a.v), Vec(b.v), Vec(c.v), Vec(d.v)};
  transpose(rows[0], rows[1], rows[2], rows[3]);
  a.v = rows[0];
  b.v = rows[1];
  c.v = rows[2];
  d.v = rows[3];
#else
  const Bytes rows[] = {a, b, c, d};
  Bytes* const to[] = {&a, &b, &c, &d};
  for (size_t word = 0; word < 4; ++word) {
    *to[word] = each_byte([&](size_t i) { return rows[i / 4].v[4 * word + i % 4]; });
  }
#endif
}

// ---- products of bytes and integers ---------------------------------------------------------------------------------

/// Four 32-bit integers.
struct Integers {
#if defined(__wasm__)
  v128_t v;
#else
  int32_t v[kLanes];
#endif
};

#if !defined(__wasm__)
template <class Function>
Integers each_integer(const Function& function) {
  Integers result;
  for (size_t i = 0; i < kLanes; ++i) result.v[i] = static_cast<int32_t>(function(i));
  return result;
}
#endif

inline Integers no_integers() {
#if defined(__wasm__)
  return {wasm_i32x4_const_splat(0)};
#else
  return {};
#endif
}

inline Integers load_splat(const int32_t* from) {
#if defined(__wasm__)
  return {wasm_v128_load32_splat(from)};
#else
  return each_integer([&](size_t) { return *from; });
#endif
}

inline Integers operator+(Integers a, Integers b) {
#if defined(__wasm__)
  return {wasm_i32x4_add(a.v, b.v)};
#else
  return each_integer([&](size_t i) { return a.v[i] + b.v[i]; });
#endif
}

template <unsigned bits>
Integers shift_up(Integers x) {
#if defined(__wasm__)
  return {wasm_i32x4_shl(x.v, bits)};
#else
  return each_integer([&](size_t i) { return x.v[i] * (1 << bits); });
#endif
}

inline Vec to_floats(Integers x) {
#if defined(__wasm__)
  return Vec(wasm_f32x4_convert_i32x4(x.v));
#else
  float lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = static_cast<float>(x.v[i]);
  return load(lanes);
#endif
}

/// Byte k of each word, with its sign.
template <unsigned k>
Vec bytes_to_floats(Bytes x) {
#if defined(__wasm__)
  const v128_t top = k == 3 ? x.v : wasm_i32x4_shl(x.v, 24 - 8 * k);
  return to_floats({wasm_i32x4_shr(top, 24)});
#else
  return to_floats(each_integer([&](size_t i) { return static_cast<int8_t>(x.v[4 * i + k]); }));
#endif
}

/// The nearest integers.
inline Integers to_integers(Vec x) {
#if defined(__wasm__)
  return {wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x))};
#else
  float lanes[kLanes];
  store(lanes, x);
  return each_integer([&](size_t i) { return std::fabs(lanes[i]) < 1e9F ? std::nearbyint(lanes[i]) : 0.0F; });
#endif
}

inline int32_t sum_integers(Integers x) {
#if defined(__wasm__)
  return wasm_i32x4_extract_lane(x.v, 0) + wasm_i32x4_extract_lane(x.v, 1) + wasm_i32x4_extract_lane(x.v, 2) +
         wasm_i32x4_extract_lane(x.v, 3);
#else
  return x.v[0] + x.v[1] + x.v[2] + x.v[3];
#endif
}

#if defined(__wasm_relaxed_simd__) || !defined(__wasm__)

/// Four integers of less than 2^23 in size as digits of one byte with sign, 16 bytes: the four highest, the four
/// middle, the four lowest, and four of no meaning.
inline void store_digits(Integers x, uint8_t* to) {
#if defined(__wasm__)
  // 128 added to each digit makes all of them positive and carries where it has to; the exclusive or takes it off.
  const v128_t each = wasm_i32x4_splat(static_cast<int32_t>(0x80808080U));
  const v128_t digits = wasm_v128_xor(wasm_i32x4_add(x.v, each), each);
  wasm_v128_store(to, wasm_i8x16_shuffle(digits, digits, 2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12, 3, 7, 11, 15));
#else
  for (size_t i = 0; i < kLanes; ++i) {
    const uint32_t digits = (static_cast<uint32_t>(x.v[i]) + 0x80808080U) ^ 0x80808080U;
    for (size_t digit = 0; digit < 4; ++digit) {
      to[(digit == 3 ? 12 : 8 - 4 * digit) + i] = static_cast<uint8_t>(digits >> 8 * digit);
    }
  }
#endif
}

#endif

/// Four integers of less than 2^23 in size as two digits of 16 bits, upper · 2^12 + lower, 16 bytes: the upper ones of
/// numbers 0 and 2, of 1 and 3, then the lower ones.
inline void store_words(Integers x, uint8_t* to) {
#if defined(__wasm__)
  const v128_t lower = wasm_v128_and(x.v, wasm_i32x4_splat(4095));
  const v128_t digits = wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(x.v, 12), lower);
  wasm_v128_store(to, wasm_i16x8_shuffle(digits, digits, 0, 2, 1, 3, 4, 6, 5, 7));
#else
  int16_t words[2 * kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    const size_t at = i % 2 * 2 + i / 2;
    words[at] = static_cast<int16_t>(x.v[i] >> 12);
    words[kLanes + at] = static_cast<int16_t>(x.v[i] & 4095);
  }
  std::memcpy(to, words, sizeof words);
#endif
}

/// Eight 16-bit integers.
struct Words {
#if defined(__wasm__)
  v128_t v;
#else
  int16_t v[8];
#endif
};

template <uint16_t value>
struct ConstantWord {
  static inline uint16_t memory = value;
};

/// (word >> shift) & mask of the eight words that bytes 2i and 2i + 1 are.
template <unsigned shift, uint16_t mask>
Words word_bits(Bytes x) {
#if defined(__wasm__)
  const v128_t shifted = shift == 0 ? x.v : wasm_u16x8_shr(x.v, shift);
  if (mask == 0xFFFFU >> shift) return {shifted};
  return {wasm_v128_and(shifted, wasm_v128_load16_splat(&ConstantWord<mask>::memory))};
#else
  Words result;
  for (size_t i = 0; i < 8; ++i) {
    result.v[i] = static_cast<int16_t>((x.v[2 * i] | x.v[2 * i + 1] << 8) >> shift & mask);
  }
  return result;
#endif
}

/// Two 16-bit integers, again and again.
inline Words load_pair(const uint8_t* from) {
#if defined(__wasm__)
  return {wasm_v128_load32_splat(from)};
#else
  Words x;
  for (size_t i = 0; i < 8; i += 2) std::memcpy(x.v + i, from, 4);
  return x;
#endif
}

inline Words operator+(Words a, Words b) {
#if defined(__wasm__)
  return {wasm_i16x8_add(a.v, b.v)};
#else
  Words x;
  for (size_t i = 0; i < 8; ++i) x.v[i] = static_cast<int16_t>(a.v[i] + b.v[i]);
  return x;
#endif
}

/// x[2i] + x[2i + 1]
inline Integers add_pairs(Words x) {
#if defined(__wasm__)
  return {wasm_i32x4_extadd_pairwise_i16x8(x.v)};
#else
  return each_integer([&](size_t i) { return x.v[2 * i] + x.v[2 * i + 1]; });
#endif
}

#if defined(__wasm_relaxed_simd__) || !defined(__wasm__)
/// q[2i] · digits[2i] + q[2i + 1] · digits[2i + 1] with the four bytes at `digits` again and again; they have a sign,
/// and q is from 0 to 127. (The instruction that adds four products at once would do more, but V8 11's first compiler
/// gives wrong sums for it.)
inline Words dot_pairs(Bytes q, const uint8_t* digits) {
#if defined(__wasm__)
  return {wasm_i16x8_relaxed_dot_i8x16_i7x16(wasm_v128_load32_splat(digits), q.v)};
#else
  Words x;
  for (size_t i = 0; i < 8; ++i) {
    const size_t k = 2 * i;
    x.v[i] = static_cast<int16_t>(q.v[k] * static_cast<int8_t>(digits[k % 4]) +
                                  q.v[k + 1] * static_cast<int8_t>(digits[k % 4 + 1]));
  }
  return x;
#endif
}
#endif

/// sum[i] + a[2i] · b[2i] + a[2i + 1] · b[2i + 1]
inline Integers add_dot(Words a, Words b, Integers sum) {
#if defined(__wasm__)
  return {wasm_i32x4_add(sum.v, wasm_i32x4_dot_i16x8(a.v, b.v))};
#else
  return each_integer([&](size_t i) { return sum.v[i] + a.v[2 * i] * b.v[2 * i] + a.v[2 * i + 1] * b.v[2 * i + 1]; });
#endif
}

// ---- halves ---------------------------------------------------------------------------------------------------------

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
inline Vec load_brain_halves(const uint16_t* from) {
#if defined(__wasm__)
  return Vec(wasm_i32x4_shl(wasm_u32x4_load16x4(from), 16));
#else
  std::array<uint16_t, kLanes> halves;
  std::memcpy(halves.data(), from, sizeof halves);
  std::array<uint32_t, kLanes> lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = static_cast<uint32_t>(halves[i]) << 16;
  return load(std::bit_cast<std::array<float, kLanes>>(lanes).data());
#endif
}

/// How halves are kept: with another zero of their exponent, so that none of them is subnormal, and a shift and a
/// product make floats of them without ever going through subnormal floats (which cost a hundred cycles on some
/// machines). What is 128 or more has no place then. Products of the kept ones shifted into place:
inline constexpr float kKeptHalf = 0x1p102F;
inline constexpr float kKeptHalfLimit = 128.0F;

/// The four kept halves at `from`, before the product with kKeptHalf.
inline Vec load_kept_halves(const uint16_t* from) {
#if defined(__wasm__)
  return Vec(
      wasm_v128_and(wasm_i32x4_shl(wasm_i32x4_load16x4(from), 13), constant<std::bit_cast<float>(0x8FFFE000)>()));
#else
  std::array<uint32_t, kLanes> lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = (from[i] & 0x7FFFU) << 13 | (from[i] & 0x8000U) << 16;
  return load(std::bit_cast<std::array<float, kLanes>>(lanes).data());
#endif
}

/// The upper halves of eight floats: what they are as bfloat16 if they came from there.
inline void store_upper_halves(Vec a, Vec b, uint16_t* to) {
#if defined(__wasm__)
  wasm_v128_store(to, wasm_i16x8_shuffle(a, b, 1, 3, 5, 7, 9, 11, 13, 15));
#else
  float lanes[2 * kLanes];
  store(lanes, a);
  store(lanes + kLanes, b);
  for (size_t i = 0; i < 2 * kLanes; ++i) to[i] = static_cast<uint16_t>(std::bit_cast<uint32_t>(lanes[i]) >> 16);
#endif
}

/// Keeps eight floats that came from halves of less than 128.
inline void store_kept_halves(Vec a, Vec b, uint16_t* to) {
  const auto in_place = [](Vec x) {
    const Vec scaled = x * splat(1.0F / kKeptHalf);
#if defined(__wasm__)
    return Vec(wasm_v128_or(wasm_i32x4_shl(scaled, 3), wasm_v128_and(x, constant<-0.0F>())));
#else
    float lanes[kLanes];
    store(lanes, scaled);
    for (float& lane : lanes) {
      const uint32_t bits = std::bit_cast<uint32_t>(lane);
      lane = std::bit_cast<float>((bits & 0x80000000U) | (bits << 3 & 0x7FFFFFFFU));
    }
    return load(lanes);
#endif
  };
  store_upper_halves(in_place(a), in_place(b), to);
}

}  // namespace headscope::simd
