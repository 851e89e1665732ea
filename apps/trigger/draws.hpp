// Random numbers of an event or a datagram, one after the other.
#pragma once

#include <cmath>
#include <cstdint>

#include "shared/philox.hpp"

namespace tca::trigger {

enum class Purpose : std::uint32_t { event, loss, duplicate, reorder };

class Draws {
 public:
  Draws(std::uint64_t seed, Purpose purpose, std::uint64_t number)
      : seed_(seed), purpose_(purpose), number_(number) {}

  // From 0 to below 1.
  double uniform() {
    if (next_ == 4) {
      words_ = apps::philox({{static_cast<std::uint32_t>(number_), static_cast<std::uint32_t>(number_ >> 32),
                              block_++, static_cast<std::uint32_t>(purpose_)}},
                            static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32));
      next_ = 0;
    }
    return words_.word[next_++] * 0x1p-32;
  }
  double uniform(double from, double to) { return from + (to - from) * uniform(); }
  int whole(int from, int to) { return from + static_cast<int>(uniform() * (to - from + 1)); }
  // Of mean 0 and variance 1: one of the two numbers of Box and Muller.
  double normal() {
    const double length = std::sqrt(-2 * std::log(1 - uniform()));
    return length * std::cos(2 * 3.14159265358979323846 * uniform());
  }

 private:
  std::uint64_t seed_;
  Purpose purpose_;
  std::uint64_t number_;
  std::uint32_t block_ = 0;
  int next_ = 4;
  apps::Philox words_{};
};

}  // namespace tca::trigger
