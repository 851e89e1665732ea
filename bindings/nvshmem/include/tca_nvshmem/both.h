/* NVSHMEM's names: each call is one of the library's, for the host or for a kernel, with the type of its elements. */
#ifndef TCA_NVSHMEM_BOTH_H
#define TCA_NVSHMEM_BOTH_H

#include "host.h"

/* clang-format off */
#if defined(__CUDACC__) && !defined(TCA_NVSHMEM_HOST_ONLY)
#define TCA_NVSHMEM_CALL static inline __host__ __device__
#else
#define TCA_NVSHMEM_CALL static inline
#endif
#if defined(__CUDA_ARCH__) && !defined(TCA_NVSHMEM_HOST_ONLY)
#define TCA_NVSHMEM_HERE(in_kernel, on_host) tca_nvshmem::in_kernel
#else
#define TCA_NVSHMEM_HERE(in_kernel, on_host) tca_nvshmem_##on_host
#endif

/* Coming up and going. */
static inline void nvshmem_init(void) {
  const int status = tca_nvshmem_init(0, NULL);
  if (status != 0) tca_nvshmem_exit(status);
}
static inline int nvshmem_init_thread(int requested, int* provided) {
  *provided = requested < NVSHMEM_THREAD_SERIALIZED ? requested : NVSHMEM_THREAD_SERIALIZED;
  return tca_nvshmem_init(0, NULL);
}
static inline void nvshmem_query_thread(int* provided) { *provided = NVSHMEM_THREAD_SERIALIZED; }
static inline int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
  return tca_nvshmem_init(flags, attributes);
}
static inline int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* id) { return tca_nvshmem_make_id(id); }
static inline int nvshmemx_set_attr_uniqueid_args(const int rank, const int ranks, const nvshmemx_uniqueid_t* id,
                                                  nvshmemx_init_attr_t* attributes) {
  attributes->args.uid_args.id = (nvshmemx_uniqueid_t*)id;
  attributes->args.uid_args.myrank = rank;
  attributes->args.uid_args.nranks = ranks;
  return 0;
}
static inline void nvshmem_finalize(void) { tca_nvshmem_finalize(); }
static inline void nvshmem_global_exit(int status) { tca_nvshmem_exit(status); }
/* 0: not yet up; 2: up. */
static inline int nvshmemx_init_status(void) { return tca_nvshmem_is_up() ? 2 : 0; }

/* Who is there. */
TCA_NVSHMEM_CALL int nvshmem_my_pe(void) { return TCA_NVSHMEM_HERE(state.pe, my_pe("nvshmem_my_pe")); }
TCA_NVSHMEM_CALL int nvshmem_n_pes(void) { return TCA_NVSHMEM_HERE(state.pes, n_pes("nvshmem_n_pes")); }
TCA_NVSHMEM_CALL int nvshmem_team_my_pe(nvshmem_team_t team) {
  if (team == NVSHMEM_TEAM_INVALID) return -1;
  return TCA_NVSHMEM_HERE(team_my_pe(team, "nvshmem_team_my_pe"), team_my_pe(team, "nvshmem_team_my_pe"));
}
TCA_NVSHMEM_CALL int nvshmem_team_n_pes(nvshmem_team_t team) {
  if (team == NVSHMEM_TEAM_INVALID) return -1;
  return TCA_NVSHMEM_HERE(team_n_pes(team, "nvshmem_team_n_pes"), team_n_pes(team, "nvshmem_team_n_pes"));
}
TCA_NVSHMEM_CALL int nvshmem_team_translate_pe(nvshmem_team_t team, int pe, nvshmem_team_t other) {
  return TCA_NVSHMEM_HERE(translate_pe(team, pe, other), translate_pe(team, pe, other, "nvshmem_team_translate_pe"));
}

