// What the options of `tca model` ask a loop to be.
#include <algorithm>
#include <bit>

#include "base/fail.hpp"
#include "cg/problem.hpp"
#include "cli/options/extents.hpp"
#include "model/grid.hpp"
#include "model/solvers.hpp"
#include "tca/grid.hpp"

namespace tca::tool {

namespace {

template <std::size_t dims>
std::array<std::int64_t, dims> read_extents(const std::string& text, const char* example) {
  const auto given = parse_extents("--size", text);
  if (!given || given->size() != dims)
    base::fail(Errc::invalid_argument, "--size {}: give {} extents, such as {}", text, dims, example);
  std::array<std::int64_t, dims> extents{};
  std::ranges::copy(*given, extents.begin());
  return extents;
}

// A class of the benchmark, or rows and elements of a row, such as 1000000x200.
SparseMatrix read_matrix(const std::string& text) {
  if (text.find('x') != std::string::npos) {
    const auto [rows, elements] = read_extents<2>(text, "1000000x200, or a class");
    return {rows, elements};
  }
  const cg::Problem& problem = cg::problem_named(text);
  // As the benchmark counts them.
  return {problem.n, std::int64_t{problem.nonzeros} * (problem.nonzeros + 1)};
}

template <std::size_t dims>
std::array<std::uint32_t, dims> read_grid(const ModelOptions& options, std::uint32_t ranks) {
  const std::vector<int> given = parse_grid(options.grid, dims, static_cast<int>(ranks));
  std::array<std::uint32_t, dims> grid{};
  std::ranges::copy(given, grid.begin());
  return grid;
}

// As near to a square as a power of two allows; as many columns as rows, or twice as many.
std::array<std::uint32_t, 2> square(std::uint32_t ranks) {
  const std::uint32_t rows = std::uint32_t{1} << (std::bit_width(ranks) - 1) / 2;
  return {rows, ranks / rows};
}

LoopPlan plan_cg(const ModelOptions& options, std::uint32_t ranks) {
  const SparseMatrix matrix = read_matrix(options.size.empty() ? "C" : options.size);
  if (!std::has_single_bit(ranks))
    base::fail(Errc::invalid_argument, "{} ranks: cg takes a power of two", ranks);
  const auto grid = options.grid == "auto" ? square(ranks) : read_grid<2>(options, ranks);
  if (grid[1] != grid[0] && grid[1] != 2 * grid[0])
    base::fail(Errc::invalid_argument,
               "--grid {}: cg takes as many columns as rows, or twice as many, such as 2x4", options.grid);
  if (matrix.rows < ranks)
    base::fail(Errc::invalid_argument, "{} ranks: the matrix has only {} rows", ranks, matrix.rows);
  return {.grid = {grid.begin(), grid.end()}, .n = matrix.rows, .lay_down = [=](Loop& loop) {
            add_cg(loop, matrix, grid);
          }};
}

LoopPlan plan_qcd(const ModelOptions& options, std::uint32_t ranks) {
  const auto lattice = read_extents<4>(options.size.empty() ? "32x32x32x64" : options.size, "32x32x32x64");
  std::array<std::uint32_t, 4> grid{};
  if (options.grid != "auto") {
    grid = read_grid<4>(options, ranks);
  } else {
    const Grid chosen = Grid::choose(static_cast<int>(ranks), lattice, {true, true, true, true});
    for (std::size_t d = 0; d < 4; ++d)
      grid[d] = static_cast<std::uint32_t>(chosen.extent(static_cast<int>(d)));
  }
  for (std::size_t d = 0; d < 4; ++d)
    if (lattice[d] % grid[d] != 0)
      base::fail(Errc::invalid_argument, "--size {}: the grid {} does not divide it evenly", options.size,
                 describe({grid.begin(), grid.end()}));
  const auto element = static_cast<std::uint64_t>(options.element > 0 ? options.element : 4);
  return {
      .grid = {grid.begin(), grid.end()}, .in_bricks = true, .n = lattice[0], .lay_down = [=](Loop& loop) {
        add_qcd(loop, lattice, grid, element);
      }};
}

LoopPlan plan_fft(const ModelOptions& options, std::uint32_t ranks) {
  const auto extents = read_extents<3>(options.size.empty() ? "512x512x512" : options.size, "512x512x512");
  std::array<std::uint32_t, 2> grid{};
  if (options.grid != "auto") {
    grid = read_grid<2>(options, ranks);
  } else {
    grid[0] = 1;
    for (std::uint32_t rows = 1; rows * rows <= ranks; ++rows)
      if (ranks % rows == 0) grid[0] = rows;
    grid[1] = ranks / grid[0];
  }
  const std::int64_t rows = grid[0], columns = grid[1];
  if (rows > std::min(extents[0], extents[1]) || columns > std::min(extents[1], extents[2]))
    base::fail(Errc::invalid_argument, "--size {}: too small for {} ranks", options.size, ranks);
  return {.grid = {grid.begin(), grid.end()}, .n = extents[0], .lay_down = [=](Loop& loop) {
            add_fft(loop, extents, grid);
          }};
}

}  // namespace

LoopPlan plan_loop(const ModelOptions& options, std::uint32_t ranks) {
  if (options.program == "cg") return plan_cg(options, ranks);
  if (options.program == "qcd") return plan_qcd(options, ranks);
  return plan_fft(options, ranks);
}

}  // namespace tca::tool
