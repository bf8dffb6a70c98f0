#include "linear.h"

#include <algorithm>
#include <utility>

#include "blocks.h"
#include "matmul.h"
#include "stored_panels.h"
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
  type_ = TensorType::f32;
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
  if (block == 0 || (layout == WeightLayout::in_out && block != 1) || depth % block != 0) return Status::bad_argument;
  type_ = type;
  depth_ = depth;
  columns_ = columns;
  if (block == 1) {
    const Status status = keep_floats(layout, static_cast<const uint8_t*>(data), row_bytes);
    if (status != Status::ok) return status;
  } else {
    packed_ = false;
    if (!weights_.reserve(stored_panels_bytes(type, depth, columns))) return Status::out_of_memory;
    rearrange(type, data, row_bytes, depth, columns, weights_.as<uint8_t>());
  }
  return keep_bias(bias);
}

Status Linear::keep_floats(WeightLayout layout, const uint8_t* data, size_t row_bytes) {
  Buffer buffer;
  if (!buffer.reserve(2 * panel_floats() * sizeof(float))) return Status::out_of_memory;
  float* rows = buffer.as<float>();
  float* panel = rows + panel_floats();
  const auto decode = [&](size_t n, float* to) {
    const size_t width = std::min(kPanel, columns_ - n);
    if (layout == WeightLayout::in_out) {
      const uint8_t* from = data + stored_bytes(type_, n);
      for (size_t k = 0; k < depth_; ++k) dequantize(type_, from + k * row_bytes, width, rows + k * kPanel);
      pack_in_out(rows, kPanel, depth_, width, to);
    } else {
      for (size_t c = 0; c < width; ++c) dequantize(type_, data + (n + c) * row_bytes, depth_, rows + c * depth_);
      pack_out_in(rows, depth_, depth_, width, to);
    }
  };
  packed_ = type_ == TensorType::f32;
  if (!packed_) {
    if (!weights_.reserve(stored_panels_bytes(type_, depth_, columns_))) return Status::out_of_memory;
    for (size_t n = 0; n < columns_ && !packed_; n += kPanel) {
      decode(n, panel);
      packed_ = !keep_halves(type_, panel, depth_, n / kPanel, weights_.as<uint8_t>());
    }
  }
  if (!packed_) return Status::ok;
  const uint64_t bytes = saturating_product(depth_ * sizeof(float), padded_columns(columns_));
  if (!weights_.reserve(bytes)) return Status::out_of_memory;
  for (size_t n = 0; n < columns_; n += kPanel) decode(n, weights_.as<float>() + n * depth_);
  return Status::ok;
}

bool Linear::rounds(Numerics numerics) const { return numerics == Numerics::ggml && type_ != TensorType::f32; }

uint64_t Linear::panel_floats() const { return Workspace::need(kPanel * uint64_t{depth_}); }

uint64_t Linear::product_floats(uint64_t rows) const {
  if (packed_) return Workspace::need(multiply_scratch(rows, depth_));
  // A panel (or a row of integers, which is less) and x packed.
  return panel_floats() + (rows > 1 ? Workspace::need(packed_tile_floats(rows, depth_)) : 0);
}

uint64_t Linear::scratch(uint64_t rows, Numerics numerics) const {
  return product_floats(rows) + (rounds(numerics) ? Workspace::need(saturating_product(rows, depth_)) : 0);
}

void Linear::apply(size_t rows, const float* x, size_t x_stride, float* y, size_t y_stride, Numerics numerics,
                   float* scratch) const {
  const float* bias = bias_.as<float>();
  x = prepare(rows, x, x_stride, numerics, scratch);
  if (packed_) {
    multiply({depth_, columns_, weights_.as<float>(), depth_ * kPanel, start_of(bias), bias, y_stride}, rows, x,
             x_stride, y, scratch);
  } else if (rows <= rows_alone(type_)) {
    for (size_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
      multiply_stored_row(type_, weights_.as<uint8_t>(), columns_, depth_, x, scratch, y);
      if (bias != nullptr) add_in_place(y, bias, columns_);
    }
  } else {
    multiply_stored(rows, 0, depth_, x, x_stride, bias, y, y_stride, scratch);
  }
}

const float* Linear::prepare(size_t rows, const float* x, size_t& x_stride, Numerics numerics, float* scratch) const {
  if (!rounds(numerics)) return x;
  float* rounded = scratch + product_floats(rows);
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
  const size_t block = block_values(type_);
  const size_t begin = first / block * block;
  const size_t depth = (first + count + block - 1) / block * block - begin;
  const float* panel = scratch + (first - begin) * kPanel;
  for (size_t n = 0; n < columns_; n += kPanel) {
    const size_t width = std::min(kPanel, columns_ - n);
    decode_panel(type_, weights_.as<uint8_t>(), depth_, n / kPanel, begin, depth, scratch);
    const Product product{count, width, panel, 0, start_of(bias), bias != nullptr ? bias + n : nullptr, y_stride};
    multiply_tiles(product, rows, rows > 1 ? packed : x, y + n);
  }
}

}  // namespace headscope
