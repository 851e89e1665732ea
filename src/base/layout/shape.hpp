// A Shape says how the bytes of one put are copied: runs of bytes inside up to three loops, with a pitch on
// each side.
//
// Every fabric moves data with copy, gather and scatter. A staged transfer is a gather on one side and a
// scatter on the other, both with the same shape.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
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

// Returns the words of Layout::describe for runs of `run` elements in loops, innermost first.
std::string in_words(std::int64_t run, std::span<const Layout::Loop> loops);

// Returns the common loop nest of two layouts that hold the same elements in the same order; a run of no
// bytes if they hold none. Throws Error{invalid_argument} if they hold different numbers of elements or
// cannot be walked with three common loops.
Shape pair_up(const Layout& to, const Layout& from, std::size_t element_bytes);

// Merges two copies of `shape` into one shape that takes a run of each in turn; the second is `to_shift`
// and `from_shift` bytes after the first. The two faces across an array's rows are in the same pages and in
// neighbouring lines, which are then walked only once. Returns nothing if the copies are further apart than
// a row, if runs fill a cache line, or if there is no room for another loop.
std::optional<Shape> interleave(const Shape& shape, std::int64_t to_shift, std::int64_t from_shift);

// A part of a shape.
struct Part {
  Shape shape;
  std::int64_t to_shift, from_shift;  // bytes after the beginning of the whole, on each side
};

// Splits `shape` into parts of at most `most` bytes, in walking order. `most` is at least 32. Runs are cut
// at multiples of 16 bytes only.
std::vector<Part> split(const Shape& shape, std::uint64_t most);

// Returns how many bytes one repetition of the outermost loop moves; 1 for a single run, which may end
// anywhere.
inline std::uint64_t unit_bytes(const Shape& shape) {
  if (shape.loop_count == 0) return 1;
  std::uint64_t bytes = shape.run;
  for (std::size_t i = 0; i + 1 < shape.loop_count; ++i) bytes *= shape.loops[i].count;
  return bytes;
}

// Returns the first `bytes` bytes of a shape, which must be a multiple of its `unit_bytes` and no more than
// its total: it repeats the outermost loop fewer times, or has a shorter run.
inline Shape cut(const Shape& shape, std::uint64_t bytes) {
  Shape part = shape;
  if (part.loop_count == 0)
    part.run = bytes;
  else
    part.loops[part.loop_count - 1].count = bytes / unit_bytes(shape);
  return part;
}

// These three copy a shape that has loops. The dense side is contiguous.
void copy_loops(std::byte* to, const std::byte* from, const Shape& shape);
void gather_loops(std::byte* dense, const std::byte* from, const Shape& shape);
void scatter_loops(std::byte* to, const std::byte* dense, const Shape& shape);

// Copies one run; 8 to 16 bytes take two moves that may overlap, since a call to memcpy is a good part of
// the cost of sending 8 bytes.
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

// `gather` and `scatter` return the end of the dense side.
inline std::byte* gather(std::byte* dense, const std::byte* from, const Shape& shape) {
  shape.loop_count == 0 ? copy_run(dense, from, shape.run) : gather_loops(dense, from, shape);
  return dense + shape.bytes();
}

inline const std::byte* scatter(std::byte* to, const std::byte* dense, const Shape& shape) {
  shape.loop_count == 0 ? copy_run(to, dense, shape.run) : scatter_loops(to, dense, shape);
  return dense + shape.bytes();
}

// These do the same for the shape that `cut` returns. If that is empty, the dense side may be null.
inline void copy_cut(std::byte* to, const std::byte* from, const Shape& shape, std::uint64_t bytes) {
  if (bytes == 0) return;
  shape.loop_count == 0 ? copy_run(to, from, bytes) : copy_loops(to, from, cut(shape, bytes));
}
inline std::byte* gather_cut(std::byte* dense, const std::byte* from, const Shape& shape,
                             std::uint64_t bytes) {
  if (bytes == 0) return dense;
  shape.loop_count == 0 ? copy_run(dense, from, bytes) : gather_loops(dense, from, cut(shape, bytes));
  return dense + bytes;
}
inline const std::byte* scatter_cut(std::byte* to, const std::byte* dense, const Shape& shape,
                                    std::uint64_t bytes) {
  if (bytes == 0) return dense;
  shape.loop_count == 0 ? copy_run(to, dense, bytes) : scatter_loops(to, dense, cut(shape, bytes));
  return dense + bytes;
}

// Whether runs are long enough for non-temporal stores: shorter ones contain too few whole lines.
inline bool worth_nontemporal(const Shape& shape) { return shape.run >= 256; }

// Like `copy`, with non-temporal stores (nontemporal.hpp) where that is worthwhile. The caller issues
// nontemporal_fence() before it signals the put.
void copy_nontemporal(std::byte* to, const std::byte* from, const Shape& shape);
// Like `gather`, always with non-temporal stores: the caller has checked worth_nontemporal.
std::byte* gather_nontemporal(std::byte* dense, const std::byte* from, const Shape& shape);

}  // namespace tca::base
