// Which puts `tca tune` measures, and which others it holds its table against.
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.hpp"
#include "put_exchange.hpp"

namespace tca::tool {

// How far the grids go.
struct Sizes {
  std::size_t put;  // the bytes of the largest one
  std::size_t
      field;  // and of the memory that its step needs: larger ones would take longer to come by than to measure
  std::size_t finer_from;  // where sizes of rows are a factor of two apart instead of four
};

// Where one cache after the other becomes too small.
inline constexpr Sizes sizes_on_hosts{std::size_t{4} << 20, std::size_t{32} << 20, 24576};
// What moves a GPU's memory reaches its full rate only with many times as much.
inline constexpr Sizes sizes_on_gpus{std::size_t{64} << 20, std::size_t{512} << 20, SIZE_MAX};

// Sizes, lengths of runs and distances between them on a regular grid, for each class of layouts and of spacings.
std::vector<bench::PutShape> tuning_grid(const Sizes& sizes);

// As sparse as putting to oneself deserves, where no cache line crosses anything.
std::vector<bench::PutShape> own_grid(const Sizes& sizes);

// Faces and blocks of arrays as programs have them, with sizes and pitches by chance: none is one of the others'.
std::vector<bench::PutShape> verifying_grid(const Sizes& sizes, std::uint64_t seed, std::size_t points);

// As a commit sees it.
base::Shape shape_of(const bench::PutShape& shape);

}  // namespace tca::tool
