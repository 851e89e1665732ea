// From what was measured to the pieces of a tuning table.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "route/tuning_table.hpp"

namespace tca::route {

// What each of `puts` puts to a rank added to a step, by the clock of one rank; the median of many.
struct Sample {
  std::string fabric, protocol;
  Distance distance = Distance::near;
  LayoutClass layout = LayoutClass::block;
  Spacing spacing = Spacing::dense;
  std::uint64_t run = 0, runs = 1;  // bytes, and how many of them
  double us = 0;
  double noise_us = 0;  // by how much that may be off, by chance
  int puts = 1;

  std::uint64_t bytes() const { return run * runs; }
};

// Adds to `table` what describes the samples. Between two neighbouring sizes and two neighbouring lengths of runs a channel
// has one piece, by least squares of the relative errors; neighbours in size that one piece describes within 2 % share it.
// The costs per run and per byte are never negative, and what was not measured does not come out free: below the smallest size a
// put costs what that does, beyond the largest as much a byte as that, where the nearest piece would say less than half.
// Blocks have pieces for as many puts as they were measured with, other layouts the same ones for any number.
//
// `crossing_us` is the time of a signal at a distance. It is left out of all setups: a step of several puts pays it once.
void fit(std::span<const Sample> samples, const std::function<double(Distance)>& crossing_us,
         TuningTable& table);

}  // namespace tca::route
