// What a level has reached, as one number that blocks and ranks add up.
#pragma once

#include "bfs/gpu/kernels.hpp"

namespace tca::bfs {

// How many vertices have been reached, in the upper 28 bits, and how many neighbours they have: numbers that
// are added up together.
using PackedReached = std::uint64_t;
inline constexpr int neighbour_bits = 36;
static_assert(largest_scale_on_gpus < 64 - neighbour_bits);

__device__ inline PackedReached packed(Word neighbours) {
  return std::uint64_t{1} << neighbour_bits | neighbours;
}
__device__ inline Reached unpacked(PackedReached reached) {
  return {static_cast<std::int64_t>(reached >> neighbour_bits),
          static_cast<std::int64_t>(reached & ((std::uint64_t{1} << neighbour_bits) - 1))};
}

// Adds what a warp's lanes have reached to a number in shared memory, which is 0 before and complete behind the
// next barrier of the block. All lanes of the warp call it.
__device__ inline void add_up(PackedReached mine, PackedReached& of_block) {
  constexpr unsigned all_lanes = ~0u;
  const Reached reached = unpacked(mine);
  // A warp's vertices have fewer than 2^32 neighbours.
  const unsigned vertices = __reduce_add_sync(all_lanes, static_cast<unsigned>(reached.vertices));
  const unsigned neighbours = __reduce_add_sync(all_lanes, static_cast<unsigned>(reached.neighbours));
  if (threadIdx.x % in_gpu_word == 0 && vertices != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&of_block),
              std::uint64_t{vertices} << neighbour_bits | neighbours);
}

}  // namespace tca::bfs
