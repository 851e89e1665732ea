// The random numbers of a site, which depend only on what they are for: so any number of ranks draws the same, in any
// order. Callable on the GPU.
#pragma once

#include <cstdint>

#include "shared/philox.hpp"

namespace tca::spin {

enum class Purpose : std::uint32_t { couplings, beginning, heat_bath, tempering };

// Two numbers, at least 0 and below 1.
struct Uniforms {
  double first, second;
};

TCA_DEVICE Uniforms draw(std::uint64_t seed, Purpose purpose, std::uint64_t site, std::uint32_t replica,
                         std::uint32_t sweep) {
  constexpr double unit = 1.0 / 4294967296.0;
  const apps::Philox drawn =
      apps::philox({{static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(site >> 32), sweep,
                     static_cast<std::uint32_t>(purpose) << 16 | replica}},
                   static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  return {drawn.word[0] * unit, drawn.word[1] * unit};
}

}  // namespace tca::spin
