// An iteration's kernels when the host, or a graph, starts them one by one.
#include <algorithm>

#include "himeno/gpu_cells.cuh"

namespace tca::himeno {

namespace {

constexpr unsigned threads = 256;
// So many leave a thread the registers to load all that a cell needs before it uses any of it.
constexpr unsigned blocks_a_multiprocessor = 4;

__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    sweep_kernel(const __grid_constant__ GpuArrays arrays, const __grid_constant__ Sweep sweep,
                 Direction direction, const float* p, float* next) {
  const double sum = block_sum(sweep_part(arrays, sweep.region, direction, p, next));
  if (threadIdx.x == 0) sweep.sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(threads) total_kernel(const double* sums, unsigned count, double* total) {
  double sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += threads) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *total = sum;
}

}  // namespace

// A task a warp, until the GPU is full; then more tasks a warp cost less than more blocks.
unsigned blocks_for(const Region& region, int multiprocessors) {
  constexpr unsigned warps = threads / 32;
  return std::min((region.tasks + warps - 1) / warps,
                  static_cast<unsigned>(multiprocessors) * blocks_a_multiprocessor);
}

cudaError_t launch_sweep(const GpuArrays& arrays, const Sweep& sweep, Direction direction, const float* p,
                         float* next, cudaStream_t stream) {
  if (sweep.blocks == 0) return cudaSuccess;
  sweep_kernel<<<sweep.blocks, threads, 0, stream>>>(arrays, sweep, direction, p, next);
  return cudaGetLastError();
}

cudaError_t launch_total(const double* sums, unsigned count, double* total, cudaStream_t stream) {
  total_kernel<<<1, threads, 0, stream>>>(sums, count, total);
  return cudaGetLastError();
}

}  // namespace tca::himeno
