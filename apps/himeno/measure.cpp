#include "himeno/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tca::himeno {

namespace {

constexpr std::int64_t turns_each = 5;        // of every way
constexpr std::int64_t samples_kept = 65536;  // of a turn, at most

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
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

template <class T, class Get>
double median_of(const std::vector<T>& all, const Get& get) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const T& one : all) values.push_back(get(one));
  return median(std::move(values));
}

// Returns the maximum over all ranks of each time.
Turn slowest(World& world, const Turn& mine) {
  Turn all;
  for (const Turn& turn : world.all_gather(mine)) {
    all.seconds = std::max(all.seconds, turn.seconds);
    all.phases.compute_us = std::max(all.phases.compute_us, turn.phases.compute_us);
    all.phases.start_us = std::max(all.phases.start_us, turn.phases.start_us);
    all.phases.wait_us = std::max(all.phases.wait_us, turn.phases.wait_us);
    all.phases.reduce_us = std::max(all.phases.reduce_us, turn.phases.reduce_us);
    all.phases.device_us = std::max(all.phases.device_us, turn.phases.device_us);
    all.exchange_us = std::max(all.exchange_us, turn.exchange_us);
    all.iteration_us = std::max(all.iteration_us, turn.iteration_us);
  }
  return all;
}

Phases medians(const std::vector<Phases>& all) {
  return {.compute_us = median_of(all, [](const Phases& p) { return p.compute_us; }),
          .start_us = median_of(all, [](const Phases& p) { return p.start_us; }),
          .wait_us = median_of(all, [](const Phases& p) { return p.wait_us; }),
          .reduce_us = median_of(all, [](const Phases& p) { return p.reduce_us; }),
          .device_us = median_of(all, [](const Phases& p) { return p.device_us; })};
}

// What a turn needs, and the progress of all turns so far.
struct Course {
  World& world;
  const Plan& plan;
  const Progress& progress;
  std::int64_t done = 0;       // iterations
  double elapsed_seconds = 0;  // of all turns so far, each on its slowest rank

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

// Runs `iterations`, adds them and this rank's samples to `result`, and returns the times of the slowest
// ranks.
Turn take_turn(Course& course, Way& way, std::int64_t iterations, Result& result) {
  const auto since = [&course](std::chrono::duration<double> begin) {
    return (course.world.now() - begin).count();
  };
  course.world.barrier();
  const std::chrono::duration<double> begin = course.world.now();
  const std::vector<Phases> samples = way.run(iterations, [&](std::int64_t more) {
    course.done += more;
    if (course.progress) report(course, since(begin));
  });
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

// Returns the median time of an iteration in a rehearsal, in seconds, on the slowest rank.
double rehearse(World& world, Way& way) {
  const std::vector<Phases> samples = way.run(way.rehearsal());
  const std::vector<double> all =
      world.all_gather(median_of(samples, [](const Phases& p) { return p.total_us() * 1e-6; }));
  return *std::max_element(all.begin(), all.end());
}

// Returns how many iterations of `seconds` each fill an even share of the time that is left; at least one.
std::int64_t iterations_to_fill(const Course& course, std::int64_t turns_left, double seconds) {
  const double left = (course.plan.seconds - course.elapsed_seconds) / static_cast<double>(turns_left);
  return static_cast<std::int64_t>(std::clamp(std::ceil(left / std::max(seconds, 1e-9)), 1.0, 1e12));
}

void add_bytes(World& world, const Way& way, Result& result) {
  for (const std::int64_t bytes : world.all_gather(way.bytes())) {
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

std::int64_t turns_to_take(const Plan& plan, std::int64_t ways) {
  if (plan.iterations == 0) return ways * turns_each;
  return ways == 1 ? 1 : ways * std::clamp<std::int64_t>(plan.iterations / ways, 1, turns_each);
}

// Iterations on the host with one of a solver's exchanges.
class HostWay : public Way {
 public:
  HostWay(Solver& solver, Exchange& exchange, bool overlap)
      : solver_(solver), exchange_(exchange), overlap_(overlap) {}

  std::vector<Phases> run(std::int64_t iterations, const Tick& tick) override {
    // The step spreads the samples over the whole turn. It is odd so that they come from both arrays, which
    // alternate.
    const std::int64_t odd_step = ((iterations + samples_kept - 1) / samples_kept) | 1;
    std::vector<Phases> samples;
    samples.reserve(static_cast<std::size_t>(iterations / odd_step + 1));
    for (std::int64_t n = 0; n < iterations; ++n) {
      const Phases phases = solver_.iterate(exchange_, overlap_);
      if (n % odd_step == 0) samples.push_back(phases);
      if (tick) tick(1);
    }
    return samples;
  }
  std::int64_t rehearsal() const override { return 3; }
  std::int64_t bytes() const override { return exchange_.bytes(); }

 private:
  Solver& solver_;
  Exchange& exchange_;
  bool overlap_;
};

}  // namespace

std::vector<Result> measure(World& world, const Problem& problem, std::span<Way* const> ways,
                            const Plan& plan, const Progress& progress) {
  Course course{.world = world, .plan = plan, .progress = progress};
  const std::size_t count = ways.size();
  std::vector<Result> results(count);
  std::vector<std::vector<Turn>> taken(count);
  std::vector<double> pace(count);  // seconds that an iteration took in the previous turn
  for (std::size_t which = 0; which < count && course.timed(); ++which) {
    pace[which] = rehearse(world, *ways[which]);
  }
  const std::int64_t turns = turns_to_take(plan, static_cast<std::int64_t>(count));
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto which = static_cast<std::size_t>(turn) % count;
    const std::int64_t iterations =
        course.timed() ? iterations_to_fill(course, turns - turn, pace[which])
                       : plan.iterations * (turn + 1) / turns - plan.iterations * turn / turns;
    taken[which].push_back(take_turn(course, *ways[which], iterations, results[which]));
    pace[which] = taken[which].back().seconds / static_cast<double>(iterations);
    const bool all_had_one = static_cast<std::size_t>(turn) + 1 >= count;
    if (course.timed() && all_had_one && course.elapsed_seconds >= plan.seconds) break;
  }
  for (std::size_t which = 0; which < count; ++which) {
    summarise(taken[which], problem, results[which]);
    add_bytes(world, *ways[which], results[which]);
  }
  return results;
}

std::vector<Result> measure(World& world, const Problem& problem, Solver& solver,
                            std::span<Exchange* const> exchanges, const Plan& plan,
                            const Progress& progress) {
  std::vector<HostWay> ways;
  ways.reserve(exchanges.size());
  for (Exchange* exchange : exchanges) ways.emplace_back(solver, *exchange, plan.overlap);
  // This runs before the measurement begins because MPI connects at the first send, and memory for messages
  // is touched for the first time. The exchanges leave the ghosts with the values that they already have.
  for (Exchange* exchange : exchanges) {
    for (const int which : {0, 1}) {
      exchange->start(which);
      exchange->wait(which);
    }
    exchange->sum(0);
  }
  std::vector<Way*> pointers;
  for (HostWay& way : ways) pointers.push_back(&way);
  return measure(world, problem, pointers, plan, progress);
}

}  // namespace tca::himeno
