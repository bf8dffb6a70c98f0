// How weights of a model file, W [depth, columns], are kept: in hardly more bytes than they have there, and in another
// order, so that nothing has to be shuffled while they are used (stored_product.h). F32 is packed (matmul.h) instead.
//
//   F16, BF16   pairs of panels of matmul.h, [depth][16] halves
//   Q types     panels of 8 columns, one after another, of blocks of 32 or 256 steps along the depth, as in the file,
//               each for all 8 columns: scales, minima (float32 [8]; for the K types float32 [8], then factors int8
//               [groups][8]), then the integers of 16 steps along the depth after those of the 16 before (put_plane)
//
// Columns past the last are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dequantize.h"
#include "matmul.h"

namespace headscope {

/// Bytes of W in any type but F32.
uint64_t stored_panels_bytes(TensorType type, size_t depth, size_t columns);

/// Puts a panel of F16 or BF16 among the others, from float32 [depth][8], which is exact. False where that cannot be:
/// F16 of 128 and more, infinities and NaN have no place in it (simd::kKeptHalf).
bool keep_halves(TensorType type, const float* packed, size_t depth, size_t panel, uint8_t* panels);

/// Puts `columns` rows of `depth` values of a Q type, row_bytes apart, into panels.
void rearrange(TensorType type, const void* rows, size_t row_bytes, size_t depth, size_t columns, uint8_t* panels);

// ---- what a reader has to know --------------------------------------------------------------------------------------

// Halves lie in pairs of panels.
inline constexpr size_t kPair = 2 * kPanel;

/// Where the halves of a panel begin.
constexpr size_t halves_at(size_t depth, size_t panel) { return panel / 2 * depth * kPair + panel % 2 * kPanel; }

// Steps along the depth whose integers lie together: 8 vectors for 8 columns, each with four steps of four columns, the
// columns one after another. Vectors 2s and 2s + 1 hold steps 4s … 4s + 3 of columns 0 … 3 and 4 … 7.
inline constexpr size_t kSteps = Parts::kGroup;

/// The integers of a type, from 0 up: `low` bits in planes of their own, and `high` bits above them in others. Eight
/// bits (Q8_0) have their sign.
struct Form {
  uint8_t low;
  uint8_t high;
  uint8_t group;   // values with one scale
  uint8_t offset;  // what has to be subtracted from the integers
};
/// Where a block of a panel has what.
struct BlockLayout {
  Form form;
  size_t values;  // of a column
  size_t groups;  // 1, or those of a K type
  size_t scales;  // bytes of the scales
  size_t minima;  // bytes of the minima
  size_t steps;   // bytes of the integers of kSteps
  size_t bytes;   // of all
};
BlockLayout layout_of(TensorType type);

}  // namespace headscope
