// What measured times allow one to say: how far they spread, whether one contender is faster than another, and
// whether bytes over time is a bandwidth.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tca::bench {

// The median of some values, and the range that is left without a quarter of them, rounded down, at either end
// (without one value where that is none: of up to seven values it is their whole range).
struct Spread {
  double low = 0, median = 0, high = 0;
  std::size_t count = 0;

  // Whether there are enough values to tell anything: fewer lie on one side of the truth by chance, all of them,
  // more often than once in ten times.
  bool is_known() const { return count >= 5; }
  // Whether the range has values on both sides of `value`, so that the values do not tell which side is right.
  bool covers(double value) const { return low <= value && value <= high; }
};

// Returns zeros for no values.
Spread spread_of(std::vector<double> values);

// Whether a cost, which is a difference of two times, is lost in how far these vary.
bool is_below_noise(const std::vector<double>& cost_us);

// Returns how many times as long `one` takes as `other`, over the rounds, in each of which both were measured
// one right after the other. What changes between rounds, such as the distance between virtual cores, shifts
// both medians, perhaps not alike, but not this ratio. Only rounds in which both took some time count. Returns
// nothing where there are none, and for a cost below the noise.
std::optional<Spread> ratio_by_round(const std::vector<double>& one, const std::vector<double>& other);

// Returns "1.83", and what is below a tenth with as many digits: "0.0034".
std::string to_string(double ratio);

// Formats a ratio: "1.83 (1.70 to 1.90)"; "same within the spread" where it does not differ from 1; "1.83, too
// few rounds to tell".
std::string to_string(const Spread& ratio);

// Whether the bytes of this benchmark over its time are a bandwidth: where its time is that of moving them.
bool has_bandwidth(std::string_view bench);

}  // namespace tca::bench
