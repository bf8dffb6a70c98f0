#include "blocks.h"

#include <cmath>

#include "simd.h"

namespace headscope {

uint64_t rotary_table_floats(const Rotary& rotary, uint64_t positions) {
  return rotary.pairing == RotaryPairing::none ? 0 : positions * rotary.dims;
}

void fill_rotary_table(const Rotary& rotary, int64_t first, size_t positions, float* table) {
  const size_t pairs = rotary.dims / 2;
  for (size_t i = 0; i < pairs; ++i) {
    const double frequency = std::pow(rotary.base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary.dims));
    for (size_t t = 0; t < positions; ++t) {
      const double angle = static_cast<double>(first + static_cast<int64_t>(t)) * frequency;
      table[t * rotary.dims + 2 * i] = static_cast<float>(std::cos(angle));
      table[t * rotary.dims + 2 * i + 1] = static_cast<float>(std::sin(angle));
    }
  }
}

void rotate(const Rotary& rotary, const float* table, size_t rows, size_t heads, size_t head_dim, size_t stride,
            float* x) {
  const size_t pairs = rotary.dims / 2;
  const bool adjacent = rotary.pairing == RotaryPairing::adjacent;
  const size_t step = adjacent ? 2 : 1;
  const size_t partner = adjacent ? 1 : pairs;
  for (size_t t = 0; t < rows; ++t) {
    const float* angles = table + t * rotary.dims;
    for (size_t h = 0; h < heads; ++h) {
      float* head = x + t * stride + h * head_dim;
      for (size_t i = 0; i < pairs; ++i) {
        const float cosine = angles[2 * i];
        const float sine = angles[2 * i + 1];
        float& first = head[i * step];
        float& second = head[i * step + partner];
        const float turned = first * cosine - second * sine;
        second = first * sine + second * cosine;
        first = turned;
      }
    }
  }
}

void layer_norm(size_t rows, size_t width, const float* x, const float* weight, const float* bias, float epsilon,
                float* y) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    double sum = 0.0;
    for (size_t i = 0; i < width; ++i) sum += static_cast<double>(x[i]);
    const double mean = sum / static_cast<double>(width);
    double squares = 0.0;
    for (size_t i = 0; i < width; ++i) {
      const double centred = static_cast<double>(x[i]) - mean;
      squares += centred * centred;
    }
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(epsilon));
    for (size_t i = 0; i < width; ++i) {
      const auto normal = static_cast<float>((static_cast<double>(x[i]) - mean) * inverse);
      y[i] = normal * weight[i] + (bias != nullptr ? bias[i] : 0.0F);
    }
  }
}

void rms_norm(size_t rows, size_t width, const float* x, const float* weight, float epsilon, float* y) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    double squares = 0.0;
    for (size_t i = 0; i < width; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(epsilon));
    for (size_t i = 0; i < width; ++i) y[i] = static_cast<float>(static_cast<double>(x[i]) * inverse) * weight[i];
  }
}

namespace {

using namespace simd;

Vec gelu_tanh(Vec x) {
  const Vec inner = splat(0.79788456080286536F) * (x + splat(0.044715F) * x * x * x);
  return splat(0.5F) * x * (splat(1.0F) + tanh(inner));
}

Vec gelu_erf(Vec x) { return splat(0.5F) * x * (splat(1.0F) + erf(x * splat(0.70710678118654752F))); }

Vec silu(Vec x) { return x / (splat(1.0F) + exp(splat(0.0F) - x)); }

Vec relu(Vec x) { return at_least(x, splat(0.0F)); }

template <class Function>
void apply(float* x, size_t n, Function function) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(x + i, function(load(x + i)));
  if (i < n) store_partial(x + i, function(load_partial(x + i, n - i)), n - i);
}

}  // namespace

void activate(Activation activation, float* x, size_t n) {
  switch (activation) {
    case Activation::gelu_tanh: return apply(x, n, gelu_tanh);
    case Activation::gelu_erf: return apply(x, n, gelu_erf);
    case Activation::silu: return apply(x, n, silu);
    case Activation::relu: return apply(x, n, relu);
  }
}

void add_in_place(float* x, const float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y[i];
}

void multiply_in_place(float* x, const float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= y[i];
}

}  // namespace headscope
