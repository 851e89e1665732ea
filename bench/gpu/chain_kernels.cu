#include <algorithm>

#include "gpu/chain_kernels.hpp"
#include "tca/chain.cuh"
#include "tca/team.cuh"

namespace tca::bench::gpu {

namespace {

// Each block exchanges its own part of the message. The order of the calls keeps a start that only gives
// permission, and for which the other side does not wait, out of the time between an arrival and the answer.
template <bool serves>
__global__ void __launch_bounds__(256, 1)
    ping_pong_kernel(const __grid_constant__ DeviceChain ping, const __grid_constant__ DeviceChain pong,
                     int steps) {
  BlockChain there(ping), back(pong);
  for (int i = 0; i < steps && there.good() && back.good(); ++i) {
    there.start();
    if constexpr (serves) back.start();
    if (!there.wait()) break;
    if constexpr (!serves) back.start();
    back.wait();
  }
}

template <class ChainOfKernel>
__global__ void __launch_bounds__(256, 1)
    exchanges_kernel(const __grid_constant__ DeviceChain chain, int steps) {
  ChainOfKernel running(chain);
  for (int i = 0; i < steps && running.good(); ++i) {
    running.start();
    running.wait();
  }
}

__global__ void __launch_bounds__(1024)
    sums_kernel(const __grid_constant__ DeviceTeam device_team, double* values, unsigned count, int steps) {
  BlockTeam team(device_team);
  for (int i = 0; i < steps; ++i) {
    if (!team.allreduce_sum(values, count)) break;
  }
}

}  // namespace

void run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, bool serves, int steps, Grid grid,
                   cudaStream_t stream) {
  const auto kernel = serves ? ping_pong_kernel<true> : ping_pong_kernel<false>;
  kernel<<<grid.blocks, grid.threads, 0, stream>>>(ping, pong, steps);
}

void run_exchanges(const DeviceChain& chain, bool whole_grid, int steps, Grid grid, cudaStream_t stream) {
  if (whole_grid) {
    void* arguments[] = {const_cast<DeviceChain*>(&chain), &steps};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(exchanges_kernel<GridChain>), dim3(grid.blocks),
                                dim3(grid.threads), arguments, 0, stream);
  } else {
    exchanges_kernel<BlockChain><<<grid.blocks, grid.threads, 0, stream>>>(chain, steps);
  }
}

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream) {
  const unsigned threads = count * team.size <= 32 ? 32 : std::min((count + 31) / 32 * 32, 1024u);
  sums_kernel<<<1, threads, 0, stream>>>(team, values, count, steps);
}

}  // namespace tca::bench::gpu
