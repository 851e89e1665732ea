/// @file
/// A process grid of one to seven dimensions, and the block distribution of an array over it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tca/detail/api.hpp"
#include "tca/detail/counts.hpp"
#include "tca/layout.hpp"

namespace tca {

/// The elements [begin, begin + size) of a dimension.
struct Range {
  std::int64_t begin;
  std::int64_t size;
};

/// Ranks in row-major order: the last dimension varies fastest, as in the arrays they hold.
class TCA_API Grid {
 public:
  static constexpr int max_dims = 7;
  using Coordinates = std::array<int, max_dims>;

  /// A grid of `shape`: how many ranks there are along each dimension, outermost first. The product is
  /// `ranks`. Zeros in the shape are chosen, as `choose` does, for an array of `extents` elements. Without
  /// extents the array is assumed to be a large one of equal sides: 4 ranks in {0, 0} are then 4x1, and 64
  /// are 32x2. If `periodic` is empty, no dimension is periodic. Throws Error{invalid_argument} if no such
  /// grid exists.
  Grid(int ranks, std::vector<int> shape, std::vector<bool> periodic = {},
       std::span<const std::int64_t> extents = {});
  Grid(int ranks, std::vector<int> shape, std::vector<bool> periodic, std::initializer_list<Count> extents)
      : Grid(ranks, std::move(shape), std::move(periodic), detail::values_of(extents)) {}

  /// Returns the grid whose busiest rank sends the least for the faces of an array of `extents` elements.
  /// Strided faces are weighted by the cache lines that they touch. Among equals it cuts the outer
  /// dimensions, whose faces are contiguous. Throws Error{invalid_argument} if there are fewer elements
  /// than ranks.
  [[nodiscard]] static Grid choose(int ranks, std::span<const std::int64_t> extents,
                                   std::vector<bool> periodic = {});
  [[nodiscard]] static Grid choose(int ranks, std::initializer_list<Count> extents,
                                   std::vector<bool> periodic = {}) {
    return choose(ranks, detail::values_of(extents), std::move(periodic));
  }

  int dims() const { return static_cast<int>(shape_.size()); }
  int ranks() const;

  /// Return how many ranks there are along a dimension, and whether its ends are neighbours. `dim` is not
  /// checked.
  int extent(int dim) const { return shape_[static_cast<std::size_t>(dim)]; }
  bool periodic(int dim) const { return periodic_[static_cast<std::size_t>(dim)]; }

  /// These and all that follow throw Error{invalid_argument} for a rank, a dimension or coordinates that are
  /// not in the grid. Only the first `dims()` numbers of coordinates and steps count.
  [[nodiscard]] Coordinates coordinates(int rank) const;

  /// Returns the rank at coordinates inside the grid. They do not wrap around in periodic dimensions, as
  /// `neighbour` does.
  [[nodiscard]] int rank_at(const Coordinates& coordinates) const;

  /// Returns the rank that is step[d] ranks away along each dimension d, or nothing past an end that is not
  /// periodic.
  [[nodiscard]] std::optional<int> neighbour(int rank, const Coordinates& step) const;

  /// Returns the share of `rank` when the `whole` elements of dimension `dim` are distributed evenly. If
  /// they do not divide evenly, the first ranks along the dimension get one more element; if there are
  /// fewer elements than ranks, the last ones get none. Throws Error{invalid_argument} for a negative
  /// number of elements.
  [[nodiscard]] Range part(int rank, int dim, std::int64_t whole) const;

  /// Returns the shape in words, e.g. "2x2x1".
  [[nodiscard]] std::string describe() const;

 private:
  void check_rank(const char* call, int rank) const;

  std::vector<int> shape_;
  std::vector<bool> periodic_;
};

}  // namespace tca
