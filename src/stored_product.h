// Products with weights as a model file holds them, W [depth, columns]. There are two ways:
//
//   one row of x   the blocks of each column are multiplied where they lie: what counts is how many bytes are read
//   more           columns are decoded once for all rows, into the panels of matmul.h
#pragma once

#include <cstddef>
#include <cstdint>

#include "dequantize.h"

namespace headscope {

/// y[n] = Σ_k w[n][k] · x[k], n < columns, with w stored as rows of `depth` values, row_bytes apart.
///
/// Quantised weights are multiplied as the integers that they are. x becomes integers of 30 bits for that, with one
/// scale for all: float32's own 24 for the largest and, for every other, an error of 2^−29 of the largest. An x that is
/// not finite makes all of y NaN. `scratch` is 2 · depth floats.
void multiply_stored_row(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t depth,
                         const float* x, float* scratch, float* y);

/// y[n] += Σ_{k < depth} x[k] · w[k][n], n < columns, with w stored as rows of `columns` plain floats (F32, F16, BF16),
/// in the order of k.
void add_stored_rows(TensorType type, const void* rows, size_t depth, size_t columns, const float* x, float* y);

/// Values first … first + count − 1 of each of `columns` rows (row_bytes apart) as packed columns [panel][count][8];
/// columns past the last are 0. first and count are multiples of block_values(type).
void pack_stored_columns(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t first,
                         size_t count, float* packed);

/// `columns` ≤ 8 values of each of `count` rows of plain floats (row_bytes apart) as a panel [count][8]; the rest is 0.
void pack_stored_rows(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t count, float* panel);

}  // namespace headscope
