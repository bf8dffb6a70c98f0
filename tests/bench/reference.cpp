// The whole calculation of src/reference.cpp as a module of its own, for npm run bench: what plain double loops cost.
#include "reference.h"

#include <cmath>
#include <cstdlib>

using namespace headscope;
using reference::Tensor;

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace {

struct Weights {
  size_t width = 0, heads = 0;
  Tensor wq, wk, wv, wo, bq, bk, bv, bo;
} weights;

Tensor tensor(const float*& at, size_t n) {
  const float* from = at;
  at += n;
  return Tensor(from, at);
}

}  // namespace

EXPORT(allocate) void* allocate(size_t bytes) { return std::malloc(bytes); }
EXPORT(release) void release(void* memory) { std::free(memory); }

/// packed: wq, bq, wk, bk, wv, bv, wo, bo, one behind the other.
EXPORT(set_weights) void set_weights(size_t width, size_t heads, const float* packed) {
  weights.width = width;
  weights.heads = heads;
  const size_t square = width * width;
  for (auto [w, b] : {std::pair{&weights.wq, &weights.bq}, std::pair{&weights.wk, &weights.bk},
                      std::pair{&weights.wv, &weights.bv}, std::pair{&weights.wo, &weights.bo}}) {
    *w = tensor(packed, square);
    *b = tensor(packed, width);
  }
}

/// x and output [T, D], mixed [H, T, T] or null.
EXPORT(forward) void forward(size_t T, bool causal, const float* x, float* output, float* mixed) {
  const size_t D = weights.width;
  const size_t H = weights.heads;
  const Tensor input = tensor(x, T * D);
  const auto heads = [&](const Tensor& w, const Tensor& bias) {
    return reference::split_heads(reference::linear(input, T, D, w, D, bias), 1, T, H, D / H);
  };
  reference::Mask mask;
  if (causal) mask.visible = [](size_t, size_t, size_t i, size_t j) { return j <= i; };
  const reference::Sizes sizes{1, H, H, T, T, D / H, D / H};
  const auto attention =
      reference::attention(sizes, heads(weights.wq, weights.bq), heads(weights.wk, weights.bk),
                           heads(weights.wv, weights.bv), 1.0 / std::sqrt(static_cast<double>(D / H)), 0.0, mask);
  const Tensor concat = reference::join_heads(attention.heads, 1, T, H, D / H);
  const Tensor y = reference::linear(concat, T, D, weights.wo, D, weights.bo);
  for (size_t i = 0; i < y.size(); ++i) output[i] = static_cast<float>(y[i]);
  if (!mixed) return;
  for (size_t i = 0; i < attention.weights.size(); ++i) mixed[i] = static_cast<float>(attention.weights[i]);
}
