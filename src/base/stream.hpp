// Copies past the caches.
//
// A line that another core has read lies in that core's cache, and an ordinary store to it has it fetched from there first, though
// all of it is about to be overwritten. A whole line that is streamed goes to memory at once, and its reader's processor looks
// ahead for it there. That costs a trip to memory, which pays where caches are further apart than that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <x86intrin.h>
#endif

namespace tca::base {

#ifdef __SSE2__
inline constexpr bool can_stream = true;

// What this thread has streamed is there for whoever sees what it stores afterwards: other stores may overtake it otherwise, a
// release among them.
inline void stream_fence() { _mm_sfence(); }
#else
inline constexpr bool can_stream = false;
inline void stream_fence() {}
#endif

// Ticks of this core's clock, once everything that this thread has stored is visible to all.
inline std::uint64_t ticks_when_stored() {
#ifdef __SSE2__
  _mm_mfence();
  return __rdtsc();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

// memcpy whose whole lines are streamed, where the processor can; the others take ordinary stores.
void stream(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace tca::base
