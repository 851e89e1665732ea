// Barriers, sums and broadcasts of kernels, which the library makes. Every PE makes the same ones in the same order, each by
// one thread, warp or block.
#ifndef TCA_NVSHMEM_COLLECTIVES_CUH
#define TCA_NVSHMEM_COLLECTIVES_CUH

#include "state.cuh"

namespace tca_nvshmem {

__device__ int barrier(Scope scope, nvshmem_team_t team, const char* call);
// `kind` is the third column of TCA_NVSHMEM_SUM_TYPES.
__device__ int sum(Scope scope, nvshmem_team_t team, int kind, void* to, const void* from, size_t count,
                   const char* call);
__device__ int broadcast(Scope scope, nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                         const char* call);
__device__ void check_team(nvshmem_team_t team, const char* call);

}  // namespace tca_nvshmem

#endif
