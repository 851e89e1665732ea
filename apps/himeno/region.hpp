// Which thread of a GPU updates which cell: boxes of a rank's array, cut into tasks of a warp each. Runs on the host too.
#pragma once

#include <span>

#include "himeno/partition.hpp"
#include "tca/device/walk.hpp"

namespace tca::himeno {

using device::Word;

// A box. A task is as many of its rows as fill a warp with a power of two of lanes each: one row of 32 cells, unless the
// box is thinner than that along k.
struct Slab {
  device::Divisor chunks;  // tasks along a row
  device::Divisor width;   // rows along j
  Word end_task = 0;       // one past its tasks in the region's count
  Word rows = 0;           // along i and j
  Word cells = 0;          // along k
  Word first = 0;          // element of the array where it begins
  Word lane_bits = 0;      // of a row's lanes
};

struct Region {
  static constexpr Word most_slabs = 7;  // of a shell, and a core
  static constexpr Word warp_bits = 5;
  static constexpr Word nowhere = ~Word{0};

  Slab slabs[most_slabs];
  Word tasks = 0;
  Word plane = 0, row = 0;  // elements from a cell to the next along i and along j

  // The element that a lane of a task updates; nowhere where the box ends before it.
  TCA_DEVICE Word element(Word task, Word lane) const {
    Word which = 0, begin = 0;
    while (task >= slabs[which].end_task) begin = slabs[which++].end_task;
    const Slab& slab = slabs[which];
    const Word group = slab.chunks.divide(task - begin);
    const Word chunk = task - begin - group * slab.chunks.value;
    const Word k = (chunk << slab.lane_bits) + (lane & ((Word{1} << slab.lane_bits) - 1));
    const Word r = (group << (warp_bits - slab.lane_bits)) + (lane >> slab.lane_bits);
    if (r >= slab.rows || k >= slab.cells) return nowhere;
    const Word i = slab.width.divide(r);
    return slab.first + i * plane + (r - i * slab.width.value) * row + k;
  }
};

// Of at most seven boxes in an array of `extents`, ghosts included, with fewer than 2^32 elements.
Region region_of(std::span<const Box> boxes, const Extents& extents);

}  // namespace tca::himeno
