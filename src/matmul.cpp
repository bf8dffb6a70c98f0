#include "matmul.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rows.h"
#include "simd.h"

namespace headscope {
namespace {

using namespace simd;

void copy_rows(size_t rows, size_t width, const float* from, size_t from_stride, float* to, size_t to_stride) {
  for (size_t r = 0; r < rows; ++r) copy_row(from + r * from_stride, width, to + r * to_stride);
}

// to[0 … 8) = the first `width` ≤ 8 floats, then zeros.
void copy_to_panel(const float* from, size_t width, float* to) {
  const Vec zero = splat(0.0F);
  if (width % kLanes == 0) {
    store(to, load(from));
    store(to + kLanes, width == kPanel ? load(from + kLanes) : zero);
  } else {
    store(to, zero);
    store(to + kLanes, zero);
    copy_row(from, width, to);
  }
}

// Rows of A taken together before the panels are gone through again: 240 rows of 768 floats (0.7 MB) still lie in
// the second-level cache, and each panel of B is then read from memory once per 240 rows. A multiple of every height of
// tiles.
constexpr size_t kRowGroup = 240;

// Up to so many numbers of C a product is done sooner where the rows of A lie than by packing them first: 2 times as
// fast at 4 × 8, the same at 16 × 128.
constexpr uint64_t kSmallProduct = 24 * 64;

// Row tiles of kRows rows by panels. Small on purpose, one k-step per loop body: engines keep a large function in their
// slow tier for long, and unrolling by hand makes V8 spill accumulators. V8 itself unrolls the innermost loop, but the
// more the deeper it is nested: with the two loops around it, here and not in the caller, Node.js 20 is a quarter
// faster.
template <size_t kRows>
void tiles_by_panels(const Product& p, size_t tiles, const float* a, float* c) {
  const float* b = p.panels;
  const float* bias = p.bias;
  for (size_t n = 0; n < p.columns; n += kPanel, b += p.panel_stride, bias += kPanel) {
    const size_t width = std::min(kPanel, p.columns - n);
    const float* a_tile = a;
    float* c_tile = c + n;
    for (size_t tile = 0; tile < tiles; ++tile, c_tile += kRows * p.c_stride) {
      // Where columns end inside a panel the sums go through a whole tile of their own.
      float edge[kRows * kPanel];
      float* to = width == kPanel ? c_tile : edge;
      const size_t stride = width == kPanel ? p.c_stride : kPanel;
      Vec left[kRows];
      Vec right[kRows];
      if (p.start == Start::result) {
        if (width < kPanel) copy_rows(kRows, width, c_tile, p.c_stride, edge, kPanel);
        for (size_t r = 0; r < kRows; ++r) {
          left[r] = load(to + r * stride);
          right[r] = load(to + r * stride + kLanes);
        }
      } else {
        const Vec start_left = p.start == Start::bias ? load(bias) : splat(0.0F);
        const Vec start_right = p.start == Start::bias ? load(bias + kLanes) : splat(0.0F);
        for (size_t r = 0; r < kRows; ++r) {
          left[r] = start_left;
          right[r] = start_right;
        }
      }

      const float* b_k = b;
      for (const float* const end = b + p.depth * kPanel; b_k != end; b_k += kPanel, a_tile += kRows) {
        const Vec b_left = load(b_k);
        const Vec b_right = load(b_k + kLanes);
        for (size_t r = 0; r < kRows; ++r) {
          const Vec a_rk = splat(a_tile[r]);
          left[r] = subtract_product(a_rk, b_left, left[r]);
          right[r] = subtract_product(a_rk, b_right, right[r]);
        }
      }

      for (size_t r = 0; r < kRows; ++r) {
        store(to + r * stride, left[r]);
        store(to + r * stride + kLanes, right[r]);
      }
      if (width < kPanel) copy_rows(kRows, width, edge, kPanel, c_tile, p.c_stride);
    }
  }
}

// Heights from 2 on, called through a table, so that each stays a function of its own: what is called from one place
// only gets inlined at link time.
using Tiles = void (*)(const Product&, size_t, const float*, float*);
template <size_t... kRows>
constexpr std::array<Tiles, sizeof...(kRows)> every_height(std::index_sequence<kRows...>) {
  return {tiles_by_panels<kRows + 2>...};
}
constexpr auto kTiles = every_height(std::make_index_sequence<kTileRows - 1>());

// What the sums of one row start from, for whole panels from column `first` on; c is where they will go.
template <size_t kSums>
void start_row(const Product& p, size_t first, const float* c, Vec (&sums)[kSums]) {
  const float* from = p.start == Start::bias ? p.bias + first : c;
  for (size_t i = 0; i < kSums; ++i) sums[i] = p.start == Start::zero ? splat(0.0F) : load(from + i * kLanes);
}

// A tile of two rows by pairs of whole panels: by one, its four sums would not hide the latency of fused multiply-adds.
// (Three rows by two panels need more registers than there are.) What columns are left is the caller's to see to.
void two_rows_by_two_panels(const Product& p, size_t columns, const float* a, float* c) {
  constexpr size_t kRows = 2;
  constexpr size_t kSums = 2 * kPanel / kLanes;
  const float* b = p.panels;
  for (size_t n = 0; n < columns; n += 2 * kPanel, b += 2 * p.panel_stride) {
    Vec sums[kRows][kSums];
    for (size_t r = 0; r < kRows; ++r) start_row(p, n, c + r * p.c_stride + n, sums[r]);
    const float* a_k = a;
    const float* b_k = b;
    const float* const end = b + p.depth * kPanel;
    for (; b_k != end; b_k += kPanel, a_k += kRows) {
      const float* const second = b_k + p.panel_stride;
      const Vec b_kn[kSums] = {load(b_k), load(b_k + kLanes), load(second), load(second + kLanes)};
      for (size_t r = 0; r < kRows; ++r) {
        const Vec a_rk = splat(a_k[r]);
        for (size_t i = 0; i < kSums; ++i) sums[r][i] = subtract_product(a_rk, b_kn[i], sums[r][i]);
      }
    }
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t i = 0; i < kSums; ++i) store(c + r * p.c_stride + n + i * kLanes, sums[r][i]);
    }
  }
}

