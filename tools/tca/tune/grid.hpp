// Chooses the puts that `tca tune` measures, and the others with which it checks its table.
#pragma once

#include <cstdint>
#include <vector>

#include "base/layout/shape.hpp"
#include "put_exchange.hpp"

namespace tca::tool {

// How far the grids of puts go.
struct Sizes {
  std::size_t put;  // bytes of the largest put
  // Largest memory for a put's step, in bytes. More would take longer to allocate than to measure.
  std::size_t field;
  std::size_t finer_from;  // bytes from which sizes of rows are a factor of two apart instead of four
};

// On hosts the grid is finer where one cache after the other becomes too small.
inline constexpr Sizes sizes_on_hosts{std::size_t{4} << 20, std::size_t{32} << 20, 24576};
// What moves a GPU's memory reaches its full rate only with puts many times as large.
inline constexpr Sizes sizes_on_gpus{std::size_t{64} << 20, std::size_t{512} << 20, SIZE_MAX};

// Returns a regular grid of sizes, lengths of runs and distances between runs, for each class of layouts and
// of spacings.
std::vector<bench::PutShape> tuning_grid(const Sizes& sizes);

// Returns a sparse grid, which suffices for puts to oneself, where no cache line crosses anything.
std::vector<bench::PutShape> own_grid(const Sizes& sizes);

// Returns faces and blocks of arrays as programs have them, with random sizes and pitches. None is in the
// tuning grid.
std::vector<bench::PutShape> verifying_grid(const Sizes& sizes, std::uint64_t seed, std::size_t points);

// Returns the shape that a commit sees.
base::Shape shape_of(const bench::PutShape& shape);

}  // namespace tca::tool
