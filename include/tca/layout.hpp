// Which elements of a region a put moves, counted in elements from the place it is applied to.
//
// Four forms cover what halos and matrices need, and none of them is packed by the caller:
//
//   block(n)                     n elements in a row
//   block_stride(rows, n, pitch) `rows` rows of n elements, `pitch` elements from one row's start to the next
//   stride(n, pitch)             n single elements, `pitch` apart
//   subarray({ny, nx}, {y0, x0}, {h, w})
//                                the h x w box at (y0, x0) of an ny x nx array; 1 to 4 dimensions, the last
//                                one contiguous
//
// Wrong counts (zero, negative, rows that overlap because pitch < n, a box outside its array, an extent that
// overflows 63 bits) throw Error{invalid_argument} here, where the wrong number is written.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace tca {

// An element count or offset, from any integer type. A value too large for 63 bits arrives so far below zero that no element it
// could be added to makes it one of an array, and is refused like any other negative count: neither `-1` in an unsigned variable
// nor a difference that wrapped around can pass.
class Count {
 public:
  template <std::integral I>
  constexpr Count(I value)  // NOLINT: implicit, so that any integer can be passed
      : value_(std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                                  : std::numeric_limits<std::int64_t>::min()) {}

  constexpr std::int64_t value() const { return value_; }

 private:
  std::int64_t value_;
};

class Layout {
 public:
  // One loop around the runs: `count` repetitions, `pitch` elements apart.
  struct Loop {
    std::int64_t count;
    std::int64_t pitch;
    bool operator==(const Loop&) const = default;
  };
  static constexpr int max_loops = 3;

  std::int64_t elements() const;  // moved in all
  std::int64_t first() const { return first_; }
  std::int64_t end() const;  // one past the last element touched
  std::int64_t run() const { return run_; }
  std::span<const Loop> loops() const { return {loops_.data(), static_cast<std::size_t>(loop_count_)}; }

  // The same elements as words, e.g. "block-stride of 64 rows of 64, pitch 4096".
  std::string describe() const;

  friend Layout block(Count count);
  friend Layout block_stride(Count rows, Count block, Count pitch);
  friend Layout stride(Count count, Count pitch);
  friend Layout subarray(std::span<const Count> extents, std::span<const Count> start,
                         std::span<const Count> shape);

 private:
  Layout(std::int64_t first, std::int64_t run) : first_(first), run_(run) {}
  void add_loop(std::int64_t count, std::int64_t pitch);

  std::int64_t first_;                   // elements from the place to the first one moved
  std::int64_t run_;                     // contiguous elements
  std::array<Loop, max_loops> loops_{};  // innermost first
  int loop_count_ = 0;
};

Layout block(Count count);
Layout block_stride(Count rows, Count block, Count pitch);
Layout stride(Count count, Count pitch);
Layout subarray(std::span<const Count> extents, std::span<const Count> start, std::span<const Count> shape);

inline Layout subarray(std::initializer_list<Count> extents, std::initializer_list<Count> start,
                       std::initializer_list<Count> shape) {
  return subarray(std::span(extents.begin(), extents.size()), std::span(start.begin(), start.size()),
                  std::span(shape.begin(), shape.size()));
}

}  // namespace tca
