#include "trigger/books/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tca::trigger {

// The first 2048 values have a bucket each; from there on a bucket is as wide as its power of two asks.
std::size_t Histogram::bucket_of(std::uint64_t ns) {
  ns = std::min(ns, (std::uint64_t{1} << longest_bits) - 1);
  const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - half_bits - 1);
  return static_cast<std::size_t>(shift) * half + static_cast<std::size_t>(ns >> shift);
}

std::uint64_t Histogram::largest_of(std::size_t bucket) {
  const std::size_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
  return ((static_cast<std::uint64_t>(bucket - shift * half) + 1) << shift) - 1;
}

double Histogram::middle_of(std::size_t bucket) {
  const std::size_t shift = bucket < 2 * half ? 0 : bucket / half - 1;
  const std::uint64_t first = static_cast<std::uint64_t>(bucket - shift * half) << shift;
  return static_cast<double>(first + (shift == 0 ? 0 : std::uint64_t{1} << (shift - 1)));
}

void Histogram::record(std::uint64_t ns, std::uint64_t count) { counts_[bucket_of(ns)] += count; }

void Histogram::add(std::span<const std::uint64_t> counts) {
  for (std::size_t i = 0; i < buckets; ++i) counts_[i] += counts[i];
}

std::uint64_t Histogram::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t Histogram::at_percentile(double percent) const {
  const double all = static_cast<double>(total());
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, std::ceil(percent / 100 * all)));
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket)
    if (sum += counts_[bucket]; sum >= wanted) return largest_of(bucket);
  return 0;
}

std::string Histogram::percentiles() const {
  std::string text =
      fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
  const std::uint64_t all = total();
  constexpr double steps = 5;  // for each halving of what is left
  double level = 0, sum_of_values = 0, sum_of_squares = 0;
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    if (counts_[bucket] == 0) continue;
    sum += counts_[bucket];
    sum_of_values += static_cast<double>(counts_[bucket]) * middle_of(bucket);
    sum_of_squares += static_cast<double>(counts_[bucket]) * middle_of(bucket) * middle_of(bucket);
    const double value = static_cast<double>(largest_of(bucket)) / 1000;
    const double reached = 100 * static_cast<double>(sum) / static_cast<double>(all);
    while (level <= reached && level < 100) {
      text += fmt::format("{:12.3f} {:2.12f} {:10} {:14.2f}\n", value, level / 100, sum, 100 / (100 - level));
      level += 100 / (steps * std::exp2(std::floor(std::log2(100 / (100 - level))) + 1));
      if (sum == all) break;
    }
  }
  text += fmt::format("{:12.3f} {:2.12f} {:10}\n", static_cast<double>(longest()) / 1000, 1.0, all);
  const double mean = all == 0 ? 0 : sum_of_values / static_cast<double>(all);
  const double variance = all == 0 ? 0 : sum_of_squares / static_cast<double>(all) - mean * mean;
  return text + fmt::format(
                    "#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n#[Max     = {:12.3f}, Total count    "
                    "= {:12}]\n"
                    "#[Buckets = {:12}, SubBuckets     = {:12}]\n",
                    mean / 1000, std::sqrt(std::max(0.0, variance)) / 1000,
                    static_cast<double>(longest()) / 1000, all, longest_bits - half_bits, 2 * half);
}

}  // namespace tca::trigger
