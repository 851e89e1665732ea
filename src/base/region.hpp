// The exact bytes that a put touches on one side, and whether two such sets meet.
#pragma once

#include <cstdint>
#include <optional>

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

  std::int64_t end() const;  // one past the last byte
};

struct ByteRange {
  std::int64_t begin, end;
};

// Some bytes that both regions touch, or nothing.
std::optional<ByteRange> intersect(const Region& a, const Region& b);

}  // namespace tca::base
