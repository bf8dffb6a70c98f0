// exp, softmax rows, packing and the matmul tiles against double, at every size around a tile's edge.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../../src/blocks.h"
#include "../../src/matmul.h"
#include "../../src/reference.h"
#include "../../src/rows.h"
#include "../../src/simd.h"
#include "../../src/softmax.h"
#include "check.h"

using namespace headscope;

namespace {

const size_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};

float exp_of(float x) {
  float lanes[4];
  simd::store(lanes, simd::exp_nonpositive(simd::splat(x)));
  CHECK(std::memcmp(&lanes[0], &lanes[3], sizeof(float)) == 0);
  return lanes[0];
}

void exp_is_within_one_ulp() {
  double worst = 0.0;
  for (double x = 0.0; x > -87.3; x -= 0.00037) {
    const auto xf = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(xf));
    const auto rounded = static_cast<float>(exact);
    const double ulp = static_cast<double>(rounded) - static_cast<double>(std::nextafter(rounded, 0.0F));
    worst = std::max(worst, std::fabs(static_cast<double>(exp_of(xf)) - exact) / ulp);
  }
  std::printf("exp: %.3f ULP\n", worst);
  CHECK(worst <= 1.0);
  CHECK(exp_of(0.0F) == 1.0F);
  CHECK(exp_of(-0.0F) == 1.0F);
  CHECK(exp_of(-88.5F) == 0.0F);
  CHECK(exp_of(-1e30F) == 0.0F);
  CHECK(exp_of(kHidden) == 0.0F);
  CHECK(!std::signbit(exp_of(kHidden)));
  CHECK(std::isnan(exp_of(std::numeric_limits<float>::quiet_NaN())));
}

void softmax_rows() {
  check::Random random(1);
  for (const size_t n : kSizes) {
    check::Guarded row(n);
    std::vector<float> scores = random.values(n, 3.0F);
    if (n > 2) scores[n / 2] = kHidden;
    std::copy(scores.begin(), scores.end(), row.data());
    RunningRow running = kUnseenRow;
    take_block(running, row.data(), n);
    scale_row(row.data(), n, 1.0F / running.sum);
    double largest = -std::numeric_limits<double>::infinity();
    for (const float s : scores) largest = std::max(largest, static_cast<double>(s));
    double sum = 0.0;
    std::vector<double> expected;
    for (const float s : scores) {
      expected.push_back(std::exp(static_cast<double>(s) - largest));
      sum += expected.back();
    }
    for (double& e : expected) e /= sum;
    check::close(row.data(), expected.data(), n, 2e-7, "softmax");
    CHECK(row.intact());

    // In pieces, the later ones larger and smaller, the sum must be the same.
    RunningRow pieces = kUnseenRow;
    std::vector<float> copy = scores;
    const size_t half = n / 2;
    take_block(pieces, copy.data(), half);
    take_block(pieces, copy.data() + half, n - half);
    CHECK(std::fabs(pieces.sum - running.sum) <= 1e-6F * running.sum);
    CHECK(pieces.largest == running.largest);

    std::vector<float> hidden(n, kHidden);
    RunningRow dead = kUnseenRow;
    take_block(dead, hidden.data(), n);
    CHECK(dead.sum == 0.0F);
    CHECK(std::all_of(hidden.begin(), hidden.end(), [](float x) { return x == 0.0F; }));

    std::vector<float> broken(n, kHidden);
    broken[n - 1] = std::numeric_limits<float>::quiet_NaN();
    RunningRow nan_row = kUnseenRow;
    take_block(nan_row, broken.data(), n);
    CHECK(std::isnan(nan_row.sum));

    std::vector<float> lowest(n, -std::numeric_limits<float>::max());
    RunningRow low = kUnseenRow;
    take_block(low, lowest.data(), n);
    CHECK(low.sum == static_cast<float>(n));
  }
}

