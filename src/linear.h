// y = x · W + b with W kept in one of two forms:
//
//   packed   float32 panels (matmul.h): for weights that are used again and again
//   stored   the weights of a model file in their own precision, quantised or not, decoded a panel at a time while they
//            are used, or multiplied as they are by a single row of x (stored_product.h): a model never stands in
//            memory as float32
#pragma once

#include <cstddef>
#include <cstdint>

#include "dequantize.h"
#include "memory.h"
#include "status.h"

namespace headscope {

enum class WeightLayout : uint32_t {
  in_out = 0,  // y = x · W, W [in, out]
  out_in = 1,  // y = x · Wᵀ, W [out, in]
};

/// Whose rounding a stored product repeats: float32 throughout, or llama.cpp's, which rounds x to the companion of the
/// weight's type first (round_like_ggml).
enum class Numerics : uint32_t { f32 = 0, ggml = 1 };

/// One float32 matrix as the caller holds it. `stride` is the distance between its stored rows, which is more than a
/// row where it is part of a fused matrix.
struct WeightMatrix {
  const float* data = nullptr;
  size_t stride = 0;
};

class Linear {
 public:
  Linear();
  Linear(Linear&& other) noexcept;
  Linear& operator=(Linear&& other) noexcept;
  ~Linear();

  /// Packs W [depth, columns] and the bias [columns] (or null); the caller's memory is not needed afterwards.
  Status pack(WeightLayout layout, const WeightMatrix& matrix, size_t depth, size_t columns, const float* bias);

  /// Keeps W of a model file. Out-in: `columns` rows of `depth` values, row_bytes apart. In-out (F32, F16 and BF16
  /// only): `depth` rows of `columns` values, row_bytes apart. depth (out-in) is a multiple of the type's block. F32 is
  /// packed, and so is F16 with values of 128 and more or not finite ones, which no trained model has.
  Status keep(WeightLayout layout, TensorType type, const void* data, size_t row_bytes, size_t depth, size_t columns,
              const float* bias);

  [[nodiscard]] bool empty() const { return columns_ == 0; }
  [[nodiscard]] size_t depth() const { return depth_; }
  [[nodiscard]] size_t columns() const { return columns_; }
  [[nodiscard]] size_t bytes() const { return weights_.bytes() + bias_.bytes(); }

  /// Floats of scratch that `apply` and `apply_rows` need for `rows` rows of x.
  [[nodiscard]] uint64_t scratch(uint64_t rows, Numerics numerics) const;

  /// y [rows, columns] = x [rows, depth] · W + b, rows x_stride and y_stride floats apart.
  void apply(size_t rows, const float* x, size_t x_stride, float* y, size_t y_stride, Numerics numerics,
             float* scratch) const;

  /// x as `apply` multiplies it: x itself, or its rounded copy [rows, depth] in `scratch`; x_stride follows.
  const float* prepare(size_t rows, const float* x, size_t& x_stride, Numerics numerics, float* scratch) const;

  /// y [rows, columns] = x [rows, count] · W[first … first + count), without the bias: one head's part of an output
  /// projection. x is taken as it is: under ggml numerics it comes from `prepare`.
  void apply_rows(size_t rows, size_t first, size_t count, const float* x, size_t x_stride, float* y, size_t y_stride,
                  float* scratch) const;

 private:
  void multiply_stored(size_t rows, size_t first, size_t count, const float* x, size_t x_stride, const float* bias,
                       float* y, size_t y_stride, float* scratch) const;
  Status keep_floats(WeightLayout layout, const uint8_t* data, size_t row_bytes);
  [[nodiscard]] uint64_t product_floats(uint64_t rows) const;
  [[nodiscard]] bool rounds(Numerics numerics) const;
  [[nodiscard]] uint64_t panel_floats() const;
  Status keep_bias(const float* bias);

  Buffer weights_;
  Buffer bias_;  // padded to whole panels, or empty
  TensorType type_ = TensorType::f32;
  bool packed_ = true;
  size_t depth_ = 0;
  size_t columns_ = 0;
};

}  // namespace headscope
