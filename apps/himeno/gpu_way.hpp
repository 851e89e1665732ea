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

// Collective. The solver and the exchange outlive it. With Start::kernel the exchange has partners().
std::unique_ptr<Way> gpu_way(World& world, GpuSolver& solver, GpuExchange& exchange, Start start);

}  // namespace tca::himeno
