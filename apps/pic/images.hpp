// Ghosts that stand for a rank's own cells. Where a rank has all cells along an axis of a box without walls there, those on one
// side are next to those on the other: its ghosts are images of its own cells, and no message is needed. Callable on the GPU.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pic/domain.hpp"
#include "pic/vec.hpp"
#include "tca/device/memory.hpp"

namespace tca::pic {

// By axis, x first.
struct OwnCells {
  std::int64_t cells[3];
  bool wraps[3];  // whether ghosts along the axis are images
  Steps step;
};

OwnCells own_cells(const Domain& domain);

// Calls act(distance) for an own cell and each of its images among so many ghosts: how much farther than the cell it lies in an
// array. A cell of a narrow part has images on both sides.
template <class Act>
TCA_DEVICE void each_image(const OwnCells& own, const std::int64_t (&cell)[3], GhostWidth ghosts,
                           const Act& act) {
  int first[3], last[3];
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = own.wraps[axis] && cell[axis] >= own.cells[axis] - ghosts.low ? -1 : 0;
    last[axis] = own.wraps[axis] && cell[axis] < ghosts.high ? 1 : 0;
  }
  for (int z = first[2]; z <= last[2]; ++z)
    for (int y = first[1]; y <= last[1]; ++y)
      for (int x = first[0]; x <= last[0]; ++x)
        act(x * own.cells[0] + y * own.cells[1] * own.step.y + z * own.cells[2] * own.step.z);
}

// Cells and their images, as indices of an array.
class Images {
 public:
  Images(const Domain& domain, GhostWidth ghosts);

  template <class Value>
  void fill(Value* array) const {
    for (const auto& [cell, image] : pairs_) array[image] = array[cell];
  }
  // Adds what images have gathered to their cells.
  template <class Number>
  void fold(Number* array) const {
    for (const auto& [cell, image] : pairs_) array[cell] = array[cell] + array[image];
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

}  // namespace tca::pic
