#include "pic/images.hpp"

namespace tca::pic {

OwnCells own_cells(const Domain& domain) {
  return {{domain.cells(0), domain.cells(1), domain.cells(2)},
          {domain.wraps(0), domain.wraps(1), domain.wraps(2)},
          {domain.step(1), domain.step(2)}};
}

Images::Images(const Domain& domain, GhostWidth ghosts) {
  const OwnCells own = own_cells(domain);
  for (std::int64_t z = 0; z < own.cells[2]; ++z)
    for (std::int64_t y = 0; y < own.cells[1]; ++y)
      for (std::int64_t x = 0; x < own.cells[0]; ++x) {
        const std::int64_t at = domain.index(x, y, z);
        each_image(own, {x, y, z}, ghosts, [&](std::int64_t distance) {
          if (distance != 0) pairs_.emplace_back(at, at + distance);
        });
      }
}

}  // namespace tca::pic
