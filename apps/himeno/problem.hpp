// The Himeno benchmark's problem: Poisson's equation in a box, solved by Jacobi iterations over a 19-point
// stencil with coefficients that may differ from cell to cell. (R. Himeno, RIKEN.)
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tca::himeno {

// Cells along i (the slowest dimension), j and k (contiguous).
using Extents = std::array<std::int64_t, 3>;

inline constexpr float omega = 0.8F;  // relaxation factor

// The coefficients of one cell. Names and default values are the benchmark's.
struct Coefficients {
  std::array<float, 4> a{1, 1, 1, 1.0F / 6.0F};
  std::array<float, 3> b{};
  std::array<float, 3> c{1, 1, 1};
  float bnd = 1;
  float wrk1 = 0;
};

struct Problem {
  // All cells, fixed boundary included: the outermost layer keeps its initial pressure.
  Extents extents;
  // The coefficients of every cell, unless `coefficients` gives them cell by cell.
  Coefficients uniform = {};
  std::function<Coefficients(const Extents& cell)> coefficients = {};

  // The cells that an iteration updates.
  Extents interior() const { return {extents[0] - 2, extents[1] - 2, extents[2] - 2}; }
  double flops_per_iteration() const;
  float initial_pressure(std::int64_t i) const;
};

struct Size {
  std::string_view name;
  Extents extents;
};

// Returns XS, S, M, L and XL.
std::span<const Size> sizes();

// Ignores case. Throws Error{invalid_argument}, with a list of the sizes, for an unknown name.
const Size& size_named(std::string_view name);

std::string describe(const Extents& extents);  // e.g. "64x64x128"
// Returns the name of the size that has these extents, such as "S", or describes them when none has.
std::string name_of(const Extents& extents);

}  // namespace tca::himeno
