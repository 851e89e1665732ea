// What kernels know of the PEs, and the way from an address here to the same one there.
#ifndef TCA_NVSHMEM_STATE_CUH
#define TCA_NVSHMEM_STATE_CUH

#include "state.h"

namespace tca_nvshmem {

extern __constant__ State state;

enum Scope { by_thread, by_warp, by_block };

// These end the kernel: they say on standard output which PE made which call, and what was wrong. The first does so unless the
// memory is symmetric and the PE on this host.
__device__ void require_reached(const void* here, int pe, const char* call);
__device__ void fail_wait(const void* address, int cmp, unsigned long long want, unsigned long long have,
                          const char* call);

// Asked now and then by a wait, with what it returned the last time (0 at first). Returns 0 once there is no point in waiting
// on: the time limit has passed, or a PE is lost.
__device__ unsigned long long go_on(unsigned long long begin);

__device__ __forceinline__ bool is_elsewhere(long long apart) { return (apart & elsewhere) != 0; }

// The address at another PE of symmetric memory of this one.
template <class T>
__device__ __forceinline__ T* at(T* here, int pe, const char* call) {
  const unsigned long long offset =
      reinterpret_cast<unsigned long long>(here) - reinterpret_cast<unsigned long long>(state.heap);
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.near) || offset >= state.bytes)
    require_reached(here, pe, call);
  return reinterpret_cast<T*>(reinterpret_cast<unsigned long long>(here) + state.apart[pe]);
}

// What a PE of one team is called in another; -1 where it is in only one of them.
__device__ __forceinline__ int translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other) {
  const bool from_world = team == NVSHMEM_TEAM_WORLD, to_world = other == NVSHMEM_TEAM_WORLD;
  if (team == NVSHMEM_TEAM_INVALID || other == NVSHMEM_TEAM_INVALID || pe < 0 ||
      pe >= (from_world ? state.pes : state.node_pes))
    return -1;
  return from_world == to_world ? pe : from_world ? state.in_node[pe] : state.node[pe];
}

template <Scope scope>
__device__ __forceinline__ bool is_first() {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return scope == by_thread || (scope == by_warp ? thread % 32 == 0 : thread == 0);
}
template <Scope scope>
__device__ __forceinline__ void sync() {
  if (scope == by_warp) __syncwarp();
  if (scope == by_block) __syncthreads();
}

}  // namespace tca_nvshmem

#endif
