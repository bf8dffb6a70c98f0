// Short rows of floats: of a head, of weights, of scores. memory.copy and memory.fill cost 6–9 ns whatever their
// length, which is the time of 128 bytes here.
#pragma once

#include <cstddef>

#include "simd.h"

namespace headscope {

/// to[j] = from[j], j < n.
void copy_row(const float* from, size_t n, float* to);

/// to[j] = value, j < n.
void fill_row(float* to, size_t n, float value);

/// x[j] *= factor, j < n.
void scale_row(float* x, size_t n, float factor);

/// to[j] = (from[j] * factor) * gate, j < n.
inline void copy_scaled_row(const float* from, size_t n, float factor, float gate, float* to) {
  using namespace simd;
  const Vec f = splat(factor);
  const Vec g = splat(gate);
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(to + j, load(from + j) * f * g);
  if (j < n) store_partial(to + j, load_partial(from + j, n - j) * f * g, n - j);
}

}  // namespace headscope