/* Symmetric memory: collective, but for the last. */
static inline void* nvshmem_malloc(size_t bytes) { return tca_nvshmem_allocate(bytes, 0, 0, "nvshmem_malloc"); }
static inline void* nvshmem_calloc(size_t count, size_t bytes) {
  return tca_nvshmem_allocate(bytes != 0 && count > (size_t)-1 / bytes ? (size_t)-1 : count * bytes, 0, 1, "nvshmem_calloc");
}
static inline void* nvshmem_align(size_t alignment, size_t bytes) {
  return tca_nvshmem_allocate(bytes, alignment, 0, "nvshmem_align");
}
static inline void nvshmem_free(void* memory) { tca_nvshmem_free(memory); }
TCA_NVSHMEM_CALL void* nvshmem_ptr(const void* memory, int pe) { return TCA_NVSHMEM_HERE(address(memory, pe), ptr(memory, pe)); }

/* Order. Puts of the host are complete when they return. */
TCA_NVSHMEM_CALL void nvshmem_fence(void) { (void)TCA_NVSHMEM_HERE(fence(), is_up()); }
TCA_NVSHMEM_CALL void nvshmem_quiet(void) { (void)TCA_NVSHMEM_HERE(fence(), is_up()); }

/* Barriers. Those that NVSHMEM calls sync order as much as the others. */
TCA_NVSHMEM_CALL int nvshmem_barrier(nvshmem_team_t team) {
  (void)TCA_NVSHMEM_HERE(barrier<tca_nvshmem::by_thread>(team, "nvshmem_barrier"), barrier(team, "nvshmem_barrier"));
  return 0;
}
static inline int nvshmemx_barrier_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  tca_nvshmem_barrier_on_stream(team, stream, "nvshmemx_barrier_on_stream");
  return 0;
}
TCA_NVSHMEM_CALL int nvshmem_team_sync(nvshmem_team_t team) {
  (void)TCA_NVSHMEM_HERE(barrier<tca_nvshmem::by_thread>(team, "nvshmem_team_sync"), barrier(team, "nvshmem_team_sync"));
  return 0;
}
static inline int nvshmemx_team_sync_on_stream(nvshmem_team_t team, cudaStream_t stream) {
  tca_nvshmem_barrier_on_stream(team, stream, "nvshmemx_team_sync_on_stream");
  return 0;
}
TCA_NVSHMEM_CALL void nvshmem_barrier_all(void) {
  (void)TCA_NVSHMEM_HERE(barrier<tca_nvshmem::by_thread>(NVSHMEM_TEAM_WORLD, "nvshmem_barrier_all"), barrier(NVSHMEM_TEAM_WORLD, "nvshmem_barrier_all"));
}
static inline void nvshmemx_barrier_all_on_stream(cudaStream_t stream) {
  tca_nvshmem_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream, "nvshmemx_barrier_all_on_stream");
}
TCA_NVSHMEM_CALL void nvshmem_sync_all(void) {
  (void)TCA_NVSHMEM_HERE(barrier<tca_nvshmem::by_thread>(NVSHMEM_TEAM_WORLD, "nvshmem_sync_all"), barrier(NVSHMEM_TEAM_WORLD, "nvshmem_sync_all"));
}
static inline void nvshmemx_sync_all_on_stream(cudaStream_t stream) {
  tca_nvshmem_barrier_on_stream(NVSHMEM_TEAM_WORLD, stream, "nvshmemx_sync_all_on_stream");
}
#define nvshmem_sync nvshmem_team_sync

