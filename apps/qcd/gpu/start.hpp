// Chooses how iterations on GPUs are started.
#pragma once

#include "qcd/solver/inverter.hpp"
#include "shared/start.hpp"

namespace tca::qcd {

using apps::name_of;
using apps::Start;
using apps::start_named;

// The measured time of a solve, from its first launch to its end, and its number of iterations. The host puts
// some iterations on the stream before it knows that the solve is over. They take as long as others, and so
// are counted here.
struct Timed {
  double us = 0;
  int iterations = 0;
};

// Returns the microseconds of an iteration from two solves of one equation. It divides the difference, so
// that what happens once in a solve does not count. If the numbers of iterations are so close that it would
// be mostly noise, it returns the average of the longer solve.
double iteration_us(const Timed& longer, const Timed& shorter);

// Up to these numbers of sites on a rank, `automatic` chooses one kernel. By graph an iteration has launches,
// and with halos also waits for signals. By kernel a thread, which has the whole solve to do, has too few
// registers for a hop. Measured on one and two H100s, in us for an iteration by kernel and by graph, in
// double precision:
//   alone         18.3 and 20.2 for 8192 sites, 37.4 and 33.8 for 20736
//   with halos    42.5 and 43.7 for 20736, 46.4 and 48.3 for 24576, 58.8 and 54.2 for 32768
// and in mixed precision, whose updates the host starts beside a graph (12 in 138 iterations):
//   alone         26.1 and 24.0 for 4096, 77.5 and 68.4 for 65536
//   with halos    34.7 and 38.5 for 2048, 46.2 and 52.9 for 32768, 662 and 591 for 524288
// The limit of 75,000 lies between the last two. Alone, mixed precision has the limit of double: with more
// updates (9 in 26) it takes 32.2 and 34.9 for 4096, 106 and 102 for 65536.
inline constexpr long long kernel_sites_alone = 12'000, kernel_sites_with_halos = 27'000,
                           mixed_sites_with_halos = 75'000;

// Calls `check`, and throws Error{invalid_argument} also for what GPUs do not support: the staggered
// operator, solves without even-odd preconditioning, and more than most_together right-hand sides in step.
// One kernel does not support BiCGStab or several right-hand sides.
void check_on_gpus(const InverterOptions& options, Start start);

// Chooses the start for a solve with `sites` sites on a rank. BiCGStab, several right-hand sides in step and
// ranks that kernels do not reach all need a graph.
Start chosen_start(const InverterOptions& options, long long sites, bool has_halos, bool kernels_reach_all);

}  // namespace tca::qcd
