// The only file that names xsimd or an intrinsic. Everything else is written in terms of `Vec`: four floats,
// one wasm v128 (and one SSE or NEON register in the native builds, so that tests run the very same loops).
#pragma once

#include <cstddef>
#include <cstdint>
#include <xsimd/xsimd.hpp>

#if defined(__wasm__)
#include <wasm_simd128.h>
#endif

namespace headscope::simd {

using Vec = xsimd::make_sized_batch_t<float, 4>;
inline constexpr size_t kLanes = 4;
static_assert(Vec::size == kLanes);

inline Vec load(const float* from) { return Vec::load_unaligned(from); }
inline void store(float* to, Vec x) { x.store_unaligned(to); }
inline Vec splat(float x) { return Vec(x); }

template <float value>
struct Constant {
  static inline float memory = value;
};

/// splat(value), read from memory that the compiler takes for a variable: newer V8 makes a v128.const anew at every
/// use, with three instructions instead of one load. Polynomials take half the time that they take with `splat`.
template <float value>
Vec constant() {
#if defined(__wasm__)
  return Vec(wasm_v128_load32_splat(&Constant<value>::memory));
#else
  return splat(value);
#endif
}

/// The first n (1..3) floats; the missing lanes are `fill`. Never reads past from + n.
inline Vec load_partial(const float* from, size_t n, float fill = 0.0F) {
  // Lane by lane: a memcpy of a length known at run time is a call, or a slow memory.copy on wasm.
  float lanes[kLanes] = {from[0], fill, fill, fill};
  if (n > 1) lanes[1] = from[1];
  if (n > 2) lanes[2] = from[2];
  return load(lanes);
}

/// Writes the first n (1..3) lanes. Never writes past to + n.
inline void store_partial(float* to, Vec x, size_t n) {
  float lanes[kLanes];
  store(lanes, x);
  to[0] = lanes[0];
  if (n > 1) to[1] = lanes[1];
  if (n > 2) to[2] = lanes[2];
}

/// a·b + c. One rounding in the relaxed build where the machine has a fused instruction, two otherwise:
/// results of the relaxed build may differ from machine to machine in the last bit.
/// xsimd 13.2 multiplies and adds even with -mrelaxed-simd, hence the intrinsic.
inline Vec madd(Vec a, Vec b, Vec c) {
#if defined(__wasm_relaxed_simd__)
  return wasm_f32x4_relaxed_madd(a, b, c);
#elif defined(__wasm__)
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
#else
  return a * b + c;
#endif
}

/// c − a·b, rounded like madd.
inline Vec subtract_product(Vec a, Vec b, Vec c) {
#if defined(__wasm_relaxed_simd__)
  return wasm_f32x4_relaxed_nmadd(a, b, c);
#elif defined(__wasm__)
  return wasm_f32x4_sub(c, wasm_f32x4_mul(a, b));
#else
  return c - a * b;
#endif
}

/// max(x, low), and NaN where x is NaN. (The argument order of max decides that on every architecture, and
/// differently on each; a NaN lost here would turn a broken row into a plausible one.)
inline Vec at_least(Vec x, Vec low) {
#if defined(__wasm__)
  return wasm_f32x4_pmax(x, low);  // x < low ? low : x
#else
  return xsimd::select(x < low, low, x);
#endif
}

/// Lane-wise maximum for reductions where a NaN may be dropped or kept: sums of exponentials find it again.
inline Vec max(Vec a, Vec b) { return xsimd::max(a, b); }

inline Vec select_equal(Vec x, Vec value, Vec then, Vec otherwise) {
  return xsimd::select(x == value, then, otherwise);
}

inline float sum_lanes(Vec x) { return xsimd::reduce_add(x); }

inline float max_lanes(Vec x) {
#if defined(__wasm__)
  // Not lane by lane: compilers make branches of that, which nothing predicts.
  const Vec pairs = max(x, Vec(wasm_i32x4_shuffle(x, x, 2, 3, 0, 1)));
  return wasm_f32x4_extract_lane(max(pairs, Vec(wasm_i32x4_shuffle(pairs, pairs, 1, 0, 3, 2))), 0);
#else
  float lanes[kLanes];
  store(lanes, x);
  const float a = lanes[0] < lanes[1] ? lanes[1] : lanes[0];
  const float b = lanes[2] < lanes[3] ? lanes[3] : lanes[2];
  return a < b ? b : a;
#endif
}

/// Rows a, b, c, d become columns.
inline void transpose(Vec& a, Vec& b, Vec& c, Vec& d) {
#if defined(__wasm__)
  const v128_t ab_low = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5);
  const v128_t ab_high = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
  const v128_t cd_low = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5);
  const v128_t cd_high = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
  a = Vec(wasm_i64x2_shuffle(ab_low, cd_low, 0, 2));
  b = Vec(wasm_i64x2_shuffle(ab_low, cd_low, 1, 3));
  c = Vec(wasm_i64x2_shuffle(ab_high, cd_high, 0, 2));
  d = Vec(wasm_i64x2_shuffle(ab_high, cd_high, 1, 3));
