// Stored weights: half precision bit by bit, every block format against its definition written out value by value,
// products with stored weights against products with the same weights decoded first, and what a model's block needs.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "../../src/blocks.h"
#include "../../src/dequantize.h"
#include "../../src/linear.h"
#include "../../src/multi_head.h"
#include "../../src/reference.h"
#include "../../src/stored_product.h"
#include "check.h"

using namespace headscope;

namespace {

const TensorType kTypes[] = {TensorType::f32,  TensorType::f16,  TensorType::bf16, TensorType::q4_0, TensorType::q4_1,
                             TensorType::q5_0, TensorType::q5_1, TensorType::q8_0, TensorType::q2_k, TensorType::q3_k,
                             TensorType::q4_k, TensorType::q5_k, TensorType::q6_k};

double half_by_definition(uint16_t half) {
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = half >> 10 & 31;
  const int mantissa = half & 1023;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

void halves_are_exact() {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const auto bits = static_cast<uint16_t>(half);
    const float x = half_to_float(bits);
    const double expected = half_by_definition(bits);
    CHECK(std::isnan(expected) ? std::isnan(x) : static_cast<double>(x) == expected);
    CHECK(std::isnan(expected) || std::signbit(x) == std::signbit(expected));
    CHECK(std::isnan(expected) || float_to_half(x) == bits);
  }
  // Between two halves: nearest, ties to even, monotone; and past the largest.
  for (uint32_t half = 0; half + 1 < 0x7C00; ++half) {
    const float low = half_to_float(static_cast<uint16_t>(half));
    const float high = half_to_float(static_cast<uint16_t>(half + 1));
    const float middle = low + (high - low) / 2;
    CHECK(float_to_half(middle) == (half % 2 == 0 ? half : half + 1));
    CHECK(float_to_half(std::nextafter(middle, 0.0F)) == half);
    CHECK(float_to_half(std::nextafter(middle, 1e9F)) == half + 1);
  }
  CHECK(float_to_half(65519.0F) == 0x7BFF);
  CHECK(float_to_half(65520.0F) == 0x7C00);
  CHECK(float_to_half(-1e30F) == 0xFC00);
  CHECK(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
}

void rows_of_halves_are_exact() {
  std::vector<uint16_t> halves(0x10000);
  for (uint32_t half = 0; half < 0x10000; ++half) halves[half] = static_cast<uint16_t>(half);
  for (const size_t n : {size_t{0x10000}, size_t{7}}) {
    check::Guarded floats(n);
    check::Guarded brain_floats(n);
    dequantize(TensorType::f16, halves.data(), n, floats.data());
    dequantize(TensorType::bf16, halves.data(), n, brain_floats.data());
    CHECK(floats.intact() && brain_floats.intact());
    for (uint32_t half = 0; half < n; ++half) {
      const float expected = half_to_float(static_cast<uint16_t>(half));
      const float x = floats.data()[half];
      CHECK(std::isnan(expected) ? std::isnan(x) : std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(expected));
      CHECK(std::bit_cast<uint32_t>(brain_floats.data()[half]) == half << 16);
    }
  }
}

float half_at(const uint8_t* from) { return half_to_float(static_cast<uint16_t>(from[0] + 256 * from[1])); }

/// Value i of a block, from the format's definition, one value at a time.
float value_by_definition(TensorType type, const uint8_t* b, int i) {
  const auto nibble = [&](const uint8_t* from) { return i < 16 ? from[i] % 16 : from[i - 16] / 16; };
  const auto bit = [](const uint8_t* from, int at) { return from[at / 8] >> (at % 8) & 1; };
  const auto six = [&](const uint8_t* s, int j, bool minimum) {
    if (j < 4) return s[j + (minimum ? 4 : 0)] & 63;
    return minimum ? s[j + 4] / 16 + 16 * (s[j] / 64) : s[j + 4] % 16 + 16 * (s[j - 4] / 64);
  };
  switch (type) {
    case TensorType::q4_0: return half_at(b) * static_cast<float>(nibble(b + 2) - 8);
    case TensorType::q4_1: return half_at(b) * static_cast<float>(nibble(b + 4)) + half_at(b + 2);
    case TensorType::q5_0: return half_at(b) * static_cast<float>(nibble(b + 6) + 16 * bit(b + 2, i) - 16);
    case TensorType::q5_1: return half_at(b) * static_cast<float>(nibble(b + 8) + 16 * bit(b + 4, i)) + half_at(b + 2);
    case TensorType::q8_0: return half_at(b) * static_cast<float>(static_cast<int8_t>(b[2 + i]));
    case TensorType::q2_k: {
      const int q = b[16 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
      const float scaled = half_at(b + 80) * static_cast<float>(b[i / 16] % 16) * static_cast<float>(q);
      return scaled - half_at(b + 82) * static_cast<float>(b[i / 16] / 16);
    }
    case TensorType::q3_k: {
      const int low = b[32 + i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
      const int high = b[i % 32] >> (i / 32) & 1;
      const int g = i / 16;
      const uint8_t* s = b + 96;
      const int scale = (g < 8 ? s[g] % 16 : s[g - 8] / 16) + 16 * (s[8 + g % 4] >> (g / 4 * 2) & 3);
      return half_at(b + 108) * static_cast<float>(scale - 32) * static_cast<float>(low + 4 * high - 4);
    }
    case TensorType::q4_k:
    case TensorType::q5_k: {
      const bool five = type == TensorType::q5_k;
      const int g = i / 32;
      const uint8_t* nibbles = b + (five ? 48 : 16);
      int q = nibbles[i / 64 * 32 + i % 32] >> (g % 2 * 4) & 15;
      if (five) q += 16 * (b[16 + i % 32] >> g & 1);
      const float scaled = half_at(b) * static_cast<float>(six(b + 4, g, false)) * static_cast<float>(q);
      return scaled - half_at(b + 2) * static_cast<float>(six(b + 4, g, true));
    }
    case TensorType::q6_k: {
      const int within = i % 128;
      const int low = b[i / 128 * 64 + within % 64] >> (within / 64 * 4) & 15;
      const int high = b[128 + i / 128 * 32 + within % 32] >> (within / 32 * 2) & 3;
      const auto scale = static_cast<float>(static_cast<int8_t>(b[192 + i / 16]));
      return half_at(b + 208) * scale * static_cast<float>(low + 16 * high - 32);
    }
    case TensorType::f32: {
      float x;
      std::memcpy(&x, b, sizeof x);
      return x;
    }
    case TensorType::f16: return half_at(b);
    case TensorType::bf16: return std::bit_cast<float>(static_cast<uint32_t>(b[0] + 256 * b[1]) << 16);
  }
  return 0.0F;
}

/// Random blocks whose halves are small normal numbers, so that every value is finite.
std::vector<uint8_t> random_blocks(check::Random& random, TensorType type, size_t blocks) {
  const size_t bytes = block_bytes(type);
  std::vector<uint8_t> data(blocks * bytes);
  for (uint8_t& x : data) x = static_cast<uint8_t>(random.next() >> 40);
  std::vector<size_t> halves;
  if (type == TensorType::q2_k) halves = {80, 82};
  if (type == TensorType::q3_k) halves = {108};
  if (type == TensorType::q6_k) halves = {208};
  if (type == TensorType::q4_0 || type == TensorType::q5_0 || type == TensorType::q8_0) halves = {0};
  if (type == TensorType::q4_1 || type == TensorType::q5_1 || type == TensorType::q4_k || type == TensorType::q5_k) {
    halves = {0, 2};
  }
  for (size_t block = 0; block < blocks; ++block) {
    uint8_t* at = data.data() + block * bytes;
    if (halves.empty()) {
      const float x = random.value();
      const uint32_t bits = std::bit_cast<uint32_t>(x);
      const uint16_t half = float_to_half(x);
      if (type == TensorType::f32) std::memcpy(at, &bits, 4);
      if (type == TensorType::f16) std::memcpy(at, &half, 2);
      if (type == TensorType::bf16) std::memcpy(at, reinterpret_cast<const uint8_t*>(&bits) + 2, 2);
    }
    for (const size_t half : halves) {
      const uint16_t bits = float_to_half(random.value() * 0.02F);
      std::memcpy(at + half, &bits, 2);
    }
  }
  return data;
}

void blocks_are_exact() {
  check::Random random(11);
  for (const TensorType type : kTypes) {
    const size_t values = block_values(type);
    const std::vector<uint8_t> data = random_blocks(random, type, 40);
    check::Guarded decoded(40 * values);
    dequantize(type, data.data(), 40 * values, decoded.data());
    CHECK(decoded.intact() && decoded.filled());
    for (size_t i = 0; i < 40 * values; ++i) {
      const uint8_t* block = data.data() + i / values * block_bytes(type);
      CHECK(decoded.data()[i] == value_by_definition(type, block, static_cast<int>(i % values)));
    }
  }
}

/// Few rows of x are multiplied by integers, in another order than panels are: equal within float32's roundings of the
/// sum of the products' sizes. More rows give the very bits of decoded weights.
void same_product(TensorType type, size_t rows, size_t depth, size_t columns, const float* x, const float* weights,
                  const float* y, const std::vector<float>& expected) {
  if (rows > rows_alone(type)) {
    CHECK(std::memcmp(y, expected.data(), expected.size() * sizeof(float)) == 0);
    return;
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t n = 0; n < columns; ++n) {
      double size = 1.0;
      for (size_t k = 0; k < depth; ++k) {
        size += std::fabs(static_cast<double>(x[r * depth + k]) * static_cast<double>(weights[n * depth + k]));
      }
      check::close(y + r * columns + n, expected.data() + r * columns + n, 1, 4e-7 * size, "one row");
    }
  }
}

void stored_products_equal_decoded_ones() {
  check::Random random(12);
  for (const TensorType type : kTypes) {
    // Not a whole number of chunks of 256, and of several.
    const size_t depth = block_values(type) == 1 ? 293 : block_values(type) == 32 ? 544 : 768;
    for (const size_t columns : {size_t{1}, size_t{4}, size_t{5}, size_t{8}, size_t{19}, size_t{150}}) {
      const std::vector<uint8_t> data = random_blocks(random, type, columns * depth / block_values(type));
      std::vector<float> decoded(columns * depth);
      dequantize(type, data.data(), decoded.size(), decoded.data());
      const std::vector<float> bias = random.values(columns);
      Linear stored;
      Linear packed;
      CHECK(stored.keep(WeightLayout::out_in, type, data.data(), stored_bytes(type, depth), depth, columns,
                        bias.data()) == Status::ok);
      CHECK(packed.pack(WeightLayout::out_in, {decoded.data(), depth}, depth, columns, bias.data()) == Status::ok);
      for (const size_t rows : {size_t{1}, size_t{2}, size_t{3}, size_t{7}}) {
        const std::vector<float> x = random.values(rows * depth);
        check::Guarded scratch(stored.scratch(rows, Numerics::ggml));
        std::vector<float> expected(rows * columns);
        check::Guarded y(rows * columns);
        packed.apply(rows, x.data(), depth, expected.data(), columns, Numerics::f32, scratch.data());
        stored.apply(rows, x.data(), depth, y.data(), columns, Numerics::f32, scratch.data());
        same_product(type, rows, depth, columns, x.data(), decoded.data(), y.data(), expected);
        CHECK(y.intact() && y.filled() && scratch.intact());

        std::vector<float> rounded = x;
        const size_t whole = depth / block_values(type) * block_values(type);
        for (size_t r = 0; r < rows; ++r) round_like_ggml(type, rounded.data() + r * depth, whole);
        packed.apply(rows, rounded.data(), depth, expected.data(), columns, Numerics::f32, scratch.data());
        stored.apply(rows, x.data(), depth, y.data(), columns, Numerics::ggml, scratch.data());
        same_product(type, rows, depth, columns, rounded.data(), decoded.data(), y.data(), expected);

        // Parts of the depth that begin and end inside a block.
        for (const size_t first : {size_t{0}, size_t{5}, size_t{256}, size_t{260}}) {
          packed.apply_rows(rows, first, 33, x.data(), depth, expected.data(), columns, scratch.data());
          stored.apply_rows(rows, first, 33, x.data(), depth, y.data(), columns, scratch.data());
          CHECK(std::memcmp(y.data(), expected.data(), expected.size() * sizeof(float)) == 0);
          CHECK(y.intact() && scratch.intact());
        }
      }
    }
  }
  // In-out, as safetensors of GPT-2 have it, cut out of a wider fused matrix.
  for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16}) {
    for (const size_t columns : {size_t{10}, size_t{24}, size_t{301}}) {
      constexpr size_t kDepth = 39;
      const size_t total = columns + 20;
      const std::vector<uint8_t> data = random_blocks(random, type, kDepth * total);
      std::vector<float> decoded(kDepth * total);
      dequantize(type, data.data(), decoded.size(), decoded.data());
      const std::vector<float> bias = random.values(columns);
      for (const float* each : {static_cast<const float*>(nullptr), bias.data()}) {
        Linear stored;
        Linear packed;
        CHECK(stored.keep(WeightLayout::in_out, type, data.data() + 10 * block_bytes(type), total * block_bytes(type),
                          kDepth, columns, each) == Status::ok);
        CHECK(packed.pack(WeightLayout::in_out, {decoded.data() + 10, total}, kDepth, columns, each) == Status::ok);
        for (const size_t rows : {size_t{1}, size_t{2}, size_t{3}}) {
          const std::vector<float> x = random.values(rows * kDepth);
          check::Guarded scratch(stored.scratch(rows, Numerics::f32));
          check::Guarded y(rows * columns);
          std::vector<float> expected(rows * columns);
          stored.apply(rows, x.data(), kDepth, y.data(), columns, Numerics::f32, scratch.data());
          packed.apply(rows, x.data(), kDepth, expected.data(), columns, Numerics::f32, scratch.data());
          // A row alone gets its bias last.
          check::close(y.data(), expected.data(), expected.size(), rows > 1 ? 0.0 : 4e-6, "in-out");
          CHECK(y.intact() && scratch.intact());
          stored.apply_rows(rows, 7, 30, x.data(), kDepth, y.data(), columns, scratch.data());
          packed.apply_rows(rows, 7, 30, x.data(), kDepth, expected.data(), columns, scratch.data());
          CHECK(std::memcmp(y.data(), expected.data(), expected.size() * sizeof(float)) == 0);
        }
      }
    }
  }
  Linear refused;
  CHECK(refused.keep(WeightLayout::out_in, static_cast<TensorType>(99), nullptr, 0, 32, 1, nullptr) ==
        Status::bad_argument);
  CHECK(refused.keep(WeightLayout::in_out, TensorType::q8_0, nullptr, 0, 32, 32, nullptr) == Status::bad_argument);
  CHECK(refused.keep(WeightLayout::out_in, TensorType::q8_0, nullptr, 0, 33, 1, nullptr) == Status::bad_argument);
}

/// All halves below 128 as weights: multiplied by 1 alone each must come out as it is, by one row and by two.
void kept_halves_are_exact() {
  constexpr size_t kColumns = 2 * 0x5800;
  std::vector<uint16_t> halves;
  for (uint32_t half = 0; half < 0x5800; ++half) {
    halves.push_back(static_cast<uint16_t>(half));
    halves.push_back(static_cast<uint16_t>(half | 0x8000));
  }
  Linear linear;
  CHECK(linear.keep(WeightLayout::out_in, TensorType::f16, halves.data(), 2, 1, kColumns, nullptr) == Status::ok);
  CHECK(linear.bytes() == 2 * kColumns);
  std::vector<float> scratch(linear.scratch(2, Numerics::f32));
  std::vector<float> y(2 * kColumns);
  const float ones[] = {1.0F, 1.0F};
  for (const size_t rows : {size_t{1}, size_t{2}}) {
    linear.apply(rows, ones, 1, y.data(), kColumns, Numerics::f32, scratch.data());
    for (size_t i = 0; i < rows * kColumns; ++i) CHECK(y[i] == half_to_float(halves[i % kColumns]));
  }
}

/// Halves that have no place among the kept ones are packed as floats, and come out as they are too.
void large_and_broken_halves_are_exact() {
  check::Random random(17);
  constexpr size_t kDepth = 37;
  constexpr size_t kColumns = 21;
  for (const uint32_t special : {0x5800U, 0xD800U, 0x7BFFU, 0x7C00U, 0xFC00U, 0x7E00U}) {
    for (const WeightLayout layout : {WeightLayout::in_out, WeightLayout::out_in}) {
      std::vector<uint16_t> halves;
      for (size_t i = 0; i < kDepth * kColumns; ++i) halves.push_back(float_to_half(random.value()));
      halves[random.below(halves.size())] = static_cast<uint16_t>(special);
      std::vector<float> decoded(halves.size());
      dequantize(TensorType::f16, halves.data(), halves.size(), decoded.data());
      Linear stored;
      Linear packed;
      const size_t row = layout == WeightLayout::in_out ? kColumns : kDepth;
      CHECK(stored.keep(layout, TensorType::f16, halves.data(), 2 * row, kDepth, kColumns, nullptr) == Status::ok);
      CHECK(packed.pack(layout, {decoded.data(), row}, kDepth, kColumns, nullptr) == Status::ok);
      for (const Numerics numerics : {Numerics::f32, Numerics::ggml}) {
        for (const size_t rows : {size_t{1}, size_t{3}}) {
          const std::vector<float> x = random.values(rows * kDepth);
          check::Guarded scratch(stored.scratch(rows, numerics));
          std::vector<float> y(rows * kColumns);
          std::vector<float> expected(rows * kColumns);
          stored.apply(rows, x.data(), kDepth, y.data(), kColumns, numerics, scratch.data());
          CHECK(scratch.intact());
          std::vector<float> rounded = x;
          if (numerics == Numerics::ggml) round_like_ggml(TensorType::f16, rounded.data(), rounded.size());
          packed.apply(rows, rounded.data(), kDepth, expected.data(), kColumns, Numerics::f32, scratch.data());
          check::close(y.data(), expected.data(), expected.size(), 0.0, "a half of 128 or more");
        }
      }
    }
  }
}

void one_row_takes_any_size_of_x() {
  check::Random random(16);
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_1, TensorType::q6_k, TensorType::f16}) {
    constexpr size_t kDepth = 512;
    constexpr size_t kColumns = 6;
    const std::vector<uint8_t> data = random_blocks(random, type, kColumns * kDepth / block_values(type));
    std::vector<float> decoded(kColumns * kDepth);
    dequantize(type, data.data(), decoded.size(), decoded.data());
    Linear linear;
    CHECK(linear.keep(WeightLayout::out_in, type, data.data(), stored_bytes(type, kDepth), kDepth, kColumns, nullptr) ==
          Status::ok);
    std::vector<float> scratch(linear.scratch(1, Numerics::f32));
    float y[kColumns];
    for (const float scale : {0.0F, 1e-37F, 1e-20F, 1.0F, 1e20F, 1e30F}) {
      std::vector<float> x = random.values(kDepth, scale);
      x[7] *= 1000.0F;  // one that makes the others small
      linear.apply(1, x.data(), kDepth, y, kColumns, Numerics::f32, scratch.data());
      for (size_t n = 0; n < kColumns; ++n) {
        double sum = 0.0;
        double size = 0.0;
        for (size_t k = 0; k < kDepth; ++k) {
          const double product = static_cast<double>(x[k]) * static_cast<double>(decoded[n * kDepth + k]);
          sum += product;
          size += std::fabs(product);
        }
        check::close(y + n, &sum, 1, 1e-6 * size + 1e-32, "one row of any size");
      }
    }
    for (const float broken : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> x = random.values(kDepth);
      x[300] = broken;
      linear.apply(1, x.data(), kDepth, y, kColumns, Numerics::f32, scratch.data());
      for (const float each : y) CHECK(!std::isfinite(each));
    }
  }
}

