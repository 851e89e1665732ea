// The order of half a sweep is shell, start, core, wait: neighbours' ghosts travel while the rest is updated.
#include "spin/solver.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace tca::spin {

namespace {

// An update moves a spin there and back, three couplings, and, where they are not in a cache, its neighbours' components.
constexpr double numbers_a_site = 12, flops_a_site = 50;

std::int64_t cells_in(const Box& box) {
  const Extents size = box.size();
  return box.empty() ? 0 : size[0] * size[1] * size[2];
}

}  // namespace

template <class Real>
Solver<Real>::Solver(World& world, Lattice<Real>& lattice, Exchange& exchange)
    : world_(world), lattice_(lattice) {
  for (const int colour : {0, 1}) {
    lattice_.wrap(colour);
    exchange.start(colour);
    exchange.wait(colour);
  }
}

template <class Real>
double Solver<Real>::now_us() const {
  return world_.now().count() * 1e6;
}

template <class Real>
template <class Update>
Phases Solver<Real>::sweep(Exchange& exchange, bool overlap, const Update& update) {
  Phases phases;
  const int replicas = lattice_.problem().replicas;
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
      for (const Box& box : lattice_.division().shell) compute(colour, box);
    else
      compute(colour, lattice_.whole());
    exchange.start(colour);
    if (overlap) compute(colour, lattice_.division().core);
    lattice_.wrap(colour);
    exchange.wait(colour);
    phases.halo_us[static_cast<std::size_t>(colour)] = now_us() - begin - (phases.compute_us - computed);
  }
  return phases;
}

template <class Real>
Phases Solver<Real>::over_relax(Exchange& exchange, bool overlap) {
  return sweep(exchange, overlap, [&](int colour, const Box& box) { lattice_.over_relax(colour, box); });
}

template <class Real>
Phases Solver<Real>::heat_bath(Exchange& exchange, bool overlap) {
  const std::uint32_t number = heat_baths_++;
  return sweep(exchange, overlap,
               [&](int colour, const Box& box) { lattice_.heat_bath(colour, box, number); });
}

template <class Real>
Measurement Solver<Real>::measure(Exchange& exchange) {
  const Sums mine = lattice_.sums();
  std::array<double, 3> sums{mine.energy, mine.alike, mine.shared};
  const double begin = now_us();
  exchange.add_up(sums);
  const double sum_us = now_us() - begin;
  const Problem& problem = lattice_.problem();
  const double sites = static_cast<double>(problem.sites()), bonds = 3 * sites, replicas = problem.replicas;
  const double pairs = replicas * (replicas - 1) / 2;
  return {.energy = sums[0] / (sites * replicas),
          .alike = sums[1] / (bonds * replicas),
          .shared = pairs > 0 ? sums[2] / (bonds * pairs) : 0,
          .off_unit = mine.off_unit,
          .sum_us = sum_us};
}

template class Solver<float>;
template class Solver<double>;

}  // namespace tca::spin
