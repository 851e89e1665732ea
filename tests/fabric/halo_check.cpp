#include "halo_check.hpp"

#include <algorithm>

namespace tca::test {

// A shape that is whole may have more ranks than there are cells.
Grid halo_grid(int ranks, const HaloCase& test) {
  if (std::ranges::find(test.shape, 0) == test.shape.end()) return Grid(ranks, test.shape, test.periodic);
  return Grid(ranks, test.shape, test.periodic, test.extents);
}

std::vector<GhostWidth> halo_width(int rank, const HaloCase& test) {
  if (!test.widths_by_rank.empty()) return test.widths_by_rank[static_cast<std::size_t>(rank)];
  return test.width.empty() ? std::vector<GhostWidth>(test.extents.size()) : test.width;
}

std::vector<std::int64_t> halo_interior(const Grid& grid, int rank, const HaloCase& test) {
  std::vector<std::int64_t> interior;
  for (int d = 0; d < grid.dims(); ++d) {
    interior.push_back(grid.part(rank, d, test.extents[static_cast<std::size_t>(d)]).size);
  }
  return interior;
}

std::vector<HaloCell> halo_cells(const Grid& grid, int rank, const HaloCase& test) {
  const std::vector<GhostWidth> width = halo_width(rank, test);
  const std::size_t dims = width.size();
  std::vector<Range> parts;
  for (std::size_t d = 0; d < dims; ++d) {
    parts.push_back(grid.part(rank, static_cast<int>(d), test.extents[d]));
  }
  const std::vector<GhostWidth> exchange = test.exchange.empty() ? width : test.exchange;
  const bool is_empty = std::ranges::any_of(parts, [](const Range& part) { return part.size == 0; });
  std::vector<HaloCell> cells;
  std::vector<std::int64_t> index(dims, 0);
  std::int64_t cell_count = 1;
  for (std::size_t d = 0; d < dims; ++d) cell_count *= width[d].low + parts[d].size + width[d].high;
  for (bool more = true; more;) {
    HaloCell cell{true, !is_empty, 0};
    int outside = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t local = index[d] - width[d].low, whole = test.extents[d];
      std::int64_t global = parts[d].begin + local;
      cell.side[d] = local < 0 ? -1 : local >= parts[d].size ? 1 : 0;
      outside += cell.side[d] != 0;
      cell.filled &= local >= -exchange[d].low && local < parts[d].size + exchange[d].high;
      if (global < 0 || global >= whole) {
        cell.filled &= grid.periodic(static_cast<int>(d));
        global = ((global % whole) + whole) % whole;
      }
      cell.global = cell.global * whole + global;
    }
    cell.interior = outside == 0;
    cell.filled &= outside <= 1 || test.corners;
    if (cell_count > 0) cells.push_back(cell);
    more = false;
    for (std::size_t d = dims; d-- > 0 && !more;) {
      more = ++index[d] < width[d].low + parts[d].size + width[d].high;
      if (!more) index[d] = 0;
    }
  }
  return cells;
}

}  // namespace tca::test
