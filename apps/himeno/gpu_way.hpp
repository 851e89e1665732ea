// The ways of iterating on a GPU.
#pragma once

#include <memory>

#include "himeno/gpu_exchange.hpp"
#include "himeno/gpu_solver.hpp"
#include "himeno/way.hpp"
#include "shared/start.hpp"

namespace tca::himeno {

using apps::name_of;
using apps::Start;
using apps::start_named;

// What suits the size, where kernels reach every rank; a graph elsewhere. By one kernel an iteration has no launches, and keeps
// coefficients on the multiprocessors while they fit; where most of them do not, the graph's kernels have more threads to load
// them, which pays where memory is quick. For 1.0, 2.0 and 4.1 million cells a GPU the two took 16.4 and 23.4, 43 and 48, 90
// and 97 us on two H100s (one by itself 41 and 40 for 2.0 million); on one H200 36 and 30 for 2.0 million.
// `memory_bytes_per_s`: of the GPU whose memory is slowest.
Start chosen_start(const Problem& problem, int ranks, bool kernels_reach_all, double memory_bytes_per_s);

// Collective: what chosen_start wants to know of the ranks' GPUs.
double slowest_memory(World& world);

// Collective. The solver and the exchange outlive it. By any start but automatic. Throws Error{invalid_argument} for
// Start::kernel where the exchange has no partners().
std::unique_ptr<Way> gpu_way(World& world, GpuSolver& solver, GpuExchange& exchange, Start start);

}  // namespace tca::himeno
