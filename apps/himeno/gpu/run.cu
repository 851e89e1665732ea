// One kernel runs all iterations. It exchanges ghosts and adds up the residual by itself.
#include <algorithm>
#include <cstddef>

#include "himeno/gpu/turns.cuh"
#include "tca/chain.cuh"
#include "tca/team.cuh"

namespace tca::himeno {

namespace {

// The halos of both pressure arrays. Each chain keeps what it sends and receives in registers, which an index
// cannot select; hence two members and not an array.
struct Halos {
  GridChain of_0, of_1;

  __device__ explicit Halos(const DeviceChain (&chains)[2]) : of_0(chains[0]), of_1(chains[1]) {}
  __device__ void arrive(int which) { which == 0 ? of_0.arrive() : of_1.arrive(); }
  __device__ void start(int which) { which == 0 ? of_0.start() : of_1.start(); }
  __device__ bool wait(int which) { return which == 0 ? of_0.wait() : of_1.wait(); }
};

// Returns false, in all blocks alike, when a partner has not come within the time limit. While the grid's
// barrier before the sends is on its way, each warp does one task of the core, which takes as long. A warp
// whose last turn before the barrier has no task of the shell takes one of the core in that turn as well.
__device__ __forceinline__ bool iterate(Turns& turns, Halos& halos, float* const (&pressure)[2], int current,
                                        double& sum) {
  const float* const p = current == 0 ? pressure[0] : pressure[1];
  float* const next = current == 0 ? pressure[1] : pressure[0];
  sum = 0;
  Word begin = 0, end = turns.of_shell();
// Not unrolled, since three copies of the body do not fit the registers.
#pragma unroll 1
  for (int part = 0; part < 3; ++part) {
    sum += turns.take(begin, end, p, next);
    begin = end;
    end = part == 0 ? end + 1 : ~Word{0};
    if (part == 0) halos.arrive(1 - current);
    if (part == 1) halos.start(1 - current);
  }
  return halos.wait(1 - current);
}

// The first block calls this once the sums of all blocks are written.
__device__ void add_up(const Run& run, const DeviceTeam& team) {
  __shared__ double total;
  const double all = block_sum(threadIdx.x < gridDim.x ? run.sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) total = all;
  __syncthreads();
  BlockTeam(team).allreduce_sum(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) *run.residual = total;
}

__global__ void __launch_bounds__(run_threads, 1)
    run_kernel(const __grid_constant__ Run run, const __grid_constant__ Partners partners, Word kept) {
  alignas(Room) extern __shared__ std::byte room[];
  Turns turns(run.work, *reinterpret_cast<Room*>(room), kept);
  Halos halos(partners.halos);
  double sum = 0;
  int current = run.current;
  for (std::int64_t n = 0; n < run.iterations; ++n) {
    if (!iterate(turns, halos, run.pressure, current, sum)) break;
    current = 1 - current;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) run.sums[blockIdx.x] = sum;
  halos.of_0.barrier();
  if (blockIdx.x == 0) add_up(run, partners.team);
}

// Determines how many of a block's tasks keep their coefficients in shared memory: all, or as many as fit.
cudaError_t tasks_to_keep(const Work& work, unsigned blocks, Word& kept) {
  int device = 0, bytes = 0;
  cudaFuncAttributes kernel{};
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&kernel, run_kernel);
  if (result != cudaSuccess) return result;
  const auto a_block = [&](Tasks tasks) { return (tasks.count() + blocks - 1) / blocks; };
  const std::size_t most = static_cast<std::size_t>(bytes) - kernel.sharedSizeBytes;
  kept = std::min(a_block(work.shell()) + a_block(work.core()),
                  static_cast<Word>((most - Room::bytes(0)) / sizeof(TaskCoefficients)));
  // The limit is the maximum and not what this rank needs: ranks that are threads share the setting, and
  // another may need more.
  return cudaFuncSetAttribute(run_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(most));
}

}  // namespace

cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks) {
  int device = 0, multiprocessors = 0, each = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess)
    result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, run_kernel, run_threads, 0);
  blocks = each > 0 ? static_cast<unsigned>(multiprocessors) / ranks : 0;
  // Each block's sum is added by one thread of the first block.
  if (blocks > run_threads) blocks = run_threads;
  return result;
}

cudaError_t launch_run(const Run& run, const Partners& partners, unsigned blocks, cudaStream_t stream) {
  Word kept = 0;
  const cudaError_t result = tasks_to_keep(run.work, blocks, kept);
  if (result != cudaSuccess) return result;
  void* arguments[] = {const_cast<Run*>(&run), const_cast<Partners*>(&partners), &kept};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(blocks), dim3(run_threads),
                                     arguments, Room::bytes(kept), stream);
}

}  // namespace tca::himeno
