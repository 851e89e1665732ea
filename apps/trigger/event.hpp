// What the detector sees: photons that a charged particle has sent out in a cone are hits on a ring.
//
// The plane of the detector is a square with sides of length 1. A hit is a pixel of 65536 x 65536.
#pragma once

#include <cstdint>

namespace tca::trigger {

struct Hit {
  std::uint16_t x, y;
};

inline constexpr float pixels = 65536;

inline constexpr std::uint32_t most_hits = 128;  // of an event
inline constexpr std::uint32_t most_rings = 4;   // that are looked for in an event

// Radii of rings, and hits of a ring.
inline constexpr float smallest_radius = 0.08F, largest_radius = 0.16F;
inline constexpr std::uint32_t fewest_ring_hits = 16, most_ring_hits = 24;

struct Ring {
  float x, y, r;
};

struct FoundRing {
  Ring ring;
  float chi2;  // a degree of freedom
};

// What the trigger answers to an event.
struct Answer {
  std::uint64_t event;
  std::uint32_t rings;
  std::uint32_t hits;  // on these rings
  FoundRing found[most_rings];
};

}  // namespace tca::trigger
