// How the bytes of one put are copied: runs of bytes inside up to three loops, with a pitch on each side.
//
// Every fabric moves data through these three functions, so that a staged transfer is a gather on one side
// and a scatter on the other of the very same shape.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

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

  std::uint64_t runs() const;
  std::uint64_t bytes() const { return run * runs(); }
};

// The common loop nest of two layouts that hold the same elements in the same order. Throws
// Error{invalid_argument} when they hold different numbers of elements or cannot be walked by three common
// loops.
Shape pair_up(const Layout& to, const Layout& from, std::size_t element_bytes);

void copy(std::byte* to, const std::byte* from, const Shape& shape);
void gather(std::byte* dense, const std::byte* from, const Shape& shape);  // `to` side contiguous
void scatter(std::byte* to, const std::byte* dense, const Shape& shape);   // `from` side contiguous

}  // namespace tca::base
