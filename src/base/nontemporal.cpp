#include "base/nontemporal.hpp"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#endif

namespace tca::base {

// Sanitizers do not see non-temporal stores. In builds with a sanitizer these are ordinary stores, so that
// it can check where and when they are made.
#if !defined(__SSE2__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void copy_nontemporal(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void nontemporal_fence() {}

#else

void copy_nontemporal(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t head = std::min<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) % line, bytes);
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  for (; bytes >= line; to += line, from += line, bytes -= line) {
    auto* const out = reinterpret_cast<__m128i*>(to);
    const auto* const in = reinterpret_cast<const __m128i*>(from);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                  d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(to, from, bytes);
}

void nontemporal_fence() { _mm_sfence(); }

#endif

}  // namespace tca::base
