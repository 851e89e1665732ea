// Simulates in rounds of sweeps, in one way or in several that take turns, and keeps what they took and what was measured.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shared/message_cost.hpp"
#include "spin/way.hpp"

namespace tca::spin {

// A round is some sweeps by heat bath, a measurement, some by over-relaxation, and another measurement.
struct Plan {
  std::int64_t rounds = 20;  // for all ways together
  int heat_baths = 1;
  int over_relaxations = 10;
};

// Called after every round.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

// What one way did in its share of the rounds; the same on every rank. Times are of the slowest rank.
struct Result {
  std::vector<double> samples_us;  // a sweep, as a mean over those of a round
  double compute_us = 0;           // medians of the same; 0 where they are not known
  double exchange_us = 0;
  std::int64_t bytes_max = 0;    // sent in a sweep by the busiest rank
  std::int64_t bytes_total = 0;  // and by all
  std::vector<apps::MessageCost> messages;
};

// A mean over rounds, and its standard error by eight blocks of them.
struct Mean {
  double value = 0, error = 0;
};

// What is known of a temperature.
struct AtTemperature {
  double temperature = 0;
  Mean energy;                   // a site
  std::vector<double> energies;  // the same, after each round
  double acceptance = 0;  // of the exchanges with the next temperature that were proposed; see Tempering
};

// What the spins are like. Means are over the second half of the rounds, when the first has brought the spins nearer to
// equilibrium.
struct Physics {
  Mean energy;                   // a site
  Mean alike, shared;            // see Measurement
  std::vector<double> energies;  // after each round
  double drift = 0;              // the most by which over-relaxation has changed the energy a site
  double off_unit = 0;
  std::vector<AtTemperature> temperatures;  // where replicas exchange them

  // What the energy a site must be at equilibrium, by partial integration over Gaussian couplings, which relates it to how
  // alike neighbours are (H. G. Katzgraber, M. Palassini and A. P. Young, Phys. Rev. B 63 (2001) 184422).
  double energy_by_overlaps(double beta) const { return -3 * beta * (alike.value - shared.value); }
};

struct Simulation {
  std::vector<Result> results;  // one for each way
  Physics physics;
};

// Collective. The ways take turns, round by round, and after each round replicas may exchange their temperatures.
Simulation simulate(World& world, const Problem& problem, std::span<Way* const> ways, const Plan& plan,
                    const Progress& progress = {});

}  // namespace tca::spin
