#include "tca/chain.cuh"
#include "timing_kernels.hpp"

namespace tca::test {
namespace {

__device__ void pause(unsigned ns) {
  const std::uint64_t begin = device::now_ns();
  while (device::now_ns() - begin < ns) {
  }
}

template <class Steps, class View>
__global__ void steps_kernel(const __grid_constant__ View chain, int steps, unsigned pause_ns) {
  Steps running(chain);
  for (int n = 0; n < steps; ++n) {
    pause(pause_ns);
    running.start();
    if (!running.wait()) return;
  }
}

__global__ void clock_kernel(std::uint64_t* step_ns) {
  std::uint64_t least = ~std::uint64_t{0};
  for (int n = 0; n < 1000; ++n) {
    const std::uint64_t before = device::now_ns();
    std::uint64_t now = before;
    while (now == before) now = device::now_ns();
    least = min(least, now - before);
  }
  *step_ns = least;
}

}  // namespace

cudaError_t measure_clock(std::uint64_t* step_ns, cudaStream_t stream) {
  clock_kernel<<<1, 1, 0, stream>>>(step_ns);
  return cudaGetLastError();
}

cudaError_t run_timed(const DeviceTimedChain& chain, int steps, unsigned pause_ns, unsigned blocks,
                      cudaStream_t stream) {
  if (blocks == 1) {
    steps_kernel<TimedBlockChain, DeviceTimedChain><<<1, 64, 0, stream>>>(chain, steps, pause_ns);
    return cudaGetLastError();
  }
  void* arguments[] = {const_cast<DeviceTimedChain*>(&chain), &steps, &pause_ns};
  return cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(steps_kernel<TimedGridChain, DeviceTimedChain>), dim3(blocks), dim3(64),
      arguments, 0, stream);
}

cudaError_t run_untimed(const DeviceChain& chain, int steps, cudaStream_t stream) {
  steps_kernel<BlockChain, DeviceChain><<<1, 64, 0, stream>>>(chain, steps, 0);
  return cudaGetLastError();
}

}  // namespace tca::test