void short_rows_equal_running_ones() {
  check::Random random(9);
  for (const size_t n : {size_t{4}, size_t{8}, size_t{12}}) {
    for (int hidden = 0; hidden < 3; ++hidden) {  // no place, one, all
      std::vector<float> row = random.values(n, 3.0F);
      if (hidden == 1) row[n / 2] = kHidden;
      if (hidden == 2) std::fill(row.begin(), row.end(), kHidden);
      std::vector<float> taken = row;
      RunningRow running = kUnseenRow;
      take_block(running, taken.data(), n);
      check::Guarded alone(n);
      std::copy(row.begin(), row.end(), alone.data());
      subtract_maximum(alone.data(), n);
      short_exponentials(alone.data(), n);
      CHECK(alone.intact() && std::equal(taken.begin(), taken.end(), alone.data()));
      CHECK(row_sum(alone.data(), n) == running.sum);
    }
    std::vector<float> broken(n, kHidden);
    broken[n - 1] = std::numeric_limits<float>::quiet_NaN();
    subtract_maximum(broken.data(), n);
    short_exponentials(broken.data(), n);
    CHECK(std::isnan(row_sum(broken.data(), n)));
  }
}

void capping_matches_tanh() {
  check::Random random(2);
  for (const size_t n : kSizes) {
    check::Guarded row(n);
    const std::vector<float> scores = random.values(n, 40.0F);
    std::copy(scores.begin(), scores.end(), row.data());
    cap_scores(row.data(), n, 30.0F);
    std::vector<double> expected;
    for (const float s : scores) expected.push_back(30.0 * std::tanh(static_cast<double>(s) / 30.0));
    check::close(row.data(), expected.data(), n, 1e-5, "cap");
    CHECK(row.intact());
  }
}

void matmul_at_every_size() {
  check::Random random(3);
  for (const size_t rows : kSizes) {
    for (const size_t depth : {size_t{0}, size_t{1}, size_t{3}, size_t{8}, size_t{17}, size_t{65}}) {
      for (const size_t columns : kSizes) {
        const std::vector<float> a = random.values(rows * depth);
        const std::vector<float> b = random.values(depth * columns);
        const std::vector<float> bias = random.values(padded_columns(columns));
        std::vector<float> transposed(depth * columns);
        for (size_t k = 0; k < depth; ++k) {
          for (size_t n = 0; n < columns; ++n) transposed[n * depth + k] = b[k * columns + n];
        }
        check::Guarded packed(packed_floats(depth, columns));
        check::Guarded packed_t(packed_floats(depth, columns));
        pack_in_out(b.data(), columns, depth, columns, packed.data());
        pack_out_in(transposed.data(), depth, depth, columns, packed_t.data());
        CHECK(packed.intact() && packed.filled() && packed_t.intact() && packed_t.filled());
        check::close(packed_t.data(), packed.data(), packed_floats(depth, columns), 0.0, "pack out-in");

        check::Guarded c(rows * columns);
        check::Guarded scratch(static_cast<size_t>(multiply_scratch(rows, depth)));
        multiply({depth, columns, packed.data(), depth * kPanel, Start::bias, bias.data(), columns}, rows, a.data(),
                 depth, c.data(), scratch.data());
        CHECK(scratch.intact());
        const std::vector<double> bias_columns(bias.begin(), bias.begin() + static_cast<ptrdiff_t>(columns));
        const auto expected = reference::linear(check::widen(a), rows, depth, check::widen(b), columns, bias_columns);
        double largest = 1.0;
        for (const double e : expected) largest = std::max(largest, std::fabs(e));
        check::close(c.data(), expected.data(), expected.size(), 2e-6 * largest, "matmul");
        CHECK(c.intact());
      }
    }
  }
}

void rows_do_not_depend_on_their_neighbours() {
  check::Random random(4);
  constexpr size_t kDepth = 37;
  constexpr size_t kColumns = 13;
  const std::vector<float> a = random.values(300 * kDepth);
  const std::vector<float> b = random.values(kDepth * kColumns);
  std::vector<float> packed(packed_floats(kDepth, kColumns));
  pack_in_out(b.data(), kColumns, kDepth, kColumns, packed.data());
  std::vector<float> whole(300 * kColumns);
  std::vector<float> scratch(static_cast<size_t>(multiply_scratch(300, kDepth)));
  const Product product{kDepth, kColumns, packed.data(), kDepth * kPanel, Start::zero, nullptr, kColumns};
  multiply(product, 300, a.data(), kDepth, whole.data(), scratch.data());
  for (size_t r = 0; r < 300; ++r) {
    float row[kColumns];
    multiply(product, 1, a.data() + r * kDepth, kDepth, row, nullptr);
    CHECK(std::memcmp(row, whole.data() + r * kColumns, sizeof row) == 0);
  }
}

