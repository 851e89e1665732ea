// `tca fft` as one rank.
#pragma once

#include <optional>
#include <string>

#include "fft/cli/report.hpp"
#include "fft/field.hpp"
#include "fft/npb.hpp"
#include "fft/plan.hpp"
#include "shared/cli/job.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct FftOptions : AppJob {
  std::string extent = "64";
  std::string name;  // of NPB's class; a field of random numbers when empty
  std::string grid = "auto";
  bool real = false;
  bool single = false;
  int batches = 0;
  int samples = 0;
  std::string start = "auto";  // on GPUs
};

// Throw Error{invalid_argument} for what cannot be read.
fft::Field field_of(const FftOptions& options);
fft::Options plan_options(const FftOptions& options, int ranks);

// Transforms, checks and measures. Collective.
FftReport solve_fft(World& world, const FftOptions& options);

}  // namespace tca::tool
