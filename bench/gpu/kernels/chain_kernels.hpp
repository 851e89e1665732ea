// Kernels that run OpenTCA's chains and teams for a number of steps.
#pragma once

#include <cuda_runtime.h>

#include "gpu/grid.hpp"
#include "gpu/kernels/touch.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/team.hpp"

namespace tca::bench::gpu {

// Rank 0 (`serves`) sends by `ping` and waits for `pong`; rank 1 does the reverse. Before each send all of
// `touched` is written, and when a message has arrived it is read; the first step has the number `first`.
cudaError_t run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, const Touched& touched,
                          bool serves, std::uint32_t first, int steps, Grid grid, cudaStream_t stream);

// Each step is a write, a start, a wait and a read. The kernel uses GridChain, with its promises, if
// `whole_grid` is true, and BlockChain with barriers of its own otherwise.
cudaError_t run_exchanges(const DeviceChain& chain, const Touched& touched, bool whole_grid,
                          std::uint32_t first, int steps, Grid grid, cudaStream_t stream);

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu
