// Who starts the iterations on GPUs.
#pragma once

#include "qcd/inverter.hpp"
#include "shared/start.hpp"

namespace tca::qcd {

using apps::name_of;
using apps::Start;
using apps::start_named;

// What a clock is held to: from the first launch of a solve to its end, and how many iterations that were. Those that a host puts
// on the stream before it knows that the solve is over take as long as others, and count here.
struct Timed {
  double us = 0;
  int iterations = 0;
};

// What an iteration takes, from two solves of one equation: the difference, in which what happens once a solve does not count.
// Of so few iterations that it would be mostly noise, the average of the longer solve.
double iteration_us(const Timed& longer, const Timed& shorter);

// Up to so many sites a rank one kernel is taken, as measured on one and two H100s: by graph an iteration has launches, and with
// halos has to wait for signals as well; by kernel a thread that has the whole solve to do has too few registers for a hop. In us by
// kernel and graph, double:
//   alone         18.3 and 20.2 for 8192 sites, 37.4 and 33.8 for 20736
//   with halos    42.5 and 43.7 for 20736, 46.4 and 48.3 for 24576, 58.8 and 54.2 for 32768
// and in mixed precision, whose updates the host starts beside a graph (12 in 138 iterations):
//   alone         26.1 and 24.0 for 4096, 77.5 and 68.4 for 65536
//   with halos    34.7 and 38.5 for 2048, 46.2 and 52.9 for 32768, 662 and 591 for 524288 (75,000 lies between)
// Alone mixed precision has double's border: with more updates (9 in 26) it takes 32.2 and 34.9 for 4096, 106 and 102 for 65536.
inline constexpr long long kernel_sites_alone = 12'000, kernel_sites_with_halos = 27'000,
                           mixed_sites_with_halos = 75'000;

// As `check`, for GPUs. Throws Error{invalid_argument} for what is not done there: the staggered operator, whole lattices, more
// right-hand sides together than there is room for, and in one kernel BiCGStab and several right-hand sides.
void check_on_gpus(const InverterOptions& options, Start start);

// The choice for a solve with so many sites a rank. BiCGStab needs a graph, and so do several right-hand sides together and ranks
// that kernels do not reach.
Start chosen_start(const InverterOptions& options, long long sites, bool has_halos, bool kernels_reach_all);

}  // namespace tca::qcd
