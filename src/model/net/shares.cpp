#include "model/net/shares.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace tca::net {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

struct Taker {
  std::uint32_t flow;
  double rate, share;  // at full speed
};

// Returns the rate to which the unsettled takers of a link must be held so that, together with those that
// want less, they use up what is left of it. Infinite if all can have what they want. `takers` is sorted by
// rate.
double level(double left, const std::vector<Taker>& takers, const std::vector<bool>& settled) {
  double per_rate = 0;  // sum over those that are still held to the level
  for (const Taker& taker : takers) {
    if (!settled[taker.flow]) per_rate += taker.share / taker.rate;
  }
  for (const Taker& taker : takers) {
    if (settled[taker.flow]) continue;
    const double even = left / per_rate;
    if (even < taker.rate) return even;
    left -= taker.share;
    per_rate -= taker.share / taker.rate;
  }
  return no_limit;
}

}  // namespace

std::vector<std::uint64_t> share_out(const std::vector<Flow>& flows, std::uint32_t links,
                                     std::uint64_t whole) {
  std::vector<std::vector<Taker>> takers(links);
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    for (const Demand& demand : flows[flow].demands) {
      takers[demand.link].push_back({flow, flows[flow].rate, static_cast<double>(demand.share)});
    }
  }
  const auto slower = [](const Taker& a, const Taker& b) { return a.rate < b.rate; };
  for (auto& of_link : takers) std::stable_sort(of_link.begin(), of_link.end(), slower);

  std::vector<std::uint64_t> speeds(flows.size(), whole);
  std::vector<double> left(links, static_cast<double>(whole));
  std::vector<bool> settled(flows.size());
  // The link with the lowest level settles the flows that it limits. This can only raise the levels of the
  // other links, so a level computed earlier is a bound until its link gets to the front.
  using Level = std::pair<double, std::uint32_t>;
  std::priority_queue<Level, std::vector<Level>, std::greater<>> levels;
  for (std::uint32_t link = 0; link < links; ++link)
    levels.emplace(level(left[link], takers[link], settled), link);
  while (!levels.empty()) {
    const auto [bound, tightest] = levels.top();
    if (bound == no_limit) break;
    const double lowest = level(left[tightest], takers[tightest], settled);
    levels.pop();
    if (lowest > bound) {
      levels.emplace(lowest, tightest);
      continue;
    }
    for (const Taker& taker : takers[tightest]) {
      if (settled[taker.flow] || taker.rate <= lowest) continue;
      settled[taker.flow] = true;
      const double speed = lowest / taker.rate;
      speeds[taker.flow] =
          std::max<std::uint64_t>(static_cast<std::uint64_t>(speed * static_cast<double>(whole)), 1);
      for (const Demand& demand : flows[taker.flow].demands) {
        left[demand.link] -= static_cast<double>(demand.share) * speed;
      }
    }
  }
  return speeds;
}

}  // namespace tca::net
