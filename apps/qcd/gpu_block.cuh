// A block of 256 threads as the solver's and the hops' kernels see it.
#pragma once

#include "qcd/gpu_kernels.hpp"
#include "qcd/gpu_solve.hpp"
#include "tca/team.cuh"

namespace tca::qcd {

inline constexpr unsigned block_threads = chunk_warps * chunk_sites;
static_assert(chunk_sites == 32, "a warp has a site a lane");

// Lets a kernel have a ChunkRoom, which is more shared memory than a kernel may have unasked. To be called before it is launched.
template <class T, class Kernel>
cudaError_t give_room(Kernel* kernel) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(sizeof(ChunkRoom<T>)));
}

// On every lane.
__device__ inline double warp_sum(double value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0U, value, distance);
  return value;
}

// The block's share of sums that each thread has a part of, to where other blocks find it: by block, then number.
template <Word count>
__device__ __forceinline__ void store_share(const double (&mine)[count], double* partials) {
  __shared__ double of_warps[chunk_warps][count];
  const Word warp = threadIdx.x / chunk_sites, lane = threadIdx.x % chunk_sites;
#pragma unroll
  for (Word i = 0; i < count; ++i) {
    const double sum = warp_sum(mine[i]);
    if (lane == 0) of_warps[warp][i] = sum;
  }
  __syncthreads();
  if (threadIdx.x < count) {
    double sum = 0;
    for (Word w = 0; w < chunk_warps; ++w) sum += of_warps[w][threadIdx.x];
    partials[blockIdx.x * count + threadIdx.x] = sum;
  }
}

// Of the GPU that this thread drives.
inline unsigned multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return static_cast<unsigned>(count);
}

// What a thread has to itself, and barriers of its block. Rooms of both precisions take turns in the same shared memory: a
// barrier of the grid stands between their uses.
class SiteBlock {
 public:
  static constexpr bool links_ahead = true;

  __device__ explicit SiteBlock(uint4* shared) : shared_(shared) {
    thread_.warp = threadIdx.x / chunk_sites;
    thread_.lane = threadIdx.x % chunk_sites;
  }

  __device__ Word index() const { return blockIdx.x; }
  __device__ Word count() const { return gridDim.x; }
  template <class F>
  __device__ __forceinline__ void each(const F& f) {
    f(thread_);
  }
  template <class F>
  __device__ __forceinline__ void one(const F& f) const {
    if (threadIdx.x == 0) f();
  }
  __device__ void sync() const { __syncthreads(); }
  template <class T>
  __device__ ChunkRoom<T>& room() const {
    return *reinterpret_cast<ChunkRoom<T>*>(shared_);
  }

  // The block's share of the five sums, to where the others find it; the threads' begin again at zero.
  __device__ void store_sums(double* partials) {
    store_share(thread_.sums, partials);
#pragma unroll
    for (Word i = 0; i < sum_count; ++i) thread_.sums[i] = 0;
  }

  // The sums of `blocks` shares, of `count` numbers each, in shared memory behind a barrier of the block. Every block that calls
  // it gets the same bits.
  __device__ void add_shares(const double* partials, Word blocks, double* totals,
                             Word count = sum_count) const {
    if (thread_.warp < count) {
      double sum = 0;
      for (Word b = thread_.lane; b < blocks; b += chunk_sites)
        sum += __ldcg(partials + b * count + thread_.warp);
      sum = warp_sum(sum);
      if (thread_.lane == 0) totals[thread_.warp] = sum;
    }
    __syncthreads();
  }

 protected:
  SiteThread thread_;

 private:
  uint4* shared_;
};

// One of a cooperative grid. Links that are asked for ahead need registers which the solve has only where a block has a
// multiprocessor to itself.
template <bool alone>
class GridBlock : public SiteBlock {
 public:
  static constexpr bool links_ahead = alone;

  __device__ GridBlock(uint4* shared, double* totals, const GridMemory& memory, const DeviceTeam& team,
                       BlockTeam* sums)
      : SiteBlock(shared), totals_(totals), memory_(memory), team_(team), sums_(sums) {}

  __device__ bool good() const { return thread_.good; }

  __device__ void arrive() {
    const bool good = __syncthreads_and(thread_.good) != 0;
    arrived_ = device::grid_arrive(memory_.barrier, good);
  }
  __device__ void wait() { thread_.good = device::grid_wait(memory_.barrier, arrived_); }
  __device__ void barrier() {
    arrive();
    wait();
  }

  // One barrier of the grid; with several ranks the first block adds up with theirs, and a second hands the result out.
  __device__ const double* total() {
    store_sums(memory_.partials);
    barrier();
    if (team_.size == 1 || blockIdx.x == 0) add_shares(memory_.partials, gridDim.x, totals_);
    if (team_.size == 1) return totals_;
    if (blockIdx.x == 0) {
      thread_.good = sums_->allreduce_sum(totals_, sum_count) && thread_.good;
      __syncthreads();
      if (threadIdx.x < sum_count) memory_.totals[threadIdx.x] = totals_[threadIdx.x];
    }
    barrier();
    if (threadIdx.x < sum_count) totals_[threadIdx.x] = __ldcg(memory_.totals + threadIdx.x);
    __syncthreads();
    return totals_;
  }

 private:
  double* totals_;
  const GridMemory& memory_;
  const DeviceTeam& team_;
  std::uint64_t arrived_ = 0;
  BlockTeam* sums_;  // of the first block, and of no other
};

}  // namespace tca::qcd
