#include "halo/geometry.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/fail.hpp"

namespace tca::halo {

namespace {

using base::fail;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A box of a rank's array: its first element, counted with the ghosts, and its length in each dimension.
struct Box {
  Extents first{}, length{};
};

// Return the ghosts on side `step` of their holder, and the owner's cells that they stand for. Along a
// dimension without a step both extend over the interior.
Box ghosts_of(const Shape& holder, const Grid::Coordinates& step, int dims) {
  Box box;
  for (std::size_t d = 0; d < at(dims); ++d) {
    const GhostWidth w = holder.width[d], filled = holder.filled[d];
    const std::int64_t n = holder.interior[d];
    box.first[d] = step[d] < 0 ? w.low - filled.low : step[d] > 0 ? w.low + n : w.low;
    box.length[d] = step[d] < 0 ? filled.low : step[d] > 0 ? filled.high : n;
  }
  return box;
}

Box cells_of(const Shape& owner, const Box& ghosts, const Grid::Coordinates& step, int dims) {
  Box box{{}, ghosts.length};
  for (std::size_t d = 0; d < at(dims); ++d)
    box.first[d] = owner.width[d].low + (step[d] < 0 ? owner.interior[d] - box.length[d] : 0);
  return box;
}

bool is_empty(const Box& box, int dims) {
  return std::any_of(box.length.begin(), box.length.begin() + dims, [](std::int64_t n) { return n == 0; });
}

// Returns how many loops around a run the layout of a box would have, merging those that continue where the
// inner one ends.
int loops_around(const Extents& extents, const Box& box, int dims) {
  std::int64_t run = box.length[at(dims) - 1], pitch = extents[at(dims) - 1];
  int loops = 0;
  for (std::size_t d = at(dims) - 1; d-- > 0; pitch *= extents[d]) {
    if (box.length[d] == 1) continue;
    if (pitch != run) ++loops;
    run = pitch * box.length[d];  // where the next repetition would continue
  }
  return loops;
}

Layout layout_of(const Extents& extents, const Box& box, int dims) {
  std::vector<Count> e, f, l;
  for (std::size_t d = 0; d < at(dims); ++d) {
    e.emplace_back(extents[d]);
    f.emplace_back(box.first[d]);
    l.emplace_back(box.length[d]);
  }
  return subarray(e, f, l);
}

// The two sides of something cut into pieces along its outermost dimensions.
struct Cut {
  const Extents &of_cells, &of_ghosts;
  int dims;
  std::vector<Piece>& pieces;

  void add(Box cells, Box ghosts) const {
    if (std::max(loops_around(of_cells, cells, dims), loops_around(of_ghosts, ghosts, dims)) <=
        Layout::max_loops) {
      pieces.push_back({layout_of(of_cells, cells, dims), layout_of(of_ghosts, ghosts, dims)});
      return;
    }
    const auto longer = std::ranges::find_if(cells.length, [](std::int64_t n) { return n > 1; });
    const auto d = static_cast<std::size_t>(longer - cells.length.begin());
    const std::int64_t count = std::exchange(cells.length[d], 1);
    ghosts.length[d] = 1;
    for (std::int64_t i = 0; i < count; ++i, ++cells.first[d], ++ghosts.first[d]) add(cells, ghosts);
  }
};

// Throws if the number of elements, including ghosts, overflows. Later sums and products of the same
// numbers then cannot.
void check_total(const std::string& name, const Shape& shape, std::size_t dims) {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    std::int64_t extent = shape.interior[d];
    if (__builtin_add_overflow(extent, shape.width[d].low, &extent) ||
        __builtin_add_overflow(extent, shape.width[d].high, &extent) ||
        __builtin_mul_overflow(all, extent, &all)) {
      fail(Errc::invalid_argument,
           "halo '{}': dimension {} has {} cells and ghosts {} and {} wide; that overflows 63 bits", name, d,
           shape.interior[d], shape.width[d].low, shape.width[d].high);
    }
  }
}

void check_pair(const std::string& name, const Shapes& shapes, int holder, int owner,
                const Grid::Coordinates& step, int dims) {
  const Shape &here = shapes.at(holder), &there = shapes.at(owner);
  const Box ghosts = ghosts_of(here, step, dims);
  if (is_empty(ghosts, dims)) return;
  for (std::size_t d = 0; d < at(dims); ++d) {
    const std::int64_t wide = step[d] != 0 ? ghosts.length[d] : 0;
    if (step[d] == 0 && here.interior[d] != there.interior[d]) {
      fail(Errc::refused,
           "halo '{}': ranks {} and {} are neighbours but have {} and {} cells in dimension {}", name, holder,
           owner, here.interior[d], there.interior[d], d);
    }
    if (wide > there.interior[d]) {
      fail(Errc::refused,
           "halo '{}': the ghosts of rank {} in dimension {} are {} wide, but rank {}, whose cells they "
           "hold, has only {} there; use fewer ranks along it, or narrower ghosts",
           name, holder, d, wide, owner, there.interior[d]);
    }
  }
}

}  // namespace

