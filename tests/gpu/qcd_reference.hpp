// The reference for lattice QCD on GPUs: a lattice, its links and sources, and the results of one rank on the
// host.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "qcd/gpu/inverter.hpp"
#include "qcd/pion.hpp"
#include "qcd/random.hpp"
#include "qcd/spinor.hpp"

namespace tca::qcd {

inline constexpr double kappa = 0.13, tolerance = 1e-9;
inline const Extents global{8, 4, 4, 8};

inline Grid grid_of(const std::array<int, 4>& shape) {
  return Grid(shape[0] * shape[1] * shape[2] * shape[3], {shape.begin(), shape.end()},
              std::vector<bool>(dims, true));
}

inline Field<double> random_field(const Lattice& lattice, Sites sites, int rhs = 1) {
  Field<double> field;
  const Range range = lattice.range(sites);
  for (std::int64_t s = range.begin; s < range.end; ++s) {
    RandomStream random(3, Purpose::source, static_cast<std::uint64_t>(lattice.global_index(s)), 0, 0);
    for (int i = 0; i < rhs * spinor_reals; ++i) field.push_back(random.gaussian());
  }
  return field;
}

// Returns a field by global site, with zeros at the sites of other ranks.
inline std::vector<double> spread(const Lattice& lattice, Sites sites, const Field<double>& field) {
  const Range range = lattice.range(sites);
  const std::int64_t reals = static_cast<std::int64_t>(field.size()) / range.size();
  std::vector<double> all(static_cast<std::size_t>(lattice.global_volume() * reals), 0);
  for (std::int64_t s = range.begin; s < range.end; ++s)
    std::copy_n(field.begin() + (s - range.begin) * reals, reals,
                all.begin() + lattice.global_index(s) * reals);
  return all;
}

// Results of one rank on the host.
struct Reference {
  std::vector<double> applied, adjoint, solution, pion;
  int iterations = 0, by_bicgstab = 0;
};

// Results of three right-hand sides that advance together.
inline constexpr int several = 3;
struct Together {
  std::vector<double> applied, adjoint, solution;
  int iterations = 0, by_bicgstab = 0, mixed = 0;
};

inline const Reference& reference() {
  static const Reference known = [] {
    Reference found;
    World::run_threads(1, [&](World& world) {
      const Lattice lattice(grid_of({1, 1, 1, 1}), global, 0);
      Gauge gauge(world, lattice);
      gauge.randomise(1);
      Wilson<double> d(world, gauge, {.kappa = kappa});
      Field<double> out(d.shape().size());
      d.apply(random_field(lattice, Sites::even), out, false);
      found.applied = spread(lattice, Sites::even, out);
      d.apply(random_field(lattice, Sites::even), out, true);
      found.adjoint = spread(lattice, Sites::even, out);
      Inverter inverter(world, gauge, {.wilson = {.kappa = kappa}, .solve = {.tolerance = tolerance}});
      Field<double> x(inverter.shape().size());
      found.iterations = inverter.invert(random_field(lattice, Sites::all), x).solution.iterations;
      found.solution = spread(lattice, Sites::all, x);
      InverterOptions options{.wilson = {.kappa = kappa}, .solve = {.tolerance = tolerance}};
      found.pion = measure_pion(world, gauge, options).correlator;
      options.method = Method::bicgstab;
      std::fill(x.begin(), x.end(), 0.0);
      found.by_bicgstab =
          Inverter(world, gauge, options).invert(random_field(lattice, Sites::all), x).solution.iterations;
    });
    return found;
  }();
  return known;
}

inline const Together& reference_together() {
  static const Together known = [] {
    Together found;
    World::run_threads(1, [&](World& world) {
      const Lattice lattice(grid_of({1, 1, 1, 1}), global, 0);
      Gauge gauge(world, lattice);
      gauge.randomise(1);
      const WilsonOptions wilson{.kappa = kappa, .rhs = several};
      Wilson<double> d(world, gauge, wilson);
      Field<double> out(d.shape().size());
      d.apply(random_field(lattice, Sites::even, several), out, false);
      found.applied = spread(lattice, Sites::even, out);
      d.apply(random_field(lattice, Sites::even, several), out, true);
      found.adjoint = spread(lattice, Sites::even, out);
      InverterOptions options{.wilson = wilson, .solve = {.tolerance = tolerance}};
      Field<double> x;
      const auto iterations = [&] {
        Inverter inverter(world, gauge, options);
        x.assign(inverter.shape().size(), 0);
        return inverter.invert(random_field(lattice, Sites::all, several), x).solution.iterations;
      };
      found.iterations = iterations();
      found.solution = spread(lattice, Sites::all, x);
      options.method = Method::bicgstab;
      found.by_bicgstab = iterations();
      options.method = Method::cg;
      options.precision = Precision::mixed;
      found.mixed = iterations();
    });
    return found;
  }();
  return known;
}

// Returns the largest difference at this rank's sites.
inline double difference(const Lattice& lattice, Sites sites, const Field<double>& field,
                         const std::vector<double>& known) {
  double largest = 0;
  const Range range = lattice.range(sites);
  const std::int64_t reals = static_cast<std::int64_t>(field.size()) / range.size();
  for (std::int64_t s = range.begin; s < range.end; ++s) {
    for (std::int64_t i = 0; i < reals; ++i) {
      const double off = std::abs(field[static_cast<std::size_t>((s - range.begin) * reals + i)] -
                                  known[static_cast<std::size_t>(lattice.global_index(s) * reals + i)]);
      if (!(off <= largest)) largest = off;
    }
  }
  return largest;
}

}  // namespace tca::qcd
