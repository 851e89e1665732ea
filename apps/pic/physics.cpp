#include "pic/physics.hpp"

#include <algorithm>
#include <cmath>

namespace tca::pic {

namespace {

std::vector<double> sines(const std::vector<Sample>& history) {
  std::vector<double> series;
  for (const Sample& sample : history) series.push_back(sample.sine);
  return series;
}

// Fits the logarithm of the wave's amplitude between a fiftieth and a fifth of its largest: behind the beginning, when
// other solutions die out, and before it saturates. Returns 0 where that is no clear rise.
double measured_growth(const std::vector<Sample>& history, double dt) {
  std::vector<double> amplitude;
  for (const Sample& sample : history) amplitude.push_back(std::hypot(sample.sine, sample.cosine));
  const double largest = std::ranges::max(amplitude);
  const auto first_above = [&](double part) {
    return std::ranges::find_if(amplitude, [&](double a) { return a >= part * largest; }) - amplitude.begin();
  };
  constexpr double from = 0.02, to = 0.2;
  const auto begin = first_above(from), end = first_above(to);
  constexpr std::ptrdiff_t least = 20;
  if (end - begin < least || begin < least) return 0;
  double n = 0, t = 0, log = 0, tt = 0, tlog = 0;
  for (auto i = begin; i < end; ++i) {
    const double time = static_cast<double>(i) * dt, value = std::log(amplitude[static_cast<std::size_t>(i)]);
    n += 1;
    t += time;
    log += value;
    tt += time * time;
    tlog += time * value;
  }
  return (n * tlog - t * log) / (n * tt - t * t);
}

}  // namespace

double frequency(const std::vector<double>& series, double dt) {
  double product = 0, square = 0;
  for (std::size_t i = 1; i + 1 < series.size(); ++i) {
    product += series[i] * (series[i - 1] + series[i + 1]);
    square += series[i] * series[i];
  }
  return std::acos(std::clamp(product / (2 * square), -1.0, 1.0)) / dt;
}

double plasma_frequency(double dt) { return 2 / dt * std::asin(dt / 2); }

double light_frequency(const Deck& deck) {
  return 2 / deck.dt() * std::asin(deck.dt() / deck.cell * std::sin(deck.wave_number() * deck.cell / 2));
}

double growth_rate(const Deck& deck) {
  const double v = deck.drift, w = std::pow(1 - v * v, 1.5) / 2, u = std::pow(deck.wave_number() * v, 2);
  const double square = u + w * (1 - std::sqrt(1 + 4 * u / w));
  return square < 0 ? std::sqrt(-square) : 0;
}

double wake_length(const Deck& deck, const std::vector<double>& ex_along) {
  const auto cell_at = [&](double x) {
    return static_cast<std::size_t>(std::clamp(x / deck.cell, 0.0, static_cast<double>(ex_along.size())));
  };
  const double pulse =
      Fields::antenna * deck.cell + static_cast<double>(deck.steps) * deck.dt() - deck.laser.delay;
  const std::size_t begin = cell_at(deck.plasma_begins + deck.ramp),
                    end = cell_at(pulse - 2 * deck.laser.duration);
  double largest = 0;
  for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(ex_along[i]));
  // Where the field has risen through 0, from clearly below to clearly above.
  std::vector<double> rises;
  double last_rise = 0;
  bool was_low = false;
  for (std::size_t i = begin; i + 1 < end; ++i) {
    const double here = ex_along[i], next = ex_along[i + 1];
    if (here <= 0 && next > 0) last_rise = static_cast<double>(i) + here / (here - next);
    if (here < -largest / 5) was_low = true;
    if (here > largest / 5 && was_low) {
      rises.push_back(last_rise * deck.cell);
      was_low = false;
    }
  }
  if (rises.size() < 2) return 0;
  return (rises.back() - rises.front()) / static_cast<double>(rises.size() - 1);
}

Finding wave_in(const Deck& deck, const Simulation& run) {
  const std::vector<Sample>& history = run.history;
  if (deck.laser.a0 != 0) {
    const double found = wake_length(deck, run.ex_along), omega = deck.laser.omega;
    if (found == 0 || omega <= 1) return {};
    return {"length of the wake", found, 2 * 3.14159265358979323846 * std::sqrt(1 - 1 / (omega * omega)),
            0.1};
  }
  constexpr std::size_t least_steps = 100;
  if (deck.walls || deck.thermal > 0 || deck.amplitude == 0 || history.size() < least_steps) return {};
  if (deck.per_side == 0)
    return {"frequency of light", frequency(sines(history), deck.dt()), light_frequency(deck), 1e-12};
  if (deck.drift == 0) {
    std::vector<double> cosines;
    for (const Sample& sample : history) cosines.push_back(sample.cosine);
    const auto strength = [](const std::vector<double>& s) {
      return std::ranges::max(s) - std::ranges::min(s);
    };
    const std::vector<double> sine = sines(history);
    const auto& series = strength(sine) > strength(cosines) ? sine : cosines;
    return {"plasma frequency", frequency(series, deck.dt()), plasma_frequency(deck.dt()), 1e-3};
  }
  const double found = measured_growth(history, deck.dt()), known = growth_rate(deck);
  if (found == 0 || known == 0) return {};
  return {"growth rate", found, known, 0.03};
}

// The kinetic energy is known between steps, and the field's at both ends of them.
double energy_drift(const std::vector<Sample>& history) {
  double first = 0, most = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const double energy =
        history[i].kinetic_energy + (history[i - 1].field_energy + history[i].field_energy) / 2;
    if (i == 1) first = energy;
    most = std::max(most, std::abs(energy - first));
  }
  return first > 0 ? most / first : 0;
}

}  // namespace tca::pic