void rounding_keeps_what_a_block_can_hold() {
  check::Random random(13);
  for (const TensorType type : {TensorType::q8_0, TensorType::q4_k}) {
    const size_t block = block_values(type);
    std::vector<float> x = random.values(block);
    const std::vector<float> before = x;
    round_like_ggml(type, x.data(), block);
    float largest = 0.0F;
    for (const float v : before) largest = std::max(largest, std::fabs(v));
    for (size_t i = 0; i < block; ++i) CHECK(std::fabs(x[i] - before[i]) <= largest / 127.0F * 0.51F);
    CHECK(x != before);
    std::vector<float> zeros(block, 0.0F);
    round_like_ggml(type, zeros.data(), block);
    for (const float v : zeros) CHECK(v == 0.0F);
  }
}

void norms_and_activations() {
  check::Random random(14);
  for (const size_t width : {size_t{1}, size_t{5}, size_t{64}, size_t{131}}) {
    const std::vector<float> x = random.values(3 * width, 30.0F);
    const std::vector<float> weight = random.values(width);
    const std::vector<float> bias = random.values(width);
    std::vector<double> layer;
    std::vector<double> rms;
    for (size_t r = 0; r < 3; ++r) {
      double mean = 0.0;
      double squares = 0.0;
      double variance = 0.0;
      for (size_t i = 0; i < width; ++i) mean += static_cast<double>(x[r * width + i]) / static_cast<double>(width);
      for (size_t i = 0; i < width; ++i) {
        const auto v = static_cast<double>(x[r * width + i]);
        squares += v * v / static_cast<double>(width);
        variance += (v - mean) * (v - mean) / static_cast<double>(width);
      }
      for (size_t i = 0; i < width; ++i) {
        const auto v = static_cast<double>(x[r * width + i]);
        layer.push_back((v - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(weight[i]) +
                        static_cast<double>(bias[i]));
        rms.push_back(v / std::sqrt(squares + 1e-6) * static_cast<double>(weight[i]));
      }
    }
    check::Guarded y(3 * width);
    layer_norm(3, width, x.data(), weight.data(), bias.data(), 1e-5F, y.data());
    check::close(y.data(), layer.data(), layer.size(), 2e-6, "layer norm");
    rms_norm(3, width, x.data(), weight.data(), 1e-6F, y.data());
    check::close(y.data(), rms.data(), rms.size(), 2e-6, "rms norm");
    CHECK(y.intact());
  }

  std::vector<float> x;
  for (float v = -12.0F; v <= 12.0F; v += 0.0173F) x.push_back(v);
  x.insert(x.end(), {0.0F, -0.0F, 1e-20F, 90.0F, -90.0F, 1e4F, -1e4F});
  const auto expect = [&](Activation activation, auto function, const char* name) {
    std::vector<float> y = x;
    activate(activation, y.data(), y.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = function(static_cast<double>(x[i]));
      check::close(&y[i], &expected, 1, 4e-7 * std::max(1.0, std::fabs(static_cast<double>(x[i]))), name);
    }
    float nan = std::numeric_limits<float>::quiet_NaN();
    activate(activation, &nan, 1);
    CHECK(std::isnan(nan));
  };
  expect(
      Activation::gelu_tanh,
      [](double v) { return 0.5 * v * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (v + 0.044715 * v * v * v))); },
      "gelu tanh");
  expect(Activation::gelu_erf, [](double v) { return 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0))); }, "gelu erf");
  expect(Activation::silu, [](double v) { return v / (1.0 + std::exp(-v)); }, "silu");
  expect(Activation::relu, [](double v) { return std::max(v, 0.0); }, "relu");
}

