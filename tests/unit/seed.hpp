// The seed of a random test: that of --gtest_random_seed, or a new one each run.
#pragma once

#include <gtest/gtest.h>

#include <random>

namespace tca::test {

class Seed {
 public:
  Seed() : value_(GTEST_FLAG_GET(random_seed)) {
    if (value_ == 0) value_ = static_cast<int>(std::random_device{}() % 99999) + 1;  // gtest's range
  }

  [[nodiscard]] unsigned value() const { return static_cast<unsigned>(value_); }
  [[nodiscard]] std::string how_to_repeat() const {
    return "repeat with --gtest_random_seed=" + std::to_string(value_);
  }

 private:
  int value_;
};

// Returns a random number from a range, both ends included.
template <class Generator>
std::uint32_t random_in(Generator& random, std::uint32_t least, std::uint32_t most) {
  return std::uniform_int_distribution<std::uint32_t>{least, most}(random);
}

}  // namespace tca::test
