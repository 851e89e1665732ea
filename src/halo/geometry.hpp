// Where the ghosts of a rank's array are, which cells of a neighbour they stand for, and who the neighbours
// are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tca/grid.hpp"
#include "tca/halo.hpp"
#include "tca/layout.hpp"

namespace tca::halo {

using Extents = std::array<std::int64_t, Grid::max_dims>;

// The part of a rank's array that its neighbours need to know.
struct Shape {
  Extents interior{};
  std::array<GhostWidth, Grid::max_dims> width{};
  std::array<GhostWidth, Grid::max_dims> filled{};  // how many of these an exchange fills
};

// By rank: those of a rank and its neighbours, or of all.
using Shapes = std::map<int, Shape>;

// Returns a shape from numbers that a program gave. Throws Error{invalid_argument} for those that do not
// fit the grid.
Shape check_shape(const std::string& name, const Grid& grid, const std::vector<std::int64_t>& interior,
                  const std::vector<GhostWidth>& width, const std::vector<GhostWidth>& exchange);

Extents with_ghosts(const Shape& shape, int dims);
bool has_cells(const Shape& shape, int dims);

// Returns all directions to a neighbour: one step along one dimension, or along several if corners are
// wanted.
std::vector<Grid::Coordinates> directions(int dims, bool corners);
Grid::Coordinates opposite(const Grid::Coordinates& step);

// Returns the neighbour on side `step` of a rank that has cells: along each dimension, the next rank that
// has cells itself.
std::optional<int> neighbour_of(const Grid& grid, const Shapes& shapes, int rank,
                                const Grid::Coordinates& step);

// Checks a rank against each of the neighbours whose cells its ghosts hold. Throws Error{refused}.
void check_neighbours(const std::string& name, const Grid& grid, const Shapes& shapes, int rank,
                      const std::vector<Grid::Coordinates>& steps);

// Cells of one rank, and the ghosts of another that stand for them, in the same order.
struct Piece {
  Layout cells, ghosts;
};

// Returns what is on side `step` of `holder`, whose ghosts there stand for cells of `owner`: one piece, or
// as many as needed for none to have more loops than a layout can. None if nothing is to be exchanged.
std::vector<Piece> pieces(const Shape& owner, const Shape& holder, const Grid::Coordinates& step, int dims);

}  // namespace tca::halo
