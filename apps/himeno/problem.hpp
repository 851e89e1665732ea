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

inline constexpr float omega = 0.8F;  // relaxation

// Of one cell; the names are the benchmark's. The defaults are its values.
struct Coefficients {
  std::array<float, 4> a{1, 1, 1, 1.0F / 6.0F};
  std::array<float, 3> b{};
  std::array<float, 3> c{1, 1, 1};
  float bnd = 1;
  float wrk1 = 0;
};

struct Problem {
  // All cells; the outermost layer keeps its initial pressure for ever.
  Extents extents;
  // What every cell has, unless `coefficients` says otherwise for each.
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

// XS, S, M, L, XL.
std::span<const Size> sizes();

// In either case. Throws Error{invalid_argument}, listing the sizes, for any other name.
const Size& size_named(std::string_view name);

std::string describe(const Extents& extents);  // e.g. "64x64x128"
// The size's name where they are one's, such as "S"; otherwise described.
std::string name_of(const Extents& extents);

}  // namespace tca::himeno
