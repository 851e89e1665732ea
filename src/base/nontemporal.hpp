// Copies with non-temporal stores, which bypass the caches.
//
// A line that another core has read is in that core's cache. An ordinary store first fetches the line from
// there, although all of it is about to be overwritten. A non-temporal store of a whole line goes straight
// to memory, where the reading core's hardware prefetcher finds it. That costs a trip to memory, and pays
// off if another core's cache is further away than memory.
#pragma once

#include <cstddef>

namespace tca::base {

#ifdef __SSE2__
inline constexpr bool has_nontemporal = true;
#else
inline constexpr bool has_nontemporal = false;
#endif

// Copies like memcpy, but writes whole cache lines with non-temporal stores if the processor has them.
// Partial lines at both ends are stored normally.
void copy_nontemporal(std::byte* to, const std::byte* from, std::size_t bytes);

// Orders the non-temporal stores of this thread before its later stores: a thread that sees one of those also
// sees the copied bytes. Without the fence any later store, even a release, may overtake them.
void nontemporal_fence();

}  // namespace tca::base
