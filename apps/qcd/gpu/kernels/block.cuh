// A block of 256 threads, as the kernels of the solver and of the hops use it.
#pragma once

#include "qcd/gpu/kernels/kernels.hpp"
#include "qcd/gpu/solve.hpp"
#include "tca/launch.cuh"
#include "tca/team.cuh"

namespace tca::qcd {

inline constexpr unsigned block_threads = chunk_warps * chunk_sites;
static_assert(chunk_sites == 32, "a warp has a site a lane");

// Allows a kernel a ChunkRoom and `more` bytes of shared memory, which is more than a kernel gets by default.
// To be called before the kernel is launched.
template <class T, class Kernel>
cudaError_t give_room(Kernel* kernel, std::size_t more = 0) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(sizeof(ChunkRoom<T>) + more));
}

// Returns the sum of a warp's values on every lane.
__device__ inline double warp_sum(double value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0U, value, distance);
  return value;
}

// Adds up sums to which each thread contributes, and stores the block's share where other blocks find it.
// Shares are ordered by block, then by right-hand side if the grid has a row for each, then by number.
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
    partials[(blockIdx.x * gridDim.y + blockIdx.y) * count + threadIdx.x] = sum;
  }
}

// Returns, on every lane of a warp, the sum of one number over all shares, which have `count` numbers each.
__device__ inline double sum_of_shares(const double* partials, Word shares, Word count, Word number) {
  double sum = 0;
  for (Word share = threadIdx.x % chunk_sites; share < shares; share += chunk_sites)
    sum += __ldcg(partials + share * count + number);
  return warp_sum(sum);
}

// The number of multiprocessors of the current device.
inline unsigned multiprocessors() {
  int device = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return static_cast<unsigned>(count);
}

// The state of a thread, and the barriers of its block. Rooms of both precisions use the same shared memory
// in turn, with a barrier of the grid between them.
class SiteBlock {
 public:
  static constexpr bool links_ahead = true, together = false;

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

  // Stores the block's share of the five sums where the others find it, and resets the threads' sums.
  __device__ void store_sums(double* partials) {
    store_share(thread_.sums, partials);
#pragma unroll
    for (Word i = 0; i < sum_count; ++i) thread_.sums[i] = 0;
  }

  // Adds up the five sums over `blocks` shares, into shared memory, followed by a barrier of the block. Every
  // block that calls it gets the same bits.
  __device__ void add_shares(const double* partials, Word blocks, double* totals) const {
    if (thread_.warp < sum_count) {
      const double sum = sum_of_shares(partials, blocks, sum_count, thread_.warp);
      if (thread_.lane == 0) totals[thread_.warp] = sum;
    }
    __syncthreads();
  }

 protected:
  SiteThread thread_;

 private:
  uint4* shared_;
};

// A block for several right-hand sides. Each warp keeps its part of their sums in shared memory, since the
// registers suffice for the sums of only one.
class TogetherBlock : public SiteBlock {
 public:
  static constexpr bool together = true;

  static constexpr std::size_t kept_bytes(Word rhs) {
    return std::size_t{chunk_warps} * rhs * sum_count * sizeof(double);
  }

  __device__ TogetherBlock(uint4* shared, double* kept, Word rhs)
      : SiteBlock(shared), kept_(kept), rhs_(rhs) {
    for (Word i = threadIdx.x; i < chunk_warps * rhs * sum_count; i += block_threads) kept[i] = 0;
    __syncthreads();
  }

  __device__ void keep_sums(Word rhs) {
    double* const own = kept_ + (thread_.warp * rhs_ + rhs) * sum_count;
#pragma unroll
    for (Word i = 0; i < sum_count; ++i) {
      const double sum = warp_sum(thread_.sums[i]);
      if (thread_.lane == 0) own[i] += sum;
      thread_.sums[i] = 0;
    }
  }

  // Stores the block's share, ordered by block, right-hand side and number.
  __device__ void store_sums(double* partials) const {
    const Word count = rhs_ * sum_count;
    __syncthreads();
    for (Word i = threadIdx.x; i < count; i += block_threads) {
      double sum = 0;
      for (Word warp = 0; warp < chunk_warps; ++warp) sum += kept_[warp * count + i];
      partials[blockIdx.x * count + i] = sum;
    }
  }

 private:
  double* kept_;
  Word rhs_;
};

// Visits a block's chunks of one parity, for the right-hand side that is the block's row of the grid. `make`
// returns the four of a site that the neighbours are to get. Only chunks with ghosts have anything to send.
// The second sync keeps the next chunk's spinors from being stored before every warp has sent its part of
// this one.
template <class T, class Make>
__device__ __forceinline__ void pass(SiteBlock& block, const Ground<T>& ground, const Chunks& chunks,
                                     const Crossing<T>& crossing, bool odd, bool dagger, const Make& make) {
  __shared__ alignas(16) T spinors[spinor_reals * chunk_sites];
  for (Word k = blockIdx.x; k < chunks.count; k += gridDim.x) {
    const auto chunk = static_cast<Word>(chunks.order[k]);
    const bool sends = k >= chunks.interior;
    block.each([&](SiteThread& thread) {
      const Word place = chunk * chunk_sites + thread.lane;
      if (sends) thread.here = neighbour_of(ground, chunk, odd, thread);
      if (thread.warp >= 6 || place >= ground.half()) return;
      const Four<T> value = make(place, thread.warp);
      if (sends) put_four(spinors, chunk_sites, thread.lane, thread.warp, value);
    });
    if (!sends) continue;
    block.sync();
    send_chunk(block, ground, spinors, chunk, odd, dagger, blockIdx.y, WindowSink<T>{crossing, ground.rhs});
    block.sync();
  }
}

// A block of a cooperative grid. Loading links ahead takes registers, which the solve has only if a
// multiprocessor runs a single block.
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

  // Takes one barrier of the grid. With several ranks the first block then adds up over the ranks, and a
  // second barrier hands out the result.
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
  BlockTeam* sums_;  // of the first block; null in the others
};

}  // namespace tca::qcd
