// What is known of the decks' physics, and what a simulation's history says about it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "pic/deck.hpp"
#include "pic/measure.hpp"
#include "pic/solver.hpp"

namespace tca::pic {

// What has been found of a wave, and what it must be.
struct Finding {
  std::string
      what;  // "plasma frequency", "growth rate"; empty where a deck has no known answer, or too few steps for it
  double found = 0, known = 0;
  double tolerance = 0;  // of the ratio

  bool is_right() const { return what.empty() || std::abs(found / known - 1) <= tolerance; }
};

// From a whole simulation.
Finding wave_in(const Deck& deck, const Simulation& run);

// The frequency of a series that oscillates with a single one: the sum of two values a step before and behind is
// 2 cos(omega dt) times the one between them.
double frequency(const std::vector<double>& series, double dt);

// Of cold plasma as leapfrog steps see it, sin(omega dt / 2) = dt / 2.
double plasma_frequency(double dt);

// Of light along x on Yee's lattice: sin(omega dt / 2) / dt = sin(k cell / 2) / cell.
double light_frequency(const Deck& deck);

// Of the wave number k of two cold beams that go through each other. With gamma of the beams, their longitudinal inertia
// makes omega_p^2 smaller by gamma^3; then for each beam half of it, omega^2 = u + w (1 - sqrt(1 + 4 u / w)) with
// u = (k v)^2 and w = omega_p^2 / 2. 0 where the wave is stable.
double growth_rate(const Deck& deck);

// The length of the waves that a laser pulse has left behind it along x: they stand behind the pulse, which is as fast as
// light of its frequency in the plasma, sqrt(1 - 1 / omega^2), and oscillate with omega_p. Returns 0 where fewer than two
// of them are there.
double wake_length(const Deck& deck, const std::vector<double>& ex_along);

// The most by which the energy of particles and fields departs from what it was first, in parts of that.
double energy_drift(const std::vector<Sample>& history);

}  // namespace tca::pic
