#include "stored_product.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "simd.h"
#include "simd_bytes.h"
#include "stored_panels.h"

namespace headscope {
namespace {

using namespace simd;

// How many steps along the depth are worked on between two looks at the type.
constexpr size_t kChunk = Parts::kValues;
constexpr size_t kVectors = 8;

// ---- out of panels --------------------------------------------------------------------------------------------------

/// Vector i of 8 with `width` bits of each byte, from `shift` on.
template <unsigned width, unsigned shift>
Bytes take_plane(const uint8_t* plane, unsigned i) {
  const Bytes mask = constant_byte<((1U << width) - 1) << shift>();
  const Bytes x = load_bytes(plane + size_t{16} * (i * width / 8));
  const unsigned at = i * width % 8;
  return at > shift ? bits(x, at - shift, mask) : bits_up(x, shift - at, mask);
}

/// The integers of n steps as bytes, from planes of `low` and `high` bits, of which each block has `of_block` steps and
/// begins `stride` bytes after the one before.
template <unsigned low, unsigned high>
void take_bytes(const uint8_t* block, size_t of_block, size_t stride, size_t n, uint8_t* to) {
  for (; n > 0; n -= of_block, block += stride) {
    const uint8_t* planes = block;
    for (size_t k = 0; k < of_block; k += kSteps, planes += size_t{16} * (low + high)) {
      for (unsigned i = 0; i < kVectors; ++i, to += 16) {
        Bytes q = take_plane<low, 0>(planes, i);
        if constexpr (high > 0) q = q | take_plane<high, low>(planes + size_t{16} * low, i);
        store_bytes(to, q);
      }
    }
  }
}

using TakeBytes = void (*)(const uint8_t*, size_t, size_t, size_t, uint8_t*);
constexpr TakeBytes kTakeBytes[] = {take_bytes<4, 0>, take_bytes<4, 1>, take_bytes<4, 2>, take_bytes<2, 0>,
                                    take_bytes<2, 1>};

/// to[g][8] = d[8] · factors[g][8]
[[gnu::noinline]] void multiply_factors(const uint8_t* from, size_t groups, float* to) {
  const auto* d = reinterpret_cast<const float*>(from);
  const Vec left = load(d) * constant<kWidened>();
  const Vec right = load(d + kLanes) * constant<kWidened>();
  from += kPanel * sizeof(float);
  for (; groups > 0; groups -= 2, from += 2 * kPanel, to += 2 * kPanel) {
    Vec factors[4];
    widen(load_bytes(from), factors);
    store(to, left * factors[0]);
    store(to + kLanes, right * factors[1]);
    store(to + 2 * kLanes, left * factors[2]);
    store(to + 3 * kLanes, right * factors[3]);
  }
}

bool is_nibbles(Form form) { return form.low == 4 && form.high == 0; }

/// A run of up to kChunk steps of a panel, a group of one scale after another.
struct Run {
  const uint8_t* q;      // of the first group
  size_t q_stride;       // bytes to the next group
  const float* scale;    // [8] of the first group
  const float* minimum;  // or null
  size_t scale_stride;   // floats to the next group
  size_t groups;

