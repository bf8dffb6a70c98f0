#include "linear.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "blocks.h"
#include "matmul.h"
#include "stored_product.h"

namespace headscope {

namespace {

Start start_of(const float* bias) { return bias != nullptr ? Start::bias : Start::zero; }

}  // namespace

// Out of line: seven of them live in a block, and inlined they were a tenth of the module.
Linear::Linear() = default;
Linear::~Linear() = default;
Linear::Linear(Linear&& other) noexcept { *this = std::move(other); }
Linear& Linear::operator=(Linear&& other) noexcept {
  weights_ = std::move(other.weights_);
  bias_ = std::move(other.bias_);
  layout_ = other.layout_;
  type_ = other.type_;
  packed_ = other.packed_;
  depth_ = std::exchange(other.depth_, 0);
  columns_ = std::exchange(other.columns_, 0);
  return *this;
}

Status Linear::keep_bias(const float* bias) {
  if (bias == nullptr) return Status::ok;
  const size_t padded = padded_columns(columns_);
  if (!bias_.reserve(uint64_t{padded} * sizeof(float))) return Status::out_of_memory;
  float* to = bias_.as<float>();
  std::fill(std::copy_n(bias, columns_, to), to + padded, 0.0F);
  return Status::ok;
}

Status Linear::pack(WeightLayout layout, const WeightMatrix& matrix, size_t depth, size_t columns, const float* bias) {
  layout_ = layout;
  packed_ = true;
  depth_ = depth;
  columns_ = columns;
  const uint64_t floats = saturating_product(padded_columns(columns), depth);
  if (!weights_.reserve(saturating_product(floats, sizeof(float)))) return Status::out_of_memory;
  if (layout == WeightLayout::in_out) {
    pack_in_out(matrix.data, matrix.stride, depth, columns, weights_.as<float>());
  } else {
    pack_out_in(matrix.data, matrix.stride, depth, columns, weights_.as<float>());
  }
  return keep_bias(bias);
}

Status Linear::keep(WeightLayout layout, TensorType type, const void* data, size_t row_bytes, size_t depth,
                    size_t columns, const float* bias) {
  const size_t block = block_values(type);
  const bool out_in = layout == WeightLayout::out_in;
  if (block == 0 || (!out_in && block != 1) || depth % block != 0) return Status::bad_argument;
  layout_ = layout;
  type_ = type;
  packed_ = false;
  depth_ = depth;
  columns_ = columns;
  const size_t rows = out_in ? columns : depth;
  const size_t bytes = stored_bytes(type, out_in ? depth : columns);
  if (!weights_.reserve(saturating_product(rows, bytes))) return Status::out_of_memory;
  for (size_t row = 0; row < rows; ++row) {
    std::memcpy(weights_.as<uint8_t>() + row * bytes, static_cast<const uint8_t*>(data) + row * row_bytes, bytes);
  }
  return keep_bias(bias);
}

uint64_t Linear::scratch(uint64_t rows, Numerics numerics) const {
  if (packed_) return Workspace::need(multiply_scratch(rows, depth_));
  // A panel (or what one row needs, which is less), x packed, and x where it has to be rounded.
  const uint64_t rounded = numerics == Numerics::ggml ? saturating_product(rows, depth_) : 0;
  return panel_floats() + packed_rows_floats(rows) + Workspace::need(rounded);
}

uint64_t Linear::packed_rows_floats(uint64_t rows) const {
  return rows > 1 ? Workspace::need(packed_tile_floats(rows, depth_)) : 0;
}

uint64_t Linear::panel_floats() const { return Workspace::need(kPanel * uint64_t{depth_}); }

void Linear::apply(size_t rows, const float* x, size_t x_stride, float* y, size_t y_stride, Numerics numerics,
                   float* scratch) const {
  const float* bias = bias_.as<float>();
  if (packed_) {
    multiply({depth_, columns_, weights_.as<float>(), depth_ * kPanel, start_of(bias), bias, y_stride}, rows, x,
             x_stride, y, scratch);
    return;
  }
  x = prepare(rows, x, x_stride, numerics, scratch);
  if (rows == 1) return multiply_one(x, y, scratch);
  multiply_stored(rows, 0, depth_, x, x_stride, bias, y, y_stride, scratch);
}

void Linear::multiply_one(const float* x, float* y, float* scratch) const {
  const auto* stored = weights_.as<const uint8_t>();
  const float* bias = bias_.as<float>();
  if (layout_ == WeightLayout::in_out) {
    if (bias != nullptr)
      std::copy_n(bias, columns_, y);
    else
      std::fill_n(y, columns_, 0.0F);
    return add_stored_rows(type_, stored, depth_, columns_, x, y);
  }
  multiply_stored_row(type_, stored, stored_bytes(type_, depth_), columns_, depth_, x, scratch, y);
  if (bias != nullptr) add_in_place(y, bias, columns_);
}

const float* Linear::prepare(size_t rows, const float* x, size_t& x_stride, Numerics numerics, float* scratch) const {
  if (packed_ || numerics != Numerics::ggml) return x;
  float* rounded = scratch + panel_floats() + packed_rows_floats(rows);
  for (size_t r = 0; r < rows; ++r) {
    std::copy_n(x + r * x_stride, depth_, rounded + r * depth_);
    round_like_ggml(type_, rounded + r * depth_, depth_);
  }
  x_stride = depth_;
  return rounded;
}

void Linear::apply_rows(size_t rows, size_t first, size_t count, const float* x, size_t x_stride, float* y,
                        size_t y_stride, float* scratch) const {
  if (packed_) {
    multiply({count, columns_, weights_.as<float>() + first * kPanel, depth_ * kPanel, Start::zero, nullptr, y_stride},
             rows, x, x_stride, y, scratch);
  } else {
    multiply_stored(rows, first, count, x, x_stride, nullptr, y, y_stride, scratch);
  }
}

void Linear::multiply_stored(size_t rows, size_t first, size_t count, const float* x, size_t x_stride,
                             const float* bias, float* y, size_t y_stride, float* scratch) const {
  float* packed = scratch + panel_floats();
  if (rows > 1) pack_tiles(rows, count, x, x_stride, packed);
  // Whole blocks around the rows that are wanted.
  const size_t block = layout_ == WeightLayout::out_in ? block_values(type_) : 1;
  const size_t begin = first / block * block;
  const size_t depth = (first + count + block - 1) / block * block - begin;
  const float* panel = scratch + (first - begin) * kPanel;
  for (size_t n = 0; n < columns_; n += kPanel) {
    const size_t width = std::min(kPanel, columns_ - n);
    decode_panel(n, width, begin, depth, scratch);
    const Product product{count, width, panel, 0, start_of(bias), bias != nullptr ? bias + n : nullptr, y_stride};
    multiply_tiles(product, rows, rows > 1 ? packed : x, y + n);
  }
}

void Linear::decode_panel(size_t column, size_t width, size_t first, size_t count, float* panel) const {
  const auto* stored = weights_.as<const uint8_t>();
  if (layout_ == WeightLayout::out_in) {
    const size_t row_bytes = stored_bytes(type_, depth_);
    pack_stored_columns(type_, stored + column * row_bytes, row_bytes, width, first, count, panel);
  } else {
    const size_t row_bytes = stored_bytes(type_, columns_);
    pack_stored_rows(type_, stored + first * row_bytes + stored_bytes(type_, column), row_bytes, width, count, panel);
  }
}

}  // namespace headscope
