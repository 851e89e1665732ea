// Assigns cells to the threads of a GPU: boxes of a rank's array are cut into tasks of one warp each. Host
// and device code share it.
#pragma once

#include <span>

#include "himeno/partition.hpp"
#include "tca/device/walk.hpp"

namespace tca::himeno {

using device::Word;

// One box, with its tasks. A task covers as many rows as fill a warp when each row gets a power of two of
// lanes: a piece of one row with 32 cells, or several rows if the box is thinner than that along k.
struct Slab {
  device::Divisor chunks;  // tasks along a row
  device::Divisor width;   // rows along j
  Word end_task = 0;       // one past its last task, counted through the whole region
  Word rows = 0;           // along i and j together
  Word cells = 0;          // along k
  Word first = 0;          // element of the array at which it begins
  Word lane_bits = 0;      // log2 of the lanes of a row
};

// Where a task's cells are: `cells` of them from element `first` on. `cells` is 0 if the task covers several
// rows.
struct alignas(8) TaskRow {
  Word first = 0, cells = 0;
};

struct Region {
  // Six boxes of a shell, and a core.
  static constexpr Word most_slabs = 7;
  static constexpr Word warp_bits = 5;
  static constexpr Word nowhere = ~Word{0};

  Slab slabs[most_slabs];
  Word tasks = 0;
  Word plane = 0, row = 0;  // distance in elements to the next cell along i and along j

  // Returns the element that a lane of a task updates, or `nowhere` if the box ends before it.
  TCA_DEVICE Word element(Word task, Word lane) const {
    const Place at = place(task);
    const Slab& slab = slabs[at.slab];
    const Word k = at.k + (lane & ((Word{1} << slab.lane_bits) - 1));
    const Word r = at.r + (lane >> slab.lane_bits);
    return r >= slab.rows || k >= slab.cells ? nowhere : element(slab, r, k);
  }

  // Returns an element whose neighbours all lie in the array, for lanes that have no cell of their own to
  // read.
  TCA_DEVICE Word any() const { return plane + row + 1; }

  TCA_DEVICE TaskRow row_of(Word task) const {
    const Place at = place(task);
    const Slab& slab = slabs[at.slab];
    if (slab.lane_bits < warp_bits) return {};
    const Word left = slab.cells - at.k;
    return {element(slab, at.r, at.k), left < (Word{1} << warp_bits) ? left : Word{1} << warp_bits};
  }

 private:
  // A task's slab, with its first row and first cell along k in there.
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

// Takes at most seven boxes in an array of `extents`, ghosts included, with fewer than 2^32 elements.
Region region_of(std::span<const Box> boxes, const Extents& extents);

}  // namespace tca::himeno
