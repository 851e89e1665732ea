// Which warp of the engine carries which part of a chain.
#pragma once

#include "fabric/cuda/engine/worker_group.cuh"
#include "tca/device/part.cuh"

namespace tca::cuda::engine {

// A warp in the role of a part's group. Neighbouring parts belong to different blocks.
class EngineWarp {
 public:
  static __device__ Word part() { return warp() % workers_in_group * gridDim.x + blockIdx.x; }
  static __device__ Word parts() { return workers_in_group * gridDim.x; }
  static __device__ Word lane() { return engine::lane(); }
  static constexpr __device__ Word lanes() { return warp_lanes; }
  static __device__ void sync() { __syncwarp(); }
  static __device__ bool any(bool mine) { return __any_sync(all_lanes, mine) != 0; }
  static __device__ bool all(bool mine) {
    __syncwarp();  // a vote orders no memory
    return __all_sync(all_lanes, mine) != 0;
  }
};

// A part is busy if it has anything to do: unit u is carried by part u mod parts, and part 0 gives
// permissions.
__device__ inline Word busy_parts(const DeviceChain& chain) {
  return max(max(max(chain.chunks_out, chain.chunks_in), max(chain.segments_out, chain.segments_in)), 1u);
}
__device__ inline Word busy_blocks(const DeviceChain& chain) { return min(busy_parts(chain), gridDim.x); }
// Counts the calling block's busy warps, which are the group's first ones.
__device__ inline Word busy_warps(const DeviceChain& chain) {
  const Word parts = busy_parts(chain);
  return parts > blockIdx.x ? min((parts - blockIdx.x - 1) / gridDim.x + 1, workers_in_group) : 0;
}

}  // namespace tca::cuda::engine
