// Row softmax in the running form, w_j = e^(s_j − m) / Σ e^(s_j − m), so that one row may come in several
// blocks of keys (Milakov & Gimelshein 2018, "Online normalizer calculation for softmax").
#pragma once

#include <cfloat>
#include <cstddef>
#include <limits>

#include "simd.h"

namespace headscope {

inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// What has been seen of a row so far: the largest score and Σ e^(score − largest). Without initializers, so that room
/// for many rows costs a call of few rows nothing.
struct RunningRow {
  float largest;
  float sum;  // stays 0 exactly when the row has seen no key (NaN is seen: the sum is NaN)
};

/// Nothing seen. Not −Infinity: then hidden scores would give −Infinity − −Infinity = NaN.
inline constexpr RunningRow kUnseenRow{-FLT_MAX, 0.0F};

/// The largest of n scores, at least −FLT_MAX. A NaN may be dropped here: `exponentials` brings it back.
inline float row_maximum(const float* scores, size_t n) {
  using namespace simd;
  constexpr size_t kStep = 4 * kLanes;
  const Vec lowest = splat(-FLT_MAX);
  Vec m0 = lowest;
  Vec m1 = lowest;
  Vec m2 = lowest;
  Vec m3 = lowest;
  size_t j = 0;
  for (; j + kStep <= n; j += kStep) {
    m0 = max(m0, load(scores + j));
    m1 = max(m1, load(scores + j + kLanes));
    m2 = max(m2, load(scores + j + 2 * kLanes));
    m3 = max(m3, load(scores + j + 3 * kLanes));
  }
  for (; j + kLanes <= n; j += kLanes) m0 = max(m0, load(scores + j));
  if (j < n) m1 = max(m1, load_partial(scores + j, n - j, -FLT_MAX));
  const float largest = max_lanes(max(max(m0, m1), max(m2, m3)));
  return largest > -FLT_MAX ? largest : -FLT_MAX;
}

/// scores[j] = e^(scores[j] − largest), in place; returns their sum. −Infinity becomes exactly 0.
inline float exponentials(float* scores, size_t n, float largest) {
  using namespace simd;
  constexpr size_t kStep = 4 * kLanes;
  const Vec shift = splat(largest);
  Vec sum0 = splat(0.0F);
  Vec sum1 = splat(0.0F);
  Vec sum2 = splat(0.0F);
  Vec sum3 = splat(0.0F);
  size_t j = 0;
  for (; j + kStep <= n; j += kStep) {
    const Vec e0 = exp_nonpositive(load(scores + j) - shift);
    const Vec e1 = exp_nonpositive(load(scores + j + kLanes) - shift);
    const Vec e2 = exp_nonpositive(load(scores + j + 2 * kLanes) - shift);
    const Vec e3 = exp_nonpositive(load(scores + j + 3 * kLanes) - shift);
    store(scores + j, e0);
    store(scores + j + kLanes, e1);
    store(scores + j + 2 * kLanes, e2);
    store(scores + j + 3 * kLanes, e3);
    sum0 = sum0 + e0;
    sum1 = sum1 + e1;
    sum2 = sum2 + e2;
    sum3 = sum3 + e3;
  }
  for (; j + kLanes <= n; j += kLanes) {
    const Vec e = exp_nonpositive(load(scores + j) - shift);
    store(scores + j, e);
    sum0 = sum0 + e;
  }
  if (j < n) {
    const Vec e = exp_nonpositive(load_partial(scores + j, n - j, kHidden) - shift);
    store_partial(scores + j, e, n - j);
    sum1 = sum1 + e;
  }
  return sum_lanes((sum0 + sum1) + (sum2 + sum3));
}

/// Takes n more scores of a row, turning them into e^(score − largest) in place. Returns the factor by which
/// everything gathered from earlier blocks must shrink because a larger score came: 1 when none did.
inline float take_block(RunningRow& row, float* scores, size_t n) {
  const float block_largest = row_maximum(scores, n);
  float shrink = 1.0F;
  if (block_largest > row.largest) {
    if (row.sum != 0.0F) {  // before the first block there is nothing to shrink
      float factor[simd::kLanes];
      simd::store(factor, simd::exp_nonpositive(simd::splat(row.largest - block_largest)));
      shrink = factor[0];
    }
    row.largest = block_largest;
  }
  row.sum = row.sum * shrink + exponentials(scores, n, row.largest);
  return shrink;
}

// The same in steps, for short rows of whole vectors (n is a multiple of 4): so that one loop can take the exponentials
// of many rows.

/// scores[j] −= the largest of them, at least −FLT_MAX.
inline void subtract_maximum(float* scores, size_t n) {
  using namespace simd;
  Vec m = splat(-FLT_MAX);
  for (size_t j = 0; j < n; j += kLanes) m = max(m, load(scores + j));
  const float largest = max_lanes(m);
  const Vec shift = splat(largest > -FLT_MAX ? largest : -FLT_MAX);
  for (size_t j = 0; j < n; j += kLanes) store(scores + j, load(scores + j) - shift);
}

/// x[j] = e^x[j] for x ≤ 0.
inline void short_exponentials(float* x, size_t n) {
  using namespace simd;
  for (size_t j = 0; j < n; j += kLanes) store(x + j, exp_nonpositive(load(x + j)));
}

/// Σ x[j].
inline float row_sum(const float* x, size_t n) {
  using namespace simd;
  Vec sum = splat(0.0F);
  for (size_t j = 0; j < n; j += kLanes) sum = sum + load(x + j);
  return sum_lanes(sum);
}

/// Soft capping, scores[j] = cap · tanh(scores[j] / cap), in place (Gemma 2; ONNX Attention `softcap`).
[[gnu::noinline]] inline void cap_scores(float* scores, size_t n, float cap) {
  using namespace simd;
  const Vec c = splat(cap);
  const Vec inverse = splat(1.0F / cap);
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(scores + j, c * tanh(load(scores + j) * inverse));
  if (j < n) store_partial(scores + j, c * tanh(load_partial(scores + j, n - j) * inverse), n - j);
}

}  // namespace headscope
