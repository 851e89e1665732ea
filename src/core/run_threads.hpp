// Ranks as threads of one process, each with a world of its own.
#pragma once

#include <functional>

#include "core/world_state.hpp"

namespace tca::core {

// Runs `body` on `ranks` threads, at least one, with the caller's among them, over what `connect` gives each
// rank. Rethrows the error of the rank that failed first once all threads have ended; the others see it as
// Error{rank_lost}. Throws Error{out_of_memory} where the system gives too few threads.
void run_threads(int ranks, const std::function<route::Connections(int rank)>& connect,
                 const std::function<void(World&)>& body, const WorldOptions& options);

}  // namespace tca::core
