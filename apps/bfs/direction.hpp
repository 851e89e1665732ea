// From where a level is searched, which all ranks decide alike by what the level before has reached.
#pragma once

#include <cstdint>

#include "tca/device/memory.hpp"

namespace tca::bfs {

// Vertices that a level has reached, and how many neighbours they have together.
struct Reached {
  std::int64_t vertices = 0, neighbours = 0;

  // Whether nothing is left to be reached: there are none, or each has no neighbour but its parent.
  TCA_DEVICE bool are_last() const { return neighbours == vertices; }
};

class Direction {
 public:
  Direction() = default;
  // Of a graph of so many vertices, which have so many neighbours together.
  TCA_DEVICE Direction(std::int64_t vertices, std::int64_t neighbours)
      : vertices_(vertices), unexplored_(neighbours) {}

  TCA_DEVICE bool is_from_below() const { return is_from_below_; }

  // The thresholds are those of the publication. A frontier with a large share of the edges that are left to
  // be explored is found from below sooner than all of them are gone through; a small one is not.
  TCA_DEVICE void after(const Reached& level) {
    constexpr std::int64_t alpha = 14, beta = 24;
    unexplored_ -= level.neighbours;
    const bool shrinks = level.vertices < last_;
    last_ = level.vertices;
    if (is_from_below_) {
      is_from_below_ = !shrinks || level.vertices > vertices_ / beta;
    } else {
      is_from_below_ = !shrinks && level.neighbours > unexplored_ / alpha;
    }
  }

 private:
  std::int64_t vertices_ = 0, unexplored_ = 0;  // the latter counts edges; those of the root among them
  std::int64_t last_ = 0;
  bool is_from_below_ = false;
};

}  // namespace tca::bfs
