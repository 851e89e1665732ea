// A Region is the exact set of bytes that a put touches on one side. Regions can be intersected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/layout/shape.hpp"

namespace tca::base {

struct Region {
  std::int64_t offset = 0;  // bytes into the window
  std::int64_t run = 0;
  std::uint64_t loop_count = 0;
  struct Loop {
    std::int64_t count, pitch;
  };
  std::array<Loop, Layout::max_loops> loops{};

  static Region written(std::int64_t offset, const Shape& shape);  // the `to` side
  static Region read(std::int64_t offset, const Shape& shape);     // the `from` side

  std::int64_t end() const;   // one past the last byte
  std::int64_t runs() const;  // the number of runs

  // Returns its layout in the words of Layout::describe, in elements of `element_bytes`.
  std::string describe(std::size_t element_bytes) const;
};

struct ByteRange {
  std::int64_t begin, end;
};

// Returns some byte range that both regions touch, or nothing.
std::optional<ByteRange> intersect(const Region& a, const Region& b);

// The indices of two regions that share bytes.
struct Meeting {
  std::size_t first, second;  // first < second
};

// Finds regions that meet although they must not: the first `written` regions must meet no other, while the
// rest are only read and may meet each other. Of any two regions that meet illegally, the result names at
// least one, together with a region that it meets. It holds at most two meetings per region, even if all
// regions are in one place. Takes O(n log n) time for n regions side by side, or for n runs of interleaved
// regions.
std::vector<Meeting> meetings(std::span<const Region> regions, std::size_t written);

}  // namespace tca::base
