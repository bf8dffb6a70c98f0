#include "matmul.h"

#include <algorithm>

#include "simd.h"

namespace headscope {
namespace {

using namespace simd;

// Rows of A taken together before the panels are gone through again: 240 rows of 768 floats (0.7 MB) still lie in
// the second-level cache, and each panel of B is then read from memory once per 240 rows. A multiple of 4 and 6.
constexpr size_t kRowGroup = 240;

// The first n (0 … 4) of four columns.
Vec load_columns(const float* from, size_t n) {
  return n == kLanes ? load(from) : n == 0 ? splat(0.0F) : load_partial(from, n);
}
void store_columns(float* to, Vec x, size_t n) {
  if (n == kLanes) return store(to, x);
  if (n > 0) store_partial(to, x, n);
}

// A is read where it lies, one splatting load per row and step. Small on purpose, one k-step per loop body:
// engines keep a large function in their slow tier for long, and unrolling by hand makes V8 spill accumulators.
template <size_t kRows>
void tile(size_t depth, const float* a, size_t a_stride, const float* panel, Start start, const float* bias, float* c,
          size_t c_stride, size_t columns) {
  Vec left[kRows];
  Vec right[kRows];
  if (start == Start::bias) {
    for (size_t r = 0; r < kRows; ++r) {
      left[r] = load(bias);
      right[r] = load(bias + kLanes);
    }
  } else if (start == Start::zero) {
    for (size_t r = 0; r < kRows; ++r) {
      left[r] = splat(0.0F);
      right[r] = splat(0.0F);
    }
  } else {
    for (size_t r = 0; r < kRows; ++r) {
      left[r] = load_columns(c + r * c_stride, std::min(columns, kLanes));
      right[r] = load_columns(c + r * c_stride + kLanes, columns - std::min(columns, kLanes));
    }
  }

  const float* a_row[kRows];
  for (size_t r = 0; r < kRows; ++r) a_row[r] = a + r * a_stride;
  for (size_t k = 0; k < depth; ++k) {
    const Vec b_left = load(panel + k * kPanel);
    const Vec b_right = load(panel + k * kPanel + kLanes);
    for (size_t r = 0; r < kRows; ++r) {
      const Vec a_rk = splat(a_row[r][k]);
      left[r] = madd(a_rk, b_left, left[r]);
      right[r] = madd(a_rk, b_right, right[r]);
    }
  }

  if (columns == kPanel) {
    for (size_t r = 0; r < kRows; ++r) {
      store(c + r * c_stride, left[r]);
      store(c + r * c_stride + kLanes, right[r]);
    }
  } else {
    for (size_t r = 0; r < kRows; ++r) {
      store_columns(c + r * c_stride, left[r], std::min(columns, kLanes));
      store_columns(c + r * c_stride + kLanes, right[r], columns - std::min(columns, kLanes));
    }
  }
}

}  // namespace

void pack_in_out(const float* b, size_t stride, size_t depth, size_t columns, float* packed) {
  for (size_t n = 0; n < columns; n += kPanel) {
    const size_t width = std::min(kPanel, columns - n);
    for (size_t k = 0; k < depth; ++k, packed += kPanel) {
      const float* from = b + k * stride + n;
      if (width == kPanel) {
        store(packed, load(from));
        store(packed + kLanes, load(from + kLanes));
      } else {
        for (size_t j = 0; j < kPanel; ++j) packed[j] = j < width ? from[j] : 0.0F;
      }
    }
  }
}

void pack_out_in(const float* b, size_t stride, size_t depth, size_t columns, float* packed) {
  const size_t panel_stride = depth * kPanel;
  append_columns(b, stride, depth, 0, columns, packed, panel_stride);
  const size_t last = columns % kPanel;
  if (last == 0) return;
  float* panel = packed + columns / kPanel * panel_stride;
  for (size_t k = 0; k < depth; ++k) std::fill(panel + k * kPanel + last, panel + (k + 1) * kPanel, 0.0F);
}

void append_columns(const float* b, size_t stride, size_t depth, size_t first, size_t columns, float* packed,
                    size_t panel_stride) {
  size_t n = 0;
  while (n < columns) {
    const size_t column = first + n;
    float* to = packed + column / kPanel * panel_stride + column % kPanel;
    const float* from = b + n * stride;
    // Four columns at a time where they lie in one half of a panel: a 4×4 transpose each four steps of k.
    if (column % kLanes == 0 && columns - n >= kLanes) {
      size_t k = 0;
      for (; k + kLanes <= depth; k += kLanes) {
        Vec r0 = load(from + k);
        Vec r1 = load(from + stride + k);
        Vec r2 = load(from + 2 * stride + k);
        Vec r3 = load(from + 3 * stride + k);
        transpose(r0, r1, r2, r3);
        store(to + k * kPanel, r0);
        store(to + (k + 1) * kPanel, r1);
        store(to + (k + 2) * kPanel, r2);
        store(to + (k + 3) * kPanel, r3);
      }
      for (; k < depth; ++k) {
        for (size_t j = 0; j < kLanes; ++j) to[k * kPanel + j] = from[j * stride + k];
      }
      n += kLanes;
    } else {
      for (size_t k = 0; k < depth; ++k) to[k * kPanel] = from[k];
      n += 1;
    }
  }
}

void append_rows(const float* b, size_t stride, size_t first, size_t rows, size_t columns, float* packed,
                 size_t panel_stride) {
  for (size_t n = 0; n < columns; n += kPanel, packed += panel_stride) {
    const size_t width = std::min(kPanel, columns - n);
    float* to = packed + first * kPanel;
    for (size_t k = 0; k < rows; ++k, to += kPanel) {
      const float* from = b + k * stride + n;
      if (width == kPanel) {
        store(to, load(from));
        store(to + kLanes, load(from + kLanes));
      } else {
        for (size_t j = 0; j < kPanel; ++j) to[j] = j < width ? from[j] : 0.0F;
      }
    }
  }
}

void multiply_tile(size_t rows, size_t depth, const float* a, size_t a_stride, const float* panel, Start start,
                   const float* bias, float* c, size_t c_stride, size_t columns) {
  switch (rows) {
    case 1: return tile<1>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
    case 2: return tile<2>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
    case 3: return tile<3>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
    case 4: return tile<4>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
    default: break;
  }
  if constexpr (kTileRows > 4) {
    if (rows == 5) return tile<5>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
    if (rows == 6) return tile<6>(depth, a, a_stride, panel, start, bias, c, c_stride, columns);
  }
}

void multiply(size_t rows, size_t depth, size_t columns, const float* a, size_t a_stride, const float* packed,
              size_t panel_stride, const float* bias, float* c, size_t c_stride) {
  const Start start = bias != nullptr ? Start::bias : Start::zero;
  for (size_t group = 0; group < rows; group += kRowGroup) {
    const size_t group_rows = std::min(kRowGroup, rows - group);
    for (size_t n = 0; n < columns; n += kPanel) {
      const float* panel = packed + n / kPanel * panel_stride;
      const size_t width = std::min(kPanel, columns - n);
      for_each_tile(group_rows, [&](size_t first, size_t count) {
        const size_t row = group + first;
        multiply_tile(count, depth, a + row * a_stride, a_stride, panel, start, bias != nullptr ? bias + n : nullptr,
                      c + row * c_stride + n, c_stride, width);
      });
    }
  }
}

}  // namespace headscope
