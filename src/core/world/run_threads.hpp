// Runs ranks as threads of one process, or as fibers of one thread, each with its own World.
#pragma once

#include <functional>

#include "base/system/fibers.hpp"
#include "core/world/world_state.hpp"

namespace tca::core {

// Runs `body` on `ranks` threads, including the caller's; `ranks` is at least one. `connect` gives each
// rank its connections. Once all threads have ended, rethrows the error of the rank that failed first; the
// others see that failure as Error{rank_lost}. Throws Error{out_of_memory} if the system cannot start
// enough threads. With `fibers`, which are as many as the ranks, ranks take turns on the caller's thread.
void run_threads(int ranks, const std::function<boot::Connections(int rank)>& connect,
                 const std::function<void(World&)>& body, const WorldOptions& options,
                 base::Fibers* fibers = nullptr);

}  // namespace tca::core
