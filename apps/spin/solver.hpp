// Sweeps over the lattice: both colours, each with its exchange, and what is measured of the spins.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spin/exchange.hpp"
#include "spin/lattice.hpp"
#include "tca/world.hpp"

namespace tca::spin {

// What a sweep took on this rank, in microseconds.
struct Phases {
  double compute_us = 0;
  std::array<double, 2> halo_us{};  // by colour: starting and waiting

  double exchange_us() const { return halo_us[0] + halo_us[1]; }
  double total_us() const { return compute_us + exchange_us(); }
};

// The state of all spins. Sums are over all replicas.
struct Measurement {
  double energy = 0;                  // a site
  double alike = 0;                   // the mean of (S.S')^2 over all bonds
  double shared = 0;                  // that of S.S' of one replica times that of another; 0 for a single one
  std::vector<double> energies = {};  // by replica, of the whole lattice; where they exchange temperatures
  double off_unit = 0;                // of this rank's spins: the largest | |S|^2 - 1 |
  double sum_us = 0;                  // what adding up over the ranks took
};

// `sums` are those of all ranks, but for `off_unit`.
Measurement measurement_of(const Problem& problem, const Sums& sums, double sum_us = 0);

template <class Real>
class Solver {
 public:
  Solver(World& world, Lattice<Real>& lattice) : world_(world), lattice_(lattice) {}

  Phases sweep(Update update, Exchange& exchange, bool overlap);

  // Of the lattice: the inverse temperatures, by replica.
  void set_betas(std::span<const double> betas) { lattice_.set_betas(betas); }

  // Collective.
  Measurement measure(Exchange& exchange);

 private:
  template <class Act>
  Phases sweep(Exchange& exchange, bool overlap, const Act& update);
  double now_us() const;

  World& world_;
  Lattice<Real>& lattice_;
  std::uint32_t heat_baths_ = 0;  // so far, for the random numbers
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace tca::spin
