// Measures iterations: a fixed number or as many as fill a given time, in one way or in several that take
// turns.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "himeno/solver.hpp"
#include "himeno/way.hpp"
#include "shared/message_cost.hpp"

namespace tca::himeno {

// Called after every iteration, or after many, with how far the work called `what` has come.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

struct Plan {
  std::int64_t iterations = 0;  // for all ways together; 0 for as many as fill `seconds`
  double seconds = 3;           // for all ways together, without the rehearsals
  bool overlap = true;          // on the host only; a way on GPUs has its own setting
};

// The time of an iteration. `total_us` and the phases are each of the rank on which they take longest, so the
// phases need not add up to the whole.
struct Iteration {
  Phases phases;
  double total_us = 0;

  // What the iteration takes beyond the computing of the slowest rank: the exchange and the reduction,
  // together, since one library's reduction waits for what another's exchange has waited for. What other
  // ranks wait for that rank meanwhile does not count, as no library could spare it.
  double communication_us() const { return total_us - phases.compute_us; }
};

// The medians over the iterations of a turn.
struct Turn {
  double iteration_us = 0, communication_us = 0;
};

// What one way did in its share of the iterations; the same on every rank.
struct Result {
  std::int64_t iterations = 0;
  double seconds = 0;  // of the slowest rank, reductions included
  double mflops = 0;   // at the median iteration

  // Medians over the iterations of all turns.
  Iteration median;
  double communication_us = 0;
  std::vector<Turn> turns;  // in the order in which they were taken

  std::int64_t bytes_max = 0;    // sent in one iteration by the busiest rank
  std::int64_t bytes_total = 0;  // sent in one iteration by all ranks

  // The whole times of iterations. On the host a turn of many iterations keeps only every third, fifth or so,
  // evenly spaced; the medians are taken over what is kept.
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

// Collective. Does some iterations more, without overlap, and returns what each message takes in them;
// nothing on a lone rank.
std::vector<apps::MessageCost> time_messages(World& world, Solver& solver, Exchange& exchange);

}  // namespace tca::himeno
