// A process grid of one to four dimensions, and the block distribution of an array over it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tca/layout.hpp"

namespace tca {

// What one rank owns of a dimension: elements [begin, begin + size) of the whole.
struct Part {
  std::int64_t begin;
  std::int64_t size;
};

// Ranks in row-major order: the last dimension varies fastest, as in the arrays they hold.
class Grid {
 public:
  static constexpr int max_dims = 4;
  using Coordinates = std::array<int, max_dims>;

  // `shape` must hold `ranks` ranks; its zeros are chosen, as `choose` says, for an array of `extents`. Without these the
  // array is taken for a large one of equal sides: 4 ranks in {0, 0} are 4x1 then, and 64 are 32x2.
  // Throws Error{invalid_argument} when no such grid exists.
  Grid(int ranks, std::vector<int> shape, std::vector<bool> periodic = {},
       std::span<const std::int64_t> extents = {});

  // The grid whose busiest rank sends the least for faces of an array of `extents`, strided faces weighed by the
  // cache lines they touch; among equals the one that cuts the outer dimensions, whose faces are contiguous.
  static Grid choose(int ranks, std::span<const std::int64_t> extents, std::vector<bool> periodic = {});

  int dims() const { return static_cast<int>(shape_.size()); }
  int ranks() const;

  // How many ranks lie along a dimension, and whether its ends are neighbours. `dim` is one of the grid's, which is not
  // checked.
  int extent(int dim) const { return shape_[static_cast<std::size_t>(dim)]; }
  bool periodic(int dim) const { return periodic_[static_cast<std::size_t>(dim)]; }

  // All that follow throw Error{invalid_argument} for a rank, a dimension or coordinates that are not in the grid. Of
  // coordinates and steps only the first `dims()` numbers count.
  Coordinates coordinates(int rank) const;

  // Of coordinates inside the grid, also where it is periodic: `neighbour` is what wraps.
  int rank_at(const Coordinates& coordinates) const;

  // The rank `step` away along each dimension, or nothing past a boundary that is not periodic.
  std::optional<int> neighbour(int rank, const Coordinates& step) const;

  // The share of `rank` when `whole` elements of dimension `dim` are dealt out evenly. The first ones get one more
  // where it does not divide, and the last ones nothing where there are fewer elements than ranks. Throws
  // Error{invalid_argument} for a negative number of elements.
  Part part(int rank, int dim, std::int64_t whole) const;

  std::string describe() const;  // e.g. "2x2x1"

 private:
  void check_rank(const char* call, int rank) const;

  std::vector<int> shape_;
  std::vector<bool> periodic_;
};

}  // namespace tca