void short_rows_end_where_they_end() {
  check::Random random(8);
  for (const size_t n : kSizes) {
    const std::vector<float> from = random.values(n);
    check::Guarded copied(n);
    copy_row(from.data(), n, copied.data());
    CHECK(copied.intact() && std::equal(from.begin(), from.end(), copied.data()));
    scale_row(copied.data(), n, 3.0F);
    CHECK(copied.intact());
    for (size_t j = 0; j < n; ++j) CHECK(copied.data()[j] == 3.0F * from[j]);
    copy_scaled_row(from.data(), n, 3.0F, 0.7F, copied.data());
    CHECK(copied.intact());
    for (size_t j = 0; j < n; ++j) CHECK(copied.data()[j] == (3.0F * from[j]) * 0.7F);
    fill_row(copied.data(), n, 7.0F);
    CHECK(copied.intact());
    for (size_t j = 0; j < n; ++j) CHECK(copied.data()[j] == 7.0F);
  }
}

void packed_rows_lie_side_by_side() {
  check::Random random(6);
  for (size_t rows = 1; rows <= kTileRows; ++rows) {
    for (const size_t depth : kSizes) {
      const std::vector<float> a = random.values(rows * (depth + 3));
      const float* row[kTileRows];
      for (size_t r = 0; r < rows; ++r) row[r] = a.data() + r * (depth + 3);
      check::Guarded packed(static_cast<size_t>(packed_tile_floats(rows, depth)));
      pack_rows(rows, depth, row, 0.5F, packed.data());
      CHECK(packed.intact());
      for (size_t k = 0; k < depth; ++k) {
        for (size_t r = 0; r < rows; ++r) CHECK(packed.data()[k * rows + r] == (rows == 1 ? 0.5F : -0.5F) * row[r][k]);
      }
    }
  }
}

void tiles_in_a_row_are_dealt_as_they_are_among_others() {
  for (size_t rows = 0; rows <= 8 * kTileRows + 1; ++rows) {
    std::vector<size_t> tiles;
    size_t next = 0;
    for_each_tile(rows, [&](size_t first, size_t count) {
      CHECK(first == next && count >= 1 && count <= full_tile_rows && (count > 1 || rows == 1));
      next += count;
      tiles.push_back(count);
    });
    CHECK(next == rows && tiles.size() == (rows + full_tile_rows - 1) / full_tile_rows);
    CHECK(full_tiles(rows) == static_cast<size_t>(std::count(tiles.begin(), tiles.end(), full_tile_rows)));
    for (size_t begin = 0; begin < tiles.size(); ++begin) {
      size_t run = 0;
      for (size_t end = begin; end < tiles.size(); ++end) {
        run += tiles[end];
        size_t tile = begin;
        for_each_tile(run, [&](size_t /*first*/, size_t count) { CHECK(count == tiles[tile++]); });
        CHECK(tile == end + 1);
      }
    }
  }
}

void a_row_alone_equals_a_row_of_any_tiles() {
  check::Random random(8);
  constexpr size_t kDepth = 13;
  for (size_t rows = 2; rows <= 2 * kTileRows + 3; ++rows) {
    for (const size_t columns : {1UL, 7UL, 8UL, 15UL, 16UL, 17UL, 31UL, 32UL, 40UL, 53UL}) {
      const std::vector<float> a = random.values(rows * kDepth);
      const std::vector<float> b = random.values(kDepth * columns);
      const std::vector<float> bias = random.values(padded_columns(columns));
      std::vector<float> packed(packed_floats(kDepth, columns));
      pack_in_out(b.data(), columns, kDepth, columns, packed.data());
      const Product product{kDepth, columns, packed.data(), kDepth * kPanel, Start::bias, bias.data(), columns};
      check::Guarded together(rows * columns);
      std::vector<float> scratch(static_cast<size_t>(multiply_scratch(rows, kDepth)));
      multiply(product, rows, a.data(), kDepth, together.data(), scratch.data());
      CHECK(together.intact());
      for (size_t r = 0; r < rows; ++r) {
        check::Guarded alone(columns);
        multiply_row(product, a.data() + r * kDepth, alone.data());
        CHECK(alone.intact() && std::equal(alone.data(), alone.data() + columns, together.data() + r * columns));
      }
    }
  }
}