void layer_over_stored_weights_equals_layer_over_decoded_ones() {
  check::Random random(15);
  LayerConfig config{64, 64, 64, 32, 4, 2, 16, 16, {}};
  const auto tensor = [&](size_t columns, size_t depth) {
    return random_blocks(random, TensorType::q8_0, columns * depth / 32);
  };
  const std::vector<uint8_t> stored[4] = {tensor(64, 64), tensor(32, 64), tensor(32, 64), tensor(32, 64)};
  const size_t columns[4] = {64, 32, 32, 32};
  std::vector<float> decoded[4];
  Linear linears[4];
  for (size_t i = 0; i < 4; ++i) {
    decoded[i].resize(columns[i] * 64);
    dequantize(TensorType::q8_0, stored[i].data(), decoded[i].size(), decoded[i].data());
    CHECK(linears[i].keep(WeightLayout::out_in, TensorType::q8_0, stored[i].data(), 68, 64, columns[i], nullptr) ==
          Status::ok);
  }
  LayerWeights weights;
  weights.layout = WeightLayout::out_in;
  weights.query = {decoded[0].data(), 64};
  weights.key = {decoded[1].data(), 64};
  weights.value = {decoded[2].data(), 64};
  weights.output = {decoded[3].data(), 64};
  const std::unique_ptr<Layer> packed(Layer::create(config, weights));
  const std::unique_ptr<Layer> kept(Layer::create(config, linears[0], linears[1], linears[2], linears[3]));
  CHECK(packed != nullptr && kept != nullptr && linears[0].empty());
  const std::vector<float> x = random.values(9 * 64);
  Workspace workspace;
  ForwardCall call;
  call.batch = 1;
  call.queries = call.new_keys = 9;
  call.query = call.key = call.value = x.data();
  call.scale = 0.25F;
  call.mask.causal = true;
  std::vector<float> expected(9 * 32), y(9 * 32), expected_parts(4 * 9 * 32), parts(4 * 9 * 32);
  call.output = expected.data();
  call.contributions = expected_parts.data();
  CHECK(packed->forward(call, nullptr, workspace) == Status::ok);
  call.output = y.data();
  call.contributions = parts.data();
  CHECK(kept->forward(call, nullptr, workspace) == Status::ok);
  CHECK(y == expected);
  CHECK(parts == expected_parts);
  call.numerics = Numerics::ggml;
  CHECK(kept->forward(call, nullptr, workspace) == Status::ok);
  double largest = 0.0;
  double difference = 0.0;
  for (size_t i = 0; i < y.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(expected[i])));
    difference = std::max(difference, std::fabs(static_cast<double>(y[i] - expected[i])));
  }
  CHECK(difference > 0.0 && difference < 0.02 * largest);
  // What the heads add still sums to the output, with llama.cpp's rounding too.
  std::vector<double> sum(9 * 32, 0.0);
  for (size_t i = 0; i < parts.size(); ++i) sum[i % sum.size()] += static_cast<double>(parts[i]);
  check::close(sum.data(), y.data(), y.size(), 2e-6 * largest, "sum of contributions, ggml");
}

}  // namespace

int main() {
  halves_are_exact();
  rows_of_halves_are_exact();
  blocks_are_exact();
  for (const bool by_bytes : {true, false}) {
    stored_row_by_bytes = by_bytes;
    stored_products_equal_decoded_ones();
    one_row_takes_any_size_of_x();
  }
  kept_halves_are_exact();
  large_and_broken_halves_are_exact();
  rounding_keeps_what_a_block_can_hold();
  norms_and_activations();
  layer_over_stored_weights_equals_layer_over_decoded_ones();
  return check::report("stored weights");
}
