// Stores past the caches.
//
// A line that another core has read lies in that core's cache, and an ordinary store to it has it fetched from there first, though
// all of it is about to be overwritten. A non-temporal store of a whole line goes to memory at once, and its reader's processor looks
// ahead for it there. That costs a trip to memory, which pays where caches are further apart than that.
#pragma once

#include <cstddef>

namespace tca::base {

#ifdef __SSE2__
inline constexpr bool has_nontemporal = true;
#else
inline constexpr bool has_nontemporal = false;
#endif

// memcpy whose whole lines go past the caches, where the processor has such stores; the others are stored as ever.
void copy_nontemporal(std::byte* to, const std::byte* from, std::size_t bytes);

// What this thread has copied so is there for whoever sees what it stores afterwards: other stores may overtake it otherwise, a
// release among them.
void nontemporal_fence();

}  // namespace tca::base
