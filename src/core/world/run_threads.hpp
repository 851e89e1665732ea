// Runs ranks as threads of one process, each with its own World.
#pragma once

#include <functional>

#include "core/world/world_state.hpp"

namespace tca::core {

// Runs `body` on `ranks` threads, at least one, with the caller's among them. `connect` gives each rank its
// connections. Once all threads have ended, rethrows the error of the rank that failed first; the others see
// that failure as Error{rank_lost}. Throws Error{out_of_memory} where the system gives too few threads.
void run_threads(int ranks, const std::function<boot::Connections(int rank)>& connect,
                 const std::function<void(World&)>& body, const WorldOptions& options);

}  // namespace tca::core
