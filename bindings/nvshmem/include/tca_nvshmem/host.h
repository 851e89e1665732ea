/* What the library does for the host, without types: both.h gives them NVSHMEM's names. `call` is the name that messages give.
 *
 * Where an argument cannot be, or a PE does not come, a call says so on standard error, with this PE and the call. Calls with a
 * status or a pointer then return it; all others end the process.
 */
#ifndef TCA_NVSHMEM_HOST_H
#define TCA_NVSHMEM_HOST_H

#include <cuda_runtime.h>

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

int tca_nvshmem_init(unsigned int flags, const nvshmemx_init_attr_t* attributes);
void tca_nvshmem_finalize(void);
void tca_nvshmem_exit(int status);
int tca_nvshmem_make_id(nvshmemx_uniqueid_t* id);
int tca_nvshmem_is_up(void);

int tca_nvshmem_my_pe(const char* call);
int tca_nvshmem_n_pes(const char* call);
int tca_nvshmem_team_my_pe(nvshmem_team_t team, const char* call);
int tca_nvshmem_team_n_pes(nvshmem_team_t team, const char* call);
int tca_nvshmem_translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other, const char* call);

void* tca_nvshmem_allocate(size_t bytes, size_t alignment, int cleared, const char* call);
void tca_nvshmem_free(void* memory);
void* tca_nvshmem_ptr(const void* memory, int pe);

/* Each is complete when it returns. */
void tca_nvshmem_put(void* to, const void* from, size_t bytes, int pe, const char* call);
void tca_nvshmem_get(void* to, const void* from, size_t bytes, int pe, const char* call);
void tca_nvshmem_put_strided(void* to, const void* from, ptrdiff_t to_stride, ptrdiff_t from_stride,
                             size_t count, size_t element_bytes, int pe, const char* call);
void tca_nvshmem_barrier(nvshmem_team_t team, const char* call);
int tca_nvshmem_sum(nvshmem_team_t team, int kind, void* to, const void* from, size_t count,
                    const char* call);
int tca_nvshmem_broadcast(nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                          const char* call);

/* Each is ordered on the stream. */
void tca_nvshmem_put_on_stream(void* to, const void* from, size_t bytes, int pe, cudaStream_t stream,
                               const char* call);
void tca_nvshmem_get_on_stream(void* to, const void* from, size_t bytes, int pe, cudaStream_t stream,
                               const char* call);
void tca_nvshmem_signal_on_stream(uint64_t* at, uint64_t value, int op, int pe, cudaStream_t stream,
                                  const char* call);
void tca_nvshmem_wait_on_stream(void* at, int cmp, uint64_t value, size_t bytes, int is_signed,
                                cudaStream_t stream, const char* call);
void tca_nvshmem_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream, const char* call);
int tca_nvshmem_sum_on_stream(nvshmem_team_t team, int kind, void* to, const void* from, size_t count,
                              cudaStream_t stream, const char* call);
int tca_nvshmem_broadcast_on_stream(nvshmem_team_t team, void* to, const void* from, size_t bytes, int root,
                                    cudaStream_t stream, const char* call);

#ifdef __cplusplus
}
#endif
#endif
