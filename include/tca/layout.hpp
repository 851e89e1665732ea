/// @file
/// A layout says which elements a put moves, counted from the element that the put names. The caller packs
/// nothing.
///
///     block(n)                     n elements in a row
///     block_stride(rows, n, pitch) `rows` rows of n elements, `pitch` elements from one start to the next
///     stride(n, pitch)             n single elements, `pitch` apart
///     subarray({ny, nx}, {y0, x0}, {h, w})
///                                  the h x w box at (y0, x0) of an ny x nx array; of up to 4 dimensions, the
///                                  last one contiguous, or of more where whole ones lie together
///
/// A count of zero makes an empty layout. Each throws Error{invalid_argument} for wrong counts: negative
/// ones, rows that overlap because pitch < n, a box outside its array, and extents that overflow 63 bits.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/detail/language.hpp"

namespace tca {

/// A number of elements, or an offset in elements, made from any integer type. A value that needs more than
/// 63 bits, such as an unsigned difference that wrapped around, becomes the most negative number. So it is
/// refused like any other negative count, whatever offset is added to it.
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

/// The elements that one of the functions below describes: runs of contiguous elements in up to three
/// loops.
class TCA_API Layout {
 public:
  /// A loop around the runs: `count` repetitions, `pitch` elements apart.
  struct Loop {
    std::int64_t count;
    std::int64_t pitch;
    bool operator==(const Loop&) const = default;
  };
  static constexpr int max_loops = 3;

  /// Returns how many elements are moved in total; 0 for an empty layout.
  std::int64_t elements() const;
  /// Returns the first element that is moved, and how many are contiguous.
  std::int64_t first() const { return first_; }
  std::int64_t run() const { return run_; }
  /// Returns one past the last element that is moved.
  std::int64_t end() const;
  std::span<const Loop> loops() const { return {loops_.data(), static_cast<std::size_t>(loop_count_)}; }

  /// Returns the layout in words, e.g. "block-stride of 64 rows of 64, pitch 4096".
  [[nodiscard]] std::string describe() const;

  friend Layout block(Count count);
  friend Layout block_stride(Count rows, Count block, Count pitch);
  friend Layout stride(Count count, Count pitch);
  friend Layout nested(Count run, std::span<const Loop> loops);
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

[[nodiscard]] TCA_API Layout block(Count count);
[[nodiscard]] TCA_API Layout block_stride(Count rows, Count block, Count pitch);
[[nodiscard]] TCA_API Layout stride(Count count, Count pitch);
[[nodiscard]] TCA_API Layout subarray(std::span<const Count> extents, std::span<const Count> start,
                                      std::span<const Count> shape);

/// Returns a layout of any loops, such as those of an array slice in another language: runs of `run` elements
/// in up to three loops, the innermost first. Throws Error{invalid_argument} for more loops, and for loops
/// whose repetitions overlap or interleave with what is inside them.
[[nodiscard]] TCA_API Layout nested(Count run, std::span<const Layout::Loop> loops);

[[nodiscard]] inline Layout subarray(std::initializer_list<Count> extents, std::initializer_list<Count> start,
                                     std::initializer_list<Count> shape) {
  return subarray(std::span(extents.begin(), extents.size()), std::span(start.begin(), start.size()),
                  std::span(shape.begin(), shape.size()));
}

}  // namespace tca
