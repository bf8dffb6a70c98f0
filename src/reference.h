// The same maths in double, as plainly as it can be written: the oracle of the native tests, and the text to read
// first. No packing, no blocks, no running sums; masks are asked place by place.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace headscope::reference {

using Tensor = std::vector<double>;  // dense, row-major

/// Everything that can hide a key or move a score, as one question and one addend per place (b, h, i, j).
struct Mask {
  std::function<bool(size_t b, size_t h, size_t i, size_t j)> visible;
  std::function<double(size_t b, size_t h, size_t i, size_t j)> bias;  // −Infinity hides
};

struct Sizes {
  size_t batch = 1;
  size_t heads = 1;           // H
  size_t kv_heads = 1;        // G
  size_t queries = 1;         // T
  size_t keys = 1;            // S
  size_t head_dim = 1;        // dk
  size_t value_head_dim = 1;  // dv
};

struct Attention {
  Tensor scaled, capped, masked;  // [B, H, T, S]
  Tensor weights;                 // [B, H, T, S]
  Tensor heads;                   // [B, H, T, dv]
};

/// q [B, H, T, dk], k [B, G, S, dk], v [B, G, S, dv]; softcap 0 = none.
Attention attention(const Sizes& sizes, const Tensor& q, const Tensor& k, const Tensor& v, double scale, double softcap,
                    const Mask& mask);

/// y [rows, out] = x [rows, in] · W [in, out] + bias [out] (bias may be empty).
Tensor linear(const Tensor& x, size_t rows, size_t in, const Tensor& w, size_t out, const Tensor& bias);

/// [B, T, heads · width] → [B, heads, T, width], and back.
Tensor split_heads(const Tensor& x, size_t batch, size_t length, size_t heads, size_t width);
Tensor join_heads(const Tensor& x, size_t batch, size_t length, size_t heads, size_t width);

/// Turns x [B, heads, T, width], position first + t at row t; pairs (2i, 2i + 1) or (i, i + dims / 2).
void rotate(Tensor& x, size_t batch, size_t heads, size_t length, size_t width, long first, size_t dims, double base,
            bool adjacent);

}  // namespace headscope::reference
