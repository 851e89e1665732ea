// All iterations in one kernel, which exchanges ghosts and adds up the residual by itself.
#include <cooperative_groups.h>

#include <utility>

#include "himeno/gpu_cells.cuh"
#include "tca/chain.cuh"
#include "tca/team.cuh"

namespace tca::himeno {

namespace {

// One block a multiprocessor: a barrier of the grid takes less time with fewer blocks. Of so many threads that each has the
// registers for both halos' parts of it and to load all that a cell needs before it uses any of it.
constexpr unsigned threads = 384;

// While the grid's first barrier is on its way, each warp does a task of the core, which takes no longer than the barrier.
constexpr Word meanwhile = threads / 32;

// Two barriers of the grid: behind the first the shell is complete and can be sent, behind the second everything is, and
// the ghosts with it. They are the kernel's own, because a GridChain's cannot be split.
__device__ __forceinline__ double iterate(const Run& run, BlockChain& halo, Direction direction,
                                          const float* p, float* next) {
  const auto grid = cooperative_groups::this_grid();
  double sum = sweep_part(run.arrays, run.shell, direction, p, next);
  auto shell_done = grid.barrier_arrive();
  sum += sweep_part(run.arrays, run.core, direction, p, next, {0, meanwhile});
  grid.barrier_wait(std::move(shell_done));
  halo.start();
  sum += sweep_part(run.arrays, run.core, direction, p, next, {meanwhile});
  halo.wait();
  grid.sync();
  return sum;
}

// By the first block, once all blocks' sums are there.
__device__ void add_up(const Run& run, const DeviceTeam& team) {
  __shared__ double total;
  const double all = block_sum(threadIdx.x < gridDim.x ? run.sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) total = all;
  __syncthreads();
  BlockTeam(team).allreduce_sum(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) *run.residual = total;
}

// So rarely that the barrier which it takes is nothing beside the iterations.
constexpr std::int64_t iterations_between_looks = 64;

// Whether no block has waited in vain. The same to all of them, because none can write before all have read: they leave the
// loop together, and nobody waits at a barrier for those who have left.
__device__ bool all_good(const Run& run, bool good) {
  if (!__syncthreads_and(good) && threadIdx.x == 0) device::store_relaxed(run.in_vain, 1);
  cooperative_groups::this_grid().sync();
  return device::load_relaxed(run.in_vain) == 0;
}

__global__ void __launch_bounds__(threads, 1)
    run_kernel(const __grid_constant__ Run run, const __grid_constant__ Partners partners) {
  double sum = 0;
  {
    BlockChain halo_0(partners.halos[0]), halo_1(partners.halos[1]);
    int current = run.current;
    for (std::int64_t n = 0; n < run.iterations; ++n) {
      if (n % iterations_between_looks == 0 && !all_good(run, halo_0.good() && halo_1.good())) break;
      if (current == 0) {
        sum = iterate(run, halo_1, Direction::forwards, run.pressure[0], run.pressure[1]);
      } else {
        sum = iterate(run, halo_0, Direction::backwards, run.pressure[1], run.pressure[0]);
      }
      current = 1 - current;
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) run.sums[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0) add_up(run, partners.team);
}

}  // namespace

cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks) {
  int device = 0, multiprocessors = 0, each = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess)
    result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, run_kernel, threads, 0);
  blocks = each > 0 ? static_cast<unsigned>(multiprocessors) / ranks : 0;
  // Every block's sum is added by a thread of the first.
  if (blocks > threads) blocks = threads;
  return result;
}

cudaError_t launch_run(const Run& run, const Partners& partners, unsigned blocks, cudaStream_t stream) {
  void* arguments[] = {const_cast<Run*>(&run), const_cast<Partners*>(&partners)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(blocks), dim3(threads),
                                     arguments, 0, stream);
}

}  // namespace tca::himeno
