#include "spin/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "shared/gathered.hpp"
#include "shared/median.hpp"

namespace tca::spin {

namespace {

// What one way's rounds took on this rank.
struct Taken {
  std::vector<double> total_us, compute_us;  // of a sweep, by round
  std::vector<double> halo_us, sum_us;       // of a message
};

Mean mean_of(const std::vector<double>& all) {
  constexpr std::size_t blocks = 8;
  const std::size_t first = all.size() / 2, count = all.size() - first;
  const auto average = [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += all[first + i];
    return end > begin ? sum / static_cast<double>(end - begin) : 0;
  };
  Mean mean{.value = average(0, count)};
  if (count < blocks) return mean;
  double square = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const double off = average(count * b / blocks, count * (b + 1) / blocks) - mean.value;
    square += off * off;
  }
  mean.error = std::sqrt(square / (blocks * (blocks - 1)));
  return mean;
}

Result result_of(World& world, const Exchange& exchange, const Taken& taken, const Plan& plan) {
  Result result;
  result.samples_us = apps::Gathered(world, taken.total_us).largest();
  result.compute_us = apps::median(apps::Gathered(world, taken.compute_us).largest());
  result.exchange_us = apps::median(result.samples_us) - result.compute_us;
  for (const std::int64_t bytes : world.all_gather(2 * exchange.bytes())) {
    result.bytes_max = std::max(result.bytes_max, bytes);
    result.bytes_total += bytes;
  }
  if (world.size() == 1) return result;
  const double sweeps =
      static_cast<double>(taken.total_us.size()) * (plan.heat_baths + plan.over_relaxations);
  result.messages = {apps::cost_of(world, messages[0], exchange.bytes(), taken.halo_us, sweeps),
                     apps::cost_of(world, messages[1], 3 * sizeof(double), taken.sum_us, sweeps)};
  return result;
}

// Returns what is measured at the end of a round.
template <class Real>
Measurement run_round(Solver<Real>& solver, Exchange& exchange, const Plan& plan, Taken& taken,
                      Physics& physics) {
  double compute_us = 0, total_us = 0;
  const auto add = [&](const Phases& phases) {
    compute_us += phases.compute_us;
    total_us += phases.total_us();
    taken.halo_us.insert(taken.halo_us.end(), phases.halo_us.begin(), phases.halo_us.end());
  };
  for (int i = 0; i < plan.heat_baths; ++i) add(solver.heat_bath(exchange, plan.overlap));
  const Measurement before = solver.measure(exchange);
  for (int i = 0; i < plan.over_relaxations; ++i) add(solver.over_relax(exchange, plan.overlap));
  const Measurement after = solver.measure(exchange);
  const int sweeps = plan.heat_baths + plan.over_relaxations;
  taken.total_us.push_back(total_us / sweeps);
  taken.compute_us.push_back(compute_us / sweeps);
  taken.sum_us.push_back(after.sum_us);
  physics.drift = std::max(physics.drift, std::abs(after.energy - before.energy));
  physics.off_unit = std::max(physics.off_unit, after.off_unit);
  return after;
}

}  // namespace

template <class Real>
Simulation simulate(World& world, Lattice<Real>& lattice, std::span<Exchange* const> exchanges,
                    const Plan& plan, const Progress& progress) {
  Solver<Real> solver(world, lattice, *exchanges.front());
  std::vector<Taken> taken(exchanges.size());
  std::vector<double> energy, alike, shared;
  Simulation run;
  for (std::int64_t round = 0; round < plan.rounds; ++round) {
    const auto which = static_cast<std::size_t>(round) % exchanges.size();
    world.barrier();
    const Measurement end = run_round(solver, *exchanges[which], plan, taken[which], run.physics);
    energy.push_back(end.energy);
    alike.push_back(end.alike);
    shared.push_back(end.shared);
    if (progress) progress("simulating", round + 1, plan.rounds);
  }
  run.physics.off_unit = std::ranges::max(world.all_gather(run.physics.off_unit));
  run.physics.energy = mean_of(energy);
  run.physics.alike = mean_of(alike);
  run.physics.shared = mean_of(shared);
  for (std::size_t which = 0; which < exchanges.size(); ++which)
    run.results.push_back(result_of(world, *exchanges[which], taken[which], plan));
  return run;
}

template Simulation simulate(World&, Lattice<float>&, std::span<Exchange* const>, const Plan&,
                             const Progress&);
template Simulation simulate(World&, Lattice<double>&, std::span<Exchange* const>, const Plan&,
                             const Progress&);

}  // namespace tca::spin