// One tile that is not of full height.
void multiply_rest(const Product& product, size_t rows, const float* a, float* c) {
  Product p = product;
  if (rows == 2) {
    const size_t paired = p.columns / (2 * kPanel) * (2 * kPanel);
    two_rows_by_two_panels(p, paired, a, c);
    p.columns -= paired;
    p.panels += paired / kPanel * p.panel_stride;
    p.bias += paired;
    c += paired;
  }
  kTiles[rows - 2](p, 1, a, c);
}

// Panels that a single row is multiplied by at a time: eight sums, enough to hide the latency of the additions.
constexpr size_t kMostRowPanels = 4;

// c[n] = start + Σ_k a[k] · B[k][n] for the four whole panels from column `first` on. Written out: as the loops below,
// of which compilers make other orders of operands, it takes 1 to 5 % longer.
void row_by_four_panels(const Product& p, size_t first, const float* a, float* c) {
  constexpr size_t kSums = kMostRowPanels * kPanel / kLanes;
  Vec sums[kSums];
  start_row(p, first, c, sums);
  const float* p0 = p.panels + first / kPanel * p.panel_stride;
  const float* p1 = p0 + p.panel_stride;
  const float* p2 = p1 + p.panel_stride;
  const float* p3 = p2 + p.panel_stride;
  for (size_t k = 0; k < p.depth * kPanel; k += kPanel, ++a) {
    const Vec a_k = splat(*a);
    sums[0] = madd(a_k, load(p0 + k), sums[0]);
    sums[1] = madd(a_k, load(p0 + k + kLanes), sums[1]);
    sums[2] = madd(a_k, load(p1 + k), sums[2]);
    sums[3] = madd(a_k, load(p1 + k + kLanes), sums[3]);
    sums[4] = madd(a_k, load(p2 + k), sums[4]);
    sums[5] = madd(a_k, load(p2 + k + kLanes), sums[5]);
    sums[6] = madd(a_k, load(p3 + k), sums[6]);
    sums[7] = madd(a_k, load(p3 + k + kLanes), sums[7]);
  }
  for (size_t i = 0; i < kSums; ++i) store(c + i * kLanes, sums[i]);
}

// The same for two or three panels.
template <size_t kCount>
void row_by_panels(const Product& p, size_t first, const float* a, float* c) {
  constexpr size_t kSums = kCount * kPanel / kLanes;
  Vec sums[kSums];
  start_row(p, first, c, sums);
  const float* panel[kCount];
  for (size_t i = 0; i < kCount; ++i) panel[i] = p.panels + (first / kPanel + i) * p.panel_stride;
  for (size_t k = 0; k < p.depth * kPanel; k += kPanel, ++a) {
    const Vec a_k = splat(*a);
    for (size_t i = 0; i < kSums; ++i) {
      sums[i] = madd(a_k, load(panel[i * kLanes / kPanel] + k + i * kLanes % kPanel), sums[i]);
    }
  }
  for (size_t i = 0; i < kSums; ++i) store(c + i * kLanes, sums[i]);
}

