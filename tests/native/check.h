// Just enough of a test framework: counts failures, says where, and main returns 1 when there was one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace check {

inline int failures = 0;
inline int checks = 0;

inline void that(bool holds, const char* what, const char* file, int line) {
  ++checks;
  if (holds) return;
  if (++failures <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
}

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)

/// Largest |actual − expected| must stay within tolerance; NaN and infinities must stand in the same places.
template <class A, class B>
void close(const A* actual, const B* expected, size_t n, double tolerance, const char* what) {
  ++checks;
  double worst = 0.0;
  size_t at = n;
  for (size_t i = 0; i < n; ++i) {
    const double a = static_cast<double>(actual[i]);
    const double e = static_cast<double>(expected[i]);
    const bool same = a == e || (std::isnan(a) && std::isnan(e));
    const double error = same ? 0.0 : std::fabs(a - e);
    if (!(error <= tolerance) && (at == n || !(error <= worst))) {
      worst = error;
      at = i;
    }
  }
  if (at == n) return;
  if (++failures <= 20) {
    std::printf("%s: at %zu of %zu: %.9g, expected %.9g (tolerance %.3g)\n", what, at, n,
                static_cast<double>(actual[at]), static_cast<double>(expected[at]), tolerance);
  }
}

inline int report(const char* name) {
  std::printf("%s: %d checks, %d failed\n", name, checks, failures);
  return failures == 0 ? 0 : 1;
}

/// xorshift64*: seeded, the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435769U + 88172645463325252U) {
    for (int i = 0; i < 8; ++i) next();
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717U;
  }
  /// 0 … n − 1
  size_t below(size_t n) { return static_cast<size_t>((next() >> 33) % n); }
  bool chance(size_t one_in) { return below(one_in) == 0; }
  /// About normal, exact in float.
  float value() {
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(next() >> 40) / 16777216.0 - 0.5;
    return static_cast<float>(sum * 1.7);
  }
  std::vector<float> values(size_t n, float scale = 1.0F) {
    std::vector<float> v(n);
    for (float& x : v) x = value() * scale;
    return v;
  }

 private:
  uint64_t state_;
};

/// n floats with canaries around them; `intact` tells whether anything wrote outside.
class Guarded {
 public:
  explicit Guarded(size_t n) : n_(n), memory_(n + 2 * kMargin, kCanary) {}
  [[nodiscard]] float* data() { return memory_.data() + kMargin; }
  [[nodiscard]] bool intact() const {
    for (size_t i = 0; i < kMargin; ++i) {
      if (memory_[i] != kCanary || memory_[kMargin + n_ + i] != kCanary) return false;
    }
    return true;
  }
  /// True when every float inside was written.
  [[nodiscard]] bool filled() const {
    for (size_t i = 0; i < n_; ++i) {
      if (memory_[kMargin + i] == kCanary) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 16;
  static constexpr float kCanary = -123456.75F;
  size_t n_;
  std::vector<float> memory_;
};

inline std::vector<double> widen(const std::vector<float>& x) { return {x.begin(), x.end()}; }

}  // namespace check
