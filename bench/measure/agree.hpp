// What all ranks find together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench {

// Collective. Returns whether `mine` is true on all ranks.
inline bool all_say(World& world, bool mine) {
  const std::vector<char> all = world.all_gather(static_cast<char>(mine));
  return std::ranges::all_of(all, [](char yes) { return yes != 0; });
}

// Collective. Returns, for each of as many values on every rank, the largest over all ranks. Where there are many
// ranks, fewer values are gathered at a time.
inline std::vector<double> largest(World& world, std::vector<double> mine) {
  const auto by = [&]<std::size_t together>(std::array<double, together> some) {
    for (std::size_t first = 0; first < mine.size(); first += together) {
      const std::size_t count = std::min(together, mine.size() - first);
      std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(first), count, some.begin());
      for (const auto& of_rank : world.all_gather(some))
        for (std::size_t i = 0; i < count; ++i) mine[first + i] = std::max(mine[first + i], of_rank[i]);
    }
  };
  constexpr int many_ranks = 64;
  world.size() < many_ranks ? by(std::array<double, 64>{}) : by(std::array<double, 1>{});
  return mine;
}

}  // namespace tca::bench