// The same for one panel, which may be the last and end early.
void row_by_panel(const Product& p, size_t first, const float* a, float* c) {
  const size_t width = std::min(kPanel, p.columns - first);
  float edge[kPanel];
  float* to = width == kPanel ? c : edge;
  if (p.start == Start::result && width < kPanel) copy_rows(1, width, c, 0, edge, 0);
  const float* from = p.start == Start::bias ? p.bias + first : to;
  Vec left = p.start == Start::zero ? splat(0.0F) : load(from);
  Vec right = p.start == Start::zero ? splat(0.0F) : load(from + kLanes);
  const float* b = p.panels + first / kPanel * p.panel_stride;
  for (size_t k = 0; k < p.depth; ++k, b += kPanel) {
    const Vec a_k = splat(a[k]);
    left = madd(a_k, load(b), left);
    right = madd(a_k, load(b + kLanes), right);
  }
  store(to, left);
  store(to + kLanes, right);
  if (width < kPanel) copy_rows(1, width, edge, 0, c, 0);
}

// Up to four rows of A where they lie, by panel after panel. In the place of missing rows the last one is computed
// again and stored again.
void four_rows_in_place(const Product& p, size_t rows, const float* a, size_t a_stride, float* c) {
  constexpr size_t kRows = 4;
  size_t row[kRows];
  for (size_t r = 0; r < kRows; ++r) row[r] = std::min(r, rows - 1);
  constexpr float kZeros[kPanel] = {};
  const float* b = p.panels;
  for (size_t n = 0; n < p.columns; n += kPanel, b += p.panel_stride) {
    const float* from = p.start == Start::bias ? p.bias + n : kZeros;
    const Vec start_left = load(from);
    const Vec start_right = load(from + kLanes);
    Vec left[kRows];
    Vec right[kRows];
    for (size_t r = 0; r < kRows; ++r) {
      left[r] = start_left;
      right[r] = start_right;
    }
    const float* a_k = a;
    const float* b_k = b;
    for (const float* const end = b + p.depth * kPanel; b_k != end; b_k += kPanel, ++a_k) {
      const Vec b_left = load(b_k);
      const Vec b_right = load(b_k + kLanes);
      for (size_t r = 0; r < kRows; ++r) {
        const Vec a_rk = splat(a_k[row[r] * a_stride]);
        left[r] = madd(a_rk, b_left, left[r]);
        right[r] = madd(a_rk, b_right, right[r]);
      }
    }
    const size_t width = std::min(kPanel, p.columns - n);
    float edge[kRows * kPanel];
    const bool whole = width % kLanes == 0;
    float* to = whole ? c + n : edge;
    const size_t stride = whole ? p.c_stride : kPanel;
    for (size_t r = 0; r < kRows; ++r) store(to + row[r] * stride, left[r]);
    if (width != kLanes) {
      for (size_t r = 0; r < kRows; ++r) store(to + row[r] * stride + kLanes, right[r]);
    }
    if (!whole) copy_rows(rows, width, edge, kPanel, c + n, p.c_stride);
  }
}

// to[k · stride + r] = factor · row[r][k] for up to four rows. Always four floats are written, so that with fewer rows
// some fall on the next k, whose own are written after them.
void pack_four(size_t rows, size_t depth, const float* const* row, float factor, float* to, size_t stride) {
  const float* from[kLanes];
  for (size_t r = 0; r < kLanes; ++r) from[r] = row[r < rows ? r : 0];
  const Vec f = splat(factor);
  size_t k = 0;
  for (; k + kLanes <= depth; k += kLanes, to += kLanes * stride) {
    Vec r0 = load(from[0] + k) * f;
    Vec r1 = load(from[1] + k) * f;
    Vec r2 = load(from[2] + k) * f;
    Vec r3 = load(from[3] + k) * f;
    transpose(r0, r1, r2, r3);
    store(to, r0);
    store(to + stride, r1);
    store(to + 2 * stride, r2);
    store(to + 3 * stride, r3);
  }
  for (; k < depth; ++k, to += stride) {
    for (size_t r = 0; r < rows; ++r) to[r] = from[r][k] * factor;
  }
}

}  // namespace