#else
  const Vec ab_low = xsimd::zip_lo(a, b);
  const Vec ab_high = xsimd::zip_hi(a, b);
  const Vec cd_low = xsimd::zip_lo(c, d);
  const Vec cd_high = xsimd::zip_hi(c, d);
  using Pair = xsimd::make_sized_batch_t<double, 2>;
  const auto low = [](Vec x, Vec y) {
    return xsimd::bitwise_cast<float>(xsimd::zip_lo(xsimd::bitwise_cast<double>(x), xsimd::bitwise_cast<double>(y)));
  };
  const auto high = [](Vec x, Vec y) {
    return xsimd::bitwise_cast<float>(xsimd::zip_hi(xsimd::bitwise_cast<double>(x), xsimd::bitwise_cast<double>(y)));
  };
  static_assert(Pair::size == 2);
  a = low(ab_low, cd_low);
  b = high(ab_low, cd_low);
  c = low(ab_high, cd_high);
  d = high(ab_high, cd_high);
#endif
}

/// e^x for x ≤ 0: largest error 1.0 ULP on [−87.3, 0]; 0 below −88 (−Infinity included), where the true value
/// is under the smallest normal float; NaN stays NaN; e^0 is exactly 1, so equal scores give equal weights.
///
/// e^x = 2^n · e^r with n = round(x / ln 2), |r| ≤ ln 2 / 2, and the degree-5 polynomial of Cephes' expf.
/// Adding 1.5 · 2^23 rounds to an integer and leaves it in the low mantissa bits, from where a shift puts it
/// into the exponent; n = −127 makes an exponent field of 0, hence the exact 0 without a select.
inline Vec exp_nonpositive(Vec x) {
  const Vec magic = constant<12582912.0F>();
  const Vec clamped = at_least(x, constant<-88.0F>());
  const Vec shifted = madd(clamped, constant<1.44269504088896341F>(), magic);
  const Vec n = shifted - magic;
  Vec r = madd(n, constant<-0.693359375F>(), clamped);  // ln 2 in two parts: n · high is exact
  r = madd(n, constant<2.12194440e-4F>(), r);
  Vec y = constant<1.9875691500e-4F>();
  y = madd(y, r, constant<1.3981999507e-3F>());
  y = madd(y, r, constant<8.3334519073e-3F>());
  y = madd(y, r, constant<4.1665795894e-2F>());
  y = madd(y, r, constant<1.6666665459e-1F>());
  y = madd(y, r, constant<5.0000001201e-1F>());
  y = madd(y, r * r, r) + constant<1.0F>();
#if defined(__wasm__)
  const v128_t exponent = wasm_i32x4_add(wasm_i32x4_shl(shifted, 23), constant<1.0F>());
  return y * Vec(exponent);
#else
  const auto bits = xsimd::bitwise_cast<int32_t>(shifted);
  return y * xsimd::bitwise_cast<float>((bits << 23) + decltype(bits)(0x3F800000));
#endif
}

/// |x|, and the sign of `sign` on the magnitude of x.
inline Vec absolute(Vec x) { return xsimd::abs(x); }
inline Vec copy_sign(Vec x, Vec sign) { return xsimd::copysign(x, sign); }

/// tanh within 2 ULP of the result, odd, ±1 far out, NaN stays NaN: Cephes' tanhf. Near 0 the odd polynomial, because
/// (1 − e^−2x) / (1 + e^−2x) cancels there.
inline Vec tanh(Vec x) {
  const Vec magnitude = absolute(x);
  const Vec e = exp_nonpositive(magnitude * constant<-2.0F>());
  const Vec far = (constant<1.0F>() - e) / (constant<1.0F>() + e);
  const Vec square = x * x;
  Vec p = constant<-5.70498872745e-3F>();
  p = madd(p, square, constant<2.06390887954e-2F>());
  p = madd(p, square, constant<-5.37397155531e-2F>());
  p = madd(p, square, constant<1.33314422036e-1F>());
  p = madd(p, square, constant<-3.33332819422e-1F>());
  const Vec near = madd(p * square, magnitude, magnitude);
  return copy_sign(xsimd::select(magnitude < constant<0.625F>(), near, far), x);
}

/// 1 / (1 + e^−x) within 2.5 ULP, never through a large exponential; NaN stays NaN.
inline Vec sigmoid(Vec x) {
  const Vec e = exp_nonpositive(splat(0.0F) - absolute(x));
  const Vec numerator = xsimd::select(x < splat(0.0F), e, constant<1.0F>());
  return numerator / (constant<1.0F>() + e);
}

/// The error function within 2 ULP, odd, ±1 far out, NaN stays NaN. Near 0 an odd polynomial; further out 1 − e^p(|x|),
/// which needs no division. The coefficients are N. Juffa's minimax fits for erff.
inline Vec erf(Vec x) {
  const Vec t = absolute(x);
  const Vec square = x * x;
  const Vec upper = madd(constant<-1.72853470e-5F>(), t, constant<3.83197126e-4F>());
  Vec p = madd(upper, square, madd(constant<-3.88396438e-3F>(), t, constant<2.42546219e-2F>()));
  p = madd(p, t, constant<-1.06777877e-1F>());
  p = madd(p, t, constant<-6.34846687e-1F>());
  p = madd(p, t, constant<-1.28717512e-1F>());
  const Vec far = constant<1.0F>() - exp_nonpositive(madd(p, t, splat(0.0F) - t));
  Vec q = constant<-5.96761703e-4F>();
  q = madd(q, square, constant<4.99119423e-3F>());
  q = madd(q, square, constant<-2.67681349e-2F>());
  q = madd(q, square, constant<1.12819925e-1F>());
  q = madd(q, square, constant<-3.76125336e-1F>());
  q = madd(q, square, constant<1.28379166e-1F>());
  const Vec near = madd(q, x, x);
  return xsimd::select(t < constant<0.927734375F>(), near, copy_sign(far, x));
}

}  // namespace headscope::simd
