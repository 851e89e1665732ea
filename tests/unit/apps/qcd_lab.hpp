// Tools of the tests of lattice QCD: worlds of threads on a grid, random gauge fields and spinors that depend
// on the global site alone, and a comparison of fields of different decompositions.
#pragma once

#include <functional>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/gauge.hpp"
#include "qcd/lattice.hpp"
#include "tca/world.hpp"

namespace tca::qcd::test {

// The smallest lattice that can be cut in two along every axis.
inline constexpr Extents small{4, 4, 4, 4};

using Shape4 = std::array<int, dims>;

inline Grid grid_of(const Shape4& shape) {
  return Grid(shape[0] * shape[1] * shape[2] * shape[3], {shape.begin(), shape.end()},
              std::vector<bool>(dims, true));
}

// Returns every shape of up to `most` ranks whose extents divide the lattice's. `even`: each rank's extents
// are even.
std::vector<Shape4> all_shapes(int most, const Extents& global, bool even);

// Runs the body on threads, with a gauge field of random links.
void on_grid(const Shape4& shape, const Extents& global,
             const std::function<void(World&, const Lattice&, Gauge&)>& body);

// Returns the reals of all links by local site, for comparison to the bit.
Field<double> reals_of(const Gauge& gauge);

// Returns Gaussian numbers for each site of the set.
template <class T>
Field<T> random_field(const Lattice& lattice, Sites sites, int rhs, int reals, std::uint64_t seed = 7);

// Returns the whole field of all ranks, by global site, on every rank. Collective.
template <class T>
std::vector<T> gathered(World& world, const Lattice& lattice, Sites sites, const Field<T>& field);

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b);

}  // namespace tca::qcd::test