void pack_in_out(const float* b, size_t stride, size_t depth, size_t columns, float* packed) {
  for (size_t n = 0; n < columns; n += kPanel) {
    const size_t width = std::min(kPanel, columns - n);
    for (size_t k = 0; k < depth; ++k, packed += kPanel) copy_to_panel(b + k * stride + n, width, packed);
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
    for (size_t k = 0; k < rows; ++k, to += kPanel) copy_to_panel(b + k * stride + n, width, to);
  }
}

void pack_rows(size_t rows, size_t depth, const float* const* row, float factor, float* to) {
  if (rows == 1) return pack_four(rows, depth, row, factor, to, rows);
  factor = -factor;
  if (rows <= kLanes) return pack_four(rows, depth, row, factor, to, rows);
  // Rows 4 and 5 first: what is written past them falls on rows 0 … 3 of the next k.
  pack_four(rows - kLanes, depth, row + kLanes, factor, to + kLanes, rows);
  pack_four(kLanes, depth, row, factor, to, rows);
}

void pack_tiles(size_t rows, size_t depth, const float* a, size_t a_stride, float* to) {
  for_each_tile(rows, [&](size_t first, size_t count) {
    const float* row[kTileRows];
    for (size_t r = 0; r < count; ++r) row[r] = a + (first + r) * a_stride;
    pack_rows(count, depth, row, 1.0F, to + first * depth);
  });
}

void multiply_tiles(const Product& product, size_t rows, const float* a, float* c) {
  if (rows == 0) return;
  if (rows == 1) return multiply_row(product, a, c);
  // As for_each_tile deals them: all tiles of full height, then the others.
  const size_t full = full_tiles(rows);
  if (full > 0) kTiles[full_tile_rows - 2](product, full, a, c);
  for (size_t first = full * full_tile_rows; first < rows;) {
    const size_t count = next_tile(rows - first);
    multiply_rest(product, count, a + first * product.depth, c + first * product.c_stride);
    first += count;
  }
}

void multiply_row(const Product& p, const float* a, float* c) {
  size_t n = 0;
  size_t whole = p.columns / kPanel;
  // The compilers that spill (see full_tile_rows) do not keep the eight sums of four panels in registers either: three
  // at a time are up to 1.7 times as fast there, and 0.95 times elsewhere.
  if (full_tile_rows > kLeastTileRows) {
    for (; whole >= kMostRowPanels; whole -= kMostRowPanels, n += kMostRowPanels * kPanel) {
      row_by_four_panels(p, n, a, c + n);
    }
  }
  for (; whole >= 3 && whole != 4; whole -= 3, n += 3 * kPanel) row_by_panels<3>(p, n, a, c + n);
  for (; whole >= 2; whole -= 2, n += 2 * kPanel) row_by_panels<2>(p, n, a, c + n);
  for (; n < p.columns; n += kPanel) row_by_panel(p, n, a, c + n);
}

void multiply_in_place(const Product& product, size_t rows, const float* a, size_t a_stride, float* c) {
  while (rows > 1) {
    const size_t count = std::min<size_t>(rows, 4);
    four_rows_in_place(product, count, a, a_stride, c);
    rows -= count;
    a += count * a_stride;
    c += count * product.c_stride;
  }
  if (rows == 1) multiply_row(product, a, c);
}

uint64_t multiply_scratch(uint64_t rows, uint64_t depth) {
  return rows <= 1 ? 0 : packed_tile_floats(std::min<uint64_t>(rows, kRowGroup), depth);
}

void multiply(const Product& product, size_t rows, const float* a, size_t a_stride, float* c, float* scratch) {
  if (rows == 1 || uint64_t{rows} * product.columns <= kSmallProduct) {
    return multiply_in_place(product, rows, a, a_stride, c);
  }
  for (size_t group = 0; group < rows; group += kRowGroup) {
    const size_t group_rows = std::min(kRowGroup, rows - group);
    pack_tiles(group_rows, product.depth, a + group * a_stride, a_stride, scratch);
    // Two panels a call: a short call soon gives the engine the chance to change to its fast tier.
    Product panels = product;
    for (size_t n = 0; n < product.columns; n += 2 * kPanel) {
      panels.columns = std::min(2 * kPanel, product.columns - n);
      multiply_tiles(panels, group_rows, scratch, c + group * product.c_stride + n);
      panels.panels += 2 * product.panel_stride;
      panels.bias += 2 * kPanel;
    }
  }
}

}  // namespace headscope
