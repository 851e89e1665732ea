// Iterations under the clock.
#include "himeno/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tca::himeno {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int rehearsal = 3;
constexpr std::int64_t turns_each = 5;        // of every exchange
constexpr std::int64_t samples_kept = 65536;  // of a turn

struct Turn {
  double seconds = 0;
  Phases phases;
  double exchange_us = 0;
  double iteration_us = 0;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class T, class Get>
double median_of(const std::vector<T>& all, const Get& get) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const T& one : all) values.push_back(get(one));
  return median(std::move(values));
}

// The slowest rank of each.
Turn slowest(World& world, const Turn& mine) {
  Turn all;
  for (const Turn& turn : world.all_gather(mine)) {
    all.seconds = std::max(all.seconds, turn.seconds);
    all.phases.compute_us = std::max(all.phases.compute_us, turn.phases.compute_us);
    all.phases.start_us = std::max(all.phases.start_us, turn.phases.start_us);
    all.phases.wait_us = std::max(all.phases.wait_us, turn.phases.wait_us);
    all.phases.reduce_us = std::max(all.phases.reduce_us, turn.phases.reduce_us);
    all.exchange_us = std::max(all.exchange_us, turn.exchange_us);
    all.iteration_us = std::max(all.iteration_us, turn.iteration_us);
  }
  return all;
}

Phases medians(const std::vector<Phases>& all) {
  return {.compute_us = median_of(all, [](const Phases& p) { return p.compute_us; }),
          .start_us = median_of(all, [](const Phases& p) { return p.start_us; }),
          .wait_us = median_of(all, [](const Phases& p) { return p.wait_us; }),
          .reduce_us = median_of(all, [](const Phases& p) { return p.reduce_us; })};
}

// What a turn needs, and how far all of them have come.
struct Course {
  World& world;
  Solver& solver;
  const Plan& plan;
  const Progress& progress;
  std::int64_t done = 0;       // iterations
  double elapsed_seconds = 0;  // of the slowest rank in each turn so far

  bool timed() const { return plan.iterations == 0; }
};

void report(const Course& course, double seconds_of_turn) {
  constexpr double per_second = 1e3;
  if (course.timed()) {
    course.progress("iterating",
                    static_cast<std::int64_t>((course.elapsed_seconds + seconds_of_turn) * per_second),
                    static_cast<std::int64_t>(course.plan.seconds * per_second));
  } else {
    course.progress("iterating", course.done, course.plan.iterations);
  }
}

// Runs `iterations` and adds this rank's times to `result`.
Turn take_turn(Course& course, Exchange& exchange, std::int64_t iterations, Result& result) {
  std::vector<Phases> samples;
  samples.reserve(static_cast<std::size_t>(std::min(iterations, samples_kept)));
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  course.world.barrier();
  const auto begin = Clock::now();
  for (std::int64_t n = 0; n < iterations; ++n) {
    const Phases phases = course.solver.iterate(exchange, course.plan.overlap);
    if (samples.size() < samples.capacity()) samples.push_back(phases);
    ++course.done;
    if (course.progress) report(course, since(begin));
  }
  const double seconds = since(begin);
  for (const Phases& phases : samples) result.samples_us.push_back(phases.total_us());
  result.iterations += iterations;
  const Turn turn = slowest(
      course.world, {.seconds = seconds,
                     .phases = medians(samples),
                     .exchange_us = median_of(samples, [](const Phases& p) { return p.exchange_us(); }),
                     .iteration_us = median_of(samples, [](const Phases& p) { return p.total_us(); })});
  course.elapsed_seconds += turn.seconds;
  return turn;
}

// The rehearsal's middle iteration, in seconds, on the slowest rank.
double rehearse(Course& course, Exchange& exchange) {
  std::vector<double> times;
  for (int i = 0; i < rehearsal; ++i) {
    times.push_back(course.solver.iterate(exchange, course.plan.overlap).total_us() * 1e-6);
  }
  const std::vector<double> all = course.world.all_gather(median(times));
  return *std::max_element(all.begin(), all.end());
}

// So many iterations of `seconds` each as fill an even share of the time that is left; at least one.
std::int64_t iterations_to_fill(const Course& course, std::int64_t turns_left, double seconds) {
  const double left = (course.plan.seconds - course.elapsed_seconds) / static_cast<double>(turns_left);
  return static_cast<std::int64_t>(std::clamp(std::ceil(left / std::max(seconds, 1e-9)), 1.0, 1e12));
}

void add_bytes(World& world, const Exchange& exchange, Result& result) {
  for (const std::int64_t bytes : world.all_gather(exchange.bytes())) {
    result.bytes_max = std::max(result.bytes_max, bytes);
    result.bytes_total += bytes;
  }
}

void summarise(const std::vector<Turn>& turns, const Problem& problem, Result& result) {
  for (const Turn& turn : turns) result.seconds += turn.seconds;
  result.mflops =
      problem.flops_per_iteration() * static_cast<double>(result.iterations) / result.seconds * 1e-6;
  std::vector<Phases> phases;
  for (const Turn& turn : turns) phases.push_back(turn.phases);
  result.phases = medians(phases);
  result.exchange_us = median_of(turns, [](const Turn& turn) { return turn.exchange_us; });
  result.iteration_us = median_of(turns, [](const Turn& turn) { return turn.iteration_us; });
}

std::int64_t turns_to_take(const Plan& plan, std::int64_t exchanges) {
  if (plan.iterations == 0) return exchanges * turns_each;
  return exchanges == 1 ? 1
                        : exchanges * std::clamp<std::int64_t>(plan.iterations / exchanges, 1, turns_each);
}

}  // namespace

std::vector<Result> measure(World& world, const Problem& problem, Solver& solver,
                            std::span<Exchange* const> exchanges, const Plan& plan,
                            const Progress& progress) {
  Course course{.world = world, .solver = solver, .plan = plan, .progress = progress};
  const std::size_t count = exchanges.size();
  std::vector<Result> results(count);
  std::vector<std::vector<Turn>> taken(count);
  std::vector<double> pace(count);  // the seconds that an iteration took last time
  for (std::size_t which = 0; which < count && course.timed(); ++which) {
    pace[which] = rehearse(course, *exchanges[which]);
  }
  const std::int64_t turns = turns_to_take(plan, static_cast<std::int64_t>(count));
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto which = static_cast<std::size_t>(turn) % count;
    const std::int64_t iterations =
        course.timed() ? iterations_to_fill(course, turns - turn, pace[which])
                       : plan.iterations * (turn + 1) / turns - plan.iterations * turn / turns;
    taken[which].push_back(take_turn(course, *exchanges[which], iterations, results[which]));
    pace[which] = taken[which].back().seconds / static_cast<double>(iterations);
    const bool all_had_one = static_cast<std::size_t>(turn) + 1 >= count;
    if (course.timed() && all_had_one && course.elapsed_seconds >= plan.seconds) break;
  }
  for (std::size_t which = 0; which < count; ++which) {
    summarise(taken[which], problem, results[which]);
    add_bytes(world, *exchanges[which], results[which]);
  }
  return results;
}

}  // namespace tca::himeno