Shape check_shape(const std::string& name, const Grid& grid, const std::vector<std::int64_t>& interior,
                  const std::vector<GhostWidth>& width, const std::vector<GhostWidth>& exchange) {
  const std::size_t dims = at(grid.dims());
  if (interior.size() != dims || (!width.empty() && width.size() != dims)) {
    fail(Errc::invalid_argument,
         "halo '{}': the grid has {} dimension{}, the interior {}{}; give a number for each", name, dims,
         dims == 1 ? "" : "s", interior.size(),
         width.empty() ? std::string() : fmt::format(" and the widths {}", width.size()));
  }
  if (!exchange.empty() && exchange.size() != dims) {
    fail(Errc::invalid_argument,
         "halo '{}': the grid has {} dimension{}, the exchange {}; give a width for each", name, dims,
         dims == 1 ? "" : "s", exchange.size());
  }
  Shape shape;
  for (std::size_t d = 0; d < dims; ++d) {
    shape.interior[d] = interior[d];
    shape.width[d] = width.empty() ? GhostWidth{} : width[d];
    if (interior[d] < 0 || shape.width[d].low < 0 || shape.width[d].high < 0) {
      fail(Errc::invalid_argument,
           "halo '{}': dimension {} has {} cells and ghosts {} and {} wide; none of them can be negative",
           name, d, interior[d], shape.width[d].low, shape.width[d].high);
    }
    shape.filled[d] = exchange.empty() ? shape.width[d] : exchange[d];
    const auto [low, high] = shape.filled[d];
    if (low < 0 || high < 0 || low > shape.width[d].low || high > shape.width[d].high) {
      fail(Errc::invalid_argument,
           "halo '{}': an exchange of {} and {} in dimension {}, whose ghosts are {} and {} wide; it fills "
           "none of them to all",
           name, low, high, d, shape.width[d].low, shape.width[d].high);
    }
  }
  check_total(name, shape, dims);
  return shape;
}

Extents with_ghosts(const Shape& shape, int dims) {
  Extents extents{};
  for (std::size_t d = 0; d < at(dims); ++d)
    extents[d] = shape.width[d].low + shape.interior[d] + shape.width[d].high;
  return extents;
}

bool has_cells(const Shape& shape, int dims) {
  return std::none_of(shape.interior.begin(), shape.interior.begin() + dims,
                      [](std::int64_t cells) { return cells == 0; });
}

std::vector<Grid::Coordinates> directions(int dims, bool corners) {
  std::vector<Grid::Coordinates> all;
  int count = 1;
  for (int d = 0; d < dims; ++d) count *= 3;
  for (int code = 0; code < count; ++code) {
    Grid::Coordinates step{};
    int rest = code, moved = 0;
    for (std::size_t d = 0; d < at(dims); ++d, rest /= 3) {
      step[d] = rest % 3 - 1;
      moved += step[d] != 0;
    }
    if (moved == 1 || (moved > 1 && corners)) all.push_back(step);
  }
  return all;
}

Grid::Coordinates opposite(const Grid::Coordinates& step) {
  Grid::Coordinates back{};
  std::transform(step.begin(), step.end(), back.begin(), std::negate<>());
  return back;
}

std::optional<int> neighbour_of(const Grid& grid, const Shapes& shapes, int rank,
                                const Grid::Coordinates& step) {
  for (int dim = 0; dim < grid.dims(); ++dim) {
    const std::size_t d = at(dim);
    if (step[d] == 0) continue;
    Grid::Coordinates along{};
    std::optional<int> next;
    for (int distance = 1; distance <= grid.extent(dim); ++distance) {
      along[d] = distance * step[d];
      next = grid.neighbour(rank, along);
      if (!next || shapes.at(*next).interior[d] > 0) break;
    }
    if (!next) return std::nullopt;
    rank = *next;
  }
  return rank;
}

void check_neighbours(const std::string& name, const Grid& grid, const Shapes& shapes, int rank,
                      const std::vector<Grid::Coordinates>& steps) {
  if (!has_cells(shapes.at(rank), grid.dims())) return;
  for (const Grid::Coordinates& step : steps) {
    if (const std::optional<int> owner = neighbour_of(grid, shapes, rank, step))
      check_pair(name, shapes, rank, *owner, step, grid.dims());
  }
}

std::vector<Piece> pieces(const Shape& owner, const Shape& holder, const Grid::Coordinates& step, int dims) {
  std::vector<Piece> all;
  const Box ghosts = ghosts_of(holder, step, dims);
  if (is_empty(ghosts, dims)) return all;
  const Extents of_cells = with_ghosts(owner, dims), of_ghosts = with_ghosts(holder, dims);
  Cut{of_cells, of_ghosts, dims, all}.add(cells_of(owner, ghosts, step, dims), ghosts);
  return all;
}

}  // namespace tca::halo
