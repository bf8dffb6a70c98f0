// C = A · B + bias in float32. B is packed once; rows of A are packed on their way through.
//
//   Packed B     [ceil(N / 8)][K][8]: panels of 8 columns, so that a step over k reads 8 floats in a row; columns
//                past N are 0. A head or a block of rows of B is a pointer into it and the same panel stride.
//   Packed A     −A as [tiles][K][rows of the tile]: a step over k reads the tile's rows side by side. Without fused
//                multiply-adds this is 8–15 % faster than reading rows where they lie.
//   Row tile     1 … full_tile_rows rows of A by one panel, all sums in registers (6×8, 5×8 or 4×8: 8 to 12
//                accumulators); two rows by two panels, one row by two to four.
//   Order        panel outside, row tile inside: a panel (K · 32 bytes) stays in the first-level cache.
//
// Every tile adds its products in the order k = 0, 1, …, on top of what it starts from, whatever its number of
// rows: a row of C does not depend on which other rows are computed with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope {

inline constexpr size_t kPanel = 8;

// Rows of the highest tile. The relaxed build has room for six: a fused multiply-add needs no register for the product.
// Without it there is room for five, where an engine's compiler makes good use of it: see full_tile_rows. Native builds
// are for tests, and take the larger set of tiles.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr size_t kTileRows = 5;
#else
inline constexpr size_t kTileRows = 6;
#endif
inline constexpr size_t kLeastTileRows = 4;

/// Rows of a tile of full height, kLeastTileRows … kTileRows; not to be changed while something is packed. Sums do not
/// depend on it. 5×8 tiles without fused multiply-adds are 2 to 6 % faster than 4×8 in engines of 2025, and 13 to 17 %
/// slower in the V8 of Node.js 20 and 22, which spills: the caller says where it runs.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline size_t full_tile_rows = kLeastTileRows;
#else
inline size_t full_tile_rows = kTileRows;
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

/// Floats that pack_rows writes to, the last few of which are only written over: 4 more than it packs.
constexpr uint64_t packed_tile_floats(uint64_t rows, uint64_t depth) { return rows * depth + 4; }

/// to[k · rows + r] = −factor · row[r][k] for k < depth, r < rows ≤ kTileRows: packed rows stand with their sign
/// turned, see multiply_tiles. A row alone is packed as it is, to[k] = factor · row[0][k].
void pack_rows(size_t rows, size_t depth, const float* const* row, float factor, float* to);

/// All rows of A [rows, depth], a_stride floats apart, tile by tile as for_each_tile deals them out: what
/// multiply_tiles reads. `to` holds packed_tile_floats(rows, depth).
void pack_tiles(size_t rows, size_t depth, const float* a, size_t a_stride, float* to);

/// B of a product, and where its sums start from. Members that a product does not use keep their defaults.
struct Product {
  size_t depth = 0;               // K
  size_t columns = 0;             // N
  const float* panels = nullptr;  // packed B
  size_t panel_stride = 0;        // floats from one panel to the next: K · 8 where B is a whole matrix
  Start start = Start::zero;
  const float* bias = nullptr;  // padded_columns(N) floats for Start::bias
  size_t c_stride = 0;          // floats from one row of C to the next
};

/// C [rows, N] = start + A · packed B. A is packed tile by tile as for_each_tile deals the rows out.
/// Writes exactly rows × N floats. Products are subtracted from the sums: x − (−y) is x + y to the last bit, and a
/// subtraction, whose operands no compiler can exchange, keeps the sum first, where V8 needs no other register for it
/// (4 % without fused multiply-adds).
void multiply_tiles(const Product& product, size_t rows, const float* a, float* c);

/// The same for one row, which is packed as it is: several panels at a time, because a row alone is bound by how fast B
/// comes from memory, and one panel after another would wait for its own sums.
void multiply_row(const Product& product, const float* a, float* c);

/// C [rows, N] = start + A [rows, K] · packed B, the start being zero or the bias: for products so small that packing
/// would take longer than they do. Rows of A, a_stride floats apart, are read where they lie. The bits are those of
/// multiply_tiles.
void multiply_in_place(const Product& product, size_t rows, const float* a, size_t a_stride, float* c);

/// Floats of scratch that `multiply` needs.
uint64_t multiply_scratch(uint64_t rows, uint64_t depth);

/// C [rows, N] = start + A [rows, K] · packed B, the start being zero or the bias, rows of A a_stride floats apart.
void multiply(const Product& product, size_t rows, const float* a, size_t a_stride, float* c, float* scratch);

/// Rows of the next tile where `rows` are left: full tiles first, which are the fastest, and no row alone behind them.
inline size_t next_tile(size_t rows) {
  if (rows == full_tile_rows + 1) return full_tile_rows - 1;
  return rows < full_tile_rows ? rows : full_tile_rows;
}

/// How many tiles of full height next_tile deals before the others.
inline size_t full_tiles(size_t rows) {
  const bool one_more = rows > full_tile_rows && rows % full_tile_rows == 1;
  return rows / full_tile_rows - (one_more ? 1 : 0);
}

/// Calls visit(first, count) for each tile. Tiles in a row, taken alone, are dealt in the same way.
template <class Visit>
void for_each_tile(size_t rows, const Visit& visit) {
  for (size_t first = 0; first < rows;) {
    const size_t count = next_tile(rows - first);
    visit(first, count);
    first += count;
  }
}

}  // namespace headscope
