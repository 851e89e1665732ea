// Iterations under the clock: a fixed number or as many as fill a time, in one way or in several in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "himeno/solver.hpp"
#include "himeno/way.hpp"

namespace tca::himeno {

// Told after every iteration, or after many, how far the work called `what` has come.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

struct Plan {
  std::int64_t iterations = 0;  // of all ways together; 0 for as many as fill `seconds`
  double seconds = 3;           // of all ways together, after a rehearsal each
  bool overlap = true;          // on the host; a way on GPUs knows by itself
};

// What one way did in its share of the iterations; the same on every rank.
struct Result {
  std::int64_t iterations = 0;
  double seconds = 0;  // of the slowest rank, reductions included
  double mflops = 0;

  // The medians of the iterations on the slowest rank; phases need not add up to the whole.
  Phases phases;
  double exchange_us = 0;   // start + wait
  double iteration_us = 0;  // everything

  std::int64_t bytes_max = 0;    // sent in an iteration by the busiest rank
  std::int64_t bytes_total = 0;  // by all

  // Of this rank. On the host a turn of more than 65,536 iterations keeps every third, fifth or so, evenly; the medians
  // are of what is kept.
  std::vector<double> samples_us;
};

// Collective. One result for each of `ways` (with at least one iteration each), which take turns so that what disturbs
// the machine disturbs them alike. All ranks agree on the number of iterations.
std::vector<Result> measure(World& world, const Problem& problem, std::span<Way* const> ways,
                            const Plan& plan, const Progress& progress = {});

// The ways of one solver on the host, an exchange each, with which each array's ghosts are filled once before the clock.
std::vector<Result> measure(World& world, const Problem& problem, Solver& solver,
                            std::span<Exchange* const> exchanges, const Plan& plan,
                            const Progress& progress = {});

}  // namespace tca::himeno
