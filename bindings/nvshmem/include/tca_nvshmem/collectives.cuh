// Barriers, sums and broadcasts of kernels, which the library makes; it has all of these templates. Every PE makes the same ones in the same order, each by
// one thread, warp or block.
#ifndef TCA_NVSHMEM_COLLECTIVES_CUH
#define TCA_NVSHMEM_COLLECTIVES_CUH

#include "state.cuh"

namespace tca_nvshmem {

template <Scope scope>
__device__ int barrier(nvshmem_team_t team, const char* call);
template <Scope scope, tca_nvshmem_kind kind>
__device__ int sum(nvshmem_team_t team, void* to, const void* from, size_t count, const char* call);
// Without a comma, for macros.
template <tca_nvshmem_kind kind>
__device__ __forceinline__ int sum_by_thread(nvshmem_team_t team, void* to, const void* from, size_t count,
                                             const char* call) {
  return sum<by_thread, kind>(team, to, from, count, call);
}
template <Scope scope>
__device__ int broadcast(nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                         const char* call);
// This PE's number in a team, and how many PEs are in it.
__device__ int team_my_pe(nvshmem_team_t team, const char* call);
__device__ int team_n_pes(nvshmem_team_t team, const char* call);

}  // namespace tca_nvshmem

#endif
