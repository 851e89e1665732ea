#include "shared/message_cost.hpp"

#include <algorithm>

#include "shared/gathered.hpp"
#include "shared/median.hpp"

namespace tca::apps {

namespace {

// Linear between the two nearest values, as records have it; 0 for no values.
double percentile99(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double place = 0.99 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

MessageCost cost_of(World& world, std::string_view name, std::int64_t bytes, const std::vector<double>& times,
                    double steps) {
  const Gathered all(world, times);
  const std::vector<double> longest = all.largest(), shortest = all.smallest();
  std::vector<double> waits;
  for (std::size_t i = 0; i < longest.size(); ++i) waits.push_back(longest[i] - shortest[i]);
  return {.name = name,
          .count = static_cast<double>(longest.size()) / steps,
          .bytes = std::ranges::max(world.all_gather(bytes)),
          .us = median(longest),
          .p99_us = percentile99(longest),
          .waiting_us = median(waits)};
}

}  // namespace tca::apps
