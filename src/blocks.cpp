#include "blocks.h"

#include <bit>
#include <cmath>

#include "simd.h"

namespace headscope {

uint64_t rotary_table_floats(const Rotary& rotary, uint64_t positions) {
  return rotary.pairing == RotaryPairing::none ? 0 : positions * rotary.dims;
}

namespace {

struct Turn {
  double cosine;
  double sine;
};

Turn operator*(Turn a, Turn b) {
  return {a.cosine * b.cosine - a.sine * b.sine, a.sine * b.cosine + a.cosine * b.sine};
}

// The C library's pow, cos and sin would be 5 KB of gzipped wasm for one small table. A frequency is at most 1 where
// base ≥ 1, so a short series gives its turn, and turns multiply: the turn of p · f is the p-th power of that of f.
// Errors grow with log p for the first position and by one rounding per position after it: below 1e-12 at p = 10^5.

/// cos f and sin f for 0 ≤ f ≤ 1, by their series up to f^21 (the next term is below 1e-22).
Turn series_turn(double f) {
  double cosine = 1.0;
  double sine = f;
  double term = f;
  for (int n = 2; n <= 21; ++n) {
    term *= f / n;
    const bool even = n % 2 == 0;
    const bool negative = n / 2 % 2 == 1;
    (even ? cosine : sine) += negative ? -term : term;
  }
  return {cosine, sine};
}

/// The turn of any frequency: halved until the series holds, then doubled back.
Turn turn_of(double f) {
  int doublings = 0;
  for (; f > 1.0; f *= 0.5) ++doublings;
  Turn turn = series_turn(f);
  for (; doublings > 0; --doublings) turn = turn * turn;
  return turn;
}

Turn power(Turn turn, int64_t exponent) {
  if (exponent < 0) {
    turn.sine = -turn.sine;
    exponent = -exponent;
  }
  Turn result{1.0, 0.0};
  for (; exponent > 0; exponent /= 2, turn = turn * turn) {
    if (exponent % 2 == 1) result = result * turn;
  }
  return result;
}

double power(double x, size_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent /= 2, x *= x) {
    if (exponent % 2 == 1) result *= x;
  }
  return result;
}

/// x^(1/n): Newton's method for the root y of y^n = x, in ln-like steps that stay positive.
double root(double x, size_t n) {
  // A first guess from the exponent bits, which are a piecewise linear log2: within a factor of 1.1.
  constexpr double kOne = 1.0 * (1023LL << 52);
  const double log2_bits = (static_cast<double>(std::bit_cast<int64_t>(x)) - kOne) / static_cast<double>(n);
  double y = std::bit_cast<double>(static_cast<int64_t>(log2_bits + kOne));
  const auto order = static_cast<double>(n);
  for (int step = 0; step < 200; ++step) {
    const double ratio = x / power(y, n);
    if (ratio > 1.0 - 1e-15 && ratio < 1.0 + 1e-15) break;
    const double factor = 1.0 + (ratio - 1.0) / order;
    y *= factor < 2.0 ? factor : 2.0;
  }
  return y;
}

}  // namespace

void fill_rotary_table(const Rotary& rotary, int64_t first, size_t positions, float* table) {
  const size_t pairs = rotary.dims / 2;
  const double ratio = 1.0 / root(rotary.base, pairs);  // base^(−2 / dims)
  double frequency = 1.0;
  for (size_t i = 0; i < pairs; ++i, frequency *= ratio) {
    const double factor = rotary.factors != nullptr ? static_cast<double>(rotary.factors[i]) : 1.0;
    const Turn step = turn_of(frequency / factor);
    Turn turn = power(step, first);
    for (size_t t = 0; t < positions; ++t, turn = turn * step) {
      table[t * rotary.dims + 2 * i] = static_cast<float>(turn.cosine);
      table[t * rotary.dims + 2 * i + 1] = static_cast<float>(turn.sine);
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

namespace {

/// Σ term(x[i]) in double: four sums at a time, or each addition would wait for the one before.
template <class Term>
double sum_of(const float* x, size_t n, const Term& term) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (size_t j = 0; j < 4; ++j) sums[j] += term(static_cast<double>(x[i + j]));
  }
  for (; i < n; ++i) sums[0] += term(static_cast<double>(x[i]));
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// 1 / √(mean of the squares + epsilon)
double inverse_size(double squares, size_t width, float epsilon) {
  return 1.0 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(epsilon));
}

}  // namespace

void layer_norm(size_t rows, size_t width, const float* x, const float* weight, const float* bias, float epsilon,
                float* y) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const double mean = sum_of(x, width, [](double v) { return v; }) / static_cast<double>(width);
    const double squares = sum_of(x, width, [mean](double v) { return (v - mean) * (v - mean); });
    const double inverse = inverse_size(squares, width, epsilon);
    for (size_t i = 0; i < width; ++i) {
      y[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * inverse) * weight[i];
    }
    if (bias != nullptr) add_in_place(y, bias, width);
  }
}

void rms_norm(size_t rows, size_t width, const float* x, const float* weight, float epsilon, float* y) {
  for (size_t r = 0; r < rows; ++r, x += width, y += width) {
    const double inverse = inverse_size(sum_of(x, width, [](double v) { return v * v; }), width, epsilon);
    for (size_t i = 0; i < width; ++i) y[i] = static_cast<float>(static_cast<double>(x[i]) * inverse) * weight[i];
  }
}

namespace {

using namespace simd;

template <class Function>
void apply(float* x, size_t n, const Function& function) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(x + i, function(load(x + i)));
  if (i < n) store_partial(x + i, function(load_partial(x + i, n - i)), n - i);
}

}  // namespace

void activate(Activation activation, float* x, size_t n) {
  switch (activation) {
    case Activation::gelu_tanh:
      // (1 + tanh u) / 2 = sigmoid(2u): half the work of tanh, and exact where the sum would cancel.
      return apply(x, n, [](Vec v) {
        return v * sigmoid(v * madd(constant<0.0713548162726F>(), v * v, constant<1.5957691216057308F>()));
      });
    case Activation::silu: return apply(x, n, [](Vec v) { return v * sigmoid(v); });
    case Activation::gelu_erf:
      return apply(x, n, [](Vec v) {
        return constant<0.5F>() * v * (constant<1.0F>() + erf(v * constant<0.70710678118654752F>()));
      });
    case Activation::relu: return apply(x, n, [](Vec v) { return at_least(v, splat(0.0F)); });
  }
}

void add_in_place(float* x, const float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] += y[i];
}

void multiply_in_place(float* x, const float* y, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= y[i];
}

}  // namespace headscope