void a_row_alone_equals_a_row_of_a_tile() {
  check::Random random(7);
  constexpr size_t kDepth = 19;
  for (const size_t columns : kSizes) {
    const std::vector<float> a = random.values(2 * kDepth);
    const std::vector<float> b = random.values(kDepth * columns);
    const std::vector<float> bias = random.values(padded_columns(columns));
    std::vector<float> packed(packed_floats(kDepth, columns));
    pack_in_out(b.data(), columns, kDepth, columns, packed.data());
    const float* rows[] = {a.data(), a.data() + kDepth};
    std::vector<float> packed_a(static_cast<size_t>(packed_tile_floats(2, kDepth)));
    pack_rows(2, kDepth, rows, 1.0F, packed_a.data());
    for (const Start start : {Start::zero, Start::bias, Start::result}) {
      const std::vector<float> before = random.values(2 * columns);
      std::vector<float> tile = before;
      const Product product{kDepth, columns, packed.data(), kDepth * kPanel, start, bias.data(), columns};
      multiply_tiles(product, 2, packed_a.data(), tile.data());
      for (size_t r = 0; r < 2; ++r) {
        check::Guarded alone(columns);
        std::copy_n(before.data() + r * columns, columns, alone.data());
        multiply_row(product, rows[r], alone.data());
        CHECK(alone.intact() && std::equal(alone.data(), alone.data() + columns, tile.data() + r * columns));
      }
    }
  }
}

void rows_in_place_equal_packed_ones() {
  check::Random random(10);
  for (size_t rows = 0; rows <= 13; ++rows) {
    for (const size_t depth : {size_t{0}, size_t{1}, size_t{3}, size_t{8}, size_t{17}}) {
      for (const size_t columns : kSizes) {
        const size_t a_stride = depth + 3;
        const std::vector<float> a = random.values(rows * a_stride);
        const std::vector<float> b = random.values(depth * columns);
        const std::vector<float> bias = random.values(padded_columns(columns));
        std::vector<float> packed(packed_floats(depth, columns));
        pack_in_out(b.data(), columns, depth, columns, packed.data());
        std::vector<float> packed_a(static_cast<size_t>(packed_tile_floats(rows, depth)));
        pack_tiles(rows, depth, a.data(), a_stride, packed_a.data());
        for (const Start start : {Start::zero, Start::bias}) {
          const Product product{depth, columns, packed.data(), depth * kPanel, start, bias.data(), columns};
          std::vector<float> tiles(rows * columns);
          multiply_tiles(product, rows, packed_a.data(), tiles.data());
          check::Guarded in_place(rows * columns);
          multiply_in_place(product, rows, a.data(), a_stride, in_place.data());
          CHECK(in_place.intact() && std::equal(tiles.begin(), tiles.end(), in_place.data()));
        }
      }
    }
  }
}

void appending_equals_packing_at_once() {
  check::Random random(5);
  for (const size_t total : kSizes) {
    constexpr size_t kDepth = 11;
    const std::vector<float> b = random.values(total * kDepth);
    std::vector<float> at_once(packed_floats(kDepth, total));
    pack_out_in(b.data(), kDepth, kDepth, total, at_once.data());
    std::vector<float> appended(at_once.size(), 0.0F);
    for (size_t first = 0; first < total;) {
      const size_t count = std::min(total - first, 1 + random.below(7));
      append_columns(b.data() + first * kDepth, kDepth, kDepth, first, count, appended.data(), kDepth * kPanel);
      first += count;
    }
    CHECK(appended == at_once);
  }
}

void rotary_matches_reference() {
  check::Random random(6);
  for (const bool adjacent : {true, false}) {
    for (const size_t dims : {size_t{2}, size_t{6}, size_t{10}}) {
      const std::vector<float> x = random.values(2 * 5 * 3 * 10);  // [T = 10 rows, heads 3, width 10]
      const Rotary rotary{adjacent ? RotaryPairing::adjacent : RotaryPairing::halves, dims, 10000.0};
      std::vector<float> table(rotary_table_floats(rotary, 10));
      fill_rotary_table(rotary, 99990, 10, table.data());
      std::vector<float> turned = x;
      rotate(rotary, table.data(), 10, 3, 10, 30, turned.data());
      auto expected = reference::split_heads(check::widen(x), 1, 10, 3, 10);
      reference::rotate(expected, 1, 3, 10, 10, 99990, dims, 10000.0, adjacent);
      expected = reference::join_heads(expected, 1, 10, 3, 10);
      check::close(turned.data(), expected.data(), expected.size(), 1e-6, "rotary");
    }
  }
}

