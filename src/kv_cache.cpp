#include "kv_cache.h"

#include <algorithm>
#include <new>

#include "rows.h"
#include "simd.h"

namespace headscope {
namespace {

bool all_finite(const float* x, size_t n) {
  // x · 0 is 0 for a finite x and NaN else, and a sum keeps a NaN.
  using namespace simd;
  const Vec zero = splat(0.0F);
  Vec sum = zero;
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) sum = madd(load(x + j), zero, sum);
  if (j < n) sum = madd(load_partial(x + j, n - j), zero, sum);
  return sum_lanes(sum) == 0.0F;
}

}  // namespace

uint64_t KeyValues::need(size_t batch, size_t heads, size_t head_dim, size_t value_head_dim, size_t capacity) {
  const uint64_t rows = saturating_product(batch, heads);
  const uint64_t panels = saturating_product(uint64_t{panel_count(capacity)} * kPanel, head_dim);
  const uint64_t columns = saturating_product(padded_columns(value_head_dim), capacity);
  return saturating_product(rows, panels > UINT64_MAX - columns ? UINT64_MAX : panels + columns);
}

void KeyValues::attach(float* memory, uint8_t* value_flags, size_t batch, size_t heads, size_t head_dim,
                       size_t value_head_dim, size_t capacity) {
  heads_ = heads;
  head_dim_ = head_dim;
  value_head_dim_ = value_head_dim;
  capacity_ = capacity;
  key_floats_ = padded_columns(capacity) * head_dim;
  value_floats_ = padded_columns(value_head_dim) * capacity;
  keys_ = memory;
  values_ = memory + batch * heads * key_floats_;
  value_flags_ = value_flags;
  std::fill_n(value_flags, batch * heads, uint8_t{0});
}

void KeyValues::append(size_t item, size_t head, size_t length, size_t count, const float* keys, size_t key_stride,
                       const float* values, size_t value_stride) {
  const size_t slot = item * heads_ + head;
  float* key_panels = keys_ + slot * key_floats_;
  // A tile computes all 8 keys of its panel and stores those that exist. A panel that stays unfinished is cleared when
  // it is begun, so that what is computed on the way is never whatever lay in this memory before.
  const size_t last = (length + count) / kPanel * kPanel;
  if (last < length + count && last >= length) {
    fill_row(key_panels + last * head_dim_, key_panel_stride(), 0.0F);
  }
  append_columns(keys, key_stride, head_dim_, length, count, key_panels, key_panel_stride());

  append_rows(values, value_stride, length, count, value_head_dim_, values_ + slot * value_floats_,
              value_panel_stride());
  for (size_t j = 0; j < count && value_flags_[slot] == 0; ++j) {
    if (!all_finite(values + j * value_stride, value_head_dim_)) value_flags_[slot] = 1;
  }
}

void KeyValues::copy_keys(size_t item, size_t head, size_t count, float* to) const {
  const float* panels = keys(item, head);
  for (size_t j = 0; j < count; ++j) {
    const float* from = panels + j / kPanel * key_panel_stride() + j % kPanel;
    for (size_t c = 0; c < head_dim_; ++c) *to++ = from[c * kPanel];
  }
}

void KeyValues::copy_values(size_t item, size_t head, size_t count, float* to) const {
  const float* panels = values(item, head);
  for (size_t j = 0; j < count; ++j) {
    for (size_t c = 0; c < value_head_dim_; ++c) {
      *to++ = panels[c / kPanel * value_panel_stride() + j * kPanel + c % kPanel];
    }
  }
}

KVCache* KVCache::create(size_t batch, size_t heads, size_t head_dim, size_t value_head_dim, size_t capacity) {
  auto* cache = new (std::nothrow) KVCache;
  if (cache == nullptr) return nullptr;
  const uint64_t floats = KeyValues::need(batch, heads, head_dim, value_head_dim, capacity);
  const uint64_t flags = saturating_product(batch, heads);
  if (!cache->memory_.reserve(saturating_product(floats, sizeof(float))) || !cache->flags_.reserve(flags)) {
    delete cache;
    return nullptr;
  }
  cache->key_values_.attach(cache->memory_.as<float>(), cache->flags_.as<uint8_t>(), batch, heads, head_dim,
                            value_head_dim, capacity);
  cache->batch_ = batch;
  cache->capacity_ = capacity;
  return cache;
}

void KVCache::truncate(size_t length) { length_ = std::min(length_, length); }

}  // namespace headscope
