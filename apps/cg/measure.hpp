// Runs the benchmark and measures it: once, or as often as fill a given time, in one way or in two that take
// turns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cg/way.hpp"

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

// A message of an inner iteration, over some steps that are timed message by message after the benchmark's.
struct MessageCost {
  Message message;
  double count;  // in an inner iteration
  double us;     // the median of how long it took the rank that it took longest
  // What of it that rank waited for the last one to come: what it took longer than the rank that it took
  // shortest.
  double waiting_us;
};

// What one way did; the same on every rank.
struct Result {
  Step last;                    // rank 0's, of the run whose zeta is furthest from the published one
  std::vector<double> seconds;  // of each run, on its slowest rank
  // For each step (on GPUs for each run) its time by the number of inner iterations, on its slowest rank; and
  // the median of each run.
  std::vector<double> samples_us, runs_us;
  std::vector<MessageCost> messages;  // in the order in which an iteration sends them

  double mops(const Problem& problem) const;  // as the benchmark counts operations, in the median run
};

// Collective. Returns one result for each of `ways`, which take turns, so that disturbances of the machine
// affect them alike. Each does a step before anything is measured, as in the benchmark. `share` is this
// rank's.
std::vector<Result> measure(World& world, const Problem& problem, const Share& share,
                            std::span<Way* const> ways, const Plan& plan, const Progress& progress = {});

}  // namespace tca::cg
