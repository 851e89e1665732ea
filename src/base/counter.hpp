// Compares the step and phase numbers that one rank stores for another.
#pragma once

#include <cstdint>

namespace tca::base {

// Returns whether a counter has reached `step`. Both may wrap around, but are never 2^31 apart.
inline bool reached(std::uint32_t counter, std::uint32_t step) {
  return static_cast<std::int32_t>(counter - step) >= 0;
}

}  // namespace tca::base
