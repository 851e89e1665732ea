// The ways of iterating on a GPU.
#pragma once

#include <memory>

#include "himeno/gpu/exchange.hpp"
#include "himeno/gpu/solver.hpp"
#include "himeno/way.hpp"
#include "shared/message_cost.hpp"
#include "shared/start.hpp"

namespace tca::himeno {

using apps::name_of;
using apps::Start;
using apps::start_named;

// Chooses the start that suits the size where kernels reach every rank, and a graph elsewhere.
//
// In one kernel an iteration has no launches, and coefficients stay on the multiprocessors while they fit.
// Where most of them do not fit, the graph's kernels have more threads to load them, which pays where memory
// is quick. Times of an iteration, by one kernel and by a graph:
// - two H100s: 16.4 and 23.4 us for 1.0 million cells per GPU, 43 and 48 us for 2.0 million, 90 and 97 us for
//   4.1 million
// - one H100: 41 and 40 us for 2.0 million
// - one H200: 36 and 30 us for 2.0 million
//
// `memory_bytes_per_s` is that of the GPU with the slowest memory.
Start chosen_start(const Problem& problem, int ranks, bool kernels_reach_all, double memory_bytes_per_s);

// Collective. Returns the `memory_bytes_per_s` for chosen_start.
double slowest_memory(World& world);

// Collective. `start` is any but automatic. The solver and the exchange outlive the way. Throws
// Error{invalid_argument} for Start::kernel where the exchange has no partners().
std::unique_ptr<Way> gpu_way(World& world, GpuSolver& solver, GpuExchange& exchange, Start start);

// Collective. Times some exchanges and sums on the solver's stream, which leave the ghosts with the values that they
// have.
std::vector<apps::MessageCost> time_messages(World& world, const GpuSolver& solver, GpuExchange& exchange);

}  // namespace tca::himeno