void rotary_angles_match_the_c_library() {
  for (const double base : {10000.0, 500000.0, 1e7, 2.0, 1.0, 0.25}) {
    for (const size_t dims : {size_t{2}, size_t{64}, size_t{128}, size_t{250}}) {
      for (const int64_t first : {int64_t{0}, int64_t{-7}, int64_t{131071}}) {
        const Rotary rotary{RotaryPairing::halves, dims, base};
        std::vector<float> table(rotary_table_floats(rotary, 3));
        fill_rotary_table(rotary, first, 3, table.data());
        for (size_t t = 0; t < 3; ++t) {
          for (size_t i = 0; i < dims / 2; ++i) {
            const double angle = static_cast<double>(first + static_cast<int64_t>(t)) *
                                 std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(dims));
            const double expected[2] = {std::cos(angle), std::sin(angle)};
            check::close(table.data() + t * dims + 2 * i, expected, 2, 1e-7, "rotary angle");
          }
        }
      }
    }
  }
}

void rotary_factors_divide_the_frequencies() {
  const float factors[] = {1.0F, 8.0F, 0.5F};
  const Rotary rotary{RotaryPairing::halves, 6, 10000.0, factors};
  std::vector<float> table(rotary_table_floats(rotary, 4));
  fill_rotary_table(rotary, 1000, 4, table.data());
  for (size_t t = 0; t < 4; ++t) {
    for (size_t i = 0; i < 3; ++i) {
      const double angle = (1000.0 + static_cast<double>(t)) * std::pow(10000.0, -static_cast<double>(i) / 3.0) /
                           static_cast<double>(factors[i]);
      const double expected[2] = {std::cos(angle), std::sin(angle)};
      check::close(table.data() + t * 6 + 2 * i, expected, 2, 1e-7, "rotary angle with factors");
    }
  }
}

template <class Function, class Exact>
void within_ulp(double limit, Function function, Exact exact, double from, double to, const char* name) {
  double worst = 0.0;
  for (double x = from; x <= to; x += 0.000713) {
    const auto xf = static_cast<float>(x);
    float lanes[4];
    simd::store(lanes, function(simd::splat(xf)));
    const double e = exact(static_cast<double>(xf));
    const auto rounded = static_cast<float>(e);
    const double ulp = std::fabs(static_cast<double>(std::nextafter(rounded, INFINITY)) - static_cast<double>(rounded));
    worst = std::max(worst, std::fabs(static_cast<double>(lanes[0]) - e) / ulp);
  }
  std::printf("%s: %.3f ULP\n", name, worst);
  CHECK(worst <= limit);
  float nan[4];
  simd::store(nan, function(simd::splat(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(nan[0]));
}

}  // namespace

int main() {
  rotary_angles_match_the_c_library();
  rotary_factors_divide_the_frequencies();
  within_ulp(2.0, [](simd::Vec x) { return simd::tanh(x); }, [](double x) { return std::tanh(x); }, -12, 12, "tanh");
  within_ulp(
      2.5, [](simd::Vec x) { return simd::sigmoid(x); }, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, -80, 30,
      "sigmoid");
  within_ulp(1.5, [](simd::Vec x) { return simd::erf(x); }, [](double x) { return std::erf(x); }, -5, 5, "erf");
  exp_is_within_one_ulp();
  softmax_rows();
  short_rows_equal_running_ones();
  capping_matches_tanh();
  short_rows_end_where_they_end();
  packed_rows_lie_side_by_side();
  for (full_tile_rows = kLeastTileRows; full_tile_rows <= kTileRows; ++full_tile_rows) {
    matmul_at_every_size();
    rows_do_not_depend_on_their_neighbours();
    tiles_in_a_row_are_dealt_as_they_are_among_others();
    a_row_alone_equals_a_row_of_any_tiles();
    a_row_alone_equals_a_row_of_a_tile();
    rows_in_place_equal_packed_ones();
  }
  full_tile_rows = kTileRows;
  appending_equals_packing_at_once();
  rotary_matches_reference();
  return check::report("kernels");
}
