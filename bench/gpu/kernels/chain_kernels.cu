#include <algorithm>
#include <new>

#include "gpu/kernels/chain_kernels.hpp"
#include "gpu/kernels/touch.cuh"
#include "tca/chain.cuh"
#include "tca/team.cuh"

namespace tca::bench::gpu {

namespace {

// A barrier of all blocks, which returns whether `good` is true on every one of them: between it and what the
// blocks exchange part by part lies what any of them writes or reads. A lone block needs none of the grid.
__device__ bool barrier_of_all(const DeviceChain& chain, bool good) {
  return gridDim.x == 1 ? __syncthreads_and(good) != 0 : device::grid_barrier(chain.barrier, good);
}

// Each block exchanges its own part of the message. The order of the calls keeps a start that only gives
// permission, and for which the other side does not wait, out of the time between an arrival and the answer.
template <bool serves, bool counts>
__global__ void __launch_bounds__(256, 1)
    ping_pong_kernel(const __grid_constant__ DeviceChain ping, const __grid_constant__ DeviceChain pong,
                     const __grid_constant__ CountedEnds counted, const __grid_constant__ Touched touched,
                     std::uint32_t first, int steps) {
  BlockChain there(ping), back(pong);
  const auto all_good = [&] { return barrier_of_all(ping, there.good() && back.good()); };
  const auto set_length = [&] {
    if (counts && threadIdx.x == 0) counted.sent.set(counted.sent.capacity);
  };
  const auto is_whole = [&] { return !counts || counted.come.count() == counted.come.capacity; };
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    if constexpr (serves) {
      write_pieces(touched, step);
      set_length();
    }
    if (serves && !all_good()) break;
    there.start();
    if constexpr (serves) back.start();
    there.wait();
    if constexpr (!serves) {
      if (!all_good() || !is_whole()) break;
      read_pieces(touched);
      write_pieces(touched, step + 1);
      set_length();
      if (!all_good()) break;
      back.start();
    }
    back.wait();
    if (serves && !all_good()) break;
    if (serves && !is_whole()) break;
    if constexpr (serves) read_pieces(touched);
  }
}

// With BlockChain.
__global__ void __launch_bounds__(256, 1)
    parts_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ Touched touched,
                 std::uint32_t first, int steps) {
  BlockChain running(chain);
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    write_pieces(touched, step);
    if (!barrier_of_all(chain, running.good())) break;
    running.start();
    running.wait();
    if (!barrier_of_all(chain, running.good())) break;
    read_pieces(touched);
  }
}

__global__ void __launch_bounds__(256, 1)
    grid_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ Touched touched,
                std::uint32_t first, int steps) {
  GridChain running(chain);
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps) && running.good();
       ++step) {
    write_pieces(touched, step);
    running.start();
    if (running.wait()) read_pieces(touched);
  }
}

__global__ void __launch_bounds__(1024)
    sums_kernel(const __grid_constant__ DeviceTeam device_team, double* values, unsigned count, int steps) {
  BlockTeam team(device_team);
  for (int i = 0; i < steps; ++i) {
    if (!team.allreduce_sum(values, count)) break;
  }
}

// Adds up the shares of all blocks, and then of all ranks: by the first block, between barriers of the grid.
__device__ bool sum_between_barriers(BlockTeam* team, double* mine, unsigned count,
                                     const GridSumsMemory& memory) {
  for (unsigned v = threadIdx.x; v < count; v += blockDim.x)
    memory.partials[v * gridDim.x + blockIdx.x] = mine[v];
  bool good = device::grid_barrier(memory.barrier, true);
  if (team != nullptr) {
    for (unsigned v = threadIdx.x / 32; v < count; v += blockDim.x / 32) {
      double sum = 0;
      for (unsigned b = threadIdx.x % 32; b < gridDim.x; b += 32)
        sum += __ldcg(memory.partials + v * gridDim.x + b);
      for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0U, sum, distance);
      if (threadIdx.x % 32 == 0) mine[v] = sum;
    }
    __syncthreads();
    good = team->allreduce_sum(mine, count) && good;
    for (unsigned v = threadIdx.x; v < count; v += blockDim.x) memory.totals[v] = mine[v];
  }
  good = device::grid_barrier(memory.barrier, good);
  for (unsigned v = threadIdx.x; v < count; v += blockDim.x) mine[v] = __ldcg(memory.totals + v);
  __syncthreads();
  return good;
}

template <bool in_one_call>
__global__ void __launch_bounds__(1024)
    grid_sums_kernel(const __grid_constant__ DeviceTeam device_team, double* values, unsigned count,
                     const __grid_constant__ GridSumsMemory memory, int steps) {
  __shared__ double mine[most_grid_sums];
  GridTeam all(device_team);
  alignas(BlockTeam) unsigned char place[sizeof(BlockTeam)];
  // Only the first block's, since each stores the number of the team's last step when it is destroyed.
  BlockTeam* const first = in_one_call || blockIdx.x != 0 ? nullptr : new (place) BlockTeam(device_team);
  for (unsigned v = threadIdx.x; v < count; v += blockDim.x) mine[v] = values[v];
  __syncthreads();
  for (int i = 0; i < steps; ++i) {
    for (unsigned v = threadIdx.x; v < count; v += blockDim.x) mine[v] /= gridDim.x;
    if (!(in_one_call ? all.allreduce_sum(mine, count) : sum_between_barriers(first, mine, count, memory)))
      break;
  }
  if (first != nullptr) first->~BlockTeam();
  if (blockIdx.x != 0) return;
  for (unsigned v = threadIdx.x; v < count; v += blockDim.x) values[v] = mine[v];
}

}  // namespace

namespace {

// Every kernel here has barriers of the grid, so its blocks must be on the GPU together.
template <class Kernel, class... Args>
cudaError_t launch_together(Kernel* kernel, Grid grid, cudaStream_t stream, Args... args) {
  void* arguments[] = {&args...};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(grid.blocks), dim3(grid.threads),
                                     arguments, 0, stream);
}

}  // namespace

cudaError_t run_ping_pong(const DeviceChain& ping, const DeviceChain& pong, const CountedEnds& counted,
                          const Touched& touched, bool serves, std::uint32_t first, int steps, Grid grid,
                          cudaStream_t stream) {
  const auto kernel = counted.there()
                          ? (serves ? ping_pong_kernel<true, true> : ping_pong_kernel<false, true>)
                          : (serves ? ping_pong_kernel<true, false> : ping_pong_kernel<false, false>);
  return launch_together(kernel, grid, stream, ping, pong, counted, touched, first, steps);
}

cudaError_t run_exchanges(const DeviceChain& chain, const Touched& touched, bool whole_grid,
                          std::uint32_t first, int steps, Grid grid, cudaStream_t stream) {
  return launch_together(whole_grid ? grid_kernel : parts_kernel, grid, stream, chain, touched, first, steps);
}

void run_sums(const DeviceTeam& team, double* values, unsigned count, int steps, cudaStream_t stream) {
  const unsigned threads = count * team.size <= 32 ? 32 : std::min((count + 31) / 32 * 32, 1024u);
  sums_kernel<<<1, threads, 0, stream>>>(team, values, count, steps);
}

cudaError_t run_grid_sums(const DeviceTeam& team, double* values, unsigned count, bool in_one_call,
                          const GridSumsMemory& memory, int steps, Grid grid, cudaStream_t stream) {
  return launch_together(in_one_call ? grid_sums_kernel<true> : grid_sums_kernel<false>, grid, stream, team,
                         values, count, memory, steps);
}

}  // namespace tca::bench::gpu
