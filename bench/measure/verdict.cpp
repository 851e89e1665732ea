#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/quantile.hpp"

namespace tca::bench {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t kth = std::max<std::size_t>(1, values.size() / 4);
  return {values[kth - 1], base::median(values), values[values.size() - kth], values.size()};
}

bool is_below_noise(const std::vector<double>& cost_us) { return spread_of(cost_us).low <= 0; }

std::optional<Spread> ratio_by_round(const std::vector<double>& one, const std::vector<double>& other) {
  if (is_below_noise(one) || is_below_noise(other)) return {};
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(one.size(), other.size()); ++round)
    if (one[round] > 0 && other[round] > 0) ratios.push_back(one[round] / other[round]);
  if (ratios.empty()) return {};
  return spread_of(std::move(ratios));
}

std::string to_string(double ratio) {
  return ratio > 0 && ratio < 0.0995 ? fmt::format("{:.2g}", ratio) : fmt::format("{:.2f}", ratio);
}

std::string to_string(const Spread& ratio) {
  if (!ratio.is_known()) return to_string(ratio.median) + ", too few rounds to tell";
  if (ratio.covers(1)) return "same within the spread";
  return fmt::format("{} ({} to {})", to_string(ratio.median), to_string(ratio.low), to_string(ratio.high));
}

bool has_bandwidth(std::string_view bench) {
  constexpr std::array moving{"pingpong",  "halo",           "put",      "bcast", "allgather",
                              "allreduce", "reduce_scatter", "alltoall", "tune"};
  return std::ranges::find(moving, bench) != moving.end();
}

}  // namespace tca::bench
