#include "pic/domain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "tca/error.hpp"

namespace tca::pic {

namespace {

constexpr std::int64_t below = 1, above = 2;  // ghosts

// Dimensions of grids and of what users type are in the order z, y, x; axes are x, y, z.
std::size_t dim_of(int dims, int axis) { return static_cast<std::size_t>(dims - 1 - axis); }

// Calls act(x, y, z) for the 27 directions, or the 9 in a plane.
template <class Act>
void each_direction(int dims, const Act& act) {
  for (int z = dims == 3 ? -1 : 0; z <= (dims == 3 ? 1 : 0); ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) act(x, y, z);
}

std::uint8_t number_of(int x, int y, int z) {
  return static_cast<std::uint8_t>((z + 1) * 9 + (y + 1) * 3 + x + 1);
}

std::optional<int> neighbour_at(const Grid& grid, int rank, int x, int y, int z) {
  Grid::Coordinates step{};
  const std::array<int, 3> by_axis{x, y, z};
  for (int axis = 0; axis < grid.dims(); ++axis)
    step[dim_of(grid.dims(), axis)] = by_axis[static_cast<std::size_t>(axis)];
  return grid.neighbour(rank, step);
}

std::vector<bool> periodic_of(const Deck& deck) {
  std::vector<bool> periodic(deck.extents.size(), true);
  periodic.back() = !deck.walls;
  return periodic;
}

constexpr std::int64_t least_cells = 2;  // as many as a neighbour has ghosts

bool divides(const Deck& deck, const std::vector<int>& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (deck.extents[d] % shape[d] != 0 || deck.extents[d] / shape[d] < least_cells) return false;
  return true;
}

// The cells that one rank has in its faces to others.
double surface(const Deck& deck, const std::vector<int>& shape) {
  double volume = 1, faces = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) volume *= static_cast<double>(deck.extents[d] / shape[d]);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) faces += volume / static_cast<double>(deck.extents[d] / shape[d]);
  return faces;
}

// All shapes of so many ranks that fit what is fixed, the one with the fewest cells in faces first.
std::vector<std::vector<int>> shapes_of(const Deck& deck, int ranks, const std::vector<int>& fixed) {
  std::vector<std::vector<int>> found;
  std::vector<int> shape(fixed.size(), 1);
  const auto extend = [&](const auto& self, std::size_t d, int left) -> void {
    if (d == shape.size()) {
      if (left == 1 && divides(deck, shape)) found.push_back(shape);
      return;
    }
    for (int along = 1; along <= left; ++along) {
      if (left % along != 0 || (fixed[d] != 0 && fixed[d] != along)) continue;
      shape[d] = along;
      self(self, d + 1, left / along);
    }
  };
  extend(extend, 0, ranks);
  // Among equals the outer dimensions are cut, whose faces are contiguous: those shapes are found last.
  std::ranges::reverse(found);
  std::ranges::stable_sort(found, {}, [&](const std::vector<int>& each) { return surface(deck, each); });
  return found;
}

// Numbers of ranks near this one for which there is a grid.
std::string which_would(const Deck& deck, int ranks) {
  std::vector<int> fitting;
  const std::vector<int> any(deck.extents.size(), 0);
  for (int other = 1; other <= 2 * ranks; ++other)
    if (!shapes_of(deck, other, any).empty()) fitting.push_back(other);
  return fmt::format("{}", fmt::join(fitting, ", "));
}

// Cells are numbered in 32 bits, ghosts included, and particles as well.
void check_numbering(const Deck& deck, const std::vector<int>& shape, int ranks) {
  constexpr double most_cells = 2147483648, most_particles = 4294967296;
  double cells = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    cells *= static_cast<double>(deck.extents[d] / shape[d] + below + above);
  if (cells < most_cells && static_cast<double>(deck.particles()) / ranks < most_particles) return;
  throw Error(
      Errc::invalid_argument,
      fmt::format("{} cells with {} electrons are too many for {} ranks: a rank holds fewer than 2^31 "
                  "cells and 2^32 electrons; use more ranks",
                  describe(deck.extents), deck.particles(), ranks));
}

}  // namespace

