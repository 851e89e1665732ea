// The few loads and stores by which ranks on accelerators talk to each other.
//
// The same source runs on a GPU and on the host, where threads stand for blocks, so that the protocols can be
// tested under ThreadSanitizer. On a GPU every access is of system scope, since the other side may be another
// GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tca/detail/language.hpp"

#ifdef __CUDACC__
#define TCA_DEVICE __host__ __device__ __forceinline__
#define TCA_UNROLL _Pragma("unroll")
// A function out of line: the path of a small put through a kernel's code must stay short enough for the
// instruction cache.
#define TCA_DEVICE_APART __host__ __device__ __noinline__
#else
#define TCA_DEVICE inline
#define TCA_DEVICE_APART inline
#define TCA_UNROLL
#endif

#ifndef __CUDA_ARCH__
#include <atomic>
#include <chrono>
#include <thread>
#endif

namespace tca::device {

using Word = std::uint32_t;  // a step number; wraps

// Whether step number `have` is `want` or later. Steps may wrap: the two are never 2^31 apart.
TCA_DEVICE bool reached(Word have, Word want) { return static_cast<std::int32_t>(have - want) >= 0; }

// Tells the compiler that a pointer leads to a window. Through a pointer that may lead anywhere it uses
// generic loads and stores, which are slower.
template <class T>
TCA_DEVICE T* in_global_memory(T* pointer) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

// Keeps a number in its register. If the compiler knows how to work a number out again, such as the size of a
// block, it loads it anew at each use, which takes as long as a barrier.
TCA_DEVICE Word keep_in_register(Word number) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
  return number;
}
// The same for an address.
template <class T>
TCA_DEVICE T* keep_in_register(T* address) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(address));
#endif
  return address;
}

// 0 or 1, for conditions that are tested in every step: a `bool`, being a byte, takes more instructions to
// test.
using Flag = Word;

#ifdef __CUDA_ARCH__

TCA_DEVICE void store_relaxed(Word* to, Word value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
TCA_DEVICE void store_release(Word* to, Word value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
TCA_DEVICE Word load_relaxed(const Word* from) {
  Word value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
TCA_DEVICE Word load_acquire(const Word* from) {
  Word value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
// The same for the words of 64 bits by which ranks post to each other.
TCA_DEVICE void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
TCA_DEVICE std::uint64_t load_relaxed(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
TCA_DEVICE std::uint64_t load_acquire(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
// A lock among the kernels of one GPU, which counts its turns: even while it is free. Makes it odd and
// returns what it was; a caller that finds it even holds it. Relaxed: there is a fence before anything that
// the previous turn has stored is read or changed.
TCA_DEVICE Word begin_turn(Word* lock) {
  Word before;
  asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], 1;" : "=r"(before) : "l"(lock) : "memory");
  return before;
}
TCA_DEVICE void end_turn(Word* lock, Word next) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(lock), "r"(next) : "memory");
}
// Counts to `last` and then starts again at 0; returns the count before. Release and acquire: the thread that
// completes the count sees what the others did before they counted.
TCA_DEVICE Word count_up(Word* counter, Word last) {
  Word before;
  asm volatile("fence.acq_rel.gpu;\n\tatom.relaxed.gpu.global.inc.u32 %0, [%1], %2;\n\tfence.acq_rel.gpu;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}
// Order what a thread has done, or knows of, before what it does next, for the threads of this GPU or for
// all. The relaxed accesses of packets on both sides of them make up a release and an acquire.
TCA_DEVICE void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
TCA_DEVICE void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
// Orders a store before a load of another word, where the other side does likewise.
TCA_DEVICE void fence_in_one_order() { asm volatile("fence.sc.sys;" ::: "memory"); }
TCA_DEVICE std::uint64_t now_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
TCA_DEVICE void yield() {}
// These polls take some 2 ms, ten times as long as a look at the host's memory, 1 us away, when all threads
// of a grid look at once. With fewer, ranks that have once waited that long would keep each other waiting by
// looking, step after step.
inline constexpr Word polls_between_host_checks = 4096, polls_between_checks = 64;

#else

inline void store_relaxed(Word* to, Word value) {
  std::atomic_ref(*to).store(value, std::memory_order_relaxed);
}
inline void store_release(Word* to, Word value) {
  std::atomic_ref(*to).store(value, std::memory_order_release);
}
inline Word load_relaxed(const Word* from) {
  return std::atomic_ref(const_cast<Word&>(*from)).load(std::memory_order_relaxed);
}
inline Word load_acquire(const Word* from) {
  return std::atomic_ref(const_cast<Word&>(*from)).load(std::memory_order_acquire);
}
// Release: on the host there is no fence before it.
inline void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  std::atomic_ref(*to).store(value, std::memory_order_release);
}
inline std::uint64_t load_relaxed(const std::uint64_t* from) {
  return std::atomic_ref(const_cast<std::uint64_t&>(*from)).load(std::memory_order_relaxed);
}
inline std::uint64_t load_acquire(const std::uint64_t* from) {
  return std::atomic_ref(const_cast<std::uint64_t&>(*from)).load(std::memory_order_acquire);
}
// Acquire: on the host there is no fence after it.
inline Word begin_turn(Word* lock) { return std::atomic_ref(*lock).fetch_or(1, std::memory_order_acquire); }
inline void end_turn(Word* lock, Word next) { store_release(lock, next); }
inline Word count_up(Word* counter, Word last) {
  std::atomic_ref<Word> count(*counter);
  Word before = count.load(std::memory_order_relaxed);
  while (!count.compare_exchange_weak(before, before >= last ? 0 : before + 1, std::memory_order_acq_rel)) {
  }
  return before;
}
// On the host packets are stored with release and loaded with acquire.
inline void fence_gpu() {}
inline void fence_system() {}
// A change of one word by both sides, since ThreadSanitizer knows nothing of fences.
inline void fence_in_one_order() {
  static std::atomic<Word> order{0};
  order.fetch_add(1, std::memory_order_seq_cst);
}
inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
// There may be more threads than cores, and the awaited one may have none.
inline void yield() { std::this_thread::yield(); }
inline constexpr Word polls_between_host_checks = 256, polls_between_checks = 64;

#endif

}  // namespace tca::device
