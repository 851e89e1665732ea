// The ways of iterating on a GPU.
#pragma once

#include <memory>
#include <string_view>

#include "himeno/gpu_exchange.hpp"
#include "himeno/gpu_solver.hpp"
#include "himeno/way.hpp"

namespace tca::himeno {

// Who starts an iteration's kernels: the host one by one, a CUDA graph, or the one kernel that does all iterations itself.
enum class Start { host, graph, kernel };

// "host", "graph" or "kernel". Throws Error{invalid_argument} for any other word.
Start start_named(std::string_view name);
std::string_view name_of(Start start);

// What suits the size. By one kernel an iteration has no launches, and keeps coefficients on the multiprocessors while they
// fit; where most of them do not, the graph's kernels have more threads to load them. On H200s the two took 17 and 25 us for 1.0
// million cells a GPU, 43 and 40 for 2.0 million.
Start chosen_start(const Problem& problem, int ranks);

// Collective. The solver and the exchange outlive it. With Start::kernel the exchange has partners().
std::unique_ptr<Way> gpu_way(World& world, GpuSolver& solver, GpuExchange& exchange, Start start);

}  // namespace tca::himeno
