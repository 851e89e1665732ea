// The exact bytes that a put touches on one side, and whether two such sets meet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/shape.hpp"

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
  std::int64_t runs() const;  // how many there are
};

struct ByteRange {
  std::int64_t begin, end;
};

// Some bytes that both regions touch, or nothing.
std::optional<ByteRange> intersect(const Region& a, const Region& b);

// Two regions that share bytes, by their indices.
struct Meeting {
  std::size_t first, second;  // in the order of the regions
};

// Which of the regions meet, where the first `written` of them must meet none and the others may meet each other. Of any
// two that do at least one is named, with one that it meets. There are at most two for each region, also where all lie in
// one place. Takes n log n for n regions side by side, or for n runs of regions that interleave.
std::vector<Meeting> meetings(std::span<const Region> regions, std::size_t written);

}  // namespace tca::base
