// LZMA (the first version, raw; lc 3, lp 0, pb 0) for the wasm bytes inside the package, as a module of its own of a
// kilobyte: a fifth smaller than DEFLATE, smaller than Brotli too. In JavaScript the decoder takes as many bytes and,
// as it runs once, before anything is optimised, several times as long. The method is that of Igor Pavlov's
// specification (LZMA SDK, lzma-specification.txt): a range coder with adaptive bits, whose contexts are places in one
// array. Freestanding: no library, no memory but what the caller gives.
#include <stdint.h>

namespace {

// Places of the bits' probabilities. A tree of n bits takes 2^n places, of which the first is unused.
constexpr uint32_t kStates = 12;
constexpr uint32_t kIsMatch = 0;
constexpr uint32_t kIsRepeat = kIsMatch + kStates;
constexpr uint32_t kIsNotLatest = kIsRepeat + kStates;
constexpr uint32_t kIsNotSecond = kIsNotLatest + kStates;
constexpr uint32_t kIsNotThird = kIsNotSecond + kStates;
constexpr uint32_t kIsLong = kIsNotThird + kStates;
constexpr uint32_t kMatchLength = kIsLong + kStates;
constexpr uint32_t kLengthSize = 2 + 8 + 8 + 256;
constexpr uint32_t kRepeatLength = kMatchLength + kLengthSize;
constexpr uint32_t kDistanceSlot = kRepeatLength + kLengthSize;
constexpr uint32_t kDistance = kDistanceSlot + 4 * 64;
constexpr uint32_t kAlign = kDistance + 115;
// Eight contexts, the upper three bits of the byte before: each a tree, and two beside the byte at the latest distance.
constexpr uint32_t kLiteral = kAlign + 16;
constexpr uint32_t kPlaces = kLiteral + 8 * 3 * 256;

constexpr uint16_t kEven = 1024;  // a probability of one half, in 2048ths
constexpr uint32_t kSmallRange = 1U << 24;

uint16_t probabilities[kPlaces];
uint32_t range;
uint32_t code;
const uint8_t* input;
const uint8_t* input_end;

/// Bytes beyond the end are zeros, and counted.
void shift() {
  range <<= 8;
  code = (code << 8) | (input < input_end ? *input : 0);
  ++input;
}

uint32_t bit(uint32_t place) {
  uint16_t& probability = probabilities[place];
  const uint32_t bound = (range >> 11) * probability;
  const uint32_t value = code < bound ? 0 : 1;
  if (value == 0) {
    range = bound;
    probability = static_cast<uint16_t>(probability + ((2048 - probability) >> 5));
  } else {
    range -= bound;
    code -= bound;
    probability = static_cast<uint16_t>(probability - (probability >> 5));
  }
  if (range < kSmallRange) shift();
  return value;
}

uint32_t tree(uint32_t place, uint32_t bits) {
  uint32_t node = 1;
  for (uint32_t i = 0; i < bits; ++i) node = (node << 1) | bit(place + node);
  return node - (1U << bits);
}

/// The lowest bit first.
uint32_t reverse_tree(uint32_t place, uint32_t bits) {
  uint32_t node = 1;
  uint32_t value = 0;
  for (uint32_t i = 0; i < bits; ++i) {
    const uint32_t next = bit(place + node);
    node = (node << 1) | next;
    value |= next << i;
  }
  return value;
}

/// Bits without a context.
uint32_t direct(uint32_t bits) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < bits; ++i) {
    range >>= 1;
    const uint32_t next = code >= range ? 1 : 0;
    if (next != 0) code -= range;
    value = (value << 1) | next;
    if (range < kSmallRange) shift();
  }
  return value;
}

uint32_t length_at(uint32_t place) {
  if (bit(place) == 0) return 2 + tree(place + 2, 3);
  if (bit(place + 1) == 0) return 10 + tree(place + 10, 3);
  return 18 + tree(place + 18, 8);
}

/// Less one.
uint32_t distance_for(uint32_t length) {
  const uint32_t slot = tree(kDistanceSlot + 64 * (length < 5 ? length - 2 : 3), 6);
  if (slot < 4) return slot;
  const uint32_t bits = (slot >> 1) - 1;
  const uint32_t start = (2 | (slot & 1)) << bits;
  if (slot < 14) return start + reverse_tree(kDistance + start - slot, bits);
  const uint32_t middle = direct(bits - 4) << 4;
  return start + middle + reverse_tree(kAlign, 4);
}

}  // namespace

/// Unpacks `packed_size` bytes to `size` bytes; the two areas lie apart. 1: done; 0: the data is damaged.
extern "C" __attribute__((export_name("unpack"))) int unpack(const uint8_t* packed, uint32_t packed_size, uint8_t* to,
                                                             uint32_t size) {
  for (uint16_t& probability : probabilities) probability = kEven;
  input = packed;
  input_end = packed + packed_size;
  for (int i = 0; i < 5; ++i) shift();
  range = UINT32_MAX;
  uint32_t state = 0;          // what the last steps were
  uint32_t distances[4] = {};  // of the latest matches, the last one first; less one
  for (uint32_t written = 0; written < size;) {
    if (bit(kIsMatch + state) == 0) {
      const uint32_t place = kLiteral + 768 * (written == 0 ? 0 : to[written - 1] >> 5);
      uint32_t node = 1;
      if (state >= 7) {
        // Behind a match: beside the byte that the match would have gone on with, as long as the bits agree.
        uint32_t other = to[written - distances[0] - 1];
        while (node < 256) {
          other <<= 1;
          const uint32_t expected = other & 256;
          const uint32_t next = bit(place + 256 + expected + node);
          node = (node << 1) | next;
          if (expected != next << 8) break;
        }
      }
      while (node < 256) node = (node << 1) | bit(place + node);
      to[written++] = static_cast<uint8_t>(node);
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    uint32_t length = 1;
    if (bit(kIsRepeat + state) == 0) {
      length = length_at(kMatchLength);
      distances[3] = distances[2];
      distances[2] = distances[1];
      distances[1] = distances[0];
      distances[0] = distance_for(length);
      state = state < 7 ? 7 : 10;
    } else {
      const bool latest = bit(kIsNotLatest + state) == 0;
      if (!latest) {
        uint32_t which = 1;
        if (bit(kIsNotSecond + state) != 0) which = 2 + bit(kIsNotThird + state);
        const uint32_t chosen = distances[which];
        for (; which > 0; --which) distances[which] = distances[which - 1];
        distances[0] = chosen;
      }
      if (latest && bit(kIsLong + state) == 0) {
        state = state < 7 ? 9 : 11;  // a single byte
      } else {
        length = length_at(kRepeatLength);
        state = state < 7 ? 8 : 11;
      }
    }
    if (distances[0] >= written || length > size - written) return 0;
    for (uint32_t i = 0; i < length; ++i, ++written) to[written] = to[written - distances[0] - 1];
  }
  return input <= input_end ? 1 : 0;
}
