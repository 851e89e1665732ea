// Makes the events of a detector, with what is true of them. An event depends on its number and the seed alone, so that
// sender and judge need not talk about it.
#pragma once

#include <cstdint>
#include <vector>

#include "trigger/event.hpp"

namespace tca::trigger {

struct Physics {
  int fewest_rings = 0, most_rings = 3;  // of an event, each number as often as the others
  int noise = 4;                         // hits of an event that belong to no ring
  double resolution = 0.01;              // the error of a hit along x and along y, in radii
  std::uint64_t seed = 1;
};

inline constexpr int most_made_rings = 3, most_noise = 32;

struct TrueRing {
  Ring ring;
  std::vector<float> angles;  // of its hits
};

struct Event {
  std::vector<TrueRing> rings;
  std::vector<Hit> hits;  // by x, as a read-out by columns has them
};

Event make_event(const Physics& physics, std::uint64_t number);

}  // namespace tca::trigger
