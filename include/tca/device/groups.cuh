// The threads that act as one: a barrier of a grid, and blocks and warps in the terms of the protocols
// (stores.hpp, ll.hpp).
#pragma once

#include "tca/device/times.hpp"

namespace tca::device {

__device__ inline Word block_number() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ inline Word blocks_in_grid() { return gridDim.x * gridDim.y * gridDim.z; }
__device__ inline Word thread_number() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline Word threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }

// A barrier of all blocks, which must be on the GPU together, in two halves: what a block has stored before
// it arrived can be read by every block that has waited. `grid_wait` takes what `grid_arrive` returned, and
// is true when `good` was true on every block, this time and before.
//
// The upper half of `word` counts arrivals. The first block adds whatever flips its top bit once all others
// have arrived, so the count need not be reset (as in cooperative_groups). The lower half counts arrivals
// that were not good.
__device__ inline std::uint64_t grid_arrive(std::uint64_t* word, bool good) {
  __syncthreads();
  std::uint64_t before = 0;
  if (thread_number() == 0) {
    const std::uint64_t arrival = block_number() == 0 ? 0x80000000u - (blocks_in_grid() - 1) : 1;
    const std::uint64_t add = arrival << 32 | (good ? 0 : 1);
    // Release: pairs with the acquire in `grid_wait`, for what this block has stored.
    asm volatile("fence.acq_rel.gpu;\n\tatom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(word), "l"(add)
                 : "memory");
  }
  return before;
}
__device__ inline bool grid_wait(std::uint64_t* word, std::uint64_t before) {
  __shared__ bool all_good;
  if (thread_number() == 0) {
    std::uint64_t now;
    do {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
    } while ((before ^ now) >> 63 == 0);
    all_good = static_cast<Word>(now) == 0;
  }
  __syncthreads();
  return all_good;
}
__device__ inline bool grid_barrier(std::uint64_t* word, bool good) {
  return grid_wait(word, grid_arrive(word, good));
}

// A block as the group of a part (see device/stores.hpp).
class Block {
 public:
  __device__ Block(Word part, Word parts) : part_(part), parts_(parts) {}
  static __device__ Block of_grid() { return {block_number(), min(blocks_in_grid(), max_parts)}; }
  __device__ Word part() const { return part_; }
  __device__ Word parts() const { return parts_; }
  __device__ Word lane() const { return thread_number(); }
  __device__ Word lanes() const { return threads_in_block(); }
  // A block of one warp avoids the block's barrier, which takes longer.
  __device__ void sync() const {
    if (lanes() <= 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  __device__ bool all(bool mine) const {
    if (lanes() > 32) return __syncthreads_and(mine) != 0;
    __syncwarp();  // a vote orders no memory
    return __all_sync(0xffffffffu, mine) != 0;
  }
  __device__ bool any(bool mine) const { return __syncthreads_or(mine); }

 private:
  Word part_, parts_;
};

// A warp of a part's thread group as the unit that carries chunks (see device/ll.hpp). Neighbouring chunks
// go to different blocks, so that few of them already use many multiprocessors.
class Warp {
 public:
  static constexpr Word size = 32;

  template <class ThreadGroup>
  __device__ explicit Warp(const ThreadGroup& group)
      : index_(group.lane() / size * group.parts() + group.part()),
        count_(group.parts() * (group.lanes() / size)) {}
  __device__ Word index() const { return index_; }
  __device__ Word count() const { return count_; }
  __device__ Word lane() const { return thread_number() % size; }
  static constexpr __device__ Word lanes() { return size; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool mine) const { return __all_sync(0xffffffffu, mine) != 0; }

 private:
  Word index_, count_;
};

// The same if the times of messages are taken.
class TimedBlock : public Block {
 public:
  __device__ TimedBlock(const Block& block, const Times& times) : Block(block), times_(times) {}
  __device__ const Times& times() const { return times_; }

 private:
  Times times_;
};
class TimedWarp : public Warp {
 public:
  __device__ explicit TimedWarp(const TimedBlock& group) : Warp(group), times_(group.times()) {}
  __device__ const Times& times() const { return times_; }

 private:
  Times times_;
};

// The warps of a group, as the units that carry its chunks.
template <class ThreadGroup>
struct UnitOf {
  using Type = Warp;
};
template <>
struct UnitOf<TimedBlock> {
  using Type = TimedWarp;
};

// The calling block as the group of a part of a chain.
template <class View>
struct BlockFor {
  using Type = Block;
};
template <>
struct BlockFor<DeviceTimedChain> {
  using Type = TimedBlock;
};
__device__ inline Block block_for(const DeviceChain&) { return Block::of_grid(); }
__device__ inline TimedBlock block_for(const DeviceTimedChain& chain) {
  return {Block::of_grid(), chain.times};
}

}  // namespace tca::device
