// Which keys a query may see. Everything that can hide a key is here, and nothing else decides it:
//
//   causal          key j visible to query i when j ≤ p            p = i + offset
//   window          p − left ≤ j ≤ p + right
//   key lengths     j < lengths[b]
//   key mask        key_mask[b, j] ≠ 0
//   boolean mask    mask[b, h, i, j] ≠ 0                            true = may attend
//   bias            bias[b, h, i, j] is added to the score; −Infinity hides, any finite value only adds
//
// A key is visible when every one allows it. The first three leave one run of keys per query, so whole tiles
// outside it are never computed; the others are turned into one row of addends, 0 or the bias or −Infinity.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd.h"
#include "softmax.h"

namespace headscope {

/// A tensor read by broadcasting to [B, H, T, S]: strides in elements, 0 along an axis that repeats.
template <class T>
struct Broadcast {
  const T* data = nullptr;
  size_t stride_b = 0;
  size_t stride_h = 0;
  size_t stride_t = 0;
  size_t stride_s = 0;

  [[nodiscard]] const T* row(size_t b, size_t h, size_t i) const {
    return data + b * stride_b + h * stride_h + i * stride_t;
  }
};

/// Keys begin … end − 1; empty when begin == end.
struct KeyRange {
  size_t begin;
  size_t end;
};

struct Mask {
  bool causal = false;
  bool has_left = false;
  bool has_right = false;
  int64_t offset = 0;  // query i stands at position i + offset, key j at position j
  int64_t left = 0;
  int64_t right = 0;
  const int32_t* lengths = nullptr;   // [B]
  const uint8_t* key_mask = nullptr;  // [B, S]
  Broadcast<uint8_t> allowed;
  Broadcast<float> bias;

  /// The run of keys that causal, window and length leave to query i. Both ends never fall as i grows.
  [[nodiscard]] KeyRange range(size_t b, size_t i, size_t keys) const {
    if (!(causal || has_right || has_left || lengths != nullptr)) return {0, keys};
    const int64_t position = static_cast<int64_t>(i) + offset;
    const auto last = static_cast<int64_t>(keys);
    int64_t begin = 0;
    int64_t end = last;
    if (causal) end = std::min(end, position + 1);
    if (has_right) end = std::min(end, position + right + 1);
    if (has_left) begin = std::max(begin, position - left);
    if (lengths != nullptr) end = std::min<int64_t>(end, lengths[b]);
    end = std::max<int64_t>(end, 0);
    begin = std::min(begin, end);
    return {static_cast<size_t>(begin), static_cast<size_t>(end)};
  }

  /// True when rows of addends are needed at all.
  [[nodiscard]] bool has_addends() const {
    return key_mask != nullptr || allowed.data != nullptr || bias.data != nullptr;
  }

  /// The whole rule for one place, outside of `range` too.
  [[nodiscard]] bool visible(size_t b, size_t h, size_t i, size_t j, size_t keys) const {
    const KeyRange run = range(b, i, keys);
    if (j < run.begin || j >= run.end) return false;
    if (key_mask != nullptr && key_mask[b * keys + j] == 0) return false;
    if (allowed.data != nullptr && allowed.row(b, h, i)[j * allowed.stride_s] == 0) return false;
    return bias.data == nullptr || bias.row(b, h, i)[j * bias.stride_s] != kHidden;
  }

  /// Whether the masks and the bias leave query i any of the keys begin … begin + n − 1.
  [[nodiscard]] bool any_allowed(size_t b, size_t h, size_t i, size_t begin, size_t n, size_t keys) const {
    for (size_t j = begin; j < begin + n; ++j) {
      if (key_mask != nullptr && key_mask[b * keys + j] == 0) continue;
      if (allowed.data != nullptr && allowed.row(b, h, i)[j * allowed.stride_s] == 0) continue;
      if (bias.data != nullptr && bias.row(b, h, i)[j * bias.stride_s] == kHidden) continue;
      return true;
    }
    return false;
  }

  /// addends[j − begin] for keys begin … begin + n − 1 of query i.
  [[gnu::noinline]] void fill_addends(size_t b, size_t h, size_t i, size_t begin, size_t n, size_t keys,
                                      float* addends) const {
    if (bias.data != nullptr) {
      const float* from = bias.row(b, h, i) + begin * bias.stride_s;
      if (bias.stride_s == 1) {
        std::copy_n(from, n, addends);
      } else {
        for (size_t j = 0; j < n; ++j) addends[j] = from[j * bias.stride_s];
      }
    } else {
      std::fill_n(addends, n, 0.0F);
    }
    if (allowed.data != nullptr) {
      const uint8_t* from = allowed.row(b, h, i) + begin * allowed.stride_s;
      for (size_t j = 0; j < n; ++j) addends[j] = from[j * allowed.stride_s] != 0 ? addends[j] : kHidden;
    }
    if (key_mask != nullptr) {
      const uint8_t* from = key_mask + b * keys + begin;
      for (size_t j = 0; j < n; ++j) addends[j] = from[j] != 0 ? addends[j] : kHidden;
    }
  }
};

/// scores[j] += addends[j]; where the addend is −Infinity the score becomes −Infinity whatever it was, so that
/// a NaN or +Infinity behind the mask does not come through.
[[gnu::noinline]] inline void add_or_hide(float* scores, const float* addends, size_t n) {
  using namespace simd;
  const Vec hidden = splat(kHidden);
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    const Vec addend = load(addends + j);
    store(scores + j, select_equal(addend, hidden, hidden, load(scores + j) + addend));
  }
  if (j < n) {
    const Vec addend = load_partial(addends + j, n - j);
    const Vec sum = load_partial(scores + j, n - j) + addend;
    store_partial(scores + j, select_equal(addend, hidden, hidden, sum), n - j);
  }
}

}  // namespace headscope
