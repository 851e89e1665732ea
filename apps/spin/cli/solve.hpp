// `tca spin` as one rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/cli/job.hpp"
#include "spin/cli/report.hpp"
#include "spin/problem.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct SpinOptions : AppJob {
  std::string extent = "32";
  std::string grid = "auto";
  std::string couplings = "gaussian";
  std::string start = "auto";
  double beta = 1;
  int replicas = 1;
  std::vector<double> temperatures;
  std::uint64_t seed = 1;
  std::int64_t rounds = 0;
  int heat_baths = 1;
  int over_relaxations = 10;
  bool in_double = false;
  bool no_overlap = false;
};

// The messages whose channels may be forced; on GPUs sums have kernels of their own.
std::span<const std::string_view> spin_messages(const SpinOptions& options);

// Throw Error{invalid_argument} for what cannot be read, and for what does not fit the lattice.
spin::Problem spin_problem(const SpinOptions& options);
Grid make_spin_grid(const SpinOptions& options, const spin::Problem& problem, int ranks);

// Simulates and measures. Collective.
SpinReport solve_spin(World& world, const SpinOptions& options);

}  // namespace tca::tool
