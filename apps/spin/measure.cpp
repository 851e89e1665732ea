#include "spin/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "shared/gathered.hpp"
#include "shared/median.hpp"
#include "spin/sums.hpp"
#include "spin/tempering.hpp"

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

// What was measured behind the rounds.
class History {
 public:
  explicit History(const Problem& problem)
      : problem_(problem), by_temperature_(problem.temperatures.size()) {}

  void add(const Measurement& state, const Tempering& tempering) {
    energy_.push_back(state.energy);
    alike_.push_back(state.alike);
    shared_.push_back(state.shared);
    for (std::size_t i = 0; i < by_temperature_.size(); ++i)
      by_temperature_[i].push_back(state.energies[static_cast<std::size_t>(tempering.replica(i))] /
                                   static_cast<double>(problem_.sites()));
  }

  void conclude(const Tempering& tempering, Physics& physics) const {
    physics.energy = mean_of(energy_);
    physics.energies = energy_;
    physics.alike = mean_of(alike_);
    physics.shared = mean_of(shared_);
    for (std::size_t i = 0; i < by_temperature_.size(); ++i)
      physics.temperatures.push_back({problem_.temperatures[i], mean_of(by_temperature_[i]),
                                      by_temperature_[i], tempering.acceptance(i)});
  }

 private:
  const Problem& problem_;
  std::vector<double> energy_, alike_, shared_;
  std::vector<std::vector<double>> by_temperature_;  // the energy a site
};

Result result_of(World& world, const Problem& problem, Way& way, const Taken& taken, const Plan& plan) {
  Result result;
  result.samples_us = apps::Gathered(world, taken.total_us).largest();
  result.compute_us = apps::median(apps::Gathered(world, taken.compute_us).largest());
  if (result.compute_us > 0) result.exchange_us = apps::median(result.samples_us) - result.compute_us;
  for (const std::int64_t bytes : world.all_gather(2 * way.bytes())) {
    result.bytes_max = std::max(result.bytes_max, bytes);
    result.bytes_total += bytes;
  }
  if (world.size() == 1) return result;
  const double sweeps =
      static_cast<double>(taken.total_us.size()) * (plan.heat_baths + plan.over_relaxations);
  if (taken.halo_us.empty())
    result.messages = way.time_messages();
  else
    result.messages = {
        apps::cost_of(world, messages[0], way.bytes(), taken.halo_us, sweeps),
        apps::cost_of(world, messages[1], sum_count(problem) * static_cast<std::int64_t>(sizeof(double)),
                      taken.sum_us, sweeps)};
  return result;
}

// Returns what is measured at the end of a round.
Measurement run_round(Way& way, const Plan& plan, Taken& taken, Physics& physics) {
  const Phase drawn = way.run(Update::heat_bath, plan.heat_baths);
  const Phase reflected = way.run(Update::over_relaxation, plan.over_relaxations);
  const int sweeps = plan.heat_baths + plan.over_relaxations;
  taken.total_us.push_back((drawn.total_us + reflected.total_us) / sweeps);
  taken.compute_us.push_back((drawn.compute_us + reflected.compute_us) / sweeps);
  for (const Phase* phase : {&drawn, &reflected})
    taken.halo_us.insert(taken.halo_us.end(), phase->halo_us.begin(), phase->halo_us.end());
  taken.sum_us.push_back(reflected.state.sum_us);
  physics.drift = std::max(physics.drift, std::abs(reflected.state.energy - drawn.state.energy));
  physics.off_unit = std::max(physics.off_unit, reflected.state.off_unit);
  return reflected.state;
}

}  // namespace

Simulation simulate(World& world, const Problem& problem, std::span<Way* const> ways, const Plan& plan,
                    const Progress& progress) {
  std::vector<Taken> taken(ways.size());
  History history(problem);
  Tempering tempering(problem);
  Simulation run;
  for (std::int64_t round = 0; round < plan.rounds; ++round) {
    const auto which = static_cast<std::size_t>(round) % ways.size();
    world.barrier();
    const Measurement end = run_round(*ways[which], plan, taken[which], run.physics);
    history.add(end, tempering);
    if (!problem.temperatures.empty()) {
      tempering.exchange(end.energies);
      ways[which]->set_betas(tempering.betas());
    }
    if (progress) progress("simulating", round + 1, plan.rounds);
  }
  run.physics.off_unit = std::ranges::max(world.all_gather(run.physics.off_unit));
  history.conclude(tempering, run.physics);
  for (std::size_t which = 0; which < ways.size(); ++which)
    run.results.push_back(result_of(world, problem, *ways[which], taken[which], plan));
  return run;
}

}  // namespace tca::spin
