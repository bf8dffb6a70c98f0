// Keys and values of every head, in the layout that the two attention products read.
//
//   keys    per item and head  [ceil(capacity / 8)][dk][8]     panels of 8 keys: the B of scores = Q · Kᵀ
//   values  per item and head  [ceil(dv / 8)][capacity][8]     panels of 8 value columns: the B of W · V
//
// Both grow along the keys without moving what is there, so the same structure serves one call without a cache
// and a cache that lives across calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matmul.h"
#include "memory.h"
#include "status.h"

namespace headscope {

class KeyValues {
 public:
  /// Floats that `attach` needs for these sizes.
  static uint64_t need(size_t batch, size_t heads, size_t head_dim, size_t value_head_dim, size_t capacity);

  /// Lies over memory of `need` floats owned by somebody else; it holds no key yet.
  void attach(float* memory, uint8_t* value_flags, size_t batch, size_t heads, size_t head_dim, size_t value_head_dim,
              size_t capacity);

  /// Puts `count` keys and values of one item and head behind the first `length` ones.
  /// keys[j · key_stride + c], values[j · value_stride + c].
  void append(size_t item, size_t head, size_t length, size_t count, const float* keys, size_t key_stride,
              const float* values, size_t value_stride);

  [[nodiscard]] const float* keys(size_t item, size_t head) const {
    return keys_ + (item * heads_ + head) * key_floats_;
  }
  [[nodiscard]] const float* values(size_t item, size_t head) const {
    return values_ + (item * heads_ + head) * value_floats_;
  }
  [[nodiscard]] size_t key_panel_stride() const { return head_dim_ * kPanel; }
  [[nodiscard]] size_t value_panel_stride() const { return capacity_ * kPanel; }

  /// False once a NaN or an Infinity was appended: 0 · NaN is NaN, so a weight of 0 then hides nothing and
  /// hidden values have to be left out of the sum instead.
  [[nodiscard]] bool values_finite(size_t item, size_t head) const { return value_flags_[item * heads_ + head] == 0; }

  /// The first `count` keys [count, dk] or values [count, dv] as rows, for results.
  void copy_keys(size_t item, size_t head, size_t count, float* to) const;
  void copy_values(size_t item, size_t head, size_t count, float* to) const;

  [[nodiscard]] size_t heads() const { return heads_; }
  [[nodiscard]] size_t head_dim() const { return head_dim_; }
  [[nodiscard]] size_t value_head_dim() const { return value_head_dim_; }

 private:
  float* keys_ = nullptr;
  float* values_ = nullptr;
  uint8_t* value_flags_ = nullptr;  // [batch · heads], 1 = holds a NaN or an Infinity
  size_t heads_ = 0;
  size_t head_dim_ = 0;
  size_t value_head_dim_ = 0;
  size_t capacity_ = 0;
  size_t key_floats_ = 0;
  size_t value_floats_ = 0;
};

/// Keys and values that stay from call to call. Sizes are fixed at creation; every item of the batch has the
/// same length.
class KVCache {
 public:
  /// Null when out of memory.
  static KVCache* create(size_t batch, size_t heads, size_t head_dim, size_t value_head_dim, size_t capacity);

  [[nodiscard]] size_t batch() const { return batch_; }
  [[nodiscard]] size_t capacity() const { return capacity_; }
  [[nodiscard]] size_t length() const { return length_; }
  [[nodiscard]] size_t bytes() const { return memory_.bytes() + flags_.bytes(); }
  [[nodiscard]] KeyValues& key_values() { return key_values_; }

  /// Makes appended keys part of the cache, once the call that computed them has succeeded.
  void advance(size_t count) { length_ += count; }
  /// Forgets all keys from position `length` on; a larger length changes nothing.
  void truncate(size_t length);

 private:
  KVCache() = default;

  Buffer memory_;
  Buffer flags_;
  KeyValues key_values_;
  size_t batch_ = 0;
  size_t capacity_ = 0;
  size_t length_ = 0;
};

}  // namespace headscope
