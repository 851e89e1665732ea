// Both sides of a gmove, in numbers that they have in common: the loops of the assignment.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/runtime.hpp"

namespace tca::xacc {

// Steps [begin, end) of each loop.
using Box = std::vector<Span>;

std::int64_t volume(const Box& box);
Box intersection(const Box& a, const Box& b);

// Where the steps of a box are in memory, in elements from some beginning.
struct Steps {
  std::int64_t first;
  std::vector<std::int64_t> pitch;  // from one step of each loop to the next
};

class Side {
 public:
  // Throws Error for a section outside of its array.
  explicit Side(const xacc_section& section);

  const xacc_section& section() const { return *section_; }
  const std::vector<std::int64_t>& counts() const { return counts_; }  // of each loop
  // The steps whose elements a rank has; empty where it has none.
  Box owned_by(int rank) const;
  // Where a rank has the steps from `box` on, in elements from its part's first.
  Steps steps(const Box& box, int rank) const;
  // The same on every rank.
  std::string describe() const;
  std::string shape() const;

 private:
  // What a rank has of dimension d, and the extent of its memory.
  Span owned(std::size_t d, const int* at) const;
  std::int64_t extent(std::size_t d, const int* at) const;

  const xacc_section* section_;
  std::vector<std::int64_t> base_, count_, step_;  // of each dimension
  std::vector<std::size_t> loops_;                 // the dimensions that are loops
  std::vector<std::int64_t> counts_;
};

// Copies a box between two places of this rank's memory.
void copy(void* to, const Steps& to_steps, const void* from, const Steps& from_steps, const Box& box,
          std::size_t element_bytes);

// All steps of a side, and where those of a box are that lies row by row.
Box whole(const Side& side);
Steps dense(const Box& box);
// Where this rank has a side, from its first element on.
std::byte* memory_of(const Side& side);
// A side's elements, one behind the other; and the other way round, or its only one (`one`) over and over.
std::vector<std::byte> gather(const Side& from, int me);
void spread(std::byte* into, const Side& to, const std::byte* values, bool one, int me);

// The layouts of a box on both sides of a put; several where it has more loops than a layout.
struct Piece {
  std::int64_t to, from;  // the first element
  Layout to_layout, from_layout;
};
std::vector<Piece> pieces(const Steps& to, const Steps& from, const Box& box);

}  // namespace tca::xacc
