#include "qcd/pion.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "qcd/spinor.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

constexpr int sources = 12;  // spins and colours

Field<double> point_sources(const Lattice& lattice, const Shape& shape, int first) {
  Field<double> source(shape.size(), 0);
  if (lattice.origin() != Extents{}) return source;
  const auto origin = static_cast<std::size_t>(lattice.site({}));
  for (std::size_t r = 0; r < shape.rhs; ++r)
    source[(origin * shape.rhs + r) * shape.reals + 2 * (static_cast<std::size_t>(first) + r)] = 1;
  return source;
}

void add_correlator(const Lattice& lattice, const Shape& shape, const Field<double>& x,
                    std::vector<double>& correlator) {
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    double& sum = correlator[static_cast<std::size_t>(lattice.global_coordinates(s)[3])];
    const std::size_t reals = shape.rhs * shape.reals;
    for (std::size_t i = 0; i < reals; ++i) {
      const double value = x[static_cast<std::size_t>(s) * reals + i];
      sum += value * value;
    }
  }
}

std::string unconverged(const Inversion& inversion, double kappa) {
  const double residual = largest(inversion.true_residuals);
  const int iterations = inversion.solution.iterations;
  if (!std::isfinite(residual)) {
    return fmt::format(
        "no convergence: after {} iterations the residual is no finite number, and more of them "
        "do not help; kappa {} may be out of reach, or single precision too narrow",
        iterations, kappa);
  }
  return fmt::format(
      "no convergence after {} iterations, the residual is {:.1e}; kappa {} may be too near to "
      "its critical value",
      iterations, residual, kappa);
}

}  // namespace

void check_pion(int at_once) {
  if (at_once >= 1 && sources % at_once == 0) return;
  throw Error(
      Errc::invalid_argument,
      fmt::format("{} right-hand sides at a time: the pion has 12, so give a divisor of 12", at_once));
}

Pion measure_pion(World& world, const Gauge& gauge, const InverterOptions& options,
                  const PionProgress& progress) {
  check_pion(options.wilson.rhs);
  Inverter inverter(world, gauge, options);
  return measure_pion(
      world, gauge.lattice(), options,
      [&](const Field<double>& source, Field<double>& x) { return inverter.invert(source, x); }, progress);
}

Pion measure_pion(World& world, const Lattice& lattice, const InverterOptions& options, const Invert& invert,
                  const PionProgress& progress) {
  const int at_once = options.wilson.rhs;
  check_pion(at_once);
  const Shape shape{static_cast<std::size_t>(lattice.volume()), static_cast<std::size_t>(at_once),
                    spinor_reals};
  const auto times = static_cast<std::size_t>(lattice.global()[3]);
  Pion pion{.correlator = std::vector<double>(times, 0)};
  Field<double> x(shape.size());
  for (int first = 0; first < sources; first += at_once) {
    const Inversion inversion = invert(point_sources(lattice, shape, first), x);
    if (!inversion.solution.converged) throw NotConverged(unconverged(inversion, options.wilson.kappa));
    pion.iterations += inversion.solution.iterations;
    pion.seconds += inversion.seconds;
    pion.true_residuals.insert(pion.true_residuals.end(), inversion.true_residuals.begin(),
                               inversion.true_residuals.end());
    add_correlator(lattice, shape, x, pion.correlator);
    if (progress) progress(first + at_once, sources);
  }
  Sums(world, static_cast<int>(times))(pion.correlator);
  pion.mass = cosh_masses(pion.correlator);
  return pion;
}

std::vector<double> cosh_masses(const std::vector<double>& correlator) {
  const std::size_t n = correlator.size();
  std::vector<double> masses(n, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t t = 1; t + 1 < n; ++t) {
    const double ratio = (correlator[t - 1] + correlator[t + 1]) / (2 * correlator[t]);
    if (ratio >= 1) masses[t] = std::acosh(ratio);
  }
  return masses;
}

}  // namespace tca::qcd
