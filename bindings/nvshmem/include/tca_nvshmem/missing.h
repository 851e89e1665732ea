/* What OpenTCA does not have of NVSHMEM, so that C++ says so where a program calls it: "use of deleted function". */
#ifndef TCA_NVSHMEM_MISSING_H
#define TCA_NVSHMEM_MISSING_H

#include "types.h"

#if defined(__cplusplus) && __cplusplus >= 201103L

/* clang-format off */
struct not_in_OpenTCA_see_docs_nvshmem_md;
#if defined(__CUDACC__)
#define TCA_NVSHMEM_NOT_HERE(name) \
  template <class... Arguments> __host__ __device__ not_in_OpenTCA_see_docs_nvshmem_md name(Arguments...) = delete;
#else
#define TCA_NVSHMEM_NOT_HERE(name) \
  template <class... Arguments> not_in_OpenTCA_see_docs_nvshmem_md name(Arguments...) = delete;
#endif

TCA_NVSHMEM_NOT_HERE(nvshmem_realloc) TCA_NVSHMEM_NOT_HERE(nvshmem_team_split_strided) TCA_NVSHMEM_NOT_HERE(nvshmem_team_split_2d)
TCA_NVSHMEM_NOT_HERE(nvshmem_team_destroy) TCA_NVSHMEM_NOT_HERE(nvshmem_team_get_config) TCA_NVSHMEM_NOT_HERE(nvshmem_fcollectmem)
TCA_NVSHMEM_NOT_HERE(nvshmem_alltoallmem) TCA_NVSHMEM_NOT_HERE(nvshmemx_buffer_register) TCA_NVSHMEM_NOT_HERE(nvshmemx_mc_ptr)
TCA_NVSHMEM_NOT_HERE(nvshmemx_collective_launch) TCA_NVSHMEM_NOT_HERE(nvshmemx_cumodule_init)
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_iget) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_fcollect) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_alltoall) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_max_reduce) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_min_reduce) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_prod_reduce) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_sum_reducescatter) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_add) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_fetch_add) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_inc) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_fetch_inc) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_fetch) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_set) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_swap) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_atomic_compare_swap) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_wait_until_all) \
  TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_wait_until_any) TCA_NVSHMEM_NOT_HERE(nvshmem_##name##_wait_until_some)
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_NOT_HERE
/* clang-format on */

#endif
#endif