  uint8_t bytes[kChunk * kPanel];
  float products[2][kChunk / kSteps * kPanel];
};

/// Steps k … k + n − 1 of a panel. The integers of Q4 types stay in their planes where the caller can use them so.
void open_run(const BlockLayout& layout, const uint8_t* panel, size_t k, size_t n, bool nibbles, Run& run) {
  const Form form = layout.form;
  const uint8_t* from = panel + k / layout.values * layout.bytes;
  const uint8_t* planes = from + layout.scales + layout.minima;
  run.groups = n / form.group;
  if (form.low == 8 || (nibbles && is_nibbles(form))) {
    run.q = planes;
    run.q_stride = layout.groups > 1 ? form.group / kSteps * layout.steps : layout.bytes;
  } else {
    run.q = run.bytes;
    run.q_stride = form.group * kPanel;
    kTakeBytes[(form.low == 2 ? 3 : 0) + form.high](planes, layout.values, layout.bytes, n, run.bytes);
  }
  if (layout.groups == 1) {
    run.scale = reinterpret_cast<const float*>(from);
    run.minimum = run.scale + kPanel;
    run.scale_stride = layout.bytes / sizeof(float);
  } else {
    run.scale = run.products[0];
    run.minimum = run.products[1];
    run.scale_stride = kPanel;
    multiply_factors(from, layout.groups, run.products[0]);
    if (layout.minima > 0) multiply_factors(from + layout.scales, layout.groups, run.products[1]);
  }
  if (layout.minima == 0) run.minimum = nullptr;
}

/// A run as floats: scale · (q − offset) − minimum, with one rounding for the product and one for the difference.
template <bool minimum>
[[gnu::noinline]] void decode_run(const Run& run, Form form, float* to) {
  const Bytes offset = splat_byte(form.offset);
  const float* scale = run.scale;
  const float* low = run.minimum;
  const uint8_t* group = run.q;
  for (size_t g = 0; g < run.groups; ++g, scale += run.scale_stride, low += run.scale_stride, group += run.q_stride) {
    const uint8_t* q = group;
    for (size_t k = 0; k < form.group; k += 4, to += 4 * kPanel) {
      for (size_t half = 0; half < 2; ++half, q += 16) {
        const Bytes x = load_bytes(q) - offset;
        const Vec factor = load(scale + half * kLanes);
        const Vec shift = minimum ? load(low + half * kLanes) : factor;
        float* at = to + half * kLanes;
        const Vec w[] = {factor * bytes_to_floats<0>(x), factor * bytes_to_floats<1>(x), factor * bytes_to_floats<2>(x),
                         factor * bytes_to_floats<3>(x)};
        for (size_t i = 0; i < 4; ++i) store(at + i * kPanel, minimum ? w[i] - shift : w[i]);
      }
    }
  }
}

using DecodeRun = void (*)(const Run&, Form, float*);
constexpr DecodeRun kDecodeRun[] = {decode_run<false>, decode_run<true>};

// ---- one row --------------------------------------------------------------------------------------------------------

// A row of x as integers, a group after another: what its integers count, as a float; −(what the offset of the weights
// adds) in two parts, of which the first counts as the upper digits do; −Σ x of the group, a float; then its integers,
// 16 bytes for each four.
constexpr size_t kGroupHead = 16;

/// Whether a type's integers are multiplied as bytes: nibbles, where the build has an instruction for that.
bool by_bytes([[maybe_unused]] Form form) {
#if defined(__wasm_relaxed_simd__)
  return is_nibbles(form);
#elif defined(__wasm__)
  return false;
#else
  return stored_row_by_bytes && is_nibbles(form);
#endif
}

/// A power of two that brings the largest |x| to between a 64th below 2^22 and a 64th below 2^23, unless all are tiny;
/// NaN if an x is not finite.
float integer_scale(const float* x, size_t n) {
  Vec largest = splat(0.0F);
  Vec sum = splat(0.0F);
  for (size_t i = 0; i < n; i += kLanes) {
    const Vec size = absolute(n - i < kLanes ? load_partial(x + i, n - i) : load(x + i));
    largest = max(largest, size);
    sum = sum + (size - size);  // 0, or NaN
  }
  const float most = max_lanes(largest) * (1.0F + 0x1p-6F);
  const uint32_t exponent = std::max(std::bit_cast<uint32_t>(most) >> 23, 40U);
  return std::bit_cast<float>((276U - exponent) << 23) + sum_lanes(sum);
}

[[gnu::noinline]] void split_row(const float* x, size_t depth, Form form, uint8_t* to) {
  for (const float* const end = x + depth; x < end; x += form.group) {
    const float scale = integer_scale(x, form.group);
    auto* head = reinterpret_cast<int32_t*>(to);
    auto* float_head = reinterpret_cast<float*>(to);
    to += kGroupHead;
    Integers sum = no_integers();
    for (size_t i = 0; i < form.group; i += kLanes, to += 16) {
      const Integers each = to_integers(load(x + i) * splat(scale));
      sum = sum + each;
#if defined(__wasm_relaxed_simd__) || !defined(__wasm__)
      if (by_bytes(form)) {
        store_digits(each, to);
        continue;
      }
#endif
      store_words(each, to);
    }
    const int32_t total = sum_integers(sum);
    const float unit = 1.0F / scale;
    float_head[0] = unit;
    const unsigned digits = by_bytes(form) ? 16 : 12;
    head[1] = -form.offset * (total >> digits);
    head[2] = -form.offset * (total & ((1 << digits) - 1));
    float_head[3] = -unit * static_cast<float>(total);
  }
}

// A loop that the compiler does not unroll: V8 does that itself, and spills where the compiler has done it already.
#if defined(__clang__)
#define HEADSCOPE_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define HEADSCOPE_KEEP_LOOP
#endif

#if defined(__wasm_relaxed_simd__) || !defined(__wasm__)

/// total[8] += Σ_k scale · q[k] · x[k] over the groups of a run, q nibbles, the digits of x one byte each. Sums have 16
/// bits: room for a group, 8 · 2 · 15 · 128 < 2^15. Small, and asked for often, because V8 does better by such
/// functions.
void add_nibbles_by_bytes(const Run& run, const uint8_t* x, float* total) {
  constexpr size_t kGroup = 32;
  const uint8_t* q = run.q;
  const float* scale = run.scale;
  const size_t q_gap = run.q_stride - kGroup * kPanel / 2;
  Vec sums[2] = {load(total), load(total + kLanes)};
  for (size_t g = 0; g < run.groups; ++g, scale += run.scale_stride, q += q_gap) {
    const auto* head = reinterpret_cast<const int32_t*>(x);
    const Vec unit = splat(*reinterpret_cast<const float*>(x));
    const Integers high_start = load_splat(head + 1);
    const Integers low_start = load_splat(head + 2);
    x += kGroupHead;
    Words digits[2][3] = {};
    HEADSCOPE_KEEP_LOOP
    for (size_t k = 0; k < kGroup; k += 4, q += 16, x += 16) {
      const Bytes both = load_bytes(q);
      const Bytes left = both & constant_byte<15>();
      const Bytes right = bits(both, 4, constant_byte<15>());
      for (size_t i = 0; i < 3; ++i) {
        digits[0][i] = digits[0][i] + dot_pairs(left, x + 4 * i);
        digits[1][i] = digits[1][i] + dot_pairs(right, x + 4 * i);
      }
    }
    for (size_t half = 0; half < 2; ++half) {
      const Integers high = high_start + add_pairs(digits[half][0]);
      const Integers low = shift_up<8>(add_pairs(digits[half][1])) + (low_start + add_pairs(digits[half][2]));
      const Vec sum = madd(to_floats(high), constant<65536.0F>(), to_floats(low));
      sums[half] = madd(sum, load(scale + half * kLanes) * unit, sums[half]);
    }
  }
  store(total, sums[0]);
  store(total + kLanes, sums[1]);
}

#endif

/// The same for nibbles or bytes, with digits of 16 bits. Words of weights hold steps 0 and 2, or 1 and 3, of four
/// columns.
template <bool nibbles, size_t group>
void add_run_by_words(const Run& run, const uint8_t* x, float* total) {
  const uint8_t* q = run.q;
  const float* scale = run.scale;
  const size_t q_gap = run.q_stride - group * (nibbles ? kPanel / 2 : kPanel);
  Vec sums[2] = {load(total), load(total + kLanes)};
  for (size_t g = 0; g < run.groups; ++g, scale += run.scale_stride, q += q_gap) {
    const auto* head = reinterpret_cast<const int32_t*>(x);
    const Vec unit = splat(*reinterpret_cast<const float*>(x));
    x += kGroupHead;
    Integers upper[] = {load_splat(head + 1), load_splat(head + 1)};
    Integers lower[] = {load_splat(head + 2), load_splat(head + 2)};
    HEADSCOPE_KEEP_LOOP
    for (size_t k = 0; k < group; k += 4, q += nibbles ? 16 : 32, x += 16) {
      for (size_t half = 0; half < 2; ++half) {
        const Bytes bytes = load_bytes(nibbles ? q : q + 16 * half);
        const Words even = !nibbles    ? word_bits<0, 255>(bytes)
                           : half == 0 ? word_bits<0, 15>(bytes)
                                       : word_bits<4, 15>(bytes);
        const Words odd = !nibbles    ? word_bits<8, 255>(bytes)
                          : half == 0 ? word_bits<8, 15>(bytes)
                                      : word_bits<12, 15>(bytes);
        upper[half] = add_dot(even, load_pair(x), upper[half]);
        lower[half] = add_dot(even, load_pair(x + 8), lower[half]);
        upper[half] = add_dot(odd, load_pair(x + 4), upper[half]);
        lower[half] = add_dot(odd, load_pair(x + 12), lower[half]);
      }
    }
    for (size_t half = 0; half < 2; ++half) {
      const Vec sum = madd(to_floats(upper[half]), constant<4096.0F>(), to_floats(lower[half]));
      sums[half] = madd(sum, load(scale + half * kLanes) * unit, sums[half]);
    }
  }
  store(total, sums[0]);
  store(total + kLanes, sums[1]);
}

/// total[8] −= Σ minimum · Σ x of the groups of a run.
[[gnu::noinline]] void add_minima(const Run& run, const uint8_t* x, size_t x_stride, float* total) {
  Vec left = load(total);
  Vec right = load(total + kLanes);
  const float* minimum = run.minimum;
  for (size_t g = 0; g < run.groups; ++g, minimum += run.scale_stride, x += x_stride) {
    const Vec sum = splat(reinterpret_cast<const float*>(x)[3]);
    left = madd(sum, load(minimum), left);
    right = madd(sum, load(minimum + kLanes), right);
  }
  store(total, left);
  store(total + kLanes, right);
}

// Called through tables, so that each stays a function of its own: what is called from one place only gets inlined at
// link time, and engines do worse by large functions. Nibbles, bytes by groups of 32 and by groups of 16.
using AddRun = void (*)(const Run&, const uint8_t*, float*);
#if defined(__wasm_relaxed_simd__)
constexpr AddRun kAddRun[] = {add_nibbles_by_bytes, add_run_by_words<false, 32>, add_run_by_words<false, 16>};
#else
constexpr AddRun kAddRun[] = {add_run_by_words<true, 32>, add_run_by_words<false, 32>, add_run_by_words<false, 16>};
#endif

AddRun add_run_of(Form form) {
#if !defined(__wasm__)
  if (by_bytes(form)) return add_nibbles_by_bytes;
#endif
  return kAddRun[is_nibbles(form) ? 0 : form.group == 32 ? 1 : 2];
}

/// sums[0 … 15] = Σ_k x[k] · w[k] of two panels of halves: four chains hide the latency of the additions.
template <Vec load_half(const uint16_t*)>
void dot_halves(const uint16_t* w, size_t depth, const float* x, float* sums) {
  Vec a = splat(0.0F);
  Vec b = a;
  Vec c = a;
  Vec d = a;
  for (const float* const end = x + depth; x < end; ++x, w += kPair) {
    const Vec x_k = splat(*x);
    a = madd(x_k, load_half(w), a);
    b = madd(x_k, load_half(w + kLanes), b);
    c = madd(x_k, load_half(w + 2 * kLanes), c);
    d = madd(x_k, load_half(w + 3 * kLanes), d);
  }
  store(sums, a);
  store(sums + kLanes, b);
  store(sums + 2 * kLanes, c);
  store(sums + 3 * kLanes, d);
}

/// One of two panels as floats.
template <Vec load_half(const uint16_t*)>
void decode_halves(const uint16_t* from, size_t depth, float factor, float* to) {
  const Vec f = splat(factor);
  for (const float* const end = to + depth * kPanel; to < end; from += kPair, to += kPanel) {
    store(to, load_half(from) * f);
    store(to + kLanes, load_half(from + kLanes) * f);
  }
}

using DotHalves = void (*)(const uint16_t*, size_t, const float*, float*);
using DecodeHalves = void (*)(const uint16_t*, size_t, float, float*);

/// How halves are read, and what the floats have to be multiplied by.
struct HalfForm {
  DotHalves dot;
  DecodeHalves decode;
  float factor;
};
constexpr HalfForm kHalfForms[] = {{dot_halves<load_kept_halves>, decode_halves<load_kept_halves>, kKeptHalf},
                                   {dot_halves<load_brain_halves>, decode_halves<load_brain_halves>, 1.0F}};
const HalfForm& half_form(TensorType type) { return kHalfForms[type == TensorType::f16 ? 0 : 1]; }

/// y of halves. The factor comes last, and x is scaled before, so that neither becomes too small for floats.
void multiply_half_row(const HalfForm& form, const uint16_t* w, size_t columns, size_t depth, const float* x,
                       float* scaled, float* y) {
  const float scale = integer_scale(x, depth);
  for (size_t k = 0; k < depth; ++k) scaled[k] = x[k] * scale;
  for (size_t n = 0; n < columns; n += kPair, w += depth * kPair) {
    float sums[kPair];
    form.dot(w, depth, scaled, sums);
    for (size_t i = 0; i < std::min(kPair, columns - n); ++i) y[n + i] = sums[i] * form.factor / scale;
  }
}

}  // namespace

void multiply_stored_row(TensorType type, const uint8_t* panels, size_t columns, size_t depth, const float* x,
                         float* scratch, float* y) {
  if (block_values(type) == 1) {
    return multiply_half_row(half_form(type), reinterpret_cast<const uint16_t*>(panels), columns, depth, x, scratch, y);
  }
  const BlockLayout layout = layout_of(type);
  const Form form = layout.form;
  auto* integers = reinterpret_cast<uint8_t*>(scratch);
  split_row(x, depth, form, integers);
  const size_t x_stride = kGroupHead + 4 * form.group;
  const AddRun add = add_run_of(form);
  // All of a panel is one run where nothing of it has to be put elsewhere.
  const size_t step = layout.groups == 1 && (form.low == 8 || is_nibbles(form)) ? depth : kChunk;
  Run run;
  float sums[kPanel];
  for (size_t n = 0; n < columns; n += kPanel, panels += depth / layout.values * layout.bytes) {
    std::fill_n(sums, kPanel, 0.0F);
    for (size_t k = 0; k < depth; k += step) {
      open_run(layout, panels, k, std::min(step, depth - k), true, run);
      const uint8_t* of_run = integers + k / form.group * x_stride;
      add(run, of_run, sums);
      if (run.minimum != nullptr) add_minima(run, of_run, x_stride, sums);
    }
    std::copy_n(sums, std::min(kPanel, columns - n), y + n);
  }
}

void decode_panel(TensorType type, const uint8_t* panels, size_t depth, size_t panel, size_t first, size_t count,
                  float* to) {
  if (block_values(type) == 1) {
    const auto* from = reinterpret_cast<const uint16_t*>(panels) + halves_at(depth, panel) + first * kPair;
    return half_form(type).decode(from, count, half_form(type).factor, to);
  }
  const BlockLayout layout = layout_of(type);
  panels += panel * (depth / layout.values * layout.bytes);
  Run run;
  for (size_t k = 0; k < count; k += kChunk, to += kChunk * kPanel) {
    open_run(layout, panels, first + k, std::min(kChunk, count - k), false, run);
    kDecodeRun[run.minimum == nullptr ? 0 : 1](run, layout.form, to);
  }
}

}  // namespace headscope
