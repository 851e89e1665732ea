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

// Where a task's cells are: `cells` from element `first` on, if it is one row. Otherwise `cells` is 0.
struct alignas(8) TaskRow {
  Word first = 0, cells = 0;
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
    const Place at = place(task);
    const Slab& slab = slabs[at.slab];
    const Word k = at.k + (lane & ((Word{1} << slab.lane_bits) - 1));
    const Word r = at.r + (lane >> slab.lane_bits);
    return r >= slab.rows || k >= slab.cells ? nowhere : element(slab, r, k);
  }

  // An element with all its neighbours in the array.
  TCA_DEVICE Word any() const { return plane + row + 1; }

  TCA_DEVICE TaskRow row_of(Word task) const {
    const Place at = place(task);
    const Slab& slab = slabs[at.slab];
    if (slab.lane_bits < warp_bits) return {};
    const Word left = slab.cells - at.k;
    return {element(slab, at.r, at.k), left < (Word{1} << warp_bits) ? left : Word{1} << warp_bits};
  }

 private:
  // A task's first row and cell of a slab.
  struct Place {
    Word slab, r, k;
  };
  TCA_DEVICE Place place(Word task) const {
    Word which = 0, begin = 0;
    while (task >= slabs[which].end_task) begin = slabs[which++].end_task;
    const Slab& slab = slabs[which];
    const Word group = slab.chunks.divide(task - begin);
    const Word chunk = task - begin - group * slab.chunks.value;
    return {which, group << (warp_bits - slab.lane_bits), chunk << slab.lane_bits};
  }
  TCA_DEVICE Word element(const Slab& slab, Word r, Word k) const {
    const Word i = slab.width.divide(r);
    return slab.first + i * plane + (r - i * slab.width.value) * row + k;
  }
};

// Of at most seven boxes in an array of `extents`, ghosts included, with fewer than 2^32 elements.
Region region_of(std::span<const Box> boxes, const Extents& extents);

}  // namespace tca::himeno
