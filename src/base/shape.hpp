// How the bytes of one put are copied: runs of bytes inside up to three loops, with a pitch on each side.
//
// Every fabric moves data by copy, gather and scatter, so that a staged transfer is a gather on one side and a scatter on the
// other of the very same shape.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "tca/layout.hpp"

namespace tca::base {

struct Shape {
  struct Loop {
    std::uint64_t count;
    std::int64_t to_pitch;    // bytes
    std::int64_t from_pitch;  // bytes
    auto operator<=>(const Loop&) const = default;
  };

  std::uint64_t run = 0;  // contiguous bytes on both sides
  std::uint64_t loop_count = 0;
  std::array<Loop, Layout::max_loops> loops{};  // innermost first

  auto operator<=>(const Shape&) const = default;

  std::uint64_t runs() const {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < loop_count; ++i) count *= loops[i].count;
    return count;
  }
  std::uint64_t bytes() const { return run * runs(); }
};

// The common loop nest of two layouts that hold the same elements in the same order. Throws
// Error{invalid_argument} when they hold different numbers of elements or cannot be walked by three common
// loops.
Shape pair_up(const Layout& to, const Layout& from, std::size_t element_bytes);

// Two copies of `shape` as one, the second `to_shift` and `from_shift` bytes after the first, a run of each in turn. Both
// faces across an array's rows lie in the same pages and neighbouring lines, which are then walked once. Nothing when they lie
// further apart, when runs fill lines, or when there is no room for another loop.
std::optional<Shape> interleave(const Shape& shape, std::int64_t to_shift, std::int64_t from_shift);

// A part of a shape, so many bytes after its beginning on each side.
struct Part {
  Shape shape;
  std::int64_t to_shift, from_shift;
};

// `shape` in parts of at most `most` bytes, 32 or more, in the order of a walk. Where a run is cut, it is at multiples
// of 16 bytes.
std::vector<Part> split(const Shape& shape, std::uint64_t most);

// The loops of a shape that has some; the dense side is contiguous.
void copy_loops(std::byte* to, const std::byte* from, const Shape& shape);
void gather_loops(std::byte* dense, const std::byte* from, const Shape& shape);
void scatter_loops(std::byte* to, const std::byte* dense, const Shape& shape);

// From 8 to 16 bytes as two moves that may overlap: a call to memcpy is a good part of what sending 8 bytes costs.
inline void copy_run(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes - 8 <= 8) {
    std::uint64_t head, tail;
    std::memcpy(&head, from, 8);
    std::memcpy(&tail, from + bytes - 8, 8);
    std::memcpy(to, &head, 8);
    std::memcpy(to + bytes - 8, &tail, 8);
  } else {
    std::memcpy(to, from, bytes);
  }
}

inline void copy(std::byte* to, const std::byte* from, const Shape& shape) {
  shape.loop_count == 0 ? copy_run(to, from, shape.run) : copy_loops(to, from, shape);
}

// Both return the end of the dense side.
inline std::byte* gather(std::byte* dense, const std::byte* from, const Shape& shape) {
  shape.loop_count == 0 ? copy_run(dense, from, shape.run) : gather_loops(dense, from, shape);
  return dense + shape.bytes();
}

inline const std::byte* scatter(std::byte* to, const std::byte* dense, const Shape& shape) {
  shape.loop_count == 0 ? copy_run(to, dense, shape.run) : scatter_loops(to, dense, shape);
  return dense + shape.bytes();
}

// Shorter runs have too few whole lines.
inline bool worth_nontemporal(const Shape& shape) { return shape.run >= 256; }

// `copy` past the caches (nontemporal.hpp), where that is worth it; before a signal of it comes a fence.
void copy_nontemporal(std::byte* to, const std::byte* from, const Shape& shape);
// `gather` of a shape that is worth it.
std::byte* gather_nontemporal(std::byte* dense, const std::byte* from, const Shape& shape);

}  // namespace tca::base
