// Short rows of floats: of a head, of weights, of scores. memory.copy and memory.fill cost 6–9 ns whatever their
// length, which is the time of 128 bytes here.
#pragma once

#include <cstddef>

namespace headscope {

/// to[j] = from[j], j < n.
void copy_row(const float* from, size_t n, float* to);

/// to[j] = value, j < n.
void fill_row(float* to, size_t n, float value);

/// x[j] *= factor, j < n.
void scale_row(float* x, size_t n, float factor);

/// to[j] = (from[j] * factor) * gate, j < n.
void copy_scaled_row(const float* from, size_t n, float factor, float gate, float* to);

}  // namespace headscope
