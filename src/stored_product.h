// Products with weights of a model file, kept as stored_panels.h has them. There are two ways:
//
//   few rows of x  each alone, Q types as the integers that they are, halves as floats: what counts is how many bytes
//                  are read
//   more           a panel is decoded to float32 once for all rows, into a panel of matmul.h
#pragma once

#include <cstddef>
#include <cstdint>

#include "dequantize.h"

namespace headscope {

#if !defined(__wasm__)
/// One row of x: native builds have what the relaxed build does and what the other does, for the tests.
inline bool stored_row_by_bytes = true;
#endif

/// How many rows are better multiplied one by one: to decode a panel costs as much as three rows of integers.
constexpr size_t rows_alone(TensorType type) {
  return type == TensorType::f32 || type == TensorType::f16 || type == TensorType::bf16 ? 1 : 3;
}

/// y[n] = Σ_k x[k] · w[k][n], n < columns.
///
/// Q types are multiplied as integers. x becomes integers of 24 bits for that, with a scale for each group: an error of
/// at most 2^−23 of the largest of 16 or 32. An x that is not finite makes all of y NaN. `scratch` is 2 · depth floats.
void multiply_stored_row(TensorType type, const uint8_t* panels, size_t columns, size_t depth, const float* x,
                         float* scratch, float* y);

/// Steps first … first + count − 1 of a panel along the depth as floats [count][8], exactly as `dequantize` has them.
/// first and count are multiples of block_values(type).
void decode_panel(TensorType type, const uint8_t* panels, size_t depth, size_t panel, size_t first, size_t count,
                  float* to);

}  // namespace headscope
