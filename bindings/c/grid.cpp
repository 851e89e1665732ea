#include <algorithm>
#include <span>
#include <vector>

#include "c/layouts.hpp"

namespace tca::c {

static_assert(TCA_MAX_DIMS == Grid::max_dims);

std::size_t dims_of(int dims) {
  if (dims < 1 || dims > TCA_MAX_DIMS)
    throw Misuse(fmt::format("{} dimensions; there are 1 to {}", dims, TCA_MAX_DIMS));
  return static_cast<std::size_t>(dims);
}

namespace {

std::vector<bool> flags(const int* given, std::size_t dims) {
  if (given == nullptr) return {};
  std::vector<bool> all(dims);
  std::transform(given, given + dims, all.begin(), [](int flag) { return flag != 0; });
  return all;
}

tca_grid in_c(const Grid& grid) {
  tca_grid all{};
  all.dims = grid.dims();
  for (int d = 0; d < grid.dims(); ++d) {
    all.shape[d] = grid.extent(d);
    all.periodic[d] = grid.periodic(d);
  }
  return all;
}

Grid::Coordinates coordinates_of(const Grid& grid, const int* given, const char* what) {
  Grid::Coordinates all{};
  const auto dims = static_cast<std::size_t>(grid.dims());
  std::copy_n(array(given, dims, what), dims, all.begin());
  return all;
}

}  // namespace

Grid grid_of(const tca_grid& grid) {
  const std::size_t dims = dims_of(grid.dims);
  std::vector<int> shape(grid.shape, grid.shape + dims);
  int ranks = 1;
  for (const int extent : shape) {
    if (extent < 1 || __builtin_mul_overflow(ranks, extent, &ranks))
      throw Misuse(fmt::format(
          "no grid: {} ranks lie along a dimension; make it by tca_grid_create or _choose", extent));
  }
  return Grid(ranks, std::move(shape), flags(grid.periodic, dims));
}

}  // namespace tca::c

using namespace tca::c;

tca_status tca_grid_create(int ranks, int dims, const int* shape, const int* periodic, const int64_t* extents,
                           tca_grid* grid) {
  return guarded(__func__, [&] {
    tca_grid& made = present(grid, "the grid");
    const std::size_t count = dims_of(dims);
    const int* const along = array(shape, count, "the shape");
    const std::span<const int64_t> cells(extents, extents == nullptr ? 0 : count);
    made = in_c(tca::Grid(ranks, std::vector<int>(along, along + count), flags(periodic, count), cells));
  });
}

tca_status tca_grid_choose(int ranks, int dims, const int64_t* extents, const int* periodic, tca_grid* grid) {
  return guarded(__func__, [&] {
    tca_grid& made = present(grid, "the grid");
    const std::size_t count = dims_of(dims);
    const std::span<const int64_t> cells(array(extents, count, "extents"), count);
    made = in_c(tca::Grid::choose(ranks, cells, flags(periodic, count)));
  });
}

tca_status tca_grid_coordinates(const tca_grid* grid, int rank, int* coordinates) {
  return guarded(__func__, [&] {
    const tca::Grid all = grid_of(present(grid, "the grid"));
    const auto dims = static_cast<std::size_t>(all.dims());
    int* const into = array(coordinates, dims, "coordinates");
    std::copy_n(all.coordinates(rank).begin(), dims, into);
  });
}

tca_status tca_grid_rank_at(const tca_grid* grid, const int* coordinates, int* rank) {
  return guarded(__func__, [&] {
    const tca::Grid all = grid_of(present(grid, "the grid"));
    present(rank, "the rank") = all.rank_at(coordinates_of(all, coordinates, "coordinates"));
  });
}

tca_status tca_grid_neighbour(const tca_grid* grid, int rank, const int* step, int* neighbour) {
  return guarded(__func__, [&] {
    const tca::Grid all = grid_of(present(grid, "the grid"));
    present(neighbour, "the neighbour") =
        all.neighbour(rank, coordinates_of(all, step, "the step")).value_or(-1);
  });
}

tca_status tca_grid_part(const tca_grid* grid, int rank, int dim, int64_t whole, int64_t* begin,
                         int64_t* size) {
  return guarded(__func__, [&] {
    const tca::Range range = grid_of(present(grid, "the grid")).part(rank, dim, whole);
    present(begin, "the place for the begin") = range.begin;
    present(size, "the place for the size") = range.size;
  });
}
