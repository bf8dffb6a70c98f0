// Memory that may be refused: sizes here follow what a user asked for, so every allocation is checked and
// none throws. std::vector would abort on out-of-memory in a build without exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace headscope {

inline constexpr size_t kAlignment = 64;  // a cache line, and more than any vector here needs

[[gnu::noinline]] constexpr uint64_t large_product(uint64_t a, uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/// a · b, or the largest uint64_t where that is more: a size that no allocation can meet.
constexpr uint64_t saturating_product(uint64_t a, uint64_t b) {
  return (a | b) >> 32 == 0 ? a * b : large_product(a, b);  // a check of large factors takes a division
}

/// A block of memory that is owned, can be empty, and grows without keeping what it held.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  /// At least `bytes` bytes, aligned to kAlignment; the content is lost when the block has to grow.
  /// The old block is given back first, so that growing never needs both at once.
  /// False: out of memory, and the buffer is empty.
  [[nodiscard]] bool reserve(uint64_t bytes) {
    if (bytes <= bytes_) return true;
    std::free(std::exchange(data_, nullptr));
    bytes_ = 0;
    if (bytes > SIZE_MAX - kAlignment) return false;
    const size_t rounded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    data_ = std::aligned_alloc(kAlignment, rounded);
    if (data_ == nullptr) return false;
    bytes_ = rounded;
    return true;
  }

  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Float areas handed out one after another from one block: plan with `need`, reserve once, then take in any
/// order. All sizes are in floats; 64-bit, so that a product of user sizes cannot wrap on wasm32.
class Workspace {
 public:
  static constexpr uint64_t kUnit = kAlignment / sizeof(float);

  /// What `take(floats)` will consume: every area starts on a cache line.
  static constexpr uint64_t need(uint64_t floats) {
    constexpr uint64_t kImpossible = UINT64_MAX / 64;  // a few dozen of these still add up without wrapping
    return floats > kImpossible ? kImpossible : (floats + kUnit - 1) / kUnit * kUnit;
  }

  [[nodiscard]] bool reserve(uint64_t floats) {
    next_ = 0;
    return floats <= UINT64_MAX / sizeof(float) && buffer_.reserve(floats * sizeof(float));
  }
  [[nodiscard]] float* take(uint64_t floats) {
    float* area = buffer_.as<float>() + next_;
    next_ += static_cast<size_t>(need(floats));
    return area;
  }
  [[nodiscard]] size_t bytes() const { return buffer_.bytes(); }

 private:
  Buffer buffer_;
  size_t next_ = 0;
};

}  // namespace headscope
