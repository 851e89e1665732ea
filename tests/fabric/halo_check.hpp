// Checks halos against an oracle: every cell knows its global index, so the value that each ghost must hold
// is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace tca::test {

struct HaloCase {
  std::vector<int> shape;      // of the grid; the library chooses the zeros
  std::vector<bool> periodic;  // empty: no dimension is periodic
  std::vector<std::int64_t> extents;
  std::vector<GhostWidth> width = {};                        // empty: one on each side
  std::vector<std::vector<GhostWidth>> widths_by_rank = {};  // replaces `width`
  std::vector<GhostWidth> exchange = {};                     // empty: all ghosts
  bool corners = false;
  int steps = 3;
  int fields = 1;
  std::string channel = {};
};

// A cell of a rank, ghosts included. Cells are listed in the order in which a field stores them.
struct HaloCell {
  bool interior;
  bool filled;                  // interior, or a ghost that the exchange fills
  std::int64_t global;          // row-major index in the whole array
  Grid::Coordinates side = {};  // of the interior, where it lies
};
Grid halo_grid(int ranks, const HaloCase& test);
std::vector<HaloCell> halo_cells(const Grid& grid, int rank, const HaloCase& test);
std::vector<std::int64_t> halo_interior(const Grid& grid, int rank, const HaloCase& test);
std::vector<GhostWidth> halo_width(int rank, const HaloCase& test);

template <Element T>
T halo_value(std::int64_t global, int step, int field) {
  return static_cast<T>(global % 8191 + 16 * step + 100 * field);
}

template <Element T>
struct HaloField {
  Window<T> window;
  std::size_t offset;
  int number;

  void fill(const std::vector<HaloCell>& cells, int step) const {
    std::vector<T> values;
    for (const HaloCell& cell : cells)
      values.push_back(cell.interior ? halo_value<T>(cell.global, step, number) : static_cast<T>(-1));
    window.write(offset, values);
  }
  void check(const std::vector<HaloCell>& cells, int step) const {
    std::vector<T> held(cells.size());
    window.read(offset, held);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const HaloCell& cell = cells[i];
      const T want = cell.filled ? halo_value<T>(cell.global, step, number) : static_cast<T>(-1);
      require(held[i] == want, "step {}, field {}: cell {}, global {}{}, is {}, not {}", step, number, i,
              cell.global, cell.filled ? "" : " (not to be filled)", held[i], want);
    }
  }
};

// Exchanges the halos of several fields of T and one field of bytes together. Collective. Throws Mismatch
// when a cell of any field holds a wrong value after any step.
template <Element T>
void check_halo(World& world, const HaloCase& test) {
  const Grid grid = halo_grid(world.size(), test);
  const std::vector<HaloCell> cells = halo_cells(grid, world.rank(), test);
  Halo halo(world, "halo", grid, halo_interior(grid, world.rank(), test),
            {.width = halo_width(world.rank(), test),
             .exchange = test.exchange,
             .corners = test.corners,
             .chain = {.guarded = true, .time_limit = {}, .channel = test.channel}});
  require(halo.elements() == std::ssize(cells), "{} elements, not {}", halo.elements(), cells.size());

  std::vector<HaloField<T>> fields;
  for (int f = 0; f < test.fields; ++f) {
    const std::size_t offset = f == 0 ? 5 : 0;
    fields.push_back({world.window<T>(cells.size() + offset), offset, f});
    halo.add(fields.back().window, offset);
  }
  const HaloField<std::uint8_t> bytes{world.window<std::uint8_t>(cells.size()), 0, 9};
  halo.add(bytes.window).commit();
  for (int step = 1; step <= test.steps; ++step) {
    for (const HaloField<T>& field : fields) field.fill(cells, step);
    bytes.fill(cells, step);
    halo.start();
    halo.wait();
    for (const HaloField<T>& field : fields) field.check(cells, step);
    bytes.check(cells, step);
  }
}

}  // namespace tca::test
