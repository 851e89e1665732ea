// Random numbers that depend only on what they are used for, so that every rank would draw the same ones for
// a site. Callable on the GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "shared/philox.hpp"
#include "tca/device/memory.hpp"

namespace tca::qcd {

using apps::Philox;
using apps::philox;

// What a stream is used for. No two purposes, sites, directions or sweeps share numbers.
enum class Purpose : std::uint32_t { start, update, source, transformation };

class RandomStream {
 public:
  // `site` is an index in the whole lattice, less than 2^32.
  TCA_DEVICE RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t site, int direction,
                          std::uint64_t sweep)
      : key0_(static_cast<std::uint32_t>(seed)),
        key1_(static_cast<std::uint32_t>(seed >> 32)),
        counter_{{0, static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(sweep),
                  static_cast<std::uint32_t>(direction) | static_cast<std::uint32_t>(purpose) << 8}} {}

  // Uniform in (0, 1], with 53 bits.
  TCA_DEVICE double uniform() {
    const std::uint64_t high = next();
    const std::uint64_t bits = high << 32 | next();
    return (static_cast<double>(bits >> 11) + 1) * 0x1p-53;
  }

  // Gaussian with mean 0 and variance 1 (Box and Muller).
  TCA_DEVICE double gaussian() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  TCA_DEVICE std::uint32_t next() {
    if (used_ == 4) {
      numbers_ = philox(counter_, key0_, key1_);
      ++counter_.word[0];
      used_ = 0;
    }
    return numbers_.word[used_++];
  }

  std::uint32_t key0_, key1_;
  Philox counter_;
  Philox numbers_{};
  int used_ = 4;
};

}  // namespace tca::qcd
