// NVSHMEM's calls that kernels alone make: signals, waits, and what a warp or a block does together.
#ifndef TCA_NVSHMEM_KERNEL_CUH
#define TCA_NVSHMEM_KERNEL_CUH

#include "collectives.cuh"
#include "puts.cuh"
#include "waits.cuh"

// clang-format off
#define TCA_NVSHMEM_CALL static __device__ __forceinline__

TCA_NVSHMEM_CALL void nvshmemx_signal_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  tca_nvshmem::signal(sig_addr, signal, sig_op, pe, "nvshmemx_signal_op");
}
TCA_NVSHMEM_CALL uint64_t nvshmem_signal_fetch(uint64_t* sig_addr) { return tca_nvshmem::look(sig_addr); }
TCA_NVSHMEM_CALL uint64_t nvshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t value) {
  return tca_nvshmem::wait(sig_addr, cmp, value, "nvshmem_signal_wait_until");
}
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_CALL void nvshmem_##name##_wait_until(type* ivar, int cmp, type value) { \
    tca_nvshmem::wait(ivar, cmp, value, "nvshmem_" #name "_wait_until"); \
  } \
  TCA_NVSHMEM_CALL int nvshmem_##name##_test(type* ivar, int cmp, type value) { \
    return tca_nvshmem::holds(tca_nvshmem::look(ivar), cmp, value); \
  }
TCA_NVSHMEM_WAIT_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X

