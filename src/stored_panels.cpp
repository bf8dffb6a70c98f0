#include "stored_panels.h"

#include <algorithm>

#include "memory.h"
#include "simd.h"
#include "simd_bytes.h"

namespace headscope {
namespace {

using namespace simd;

constexpr size_t kVectors = 8;

/// The bits from `shift` on of 8 vectors, `width` of each byte, as `width` vectors: the first has those of the first
/// 8 / width vectors, from the lowest bit up.
void put_plane(const Bytes (&v)[kVectors], unsigned width, unsigned shift, uint8_t* to) {
  const unsigned all = (1U << width) - 1;
  const Bytes mask = splat_byte(static_cast<uint8_t>(all));
  for (unsigned i = 0; i < kVectors; to += 16) {
    Bytes plane = bits(v[i++], shift, mask);
    for (unsigned at = width; at < 8; at += width) {
      plane = plane | bits_up(bits(v[i++], shift, mask), at, splat_byte(static_cast<uint8_t>(all << at)));
    }
    store_bytes(to, plane);
  }
}

/// Group g of eight columns.
void put_steps(const Parts (&columns)[kPanel], size_t g, Form form, uint8_t* to) {
  const Bytes offset = splat_byte(static_cast<uint8_t>(-form.offset));
  Bytes v[kVectors];
  for (size_t half = 0; half < 2; ++half) {
    Bytes q[kLanes];
    for (size_t c = 0; c < kLanes; ++c) q[c] = load_bytes(columns[half * kLanes + c].group(g)) - offset;
    transpose_words(q[0], q[1], q[2], q[3]);
    for (size_t step = 0; step < kLanes; ++step) v[2 * step + half] = q[step];
  }
  put_plane(v, form.low, 0, to);
  if (form.high > 0) put_plane(v, form.high, form.low, to + size_t{16} * form.low);
}

/// One block of eight columns, which begins at group `first` of the parts.
void put_block(const Parts (&columns)[kPanel], size_t first, const BlockLayout& layout, uint8_t* to) {
  for (size_t c = 0; c < kPanel; ++c) {
    const Parts& parts = columns[c];
    for (size_t part = 0; part < (layout.minima > 0 ? 2 : 1); ++part) {
      uint8_t* at = to + part * layout.scales;
      auto* floats = reinterpret_cast<float*>(at);
      if (layout.groups == 1) {
        floats[c] = part == 0 ? parts.scale[first] : parts.minimum[first];
        continue;
      }
      floats[c] = parts.d[part];
      for (size_t g = 0; g < layout.groups; ++g) {
        at[kPanel * (sizeof(float) + g) + c] = static_cast<uint8_t>(parts.factors[part][g]);
      }
    }
  }
  to += layout.scales + layout.minima;
  for (size_t g = 0; g < layout.values / kSteps; ++g, to += layout.steps)
    put_steps(columns, first + g, layout.form, to);
}

Form form_of(TensorType type) {
  switch (type) {
    case TensorType::q4_0: return {4, 0, 32, 8};
    case TensorType::q4_1: return {4, 0, 32, 0};
    case TensorType::q5_0: return {4, 1, 32, 16};
    case TensorType::q5_1: return {4, 1, 32, 0};
    case TensorType::q2_k: return {2, 0, 16, 0};
    case TensorType::q3_k: return {2, 1, 16, 4};
    case TensorType::q4_k: return {4, 0, 32, 0};
    case TensorType::q5_k: return {4, 1, 32, 0};
    case TensorType::q6_k: return {4, 2, 16, 32};
    default: return {8, 0, 32, 128};
  }
}

}  // namespace

BlockLayout layout_of(TensorType type) {
  const Form form = form_of(type);
  const size_t block = block_values(type);
  const size_t groups = block / form.group;
  const size_t scales = kPanel * (block > form.group ? sizeof(float) + groups : sizeof(float));
  const size_t minima = has_minimum(type) ? scales : 0;
  const size_t steps = size_t{16} * (form.low + form.high);
  return {form, block, groups, scales, minima, steps, scales + minima + block / kSteps * steps};
}

uint64_t stored_panels_bytes(TensorType type, size_t depth, size_t columns) {
  const uint64_t panels = panel_count(columns);
  if (block_values(type) == 1) return saturating_product((panels + 1) / 2 * kPair * sizeof(uint16_t), depth);
  const BlockLayout layout = layout_of(type);
  return saturating_product(panels * layout.bytes, depth / layout.values);
}

bool keep_halves(TensorType type, const float* packed, size_t depth, size_t panel, uint8_t* panels) {
  uint16_t* to = reinterpret_cast<uint16_t*>(panels) + halves_at(depth, panel);
  const float* const end = packed + depth * kPanel;
  if (type == TensorType::bf16) {
    for (; packed < end; packed += kPanel, to += kPair) store_upper_halves(load(packed), load(packed + kLanes), to);
    return true;
  }
  Vec largest = splat(0.0F);
  Vec broken = splat(0.0F);
  for (; packed < end; packed += kPanel, to += kPair) {
    const Vec left = load(packed);
    const Vec right = load(packed + kLanes);
    largest = max(largest, max(absolute(left), absolute(right)));
    broken = broken + ((left - left) + (right - right));  // 0, or NaN
    store_kept_halves(left, right, to);
  }
  return max_lanes(largest) < kKeptHalfLimit && sum_lanes(broken) == 0.0F;
}

void rearrange(TensorType type, const void* rows, size_t row_bytes, size_t depth, size_t columns, uint8_t* panels) {
  const BlockLayout layout = layout_of(type);
  Parts parts[kPanel];
  for (size_t n = 0; n < columns; n += kPanel) {
    for (size_t k = 0; k < depth; k += Parts::kValues) {
      const size_t values = std::min(Parts::kValues, depth - k);
      for (size_t c = 0; c < kPanel; ++c) {
        if (n + c < columns) {
          const uint8_t* row = static_cast<const uint8_t*>(rows) + (n + c) * row_bytes;
          take_apart(type, row + stored_bytes(type, k), values, parts[c]);
        } else {
          parts[c] = {};
          parts[c].q = parts[c].bytes;
        }
      }
      for (size_t at = 0; at < values; at += layout.values, panels += layout.bytes) {
        put_block(parts, at / Parts::kGroup, layout, panels);
      }
    }
  }
}

}  // namespace headscope
