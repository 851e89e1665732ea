// Kernels that run OpenTCA's chains and teams for a number of steps.
#pragma once

#include <cuda_runtime.h>

#include "gpu/grid.hpp"
#include "gpu/kernels/touch.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/counted.hpp"
#include "tca/device/team.hpp"

namespace tca::bench::gpu {

// The counted put that a rank sends in a ping-pong and the one that it receives; each block sets its length in every
// step and looks at what has come. Null pointers where the puts are not counted.
struct CountedEnds {
  DeviceCountedPut sent;
  DeviceCountedArrival come;

  __host__ __device__ bool there() const { return sent.length != nullptr; }
};

// Rank 0 (`serves`) sends by `ping` and waits for `pong`; rank 1 does the reverse. Before each send all of
// `touched` is written, and when a message has arrived it is read; the first step has the number `first`.
cudaError_t run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, const CountedEnds& counted,
                          const Touched& touched, bool serves, std::uint32_t first, int steps, Grid grid,
                          cudaStream_t stream);

// Each step is a write, a start, a wait and a read. The kernel uses GridChain, with its promises, if
// `whole_grid` is true, and BlockChain with barriers of its own otherwise.
cudaError_t run_exchanges(const DeviceChain& chain, const Touched& touched, bool whole_grid,
                          std::uint32_t first, int steps, Grid grid, cudaStream_t stream);

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream);

// The memory of the sums that all blocks of a grid take part in.
struct GridSumsMemory {
  double* partials = nullptr;  // by block
  double* totals = nullptr;
  std::uint64_t* barrier = nullptr;  // see device::grid_arrive
};

// Each block brings an equal share of `values`, up to `most_grid_sums`, and has the sums in the end. They are
// made in one call of a GridTeam, or by a barrier, a sum by the first block's BlockTeam, and a barrier. The
// number of blocks is a power of two, so that a share is exact.
inline constexpr unsigned most_grid_sums = 1024;
cudaError_t run_grid_sums(const DeviceTeam& team, double* values, unsigned count, bool in_one_call,
                          const GridSumsMemory& memory, int steps, Grid grid, cudaStream_t stream);

}  // namespace tca::bench::gpu
