// A histogram of times that keeps three digits of each, in the layout of HdrHistogram (G. Tene): every power of two has
// 1024 buckets, from 1 ns up to two minutes, so recording is an increment and tails are as precise as medians.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tca::trigger {

class Histogram {
 public:
  Histogram() : counts_(buckets) {}

  // Longer times count as the longest.
  void record(std::uint64_t ns, std::uint64_t count = 1);
  void add(std::span<const std::uint64_t> counts);

  std::span<const std::uint64_t> counts() const { return counts_; }
  std::uint64_t total() const;
  // The time that `percent` of all do not exceed, as the largest of its bucket; 0 of none.
  std::uint64_t at_percentile(double percent) const;
  std::uint64_t longest() const { return at_percentile(100); }
  double us_at(double percent) const { return static_cast<double>(at_percentile(percent)) / 1000; }

  // The distribution of percentiles as HdrHistogram's own programs print it, in microseconds: what its plotter draws.
  std::string percentiles() const;

 private:
  static constexpr int half_bits = 10, longest_bits = 37;
  static constexpr std::size_t half = std::size_t{1} << half_bits;
  static constexpr std::size_t buckets = (longest_bits - half_bits + 1) * half;

  static std::size_t bucket_of(std::uint64_t ns);
  static std::uint64_t largest_of(std::size_t bucket);
  static double middle_of(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
};

}  // namespace tca::trigger
