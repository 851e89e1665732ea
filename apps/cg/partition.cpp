#include "cg/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tca/error.hpp"

namespace tca::cg {

namespace {

bool has_whole_rows(const Grid& grid) { return grid.extent(1) == 1; }

// All ranks but the last have equally many rows, so that the parts of a vector, gathered, are one behind the
// other.
Share whole_rows(const Problem& problem, const Grid& grid, int rank) {
  const std::int64_t most = (problem.n + grid.ranks() - 1) / grid.ranks();
  const std::int64_t begin = std::min(rank * most, problem.n);
  const Range rows{begin, std::min(most, problem.n - begin)};
  return {.rows = rows,
          .columns = {0, problem.n},
          .own = rows,
          .largest = most,
          .whole_rows = true,
          .row_of_grid = {},
          .reductions = {},
          .summed = {},
          .transposed = rank};
}

// The first half of a part, or the second, which is the smaller one.
Range half(const Range& part, int which) {
  const std::int64_t first = (part.size + 1) / 2;
  return which == 0 ? Range{part.begin, first} : Range{part.begin + first, part.size - first};
}

// The elements of a block's rows for which a rank in this column of the grid adds the sums up.
Range summed_by(const Grid& grid, const Range& rows, int column) {
  const Range all{0, rows.size};
  return grid.extent(0) == grid.extent(1) ? all : half(all, column % 2);
}

Share block(const Problem& problem, const Grid& grid, int rank) {
  const auto at = grid.coordinates(rank);
  const int row = at[0], column = at[1], doubled = grid.extent(1) / grid.extent(0);
  // Where there are twice as many columns as rows, each has half of what it would have in a square.
  const auto part = [&](int of) { return grid.part(grid.rank_at({of, 0}), 0, problem.n); };
  const Range rows = part(row);
  const Range columns = doubled == 1 ? part(column) : half(part(column / 2), column % 2);
  Share share{.rows = rows,
              .columns = columns,
              .own = columns,
              .largest = doubled == 1 ? part(0).size : half(part(0), 0).size,
              .whole_rows = false,
              .row_of_grid = {},
              .reductions = {},
              .summed = summed_by(grid, rows, column),
              .transposed = grid.rank_at({column / doubled, row * doubled + column % doubled})};
  for (int other = 0; other < grid.extent(1); ++other)
    share.row_of_grid.push_back(grid.rank_at({row, other}));
  for (int bit = 1; bit < grid.extent(1); bit *= 2) {
    const int partner = column ^ bit;
    share.reductions.push_back(
        {share.row_of_grid[static_cast<std::size_t>(partner)], summed_by(grid, rows, partner), share.summed});
  }
  return share;
}

}  // namespace

void check_grid(const Problem& problem, const Grid& grid) {
  const auto fail = [&](const std::string& why) {
    throw Error(Errc::invalid_argument, fmt::format("grid {}: {}", grid.describe(), why));
  };
  if (grid.dims() != 2) fail("CG takes two dimensions, such as 2x4");
  if (grid.ranks() > problem.n)
    fail(fmt::format("class {} has {} rows, too few for {} ranks", problem.name, problem.n, grid.ranks()));
  if (has_whole_rows(grid)) return;
  const int rows = grid.extent(0), columns = grid.extent(1);
  if (!std::has_single_bit(static_cast<unsigned>(rows)) || (columns != rows && columns != 2 * rows))
    fail(fmt::format(
        "blocks take a power of two of rows, and as many columns or twice as many, such as 2x2 or "
        "2x4; {}x1 divides by rows and takes any number of ranks",
        grid.ranks()));
}

Share share_of(const Problem& problem, const Grid& grid, int rank) {
  check_grid(problem, grid);
  return has_whole_rows(grid) ? whole_rows(problem, grid, rank) : block(problem, grid, rank);
}

}  // namespace tca::cg