Grid make_grid(const Deck& deck, int ranks, const std::vector<int>& shape) {
  const auto shapes = shapes_of(deck, ranks, shape);
  if (!shapes.empty()) {
    check_numbering(deck, shapes.front(), ranks);
    return {ranks, shapes.front(), periodic_of(deck)};
  }
  const bool is_free = std::ranges::all_of(shape, [](int along) { return along == 0; });
  throw Error(
      Errc::invalid_argument,
      fmt::format(
          "{} cells cannot be dealt out evenly to {} ranks{}: each needs as many as the others, and at "
          "least {} along each dimension. These numbers of ranks would do: {}",
          describe(deck.extents), ranks,
          is_free ? "" : fmt::format(" in a grid of {}", fmt::join(shape, "x")), least_cells,
          which_would(deck, ranks)));
}

std::vector<int> neighbours_in(const Grid& grid, int rank) {
  std::set<int> found;
  each_direction(grid.dims(), [&](int x, int y, int z) {
    const auto neighbour = neighbour_at(grid, rank, x, y, z);
    if (neighbour && *neighbour != rank) found.insert(*neighbour);
  });
  return {found.begin(), found.end()};
}

Domain::Domain(const Deck& deck, const Grid& grid, int rank)
    : dims_(grid.dims()), grid_(grid), neighbours_(neighbours_in(grid, rank)) {
  std::array<std::int64_t, 3> padded{1, 1, 1};
  for (int axis = 0; axis < dims_; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::size_t dim = dim_of(dims_, axis);
    wraps_[a] = neighbour_at(grid, rank, axis == 0, axis == 1, axis == 2) == rank;
    const Range part = grid.part(rank, static_cast<int>(dim), deck.extents[dim]);
    cells_[a] = part.size;
    first_[a] = part.begin;
    padded[a] = below + part.size + above;
  }
  if (dims_ > 1) step_[1] = padded[0];
  if (dims_ > 2) step_[2] = padded[0] * padded[1];
  origin_ = below * (step_[0] + step_[1] + step_[2]);
  elements_ = padded[0] * padded[1] * padded[2];
  wall_below_ = deck.walls && first_[0] == 0;
  wall_above_ = deck.walls && first_[0] + cells_[0] == deck.extents.back();
  find_neighbours(rank);
  mark_directions();
}

void Domain::find_neighbours(int rank) {
  each_direction(dims_, [&](int x, int y, int z) {
    Way& way = ways_[number_of(x, y, z)];
    const auto neighbour = neighbour_at(grid_, rank, x, y, z);
    if (!neighbour) return;
    // All parts are alike, so that a neighbour's cells have the indices of this rank's.
    way.shift =
        static_cast<std::int32_t>(-x * cells_[0] - y * cells_[1] * step_[1] - z * cells_[2] * step_[2]);
    way.neighbour =
        *neighbour == rank
            ? Way::itself
            : static_cast<int>(std::ranges::lower_bound(neighbours_, *neighbour) - neighbours_.begin());
  });
}

void Domain::mark_directions() {
  directions_.assign(static_cast<std::size_t>(elements_), here);
  const auto side = [](std::int64_t at, std::int64_t end) { return at < 0 ? -1 : at < end ? 0 : 1; };
  const std::int64_t inside = cells_[0] - (wall_above_ ? 1 : 0);
  const std::int64_t low_z = dims_ == 3 ? -1 : 0, high_z = dims_ == 3 ? cells_[2] : 0;
  for (std::int64_t z = low_z; z <= high_z; ++z)
    for (std::int64_t y = -1; y <= cells_[1]; ++y)
      for (std::int64_t x = -1; x <= cells_[0]; ++x)
        directions_[static_cast<std::size_t>(index(x, y, z))] =
            number_of(side(x, inside), side(y, cells_[1]), side(z, cells_[2]));
}

std::vector<std::int64_t> Domain::interior() const {
  std::vector<std::int64_t> cells;
  for (int axis = dims_ - 1; axis >= 0; --axis)
    cells.push_back(cells_[static_cast<std::size_t>(axis)] + (wraps(axis) ? below + above : 0));
  return cells;
}

HaloOptions Domain::halo_options(GhostWidth exchange) const {
  HaloOptions options{.corners = true};
  for (int axis = dims_ - 1; axis >= 0; --axis) {
    options.width.push_back(wraps(axis) ? GhostWidth{0, 0} : GhostWidth{below, above});
    options.exchange.push_back(wraps(axis) ? GhostWidth{0, 0} : exchange);
  }
  return options;
}

}  // namespace tca::pic
