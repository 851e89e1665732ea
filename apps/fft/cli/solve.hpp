// `tca fft` as one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fft/cli/report.hpp"
#include "fft/field.hpp"
#include "fft/npb.hpp"
#include "fft/plan.hpp"
#include "fft/way.hpp"
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

// What all ranks together send others in a transform. Collective.
std::int64_t bytes_sent(World& world, const fft::Decomposition& decomposition, std::size_t number_bytes);

// Runs the benchmark or transforms a field by all ways, which are those of the report. `evolution` is null without a
// benchmark. Collective.
template <class Real>
void run_ways(World& world, const FftOptions& options, const fft::Ends<Real>& ends,
              std::span<fft::Way* const> ways, fft::npb::Evolution* evolution, FftReport& report);

// The part of solve_fft that is for GPUs. Throws Error{invalid_argument} in a build that is not.
template <class Real>
void solve_on_gpus(World& world, const FftOptions& options, FftReport& report);

// Transforms, checks and measures. Collective.
FftReport solve_fft(World& world, const FftOptions& options);

}  // namespace tca::tool
