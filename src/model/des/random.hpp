// A counter-based random number generator. Number n of an object is a function of the seed, the object and
// n alone, so the numbers that one object draws never change those of another.
#pragma once

#include <cstdint>

#include "base/hash.hpp"

namespace tca::des {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t object)
      : key_(base::mix(seed ^ base::mix(object + base::golden))) {}

  std::uint64_t next() { return base::mix(key_ + base::golden * ++count_); }

  // Returns a number uniformly distributed in [0, below), with a bias of at most below / 2^64.
  std::uint64_t below(std::uint64_t below) {
    const std::uint64_t number = next(), low = number & UINT32_MAX, high = number >> 32;
    const std::uint64_t below_low = below & UINT32_MAX, below_high = below >> 32;
    const std::uint64_t middle = high * below_low + (low * below_low >> 32);
    return high * below_high + (middle >> 32) + ((low * below_high + (middle & UINT32_MAX)) >> 32);
  }

  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

}  // namespace tca::des
