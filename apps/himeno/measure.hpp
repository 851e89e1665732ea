// Measures iterations: a fixed number or as many as fill a given time, in one way or in several that take
// turns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "himeno/solver.hpp"
#include "himeno/way.hpp"

namespace tca::himeno {

// Called after every iteration, or after many, with how far the work called `what` has come.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

struct Plan {
  std::int64_t iterations = 0;  // for all ways together; 0 for as many as fill `seconds`
  double seconds = 3;           // for all ways together, without the rehearsals
  bool overlap = true;          // on the host only; a way on GPUs has its own setting
};

// What one way did in its share of the iterations. Except for the samples it is the same on every rank.
struct Result {
  std::int64_t iterations = 0;
  double seconds = 0;  // of the slowest rank, reductions included
  double mflops = 0;

  // Medians over the iterations, each on its slowest rank. The phases need not add up to the whole.
  Phases phases;
  double exchange_us = 0;   // start + wait
  double iteration_us = 0;  // the whole iteration

  std::int64_t bytes_max = 0;    // sent in one iteration by the busiest rank
  std::int64_t bytes_total = 0;  // sent in one iteration by all ranks

  // Samples of this rank. On the host a turn of more than 65,536 iterations keeps only every third, fifth or
  // so, evenly spaced; the medians are taken over what is kept.
  std::vector<double> samples_us;
};

// Collective. Returns one result for each of `ways`, each with at least one iteration. The ways take turns,
// so that disturbances of the machine affect them alike. All ranks agree on the number of iterations.
std::vector<Result> measure(World& world, const Problem& problem, std::span<Way* const> ways,
                            const Plan& plan, const Progress& progress = {});

// Measures a solver on the host, with one way for each exchange. Before the measurement each exchange fills
// the ghosts of both arrays once.
std::vector<Result> measure(World& world, const Problem& problem, Solver& solver,
                            std::span<Exchange* const> exchanges, const Plan& plan,
                            const Progress& progress = {});

}  // namespace tca::himeno
