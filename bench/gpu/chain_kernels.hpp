// Kernels that run OpenTCA's chains and teams for a number of steps.
#pragma once

#include <cuda_runtime.h>

#include "gpu/grid.hpp"
#include "tca/device_chain.hpp"
#include "tca/device_team.hpp"

namespace tca::bench::gpu {

// Rank 0 (`serves`) sends by `ping` and waits for `pong`; rank 1 does the reverse.
void run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, bool serves, int steps, Grid grid,
                   cudaStream_t stream);

// Each step is a start and a wait. The kernel uses GridChain, with its promises, if `whole_grid` is true, and
// BlockChain otherwise.
void run_exchanges(const DeviceChain& chain, bool whole_grid, int steps, Grid grid, cudaStream_t stream);

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu
