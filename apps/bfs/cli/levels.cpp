#include "bfs/cli/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/output/record.hpp"

namespace tca::tool {
namespace {

// What searches have in common at a level, counted from the root.
struct LevelSummary {
  std::size_t searches = 0, from_below = 0;
  double reached = 0;  // on average
  std::vector<double> search_us, barrier_us;

  void add(const bfs::LevelTime& time) {
    reached += (static_cast<double>(time.reached) - reached) / static_cast<double>(++searches);
    from_below += time.is_from_below ? 1 : 0;
    search_us.push_back(time.search_us);
    barrier_us.push_back(time.barrier_us);
  }
};

std::vector<LevelSummary> levels_of(const bfs::Result& result) {
  std::vector<LevelSummary> levels;
  for (const std::vector<bfs::LevelTime>& search : result.level_times) {
    levels.resize(std::max(levels.size(), search.size()));
    for (std::size_t level = 0; level < search.size(); ++level) levels[level].add(search[level]);
  }
  return levels;
}

}  // namespace

void print_levels(const bfs::Result& result) {
  const std::vector<LevelSummary> levels = levels_of(result);
  if (levels.empty()) return;
  fmt::print("\n{:<10}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "level", "searches", "from below", "reached",
             "search us", "barrier us");
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const LevelSummary& one = levels[level];
    fmt::print("{:<10}{:>14}{:>14}{:>14.0f}{:>14.2f}{:>14.2f}\n", level, one.searches, one.from_below,
               one.reached, median(one.search_us), median(one.barrier_us));
  }
  fmt::print("Times are medians of rank 0's first block; its barrier lasts until all ranks are through.\n");
}

nlohmann::ordered_json json_of_levels(const bfs::Result& result) {
  auto levels = nlohmann::ordered_json::array();
  for (const LevelSummary& one : levels_of(result))
    levels.push_back({{"searches", one.searches},
                      {"from_below", one.from_below},
                      {"reached", rounded(one.reached)},
                      {"search_us", rounded(median(one.search_us))},
                      {"barrier_us", rounded(median(one.barrier_us))}});
  return levels;
}

}  // namespace tca::tool
