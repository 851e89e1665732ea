// Steps of the loops that an assignment of sections is, and where their elements are in memory. Both sides of an
// assignment count the same steps, however their elements are shared out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tca/layout.hpp"

namespace tca::xacc {

// Steps first, first + distance, ... of one loop. What a node owns of a dimension is one of these where it is
// shared out in blocks, and a few of them where it is cyclic.
struct Progression {
  std::int64_t first = 0;
  std::int64_t distance = 1;
  std::int64_t count = 0;
  std::int64_t last() const { return first + (count - 1) * distance; }
};
// The steps below `count` at which `from`, `from` + `step`, ... lies in [begin, end).
Progression steps_between(std::int64_t from, std::int64_t step, std::int64_t count, std::int64_t begin,
                          std::int64_t end);
// The same of blocks of `width` from `begin` on that lie `stride` apart. Either each block is a progression, or
// what lies at the same place in each: the fewer.
std::vector<Progression> steps_in_blocks(std::int64_t from, std::int64_t step, std::int64_t count,
                                         std::int64_t begin, std::int64_t width, std::int64_t stride);
// Of two, it is one again.
Progression intersection(const Progression& a, const Progression& b);

// Some steps of every loop: an element for each combination.
using Box = std::vector<Progression>;
std::int64_t volume(const Box& box);
Box intersection(const Box& a, const Box& b);

// Where the elements of a box are, counted from some beginning.
struct Steps {
  std::int64_t first;
  std::vector<std::int64_t> pitch;  // from one step of the box to its next, for each loop
};

// Those of a box that lies row by row, and of one that is part of it.
Steps dense(const Box& box);
Steps dense(const Box& part, const Box& whole);

// Copies a box between two places of this rank's memory.
void copy(void* to, const Steps& to_steps, const void* from, const Steps& from_steps, const Box& box,
          std::size_t element_bytes);

// Elements that a rank copies itself.
struct Copied {
  Box box;
  Steps to, from;
};

// The layouts of a box on both sides of a put; several where it has more loops than a layout.
struct Piece {
  std::int64_t to, from;  // the first element
  Layout to_layout, from_layout;
};
std::vector<Piece> pieces(const Steps& to, const Steps& from, const Box& box);

}  // namespace tca::xacc
