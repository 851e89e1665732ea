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

// What an iteration takes longer by each way, as measured in double on H200s (docs/performance.md): by kernel for each of a
// rank's sites, because a thread that has the whole solve to do has too few registers for a hop; by graph for its launches, and
// for the starts and waits of its halos where it has any.
inline constexpr double kernel_us_a_site = 0.27e-3, launches_us = 5, halos_us = 45;

// As `check`, for GPUs. Throws Error{invalid_argument} for what is not done there: the staggered operator, whole lattices, more
// right-hand sides together than there is room for, and in one kernel BiCGStab and several right-hand sides.
void check_on_gpus(const InverterOptions& options, Start start);

// The choice for a solve with so many sites a rank. BiCGStab needs a graph, and so do several right-hand sides together and ranks
// that kernels do not reach. Mixed precision has the same border: its updates are hops as well (one H100, 8^4, 16^4 and 32^4:
// 34, 167 and 2380 us by kernel, 39, 111 and 1656 by graph).
Start chosen_start(const InverterOptions& options, long long sites, bool has_halos, bool kernels_reach_all);

}  // namespace tca::qcd
