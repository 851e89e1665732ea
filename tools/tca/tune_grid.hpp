// Which puts `tca tune` measures, and which others it holds its table against.
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.hpp"
#include "put_exchange.hpp"

namespace tca::tool {

// Larger fields would take longer to come by than to measure.
inline constexpr std::size_t largest_field = std::size_t{32} << 20;

// Sizes, lengths of runs and distances between them on a regular grid, for each class of layouts and of spacings.
std::vector<bench::PutShape> tuning_grid();

// As sparse as putting to oneself deserves, where no cache line crosses anything.
std::vector<bench::PutShape> own_grid();

// Faces and blocks of arrays as programs have them, with sizes and pitches by chance: none is one of the others'.
std::vector<bench::PutShape> verifying_grid(std::uint64_t seed, std::size_t points);

// As a commit sees it.
base::Shape shape_of(const bench::PutShape& shape);

}  // namespace tca::tool
