// Puts, gets and signals of kernels. All are plain stores and loads in the other GPU's memory, so a put is on its way when
// it returns and is there behind a fence of system scope.
#ifndef TCA_NVSHMEM_PUTS_CUH
#define TCA_NVSHMEM_PUTS_CUH

#include "state.cuh"

namespace tca_nvshmem {

// The address of memory of this PE at another one; null where the memory is not symmetric, and the PE not there or on another
// host.
__device__ __forceinline__ void* address(const void* here, int pe) {
  const unsigned long long place = reinterpret_cast<unsigned long long>(here),
                           offset = place - reinterpret_cast<unsigned long long>(state.heap);
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(state.pes) || offset >= state.bytes ||
      is_elsewhere(state.apart[pe]))
    return nullptr;
  return reinterpret_cast<void*>(place + state.apart[pe]);
}

// Copies in the library, 16 bytes at a time where addresses allow; `atom` divides both addresses and the size. Begin and
// end with a barrier of the scope.
__device__ void copy(Scope scope, void* to, const void* from, size_t bytes, unsigned atom);
__device__ void copy_strided(Scope scope, void* to, const void* from, ptrdiff_t to_stride,
                             ptrdiff_t from_stride, size_t count, unsigned element_bytes);

__device__ __forceinline__ void fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

// Release: pairs with the acquire of a wait, for what this thread knows to have been stored.
__device__ __forceinline__ void raise(uint64_t* there, uint64_t value, int op) {
  if (op == NVSHMEM_SIGNAL_ADD) {
    asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(there), "l"(value) : "memory");
  } else {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(there), "l"(value) : "memory");
  }
}
__device__ __forceinline__ void signal(uint64_t* here, uint64_t value, int op, int pe, const char* call) {
  raise(at(here, pe, call), value, op);
}

template <Scope scope, class T>
__device__ __forceinline__ void put(T* to, const T* from, size_t count, int pe, const char* call) {
  T* const there = at(to, pe, call);
  if (scope == by_thread && count == 1)
    *there = *from;
  else
    copy(scope, there, from, count * sizeof(T), sizeof(T));
}
template <Scope scope, class T>
__device__ __forceinline__ void get(T* to, const T* from, size_t count, int pe, const char* call) {
  const T* const there = at(from, pe, call);
  if (scope == by_thread && count == 1)
    *to = *static_cast<const volatile T*>(there);
  else
    copy(scope, to, there, count * sizeof(T), sizeof(T));
}
template <Scope scope>
__device__ __forceinline__ void put_bytes(void* to, const void* from, size_t count, unsigned bytes, int pe,
                                          const char* call) {
  copy(scope, at(static_cast<char*>(to), pe, call), from, count * bytes, bytes);
}
template <Scope scope>
__device__ __forceinline__ void get_bytes(void* to, const void* from, size_t count, unsigned bytes, int pe,
                                          const char* call) {
  copy(scope, to, at(static_cast<const char*>(from), pe, call), count * bytes, bytes);
}
template <Scope scope, class T>
__device__ __forceinline__ void put_strided(T* to, const T* from, ptrdiff_t to_stride, ptrdiff_t from_stride,
                                            size_t count, int pe, const char* call) {
  copy_strided(scope, at(to, pe, call), from, to_stride, from_stride, count, sizeof(T));
}

// Eight bytes whose signal stands beside them, in the same 16 bytes, are stored together with it: one access, which arrives
// whole, so that no fence has to keep the two in order.
__device__ __forceinline__ bool stand_together(const void* there, const void* from, size_t bytes,
                                               const uint64_t* signal, int op) {
  const unsigned long long data = reinterpret_cast<unsigned long long>(there);
  return (data ^ reinterpret_cast<unsigned long long>(signal)) == 8 && bytes == 8 &&
         op == NVSHMEM_SIGNAL_SET && reinterpret_cast<unsigned long long>(from) % 8 == 0;
}
__device__ __forceinline__ void put_with_signal(void* there, const void* from, const uint64_t* signal,
                                                uint64_t value) {
  const unsigned long long data = reinterpret_cast<unsigned long long>(there);
  const uint64_t bits = *static_cast<const uint64_t*>(from);
  const bool first = data < reinterpret_cast<unsigned long long>(signal);
  const uint64_t low = first ? bits : value, high = first ? value : bits;
  // PTX knows an access of 128 bits as one operation from CUDA 12.3 on; before, that of a pair is the same instruction.
#if __CUDACC_VER_MAJOR__ > 12 || __CUDACC_VER_MINOR__ >= 3
  asm volatile(
      "{\n\t.reg .b128 both;\n\tmov.b128 both, {%1, %2};\n\tst.relaxed.sys.global.b128 [%0], both;\n\t}" ::
          "l"(data & ~15ull),
      "l"(low), "l"(high)
      : "memory");
#else
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(data & ~15ull), "l"(low), "l"(high)
               : "memory");
#endif
}

template <Scope scope>
__device__ __forceinline__ void put_signal_bytes(void* to, const void* from, size_t count, unsigned bytes,
                                                 uint64_t* signal, uint64_t value, int op, int pe,
                                                 const char* call) {
  char* const there = at(static_cast<char*>(to), pe, call);
  uint64_t* const flag = at(signal, pe, call);
  if (stand_together(there, from, count * bytes, flag, op)) {
    sync<scope>();
    if (is_first<scope>()) put_with_signal(there, from, flag, value);
    sync<scope>();
    return;
  }
  copy(scope, there, from, count * bytes, bytes);
  if (is_first<scope>()) raise(flag, value, op);
}
template <Scope scope, class T>
__device__ __forceinline__ void put_signal(T* to, const T* from, size_t count, uint64_t* signal,
                                           uint64_t value, int op, int pe, const char* call) {
  if (scope != by_thread || count != 1)
    return put_signal_bytes<scope>(to, from, count, sizeof(T), signal, value, op, pe, call);
  T* const there = at(to, pe, call);
  uint64_t* const flag = at(signal, pe, call);
  if (stand_together(there, from, sizeof(T), flag, op)) return put_with_signal(there, from, flag, value);
  *there = *from;
  raise(flag, value, op);
}

}  // namespace tca_nvshmem

#endif
