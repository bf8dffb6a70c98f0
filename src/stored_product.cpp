#include "stored_product.h"

#include <algorithm>
#include <bit>

#include "matmul.h"
#include "simd.h"
#include "simd_bytes.h"

namespace headscope {
namespace {

using namespace simd;

constexpr size_t kChunk = Parts::kValues;
constexpr size_t kGroup = Parts::kGroup;

/// Plain floats as float32: where they lie, or decoded into `buffer`.
const float* as_floats(TensorType type, const uint8_t* from, size_t n, float* buffer) {
  if (type == TensorType::f32) return reinterpret_cast<const float*>(from);
  dequantize(type, from, n, buffer);
  return buffer;
}

float dot(const float* w, const float* x, size_t n) {
  Vec sums[4] = {splat(0.0F), splat(0.0F), splat(0.0F), splat(0.0F)};
  size_t k = 0;
  for (; k + 4 * kLanes <= n; k += 4 * kLanes) {
    for (size_t i = 0; i < 4; ++i) sums[i] = madd(load(w + k + i * kLanes), load(x + k + i * kLanes), sums[i]);
  }
  for (; k + kLanes <= n; k += kLanes) sums[0] = madd(load(w + k), load(x + k), sums[0]);
  if (k < n) sums[1] = madd(load_partial(w + k, n - k), load_partial(x + k, n - k), sums[1]);
  return sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/// Σ minimum[g] · sums[g] of a chunk, as four sums.
Vec add_minima(const float* minimum, const float* sums, size_t groups, Vec sum) {
  size_t g = 0;
  for (; g + kLanes <= groups; g += kLanes) sum = madd(load(minimum + g), load(sums + g), sum);
  if (g < groups) sum = madd(load_partial(minimum + g, groups - g), load_partial(sums + g, groups - g), sum);
  return sum;
}

using FourParts = Parts[kLanes];

/// The next n values of `columns` (1 … 4) rows; those past the last column are 0.
void take_four_apart(TensorType type, const uint8_t* rows, size_t row_bytes, size_t columns, size_t n,
                     FourParts& parts) {
  for (size_t c = 0; c < columns; ++c) take_apart(type, rows + c * row_bytes, n, parts[c]);
  for (size_t c = columns; c < kLanes; ++c) {
    parts[c] = {};
    parts[c].q = parts[c].bytes;
    parts[c].stride = 0;
  }
}

/// x as multiply_stored_row wants it.
struct IntegerRow {
  float unit;           // what one stands for; NaN where x is not finite
  const int16_t* high;  // split_integers
  const int16_t* low;
  const float* sums;  // of groups of x
};

/// A power of two that leaves the largest |x| between 2^28 and 2^29, unless all are tiny; NaN if x is not finite.
float integer_scale(const float* x, size_t n) {
  Vec largest = splat(0.0F);
  Vec sum = splat(0.0F);
  for (size_t i = 0; i < n; i += kLanes) {
    const Vec size = absolute(load(x + i));
    largest = max(largest, size);
    sum = sum + (size - size);  // 0, or NaN
  }
  const uint32_t exponent = std::max(std::bit_cast<uint32_t>(max_lanes(largest)) >> 23, 40U);
  return std::bit_cast<float>((282U - exponent) << 23) + sum_lanes(sum);
}

IntegerRow split_row(const float* x, size_t depth, float* scratch) {
  auto* high = reinterpret_cast<int16_t*>(scratch);
  int16_t* low = high + depth;
  float* sums = scratch + depth;
  const float scale = integer_scale(x, depth);
  for (size_t k = 0; k < depth; k += kGroup) {
    split_integers(x + k, scale, high + k, low + k);
    split_integers(x + k + 8, scale, high + k + 8, low + k + 8);
    sums[k / kGroup] =
        sum_lanes((load(x + k) + load(x + k + kLanes)) + (load(x + k + 2 * kLanes) + load(x + k + 3 * kLanes)));
  }
  return {1.0F / scale, high, low, sums};
}

/// total[c] += Σ_i scale · q[i] · x[i] of a chunk, four sums for each of the four columns: together, so that each x is
/// loaded once. A function of its own, because V8 does better by small ones.
[[gnu::noinline]] void add_chunk(const FourParts& parts, size_t n, const int16_t* high, const int16_t* low,
                                 Vec (&total)[kLanes]) {
  Vec sum[kLanes] = {total[0], total[1], total[2], total[3]};
  const int8_t* q[kLanes] = {parts[0].q, parts[1].q, parts[2].q, parts[3].q};
  for (size_t i = 0; i < n; i += 2 * kGroup) {
    const size_t g = i / kGroup;
    const SplitIntegers first = load_split(high + i, low + i);
    for (size_t c = 0; c < kLanes; ++c) {
      sum[c] = madd(splat(parts[c].scale[g]), dot_bytes(q[c], first), sum[c]);
    }
    const SplitIntegers second = load_split(high + i + kGroup, low + i + kGroup);
    for (size_t c = 0; c < kLanes; ++c) {
      sum[c] = madd(splat(parts[c].scale[g + 1]), dot_bytes(q[c] + kGroup, second), sum[c]);
      q[c] += parts[c].stride;
    }
  }
  for (size_t c = 0; c < kLanes; ++c) total[c] = sum[c];
}

/// y[n] of `columns` (1 … 4) quantised rows.
void dot_four_columns(TensorType type, const uint8_t* rows, size_t row_bytes, size_t columns, size_t depth,
                      const IntegerRow& x, float* y) {
  const bool minimum = has_minimum(type);
  const size_t chunk_bytes = stored_bytes(type, kChunk);
  FourParts parts;
  Vec total[kLanes] = {splat(0.0F), splat(0.0F), splat(0.0F), splat(0.0F)};
  Vec minima[kLanes] = {splat(0.0F), splat(0.0F), splat(0.0F), splat(0.0F)};
  for (size_t k = 0; k < depth; k += kChunk, rows += chunk_bytes) {
    const size_t n = std::min(kChunk, depth - k);
    take_four_apart(type, rows, row_bytes, columns, n, parts);
    add_chunk(parts, n, x.high + k, x.low + k, total);
    if (!minimum) continue;
    for (size_t c = 0; c < columns; ++c) {
      minima[c] = add_minima(parts[c].minimum, x.sums + k / kGroup, n / kGroup, minima[c]);
    }
  }
  for (size_t c = 0; c < columns; ++c) y[c] = sum_lanes(total[c]) * x.unit - sum_lanes(minima[c]);
}

/// One chunk of four columns into their half of a panel.
template <bool minimum>
[[gnu::noinline]] void pack_chunk(const FourParts& parts, size_t n, float* to) {
  for (size_t g = 0; g < n / kGroup; ++g, to += kGroup * kPanel) {
    const auto of_group = [g](const auto& a, const auto& b, const auto& c, const auto& d) {
      return Vec(a[g], b[g], c[g], d[g]);
    };
    const Vec scale = of_group(parts[0].scale, parts[1].scale, parts[2].scale, parts[3].scale) * constant<kWidened>();
    Vec shift = splat(0.0F);
    if (minimum) shift = of_group(parts[0].minimum, parts[1].minimum, parts[2].minimum, parts[3].minimum);
    Bytes q[4];
    for (size_t c = 0; c < kLanes; ++c) q[c] = load_bytes(parts[c].group(g));
    transpose_bytes(q[0], q[1], q[2], q[3]);
    for (size_t step = 0; step < 4; ++step) {
      Vec w[4];
      widen(q[step], w);
      for (size_t part = 0; part < 4; ++part) {
        const Vec scaled = scale * w[part];
        store(to + (4 * step + part) * kPanel, minimum ? scaled - shift : scaled);
      }
    }
  }
}

/// Columns c … c + 3 of a panel from `columns` (1 … 4) quantised rows; `to` is the panel's place of column c.
void pack_four_columns(TensorType type, const uint8_t* rows, size_t row_bytes, size_t columns, size_t count,
                       float* to) {
  const bool minimum = has_minimum(type);
  const size_t chunk_bytes = stored_bytes(type, kChunk);
  FourParts parts;
  for (size_t k = 0; k < count; k += kChunk, rows += chunk_bytes) {
    const size_t n = std::min(kChunk, count - k);
    take_four_apart(type, rows, row_bytes, columns, n, parts);
    minimum ? pack_chunk<true>(parts, n, to + k * kPanel) : pack_chunk<false>(parts, n, to + k * kPanel);
  }
}

}  // namespace

void multiply_stored_row(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t depth,
                         const float* x, float* scratch, float* y) {
  const auto* bytes = static_cast<const uint8_t*>(rows);
  if (block_values(type) > 1) {
    const IntegerRow integers = split_row(x, depth, scratch);
    for (size_t n = 0; n < columns; n += kLanes, bytes += kLanes * row_bytes) {
      dot_four_columns(type, bytes, row_bytes, std::min(kLanes, columns - n), depth, integers, y + n);
    }
    return;
  }
  float buffer[kChunk];
  for (size_t n = 0; n < columns; ++n, bytes += row_bytes) {
    float sum = 0.0F;
    for (size_t k = 0; k < depth; k += kChunk) {
      const size_t count = std::min(kChunk, depth - k);
      sum += dot(as_floats(type, bytes + stored_bytes(type, k), count, buffer), x + k, count);
    }
    y[n] = sum;
  }
}

void add_stored_rows(TensorType type, const void* rows, size_t depth, size_t columns, const float* x, float* y) {
  const auto* bytes = static_cast<const uint8_t*>(rows);
  const size_t row_bytes = stored_bytes(type, columns);
  float buffer[4][kChunk];
  // Four rows at a time, so that y is read and written a quarter as often.
  for (size_t k = 0; k < depth; k += 4) {
    const size_t taken = std::min(size_t{4}, depth - k);
    for (size_t n = 0; n < columns; n += kChunk) {
      const size_t width = std::min(kChunk, columns - n);
      const float* w[4];
      for (size_t i = 0; i < taken; ++i) {
        w[i] = as_floats(type, bytes + (k + i) * row_bytes + stored_bytes(type, n), width, buffer[i]);
      }
      size_t j = 0;
      if (taken == 4) {
        const Vec x0 = splat(x[k]);
        const Vec x1 = splat(x[k + 1]);
        const Vec x2 = splat(x[k + 2]);
        const Vec x3 = splat(x[k + 3]);
        for (; j + kLanes <= width; j += kLanes) {
          const Vec sum = madd(x1, load(w[1] + j), madd(x0, load(w[0] + j), load(y + n + j)));
          store(y + n + j, madd(x3, load(w[3] + j), madd(x2, load(w[2] + j), sum)));
        }
      }
      for (; j < width; ++j) {
        Vec sum = splat(y[n + j]);
        for (size_t i = 0; i < taken; ++i) sum = madd(splat(x[k + i]), splat(w[i][j]), sum);
        store_partial(y + n + j, sum, 1);
      }
    }
  }
}

void pack_stored_columns(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t first,
                         size_t count, float* packed) {
  const auto* bytes = static_cast<const uint8_t*>(rows);
  const bool plain = block_values(type) == 1;
  for (size_t n = 0; n < columns; n += kLanes, bytes += kLanes * row_bytes) {
    float* panel = packed + n / kPanel * kPanel * count;
    const size_t width = std::min(kLanes, columns - n);
    if (n % kPanel == 0 && columns - n < kPanel) std::fill(panel, panel + kPanel * count, 0.0F);
    if (!plain) {
      pack_four_columns(type, bytes + stored_bytes(type, first), row_bytes, width, count, panel + n % kPanel);
      continue;
    }
    float buffer[kLanes * kChunk];
    for (size_t k = 0; k < count; k += kChunk) {
      const size_t length = std::min(kChunk, count - k);
      const float* values = buffer;
      size_t stride = kChunk;
      if (type == TensorType::f32) {
        values = reinterpret_cast<const float*>(bytes) + first + k;
        stride = row_bytes / sizeof(float);
      } else {
        for (size_t c = 0; c < width; ++c) {
          dequantize(type, bytes + c * row_bytes + stored_bytes(type, first + k), length, buffer + c * kChunk);
        }
      }
      append_columns(values, stride, length, n % kPanel, width, panel + k * kPanel, 0);
    }
  }
}

void pack_stored_rows(TensorType type, const void* rows, size_t row_bytes, size_t columns, size_t count, float* panel) {
  if (type == TensorType::f32) {
    return pack_in_out(static_cast<const float*>(rows), row_bytes / sizeof(float), count, columns, panel);
  }
  const auto* bytes = static_cast<const uint8_t*>(rows);
  for (size_t k = 0; k < count; ++k, bytes += row_bytes, panel += kPanel) {
    if (columns < kPanel) {
      dequantize(type, bytes, columns, panel);
      std::fill(panel + columns, panel + kPanel, 0.0F);
    } else if (type == TensorType::f16) {
      store(panel, load_halves(bytes));
      store(panel + kLanes, load_halves(bytes + 8));
    } else {
      store(panel, load_brain_halves(bytes));
      store(panel + kLanes, load_brain_halves(bytes + 8));
    }
  }
}

}  // namespace headscope
