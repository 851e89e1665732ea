#include "pic/measure.hpp"

#include <algorithm>
#include <array>

#include "shared/gathered.hpp"
#include "shared/median.hpp"

namespace tca::pic {

namespace {

// What one way's steps took on this rank.
struct StepTimes {
  std::vector<double> total_us, push_us, fields_us, exchange_us;
  std::array<std::vector<double>, 3> message_us;

  void add(const Phases& phases) {
    total_us.push_back(phases.total_us());
    push_us.push_back(phases.push_us);
    fields_us.push_back(phases.fields_us);
    exchange_us.push_back(phases.exchange_us());
    for (std::size_t m = 0; m < 3; ++m) message_us[m].push_back(phases.message_us[m]);
  }
};

Result result_of(World& world, const Exchange& exchange, const StepTimes& times) {
  const auto slowest = [&](const std::vector<double>& mine) {
    return apps::median(apps::Gathered(world, mine).largest());
  };
  Result result{.samples_us = apps::Gathered(world, times.total_us).largest()};
  result.push_us = slowest(times.push_us);
  result.fields_us = slowest(times.fields_us);
  result.exchange_us = slowest(times.exchange_us);
  const std::array<std::int64_t, 3> bytes = exchange.bytes();
  for (const std::int64_t sent : world.all_gather(bytes[0] + bytes[1] + bytes[2])) {
    result.bytes_max = std::max(result.bytes_max, sent);
    result.bytes_total += sent;
  }
  if (world.size() == 1 || !exchange.is_timed()) return result;
  for (std::size_t m = 0; m < messages.size(); ++m)
    result.messages.push_back(apps::cost_of(world, messages[m], bytes[m], times.message_us[m],
                                            static_cast<double>(times.total_us.size())));
  return result;
}

}  // namespace

std::vector<double> put_together(World& world, const std::vector<double>& mine) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(world.size())), sums(mine.size());
  world.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  for (std::size_t i = 0; i < all.size(); ++i) sums[i % mine.size()] += all[i];
  return sums;
}

namespace {

// The same of samples, from rank 0 on.
std::vector<Sample> of_the_box(World& world, const Deck& deck, const std::vector<Sample>& mine) {
  std::vector<Sample> all(mine.size() * static_cast<std::size_t>(world.size())), sums(mine.size());
  world.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  double nodes = 1;
  for (const std::int64_t extent : deck.extents) nodes *= static_cast<double>(extent);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Sample& sum = sums[i % mine.size()];
    const Sample& one = all[i];
    sum.field_energy += one.field_energy;
    sum.kinetic_energy += one.kinetic_energy;
    sum.sine += 2 * one.sine / nodes;
    sum.cosine += 2 * one.cosine / nodes;
    if (!(one.off_gauss <= sum.off_gauss)) sum.off_gauss = one.off_gauss;
    sum.particles += one.particles;
    sum.absorbed += one.absorbed;
  }
  return sums;
}

}  // namespace

template <class Number>
Simulation simulate(World& world, Solver<Number>& solver, std::span<Exchange* const> exchanges,
                    std::int64_t check_every, const Progress& progress,
                    const std::function<void()>& after_step) {
  solver.begin(*exchanges.front());
  const std::int64_t steps = solver.deck().steps;
  std::vector<StepTimes> times(exchanges.size());
  std::vector<Sample> history{solver.sample(true)};
  // Where several take turns each has some.
  constexpr std::int64_t turns = 8;
  const std::int64_t most = exchanges.size() == 1 ? steps : std::max<std::int64_t>(1, steps / turns);
  std::int64_t step = 0;
  for (std::size_t turn = 0; step < steps; ++turn) {
    Exchange& exchange = *exchanges[turn % exchanges.size()];
    const std::int64_t until_check = std::min(check_every - step % check_every, steps - step);
    const std::int64_t count = after_step ? 1 : std::min({until_check, most, solver.most_at_once(exchange)});
    world.barrier();  // a rank that has taken its sample later would be waited for within the step
    times[turn % exchanges.size()].add(solver.run(exchange, count, count == until_check, history));
    step += count;
    if (after_step) after_step();
    if (progress) progress("simulating", step, steps);
  }
  solver.fetch();
  Simulation run{.history = of_the_box(world, solver.deck(), history),
                 .every_step_checked = check_every == 1};
  for (const std::uint64_t part :
       world.all_gather(digest(solver.particles(), solver.deck(), solver.domain())))
    run.digest += part;
  run.ex_along = put_together(world, solver.ex_along());
  run.most_rounds = std::ranges::max(world.all_gather(solver.most_rounds()));
  for (std::size_t which = 0; which < exchanges.size(); ++which)
    run.results.push_back(result_of(world, *exchanges[which], times[which]));
  return run;
}

template Simulation simulate(World&, Solver<double>&, std::span<Exchange* const>, std::int64_t,
                             const Progress&, const std::function<void()>&);
template Simulation simulate(World&, Solver<std::int64_t>&, std::span<Exchange* const>, std::int64_t,
                             const Progress&, const std::function<void()>&);

}  // namespace tca::pic
