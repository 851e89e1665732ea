// Turns measurements into the pieces of a tuning table.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "route/tuning_table.hpp"

namespace tca::tool {

// The time that each of `puts` puts to a rank added to a step, by the clock of one rank: the median of many.
struct Sample {
  std::string fabric, protocol;
  route::Distance distance = route::Distance::near;
  route::LayoutClass layout = route::LayoutClass::block;
  route::Spacing spacing = route::Spacing::dense;
  // `runs` runs of `run` bytes each
  std::uint64_t run = 0, runs = 1;
  double us = 0;
  double noise_us = 0;  // the error that chance may have caused
  int puts = 1;

  std::uint64_t bytes() const { return run * runs; }
};

// Adds to `table` the pieces that describe the samples:
// - Between two neighbouring sizes and two neighbouring lengths of runs a channel has one piece, by least
//   squares of the relative errors. Neighbours in size share a piece that describes them within 2 %.
// - The costs per run and per byte are never negative.
// - Sizes that were not measured do not come out free. Below the smallest size a put costs as much as that
//   size, and beyond the largest it costs as much per byte, wherever the nearest piece would predict less
//   than half of that.
// - Blocks have pieces for as many puts as they were measured with. The pieces of other layouts hold for
//   any number of puts.
//
// `crossing_us` gives the time of a signal at a distance. It is left out of all setups, because a step of
// several puts pays it once.
void fit(std::span<const Sample> samples, const std::function<double(route::Distance)>& crossing_us,
         route::TuningTable& table);

}  // namespace tca::tool
