#include "blocks.h"

#include <cmath>

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

}  // namespace headscope