/* Puts and gets: of elements with a type, or of as many bytes each as the name says in bits. */
#define TCA_NVSHMEM_MOVE(call, what, type) \
  TCA_NVSHMEM_CALL void call(type* dest, const type* source, size_t nelems, int pe) { \
    TCA_NVSHMEM_HERE(what<tca_nvshmem::by_thread>(dest, source, nelems, pe, #call), \
                     what(dest, source, nelems * sizeof(type), pe, #call)); \
  }
#define TCA_NVSHMEM_MOVE_BYTES(call, what, bytes) \
  TCA_NVSHMEM_CALL void call(void* dest, const void* source, size_t nelems, int pe) { \
    TCA_NVSHMEM_HERE(what##_bytes<tca_nvshmem::by_thread>(dest, source, nelems, bytes, pe, #call), \
                     what(dest, source, nelems * (bytes), pe, #call)); \
  }
#define TCA_NVSHMEM_MOVE_ON_STREAM(call, what, type, bytes) \
  static inline void call(type* dest, const type* source, size_t nelems, int pe, cudaStream_t stream) { \
    tca_nvshmem_##what##_on_stream(dest, source, nelems * (bytes), pe, stream, #call); \
  }
#define TCA_NVSHMEM_PUT_SIGNAL_ON_STREAM(call, type, bytes) \
  static inline void call(type* dest, const type* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, \
                          cudaStream_t stream) { \
    tca_nvshmem_put_on_stream(dest, source, nelems * (bytes), pe, stream, #call); \
    tca_nvshmem_signal_on_stream(sig_addr, signal, sig_op, pe, stream, #call); \
  }
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_MOVE(nvshmem_##name##_put, put, type) TCA_NVSHMEM_MOVE(nvshmem_##name##_put_nbi, put, type) \
  TCA_NVSHMEM_MOVE(nvshmem_##name##_get, get, type) TCA_NVSHMEM_MOVE(nvshmem_##name##_get_nbi, get, type) \
  TCA_NVSHMEM_MOVE_ON_STREAM(nvshmemx_##name##_put_on_stream, put, type, sizeof(type)) \
  TCA_NVSHMEM_MOVE_ON_STREAM(nvshmemx_##name##_put_nbi_on_stream, put, type, sizeof(type)) \
  TCA_NVSHMEM_MOVE_ON_STREAM(nvshmemx_##name##_get_on_stream, get, type, sizeof(type)) \
  TCA_NVSHMEM_PUT_SIGNAL_ON_STREAM(nvshmemx_##name##_put_signal_on_stream, type, sizeof(type)) \
  TCA_NVSHMEM_CALL void nvshmem_##name##_iput(type* dest, const type* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { \
    TCA_NVSHMEM_HERE(put_strided<tca_nvshmem::by_thread>(dest, source, dst, sst, nelems, pe, "nvshmem_" #name "_iput"), \
                     put_strided(dest, source, dst, sst, nelems, sizeof(type), pe, "nvshmem_" #name "_iput")); \
  } \
  TCA_NVSHMEM_CALL void nvshmem_##name##_p(type* dest, const type value, int pe) { \
    TCA_NVSHMEM_HERE(put<tca_nvshmem::by_thread>(dest, &value, 1, pe, "nvshmem_" #name "_p"), \
                     put(dest, &value, sizeof(type), pe, "nvshmem_" #name "_p")); \
  } \
  TCA_NVSHMEM_CALL type nvshmem_##name##_g(const type* source, int pe) { \
    type value; \
    TCA_NVSHMEM_HERE(get<tca_nvshmem::by_thread>(&value, source, 1, pe, "nvshmem_" #name "_g"), \
                     get(&value, source, sizeof(type), pe, "nvshmem_" #name "_g")); \
    return value; \
  }
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#define TCA_NVSHMEM_X(suffix, bytes) \
  TCA_NVSHMEM_MOVE_BYTES(nvshmem_put##suffix, put, bytes) TCA_NVSHMEM_MOVE_BYTES(nvshmem_put##suffix##_nbi, put, bytes) \
  TCA_NVSHMEM_MOVE_BYTES(nvshmem_get##suffix, get, bytes) TCA_NVSHMEM_MOVE_BYTES(nvshmem_get##suffix##_nbi, get, bytes) \
  TCA_NVSHMEM_MOVE_ON_STREAM(nvshmemx_put##suffix##_on_stream, put, void, bytes) \
  TCA_NVSHMEM_MOVE_ON_STREAM(nvshmemx_get##suffix##_on_stream, get, void, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_ON_STREAM(nvshmemx_put##suffix##_signal_on_stream, void, bytes)
TCA_NVSHMEM_X(mem, 1) TCA_NVSHMEM_X(8, 1) TCA_NVSHMEM_X(16, 2) TCA_NVSHMEM_X(32, 4) TCA_NVSHMEM_X(64, 8) TCA_NVSHMEM_X(128, 16)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_MOVE
#undef TCA_NVSHMEM_MOVE_BYTES
#undef TCA_NVSHMEM_MOVE_ON_STREAM
#undef TCA_NVSHMEM_PUT_SIGNAL_ON_STREAM

/* Sums and broadcasts. */
#define TCA_NVSHMEM_X(name, type, kind) \
  TCA_NVSHMEM_CALL int nvshmem_##name##_sum_reduce(nvshmem_team_t team, type* dest, const type* source, size_t nreduce) { \
    return TCA_NVSHMEM_HERE(sum_by_thread<kind>(team, dest, source, nreduce, "nvshmem_" #name "_sum_reduce"), \
                            sum(team, kind, dest, source, nreduce, "nvshmem_" #name "_sum_reduce")); \
  } \
  static inline int nvshmemx_##name##_sum_reduce_on_stream(nvshmem_team_t team, type* dest, const type* source, size_t nreduce, \
                                                           cudaStream_t stream) { \
    return tca_nvshmem_sum_on_stream(team, kind, dest, source, nreduce, stream, "nvshmemx_" #name "_sum_reduce_on_stream"); \
  }
TCA_NVSHMEM_SUM_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_CALL int nvshmem_##name##_broadcast(nvshmem_team_t team, type* dest, const type* source, size_t nelems, int root) { \
    return TCA_NVSHMEM_HERE(broadcast<tca_nvshmem::by_thread>(team, dest, source, nelems * sizeof(type), root, \
                                      "nvshmem_" #name "_broadcast"), \
                            broadcast(team, dest, source, nelems * sizeof(type), root, "nvshmem_" #name "_broadcast")); \
  } \
  static inline int nvshmemx_##name##_broadcast_on_stream(nvshmem_team_t team, type* dest, const type* source, size_t nelems, \
                                                          int root, cudaStream_t stream) { \
    return tca_nvshmem_broadcast_on_stream(team, dest, source, nelems * sizeof(type), root, stream, \
                                           "nvshmemx_" #name "_broadcast_on_stream"); \
  }
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
TCA_NVSHMEM_CALL int nvshmem_broadcastmem(nvshmem_team_t team, void* dest, const void* source, size_t bytes, int root) {
  return TCA_NVSHMEM_HERE(broadcast<tca_nvshmem::by_thread>(team, dest, source, bytes, root, "nvshmem_broadcastmem"),
                          broadcast(team, dest, source, bytes, root, "nvshmem_broadcastmem"));
}
static inline int nvshmemx_broadcastmem_on_stream(nvshmem_team_t team, void* dest, const void* source, size_t bytes, int root,
                                                  cudaStream_t stream) {
  return tca_nvshmem_broadcast_on_stream(team, dest, source, bytes, root, stream, "nvshmemx_broadcastmem_on_stream");
}

/* Signals and waits on streams. */
static inline void nvshmemx_signal_op_on_stream(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe, cudaStream_t stream) {
  tca_nvshmem_signal_on_stream(sig_addr, signal, sig_op, pe, stream, "nvshmemx_signal_op_on_stream");
}
static inline void nvshmemx_signal_wait_until_on_stream(uint64_t* sig_addr, int cmp, uint64_t value, cudaStream_t stream) {
  tca_nvshmem_wait_on_stream(sig_addr, cmp, value, 8, 0, stream, "nvshmemx_signal_wait_until_on_stream");
}
/* Their order needs nothing: what a stream has put is there for whatever comes behind it on that stream. */
static inline void nvshmemx_quiet_on_stream(cudaStream_t stream) { (void)stream; }
#define TCA_NVSHMEM_X(name, type) \
  static inline void nvshmemx_##name##_wait_until_on_stream(type* ivar, int cmp, type value, cudaStream_t stream) { \
    tca_nvshmem_wait_on_stream(ivar, cmp, (uint64_t)value, sizeof(type), (type)-1 < (type)1, stream, \
                               "nvshmemx_" #name "_wait_until_on_stream"); \
  }
TCA_NVSHMEM_WAIT_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X

#undef TCA_NVSHMEM_HERE
#undef TCA_NVSHMEM_CALL
/* clang-format on */
#endif
