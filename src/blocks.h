// What a model's block needs besides attention.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headscope {

/// Which two components of a head turn together.
enum class RotaryPairing : uint32_t {
  none = 0,
  adjacent = 1,  // (x0, x1), (x2, x3), …: RoFormer, GGUF's Llama, ONNX interleaved = 1
  halves = 2,    // (x_i, x_{i + dims/2}): Hugging Face's Llama, GPT-NeoX, ONNX interleaved = 0
};

struct Rotary {
  RotaryPairing pairing = RotaryPairing::none;
  size_t dims = 0;  // the first `dims` components of a head turn (even, ≤ its width); the rest stay
  double base = 10000.0;
  const float* factors = nullptr;  // [dims / 2], or none: what each pair's frequency is divided by (Llama 3.1)
};

/// Floats of the table for `positions` positions: cosine and sine of each angle.
uint64_t rotary_table_floats(const Rotary& rotary, uint64_t positions);

/// Angles p · base^(−2i / dims) / factor_i of positions first … first + positions − 1, i < dims / 2 (Su et al. 2021,
/// "RoFormer", section 3.2.2), worked out in double: at p = 100,000 a float angle is off by 0.004 already.
void fill_rotary_table(const Rotary& rotary, int64_t first, size_t positions, float* table);

/// Turns every head of x, row t at x + t · stride holding `heads` heads of `head_dim`, by row t of the table.
void rotate(const Rotary& rotary, const float* table, size_t rows, size_t heads, size_t head_dim, size_t stride,
            float* x);

/// y = (x − mean(x)) / √(variance(x) + epsilon) · weight + bias, each row by itself (Ba et al. 2016; the variance is
/// divided by the width). bias may be null. x and y may be the same. Sums in double: within 2 ULP of the largest value.
void layer_norm(size_t rows, size_t width, const float* x, const float* weight, const float* bias, float epsilon,
                float* y);

/// y = x / √(mean(x²) + epsilon) · weight (Zhang & Sennrich 2019). x and y may be the same.
void rms_norm(size_t rows, size_t width, const float* x, const float* weight, float epsilon, float* y);

enum class Activation : uint32_t {
  gelu_tanh = 0,  // x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))): GPT-2's gelu_new (Hendrycks & Gimpel 2016)
  gelu_erf = 1,   // x/2 · (1 + erf(x / √2)): BERT
  silu = 2,       // x / (1 + e^−x): the gate of SwiGLU (Shazeer 2020)
  relu = 3,
};

/// x[i] = activation(x[i]), in place; absolute error within 4e-7 · max(1, |x|).
void activate(Activation activation, float* x, size_t n);

/// x[i] += y[i]: a residual connection.
void add_in_place(float* x, const float* y, size_t n);

/// x[i] *= y[i]: a gate.
void multiply_in_place(float* x, const float* y, size_t n);

}  // namespace headscope
