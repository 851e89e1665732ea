// Measures the pion's correlator at zero momentum from point sources: C(t) = sum over space of |S(x, 0)|^2,
// over all spins and colours at both ends.
#pragma once

#include <functional>
#include <stdexcept>
#include <vector>

#include "qcd/solver/inverter.hpp"

namespace tca::qcd {

struct Pion {
  std::vector<double> correlator;  // by the distance in time from the source
  // acosh((C(t-1) + C(t+1)) / 2 C(t)), which accounts for the wave that goes around the lattice. NaN where
  // the ratio is not a cosh.
  std::vector<double> mass;
  std::vector<double> true_residuals;  // of the twelve equations
  int iterations = 0;                  // of all solves
  double seconds = 0;
};

// Called after each solve.
using PionProgress = std::function<void(int done, int of)>;

class NotConverged : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Error{invalid_argument} unless `at_once` divides 12, the number of sources.
void check_pion(int at_once);

// Collective. Solves for twelve sources at the origin, options.wilson.rhs at a time. Throws what check_pion
// throws, and NotConverged on every rank if a solve does not converge.
Pion measure_pion(World& world, const Gauge& gauge, const InverterOptions& options,
                  const PionProgress& progress = {});

// The same with the caller's `invert`, which does what Inverter::invert does with these options.
using Invert = std::function<Inversion(const Field<double>& source, Field<double>& x)>;
Pion measure_pion(World& world, const Lattice& lattice, const InverterOptions& options, const Invert& invert,
                  const PionProgress& progress = {});

std::vector<double> cosh_masses(const std::vector<double>& correlator);

}  // namespace tca::qcd
