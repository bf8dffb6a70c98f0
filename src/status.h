// What a call into the core can answer. The core never prints, throws or aborts.
#pragma once

#include <cstdint>

namespace headscope {

enum class Status : int32_t {
  ok = 0,
  out_of_memory = 1,      // nothing was changed; the same call with less may succeed
  capacity_exceeded = 2,  // a K/V cache would grow past its capacity; the cache is unchanged
  bad_argument = 3,       // a contract of the header was broken
};

}  // namespace headscope
