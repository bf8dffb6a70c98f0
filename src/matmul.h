// C = A · B + bias in float32, B packed once.
//
//   Packed B     [ceil(N / 8)][K][8]: panels of 8 columns, so that a step over k reads 8 floats in a row; columns
//                past N are 0. A head or a block of rows of B is a pointer into it and the same panel stride.
//   Row tile     1 … kTileRows rows of A by one panel, all sums in registers (6×8 or 4×8: 12 or 8 accumulators).
//   Order        panel outside, row tile inside: a panel (K · 32 bytes) stays in the first-level cache.
//
// Every tile adds its products in the order k = 0, 1, …, on top of what it starts from, whatever its number of
// rows: a row of C does not depend on which other rows are computed with it.
#pragma once

#include <cstddef>

namespace headscope {

inline constexpr size_t kPanel = 8;

// The relaxed build has room for six rows: a fused multiply-add needs no register for the product. Without it
// 4×8 is the only tile that is decent on every engine.
#if defined(__wasm_relaxed_simd__)
inline constexpr size_t kTileRows = 6;
#else
inline constexpr size_t kTileRows = 4;
#endif

constexpr size_t panel_count(size_t columns) { return (columns + kPanel - 1) / kPanel; }
constexpr size_t padded_columns(size_t columns) { return panel_count(columns) * kPanel; }

/// Floats of a packed [depth, columns] matrix.
constexpr size_t packed_floats(size_t depth, size_t columns) { return padded_columns(columns) * depth; }

/// Packs B given as [depth, columns], row k at b + k · stride ("in-out").
void pack_in_out(const float* b, size_t stride, size_t depth, size_t columns, float* packed);

/// Packs B given transposed as [columns, depth], row n at b + n · stride ("out-in").
void pack_out_in(const float* b, size_t stride, size_t depth, size_t columns, float* packed);

/// The same for columns first … first + columns − 1 of a matrix whose panels are panel_stride floats apart:
/// appends keys to a packed Kᵀ. Columns outside are left alone.
void append_columns(const float* b, size_t stride, size_t depth, size_t first, size_t columns, float* packed,
                    size_t panel_stride);

/// The same for rows first … first + rows − 1 of B [depth, columns] given as [rows, columns]: appends to a packed V.
void append_rows(const float* b, size_t stride, size_t first, size_t rows, size_t columns, float* packed,
                 size_t panel_stride);

/// What a tile's sums start from.
enum class Start { zero, bias, result };

/// One row tile by one panel:
///   c[r][n] = start + Σ_{k < depth} a[r · a_stride + k] · panel[k · 8 + n],   r < rows ≤ kTileRows, n < columns ≤ 8.
/// bias holds 8 floats when start is Start::bias. Writes exactly rows × columns floats.
void multiply_tile(size_t rows, size_t depth, const float* a, size_t a_stride, const float* panel, Start start,
                   const float* bias, float* c, size_t c_stride, size_t columns);

/// C [rows, columns] = A [rows, depth] · packed B + bias. bias is null or padded_columns(columns) floats.
/// panel_stride: floats from one panel of B to the next, depth · 8 where B is a whole matrix.
void multiply(size_t rows, size_t depth, size_t columns, const float* a, size_t a_stride, const float* packed,
              size_t panel_stride, const float* bias, float* c, size_t c_stride);

/// Rows are dealt to tiles as evenly as they can be: 8 rows are 4 + 4, not 6 + 2. Calls visit(first, count).
template <class Visit>
void for_each_tile(size_t rows, const Visit& visit) {
  const size_t tiles = (rows + kTileRows - 1) / kTileRows;
  if (tiles == 0) return;
  const size_t base = rows / tiles;
  const size_t larger = rows % tiles;
  size_t first = 0;
  for (size_t tile = 0; tile < tiles; ++tile) {
    const size_t count = base + (tile < larger ? 1 : 0);
    visit(first, count);
    first += count;
  }
}

}  // namespace headscope