// Puts with a signal, which is raised once the elements are there.
#define TCA_NVSHMEM_PUT_SIGNAL(call, scope, type) \
  TCA_NVSHMEM_CALL void call(type* dest, const type* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) { \
    tca_nvshmem::put_signal<tca_nvshmem::scope>(dest, source, nelems, sig_addr, signal, sig_op, pe, #call); \
  }
#define TCA_NVSHMEM_PUT_SIGNAL_BYTES(call, scope, bytes) \
  TCA_NVSHMEM_CALL void call(void* dest, const void* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) { \
    tca_nvshmem::put_signal_bytes<tca_nvshmem::scope>(dest, source, nelems, bytes, sig_addr, signal, sig_op, pe, #call); \
  }
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmem_##name##_put_signal, by_thread, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmem_##name##_put_signal_nbi, by_thread, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmemx_##name##_put_signal_warp, by_warp, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmemx_##name##_put_signal_nbi_warp, by_warp, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmemx_##name##_put_signal_block, by_block, type) \
  TCA_NVSHMEM_PUT_SIGNAL(nvshmemx_##name##_put_signal_nbi_block, by_block, type)
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#define TCA_NVSHMEM_X(suffix, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmem_put##suffix##_signal, by_thread, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmem_put##suffix##_signal_nbi, by_thread, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmemx_put##suffix##_signal_warp, by_warp, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmemx_put##suffix##_signal_nbi_warp, by_warp, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmemx_put##suffix##_signal_block, by_block, bytes) \
  TCA_NVSHMEM_PUT_SIGNAL_BYTES(nvshmemx_put##suffix##_signal_nbi_block, by_block, bytes)
TCA_NVSHMEM_X(mem, 1) TCA_NVSHMEM_X(8, 1) TCA_NVSHMEM_X(16, 2) TCA_NVSHMEM_X(32, 4) TCA_NVSHMEM_X(64, 8) TCA_NVSHMEM_X(128, 16)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_PUT_SIGNAL
#undef TCA_NVSHMEM_PUT_SIGNAL_BYTES

// Puts and gets of a warp or a block, whose threads all make the call.
#define TCA_NVSHMEM_MOVE(call, what, scope, type) \
  TCA_NVSHMEM_CALL void call(type* dest, const type* source, size_t nelems, int pe) { \
    tca_nvshmem::what<tca_nvshmem::scope>(dest, source, nelems, pe, #call); \
  }
#define TCA_NVSHMEM_X(name, type) \
  TCA_NVSHMEM_MOVE(nvshmemx_##name##_put_warp, put, by_warp, type) TCA_NVSHMEM_MOVE(nvshmemx_##name##_put_block, put, by_block, type) \
  TCA_NVSHMEM_MOVE(nvshmemx_##name##_put_nbi_warp, put, by_warp, type) TCA_NVSHMEM_MOVE(nvshmemx_##name##_put_nbi_block, put, by_block, type) \
  TCA_NVSHMEM_MOVE(nvshmemx_##name##_get_warp, get, by_warp, type) TCA_NVSHMEM_MOVE(nvshmemx_##name##_get_block, get, by_block, type) \
  TCA_NVSHMEM_MOVE(nvshmemx_##name##_get_nbi_warp, get, by_warp, type) TCA_NVSHMEM_MOVE(nvshmemx_##name##_get_nbi_block, get, by_block, type) \
  TCA_NVSHMEM_CALL void nvshmemx_##name##_iput_warp(type* dest, const type* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { \
    tca_nvshmem::put_strided<tca_nvshmem::by_warp>(dest, source, dst, sst, nelems, pe, "nvshmemx_" #name "_iput_warp"); \
  } \
  TCA_NVSHMEM_CALL void nvshmemx_##name##_iput_block(type* dest, const type* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) { \
    tca_nvshmem::put_strided<tca_nvshmem::by_block>(dest, source, dst, sst, nelems, pe, "nvshmemx_" #name "_iput_block"); \
  }
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_MOVE
#define TCA_NVSHMEM_MOVE(call, what, scope, bytes) \
  TCA_NVSHMEM_CALL void call(void* dest, const void* source, size_t nelems, int pe) { \
    tca_nvshmem::what<tca_nvshmem::scope>(dest, source, nelems, bytes, pe, #call); \
  }
#define TCA_NVSHMEM_X(suffix, bytes) \
  TCA_NVSHMEM_MOVE(nvshmemx_put##suffix##_warp, put_bytes, by_warp, bytes) TCA_NVSHMEM_MOVE(nvshmemx_put##suffix##_block, put_bytes, by_block, bytes) \
  TCA_NVSHMEM_MOVE(nvshmemx_put##suffix##_nbi_warp, put_bytes, by_warp, bytes) TCA_NVSHMEM_MOVE(nvshmemx_put##suffix##_nbi_block, put_bytes, by_block, bytes) \
  TCA_NVSHMEM_MOVE(nvshmemx_get##suffix##_warp, get_bytes, by_warp, bytes) TCA_NVSHMEM_MOVE(nvshmemx_get##suffix##_block, get_bytes, by_block, bytes) \
  TCA_NVSHMEM_MOVE(nvshmemx_get##suffix##_nbi_warp, get_bytes, by_warp, bytes) TCA_NVSHMEM_MOVE(nvshmemx_get##suffix##_nbi_block, get_bytes, by_block, bytes)
TCA_NVSHMEM_X(mem, 1) TCA_NVSHMEM_X(8, 1) TCA_NVSHMEM_X(16, 2) TCA_NVSHMEM_X(32, 4) TCA_NVSHMEM_X(64, 8) TCA_NVSHMEM_X(128, 16)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_MOVE

// Collectives of a warp or a block, whose threads all make the call.
#define TCA_NVSHMEM_MEET(group, scope) \
  TCA_NVSHMEM_CALL int nvshmemx_barrier_##group(nvshmem_team_t team) { return tca_nvshmem::barrier<tca_nvshmem::scope>(team, "nvshmemx_barrier_" #group); } \
  TCA_NVSHMEM_CALL int nvshmemx_team_sync_##group(nvshmem_team_t team) { return tca_nvshmem::barrier<tca_nvshmem::scope>(team, "nvshmemx_team_sync_" #group); } \
  TCA_NVSHMEM_CALL void nvshmemx_barrier_all_##group() { tca_nvshmem::barrier<tca_nvshmem::scope>(NVSHMEM_TEAM_WORLD, "nvshmemx_barrier_all_" #group); } \
  TCA_NVSHMEM_CALL void nvshmemx_sync_all_##group() { tca_nvshmem::barrier<tca_nvshmem::scope>(NVSHMEM_TEAM_WORLD, "nvshmemx_sync_all_" #group); } \
  TCA_NVSHMEM_CALL int nvshmemx_broadcastmem_##group(nvshmem_team_t team, void* dest, const void* source, size_t bytes, int root) { \
    return tca_nvshmem::broadcast<tca_nvshmem::scope>(team, dest, source, bytes, root, "nvshmemx_broadcastmem_" #group); \
  }
TCA_NVSHMEM_MEET(warp, by_warp) TCA_NVSHMEM_MEET(block, by_block)
#undef TCA_NVSHMEM_MEET
#define TCA_NVSHMEM_SUM(name, type, kind, group) \
  TCA_NVSHMEM_CALL int nvshmemx_##name##_sum_reduce_##group(nvshmem_team_t team, type* dest, const type* source, size_t nreduce) { \
    return tca_nvshmem::sum<tca_nvshmem::by_##group, kind>(team, dest, source, nreduce, "nvshmemx_" #name "_sum_reduce_" #group); \
  }
#define TCA_NVSHMEM_X(name, type, kind) TCA_NVSHMEM_SUM(name, type, kind, warp) TCA_NVSHMEM_SUM(name, type, kind, block)
TCA_NVSHMEM_SUM_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_SUM
#define TCA_NVSHMEM_BROADCAST(name, type, group) \
  TCA_NVSHMEM_CALL int nvshmemx_##name##_broadcast_##group(nvshmem_team_t team, type* dest, const type* source, size_t nelems, int root) { \
    return tca_nvshmem::broadcast<tca_nvshmem::by_##group>(team, dest, source, nelems * sizeof(type), root, \
                                  "nvshmemx_" #name "_broadcast_" #group); \
  }
#define TCA_NVSHMEM_X(name, type) TCA_NVSHMEM_BROADCAST(name, type, warp) TCA_NVSHMEM_BROADCAST(name, type, block)
TCA_NVSHMEM_RMA_TYPES(TCA_NVSHMEM_X)
#undef TCA_NVSHMEM_X
#undef TCA_NVSHMEM_BROADCAST

#undef TCA_NVSHMEM_CALL
// clang-format on

#endif
