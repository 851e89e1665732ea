// Copies past the caches.
//
// A line that another core has read lies in that core's cache, and an ordinary store to it has it fetched from there first, though
// all of it is about to be overwritten. A whole line that is streamed goes to memory at once, and its reader's processor looks
// ahead for it there. That costs a trip to memory, which pays where caches are further apart than that.
#pragma once

#include <cstddef>

#ifdef __SSE2__
#include <emmintrin.h>
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

// memcpy whose whole lines are streamed, where the processor can; the others take ordinary stores.
void stream(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace tca::base
