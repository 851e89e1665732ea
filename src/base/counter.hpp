// Step and phase numbers that one rank stores for another.
#pragma once

#include <cstdint>

namespace tca::base {

// Whether a counter has come to `step`, for counters that wrap and never run 2^31 apart.
inline bool reached(std::uint32_t counter, std::uint32_t step) {
  return static_cast<std::int32_t>(counter - step) >= 0;
}

}  // namespace tca::base
