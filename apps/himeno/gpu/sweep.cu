// The kernels of one iteration, for when the host or a graph starts them one by one.
#include <algorithm>

#include "himeno/gpu/cells.cuh"

namespace tca::himeno {

namespace {

constexpr unsigned threads = 256, warps = threads / task_cells;
// With this number of blocks a thread has enough registers to load all that a cell needs before it uses any
// of it.
constexpr unsigned blocks_a_multiprocessor = 4;

// Returns the calling thread's sum of squared changes.
__device__ double sweep_tasks(const Work& work, Tasks tasks, Direction direction, const float* p,
                              float* next) {
  const Word lane = threadIdx.x % task_cells;
  double sum = 0;
  for (Word n = threadIdx.x / task_cells; n < tasks.count(); n += warps) {
    const Word task = direction == Direction::forwards ? tasks.begin + n : tasks.end - 1 - n;
    const Word at = work.region.element(task, lane);
    if (at == Region::nowhere) continue;
    Cell cell;
    // The coefficients never change, so they come through the read-only path.
    const TaskCoefficients& from = work.coefficients[task];
    load_coefficients(
        cell, [&](unsigned quad) { return __ldg(reinterpret_cast<const float4*>(from.of[quad][lane])); });
    load_pressure(cell, p, at, work.region.plane, work.region.row);
    // This barrier for the compiler puts all loads under way before the first of them is waited for.
    asm volatile("" ::: "memory");
    sum += update(cell, next + at);
  }
  return sum;
}

__global__ void __launch_bounds__(threads, blocks_a_multiprocessor)
    sweep_kernel(const __grid_constant__ Work work, const __grid_constant__ Sweep sweep, Direction direction,
                 const float* p, float* next) {
  const double sum = block_sum(sweep_tasks(work, share_of_block(sweep.tasks), direction, p, next));
  if (threadIdx.x == 0) sweep.sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(threads) total_kernel(const double* sums, unsigned count, double* total) {
  double sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += threads) sum += sums[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *total = sum;
}

}  // namespace

// One task per warp until the GPU is full. Beyond that, more tasks per warp cost less than more blocks.
unsigned blocks_for(Tasks tasks, int multiprocessors) {
  return std::min((tasks.count() + warps - 1) / warps,
                  static_cast<unsigned>(multiprocessors) * blocks_a_multiprocessor);
}

cudaError_t launch_sweep(const Work& work, const Sweep& sweep, Direction direction, const float* p,
                         float* next, cudaStream_t stream) {
  if (sweep.blocks == 0) return cudaSuccess;
  sweep_kernel<<<sweep.blocks, threads, 0, stream>>>(work, sweep, direction, p, next);
  return cudaGetLastError();
}

cudaError_t launch_total(const double* sums, unsigned count, double* total, cudaStream_t stream) {
  total_kernel<<<1, threads, 0, stream>>>(sums, count, total);
  return cudaGetLastError();
}

}  // namespace tca::himeno
