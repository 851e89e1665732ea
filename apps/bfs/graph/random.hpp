// The benchmark's random numbers, by counters.
#pragma once

#include <cstdint>

#include "shared/philox.hpp"

namespace tca::bfs {

// What numbers are used for. No two purposes share any.
enum class Purpose : std::uint32_t { edge, label, root };

// Returns four numbers of 32 bits. `part` tells those of one purpose and number apart.
inline apps::Philox draw(std::uint64_t seed, Purpose purpose, std::int64_t number, std::uint32_t part = 0) {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const auto counter = static_cast<std::uint64_t>(number);
  return apps::philox({{low(counter), low(counter >> 32), part, static_cast<std::uint32_t>(purpose)}},
                      low(seed), low(seed >> 32));
}

}  // namespace tca::bfs
