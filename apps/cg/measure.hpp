// Runs the benchmark and measures it: once, or as often as fill a given time, in one way or in two that take
// turns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cg/way.hpp"
#include "shared/message_cost.hpp"

namespace tca::cg {

struct Plan {
  int runs = 0;        // of each way; 0 for as many as fill `seconds`
  double seconds = 1;  // for all ways together
};

// Whether the benchmark's result is right.
struct Verification {
  double zeta = 0;
  double published = 0;

  double error() const;                                   // relative to the published one
  bool verified() const { return error() <= tolerance; }  // and not where zeta is NaN
};

// What one way did; the same on every rank.
struct Result {
  Step last;                    // rank 0's, of the run whose zeta is furthest from the published one
  std::vector<double> seconds;  // of each run, on its slowest rank
  // For each step (on GPUs for each run) its time by the number of inner iterations, on its slowest rank; and
  // the median of each run.
  std::vector<double> samples_us, runs_us;
  // Of an inner iteration, in the order in which it sends them.
  std::vector<apps::MessageCost> messages;

  double mops(const Problem& problem) const;  // as the benchmark counts operations, in the median run
};

// Collective. Returns one result for each of `ways`, which take turns, so that disturbances of the machine
// affect them alike. Each does a step before anything is measured, as in the benchmark. `share` is this
// rank's.
std::vector<Result> measure(World& world, const Problem& problem, const Share& share,
                            std::span<Way* const> ways, const Plan& plan, const Progress& progress = {});

// Collective. Solves a few steps more and times each message, which would disturb the benchmark's own times.
std::vector<apps::MessageCost> time_messages(World& world, const Problem& problem, const Share& share,
                                             Way& way);

}  // namespace tca::cg
