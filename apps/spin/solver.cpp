// The order of half a sweep is shell, start, core, wait: neighbours' ghosts travel while the rest is updated.
#include "spin/solver.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

namespace tca::spin {

namespace {

// An update moves a spin there and back, three couplings, and, where they are not in a cache, its neighbours' components.
constexpr double numbers_a_site = 12, flops_a_site = 50;

std::int64_t cells_in(const Box& box) {
  const Extents size = box.size();
  return box.empty() ? 0 : size[0] * size[1] * size[2];
}

}  // namespace

Measurement measurement_of(const Problem& problem, const Sums& sums, double sum_us) {
  const double sites = static_cast<double>(problem.sites()), bonds = 3 * sites, replicas = problem.replicas;
  const double pairs = replicas * (replicas - 1) / 2;
  return {.energy = sums.energy / (sites * replicas),
          .alike = sums.alike / (bonds * replicas),
          .shared = pairs > 0 ? sums.shared / (bonds * pairs) : 0,
          .energies = {sums.energies, sums.energies + problem.temperatures.size()},
          .off_unit = sums.off_unit,
          .sum_us = sum_us};
}

template <class Real>
double Solver<Real>::now_us() const {
  return world_.now().count() * 1e6;
}

template <class Real>
template <class Act>
Phases Solver<Real>::sweep(Exchange& exchange, bool overlap, const Act& update) {
  Phases phases;
  const Share& share = lattice_.share();
  const int replicas = share.problem().replicas;
  const auto compute = [&](int colour, const Box& box) {
    const double begin = now_us();
    update(colour, box);
    const auto sites = static_cast<double>(cells_in(box) * replicas);
    world_.compute(sites * numbers_a_site * sizeof(Real), sites * flops_a_site);
    phases.compute_us += now_us() - begin;
  };
  for (const int colour : {0, 1}) {
    const double begin = now_us(), computed = phases.compute_us;
    if (overlap)
      for (const Box& box : share.division().shell) compute(colour, box);
    else
      compute(colour, share.whole());
    exchange.start(colour);
    if (overlap) compute(colour, share.division().core);
    lattice_.wrap(colour);
    exchange.wait(colour);
    phases.halo_us[static_cast<std::size_t>(colour)] = now_us() - begin - (phases.compute_us - computed);
  }
  return phases;
}

template <class Real>
Phases Solver<Real>::sweep(Update update, Exchange& exchange, bool overlap) {
  if (update == Update::over_relaxation)
    return sweep(exchange, overlap, [&](int colour, const Box& box) { lattice_.over_relax(colour, box); });
  const std::uint32_t number = heat_baths_++;
  return sweep(exchange, overlap,
               [&](int colour, const Box& box) { lattice_.heat_bath(colour, box, number); });
}

template <class Real>
Measurement Solver<Real>::measure(Exchange& exchange) {
  Sums sums = lattice_.sums();
  const Problem& problem = lattice_.share().problem();
  const double begin = now_us();
  exchange.add_up(std::span(&sums.energy, static_cast<std::size_t>(sum_count(problem))));
  return measurement_of(problem, sums, now_us() - begin);
}

template class Solver<float>;
template class Solver<double>;

}  // namespace tca::spin
