#include "rows.h"

#include "simd.h"

namespace headscope {

using namespace simd;

void copy_row(const float* from, size_t n, float* to) {
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(to + j, load(from + j));
  if (j < n) store_partial(to + j, load_partial(from + j, n - j), n - j);
}

void fill_row(float* to, size_t n, float value) {
  const Vec x = splat(value);
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(to + j, x);
  if (j < n) store_partial(to + j, x, n - j);
}

void scale_row(float* x, size_t n, float factor) {
  const Vec f = splat(factor);
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) store(x + j, load(x + j) * f);
  if (j < n) store_partial(x + j, load_partial(x + j, n - j) * f, n - j);
}

}  // namespace headscope
