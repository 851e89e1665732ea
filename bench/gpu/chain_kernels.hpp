// The kernels that run OpenTCA's chains and teams for so many steps.
#pragma once

#include <cuda_runtime.h>

#include "gpu/grid.hpp"
#include "tca/device_chain.hpp"
#include "tca/device_team.hpp"

namespace tca::bench::gpu {

// Rank 0 (`serves`) sends `ping` and waits for `pong`; rank 1 the other way round.
void run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, bool serves, int steps, Grid grid,
                   cudaStream_t stream);

// A start and a wait a step; `whole_grid`: with the promises of GridChain, otherwise of BlockChain.
void run_exchanges(const DeviceChain& chain, bool whole_grid, int steps, Grid grid, cudaStream_t stream);

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu
