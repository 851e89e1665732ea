/// @file
/// What the kernels of translated programs are made of (`tca xacc cc --acc cuda`, docs/xacc.md). The translator puts
/// it in front of them; a program has no reason to.
#ifndef TCA_XACC_KERNEL_CUH
#define TCA_XACC_KERNEL_CUH

#include <cuda_runtime.h>

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tca/launch.cuh"
#include "tca/team.cuh"
#include "tca/xacc/meeting.hpp"
#include "tca/xacc/runtime.h"

/// An array whose rows are as long as this rank has them, of elements or of rows that are as long everywhere. The host
/// makes it, as a xacc_rows; pitches count elements.
template <class T, int dims>
struct xacc_view {
  T* data;
  int32_t pitch[dims - 1];

  /// If the index has 32 bits, one instruction multiplies and adds to the address.
  template <class Index>
  __device__ decltype(auto) operator[](Index i) const {
    T* const row = reinterpret_cast<T*>(reinterpret_cast<std::remove_all_extents_t<T>*>(data) +
                                        static_cast<int64_t>(i) * pitch[0]);
    if constexpr (dims == 2) {
      return row;
    } else {
      xacc_view<T, dims - 1> rows{row, {}};
      for (int d = 0; d < dims - 2; ++d) rows.pitch[d] = pitch[d + 1];
      return rows;
    }
  }
};

/// A kernel whose blocks have at most so many threads. A multiprocessor should hold 512 of them or more, so
/// that each may have 128 registers, and all loads of an iteration are in flight together.
#define XACC_THREADS(most) \
  __launch_bounds__((most) > 1024 ? 1024 : (most), (most) > 512 ? 1 : (most) < 32 ? 16 : 512 / (most))

/// Threads of the grid along an axis: this one's number, and how many there are.
template <int axis>
__device__ inline int64_t xacc_thread() {
  if constexpr (axis == 0) return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if constexpr (axis == 1) return static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if constexpr (axis == 2) return static_cast<int64_t>(blockIdx.z) * blockDim.z + threadIdx.z;
}
template <int axis>
__device__ inline int64_t xacc_threads() {
  if constexpr (axis == 0) return static_cast<int64_t>(gridDim.x) * blockDim.x;
  if constexpr (axis == 1) return static_cast<int64_t>(gridDim.y) * blockDim.y;
  if constexpr (axis == 2) return static_cast<int64_t>(gridDim.z) * blockDim.z;
}

/// A loop that threads share begins at this thread's iteration, and advances by as many as there are threads.
template <int axis>
__device__ inline int64_t xacc_start(int64_t from, int64_t step) {
  return from + xacc_thread<axis>() * step;
}
template <int axis>
__device__ inline int64_t xacc_stride(int64_t step) {
  return xacc_threads<axis>() * step;
}
/// The same if this rank has only some of the iterations: `count` further on from `from`.
__device__ inline int64_t xacc_skip(const xacc_split* split, int64_t offset, int64_t from, int64_t step,
                                    int64_t count) {
  int64_t at = xacc_next(split, offset, from, step);
  for (; count > 0 && at + offset < split->end; --count) at = xacc_next(split, offset, at + step, step);
  return at;
}

/// Sets *at to change(*at) atomically; returns what it was, and what it has become.
template <class T, class Change>
__device__ T xacc_atomic(T* at, const Change& change) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "acc atomic is for elements of four or eight bytes");
  using Word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  auto* const word = reinterpret_cast<Word*>(at);
  const auto as = [](auto to, auto from) {
    memcpy(&to, &from, sizeof to);
    return to;
  };
  for (Word seen = *reinterpret_cast<volatile Word*>(at);;) {
    const T now = as(T(), seen);
    const Word before = atomicCAS(word, seen, as(Word(), static_cast<T>(change(now))));
    if (before == seen) return now;
    seen = before;
  }
}
template <class T, class Change>
__device__ T xacc_atomic_after(T* at, const Change& change) {
  return static_cast<T>(change(xacc_atomic(at, change)));
}

template <class T, int operation>
__device__ inline T xacc_identity() {
  if constexpr (operation == XACC_PRODUCT || operation == XACC_AND) return T(1);
  if constexpr (operation == XACC_BIT_AND) return static_cast<T>(~T(0));
  if constexpr (operation == XACC_MAX && std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  if constexpr (operation == XACC_MIN && std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  if constexpr (operation == XACC_MAX) return std::numeric_limits<T>::min();
  if constexpr (operation == XACC_MIN) return std::numeric_limits<T>::max();
  return T(0);
}

/// A NaN is the greatest and the least of all, so that none is lost.
template <class T, int operation>
__device__ inline T xacc_combine(T a, T b) {
  if constexpr (operation == XACC_SUM) return a + b;
  if constexpr (operation == XACC_PRODUCT) return a * b;
  if constexpr (operation == XACC_MAX) return a > b || a != a ? a : b;
  if constexpr (operation == XACC_MIN) return a < b || a != a ? a : b;
  if constexpr (operation == XACC_AND) return static_cast<T>(a && b);
  if constexpr (operation == XACC_OR) return static_cast<T>(a || b);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (operation == XACC_BIT_AND) return static_cast<T>(a & b);
    if constexpr (operation == XACC_BIT_OR) return static_cast<T>(a | b);
    if constexpr (operation == XACC_BIT_XOR) return static_cast<T>(a ^ b);
  }
}

/// A warp's reduction: each thread begins with nothing, and in the end all have what was there before, with what the warp
/// has found.
template <int operation, class T>
__device__ inline void xacc_begin(T& value) {
  value = xacc_identity<T, operation>();
}
template <int operation, class T>
__device__ inline void xacc_over_warp(T& value, T before) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = xacc_combine<T, operation>(value, static_cast<T>(__shfl_xor_sync(~0u, +value, distance)));
  value = xacc_combine<T, operation>(before, value);
}

/// Numbers within a block and within the grid, row by row.
__device__ inline unsigned xacc_thread_of_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned xacc_threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline unsigned xacc_block() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ inline unsigned xacc_blocks() { return gridDim.x * gridDim.y * gridDim.z; }

/// One array for each type, whatever the operations.
template <class T>
__device__ T* xacc_values_of_block() {
  __shared__ T values[1024];
  return values;
}
/// Combines the values of a block's threads, always in the same order; all of them get the result.
template <class T, int operation>
__device__ T xacc_over_block(T mine) {
  T* const values = xacc_values_of_block<T>();
  const unsigned me = xacc_thread_of_block();
  values[me] = mine;
  __syncthreads();
  for (unsigned have = xacc_threads_of_block(); have > 1;) {
    const unsigned half = (have + 1) / 2;
    if (me + half < have) values[me] = xacc_combine<T, operation>(values[me], values[me + half]);
    have = half;
    __syncthreads();
  }
  const T all = values[0];
  __syncthreads();
  return all;
}

/// The scratch memory of a meeting: a ticket, the results, and one value per block for each reduction. The
/// runtime makes it zeroed, `xacc_slot_bytes` for each of these.
template <class T>
__device__ inline T* xacc_total(void* scratch, int number) {
  return reinterpret_cast<T*>(static_cast<char*>(scratch) + xacc_slot_bytes * (1 + number));
}
template <class T>
__device__ inline volatile T* xacc_partial(void* scratch, int reductions, int number, unsigned block) {
  const size_t slot = 1 + reductions + static_cast<size_t>(number) * xacc_blocks() + block;
  return reinterpret_cast<volatile T*>(static_cast<char*>(scratch) + xacc_slot_bytes * slot);
}

/// Every block leaves its value; the last one to arrive combines all of them, in the order of blocks.
template <class T, int operation>
__device__ void xacc_leave_value(void* scratch, int reductions, int number, T mine) {
  const T block = xacc_over_block<T, operation>(mine);
  if (xacc_thread_of_block() == 0) *xacc_partial<T>(scratch, reductions, number, xacc_block()) = block;
}
__device__ inline bool xacc_comes_last(void* scratch) {
  __shared__ bool last;
  if (xacc_thread_of_block() == 0) {
    __threadfence();
    auto* ticket = static_cast<unsigned*>(scratch);
    last = atomicAdd(ticket, 1) + 1 == xacc_blocks();
    if (last) *ticket = 0;  // for the next region
    __threadfence();
  }
  __syncthreads();
  return last;
}
template <class T, int operation>
__device__ void xacc_finish(void* scratch, int reductions, int number, T before) {
  T mine = xacc_identity<T, operation>();
  constexpr unsigned at_once = 4;  // loads under way
  const unsigned blocks = xacc_blocks(), step = xacc_threads_of_block();
  for (unsigned block = xacc_thread_of_block(); block < blocks; block += at_once * step) {
    T left[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      left[k] = block + k * step < blocks ? *xacc_partial<T>(scratch, reductions, number, block + k * step)
                                          : xacc_identity<T, operation>();
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) mine = xacc_combine<T, operation>(mine, left[k]);
  }
  const T all = xacc_over_block<T, operation>(mine);
  if (xacc_thread_of_block() == 0) *xacc_total<T>(scratch, number) = xacc_combine<T, operation>(before, all);
}

/// Combines a result with those of the other ranks, which call it in the same order.
template <class T, int operation>
__device__ void xacc_over_ranks(tca::BlockTeam& ranks, void* scratch, int number) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
    ranks.allreduce(xacc_total<T>(scratch, number), 1,
                    [](T a, T b) { return xacc_combine<T, operation>(a, b); });
}

/// Stores a result where the variable is on the device.
template <class T>
__device__ void xacc_keep(void* scratch, int number, T* variable) {
  if (xacc_thread_of_block() == 0) *variable = *xacc_total<T>(scratch, number);
}

/// Reports a result to the host, if it waits.
template <class T>
__device__ void xacc_tell(const xacc_meeting& meeting, int number) {
  static_assert(sizeof(T) <= 8);
  if (!meeting.told || xacc_thread_of_block() != 0) return;
  std::uint64_t raw = 0;
  memcpy(&raw, xacc_total<T>(meeting.scratch, number), sizeof(T));
  meeting.told[number].write(tca::device::Packet::of(raw, meeting.launch));
}

#endif
