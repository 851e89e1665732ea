// Waits of kernels for a number in this PE's memory that another one changes. No wait is for ever: it ends the kernel, with a
// message, when the time limit has passed or a PE is lost.
#ifndef TCA_NVSHMEM_WAITS_CUH
#define TCA_NVSHMEM_WAITS_CUH

#include "state.cuh"

namespace tca_nvshmem {

__device__ __forceinline__ uint16_t load_acquire(const uint16_t* from) {
  uint16_t value;
  asm volatile("ld.acquire.sys.u16 %0, [%1];" : "=h"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ uint32_t load_acquire(const uint32_t* from) {
  uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ uint64_t load_acquire(const uint64_t* from) {
  uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
template <int bytes>
struct Bits;
template <>
struct Bits<2> {
  typedef uint16_t Type;
};
template <>
struct Bits<4> {
  typedef uint32_t Type;
};
template <>
struct Bits<8> {
  typedef uint64_t Type;
};
// Acquire: pairs with the release of a signal.
template <class T>
__device__ __forceinline__ T look(const T* at) {
  return static_cast<T>(load_acquire(reinterpret_cast<const typename Bits<sizeof(T)>::Type*>(at)));
}

template <class T>
__device__ __forceinline__ bool holds(T have, int cmp, T want) {
  switch (cmp) {
    case NVSHMEM_CMP_EQ:
      return have == want;
    case NVSHMEM_CMP_NE:
      return have != want;
    case NVSHMEM_CMP_GT:
      return have > want;
    case NVSHMEM_CMP_LE:
      return have <= want;
    case NVSHMEM_CMP_LT:
      return have < want;
    default:
      return have >= want;
  }
}

template <class T>
__device__ __forceinline__ T wait(const T* at, int cmp, T want, const char* call) {
  unsigned long long begin = 0;
  for (unsigned polls = 1;; ++polls) {
    const T have = look(at);
    if (holds(have, cmp, want)) return have;
    if (polls % 4096 != 0) continue;
    begin = go_on(begin);
    if (begin == 0)
      fail_wait(at, cmp, static_cast<unsigned long long>(want), static_cast<unsigned long long>(have), call);
  }
}

}  // namespace tca_nvshmem

#endif
