#include "himeno/measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "shared/median.hpp"

namespace tca::himeno {

namespace {

constexpr std::int64_t turns_each = 9;  // of every way

// How many samples a turn keeps on the host, at most: fewer where all ranks' samples come together from many.
std::int64_t samples_kept(int ranks) { return std::clamp<std::int64_t>(65536 / ranks, 16, 16384); }

template <class T, class Get>
double median_of(const std::vector<T>& all, const Get& get) {
  std::vector<double> values;
  values.reserve(all.size());
  for (const T& one : all) values.push_back(get(one));
  return apps::median(std::move(values));
}

// Takes from both what is larger.
Iteration slower(const Iteration& a, const Iteration& b) {
  return {.phases = {.compute_us = std::max(a.phases.compute_us, b.phases.compute_us),
                     .start_us = std::max(a.phases.start_us, b.phases.start_us),
                     .wait_us = std::max(a.phases.wait_us, b.phases.wait_us),
                     .reduce_us = std::max(a.phases.reduce_us, b.phases.reduce_us),
                     .device_us = std::max(a.phases.device_us, b.phases.device_us)},
          .total_us = std::max(a.total_us, b.total_us)};
}

// Returns each iteration as its slowest ranks have it. Some iterations are gathered together, as few as make
// the ranks' messages short where there are many ranks.
template <std::size_t together>
std::vector<Iteration> slowest(World& world, const std::vector<Phases>& mine) {
  std::vector<Iteration> all(mine.size());
  for (std::size_t first = 0; first < mine.size(); first += together) {
    const std::size_t count = std::min(together, mine.size() - first);
    std::array<Phases, together> some{};
    std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(first), count, some.begin());
    for (const auto& of_rank : world.all_gather(some)) {
      for (std::size_t i = 0; i < count; ++i)
        all[first + i] = slower(all[first + i], {of_rank[i], of_rank[i].total_us()});
    }
  }
  return all;
}

std::vector<Iteration> slowest(World& world, const std::vector<Phases>& mine) {
  constexpr int many_ranks = 64;
  return world.size() < many_ranks ? slowest<64>(world, mine) : slowest<1>(world, mine);
}

double slowest_rank(World& world, double mine) {
  const std::vector<double> all = world.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
}

Iteration medians(const std::vector<Iteration>& all) {
  const auto of = [&](double Phases::*phase) {
    return median_of(all, [&](const Iteration& i) { return i.phases.*phase; });
  };
  return {.phases = {.compute_us = of(&Phases::compute_us),
                     .start_us = of(&Phases::start_us),
                     .wait_us = of(&Phases::wait_us),
                     .reduce_us = of(&Phases::reduce_us),
                     .device_us = of(&Phases::device_us)},
          .total_us = median_of(all, [](const Iteration& i) { return i.total_us; })};
}

double communication(const std::vector<Iteration>& all) {
  return median_of(all, [](const Iteration& i) { return i.communication_us(); });
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

// What a way has done so far.
struct Taken {
  Result result;
  std::vector<Iteration> iterations;  // those kept as samples
  double pace = 0;                    // seconds that an iteration took in the previous turn
};

void take_turn(Course& course, Way& way, std::int64_t iterations, Taken& taken) {
  const auto since = [&course](std::chrono::duration<double> begin) {
    return (course.world.now() - begin).count();
  };
  course.world.barrier();
  const std::chrono::duration<double> begin = course.world.now();
  const std::vector<Phases> samples = way.run(iterations, [&](std::int64_t more) {
    course.done += more;
    if (course.progress) report(course, since(begin));
  });
  const double seconds = slowest_rank(course.world, since(begin));
  const std::vector<Iteration> all = slowest(course.world, samples);
  taken.iterations.insert(taken.iterations.end(), all.begin(), all.end());
  taken.result.turns.push_back({medians(all).total_us, communication(all)});
  taken.result.iterations += iterations;
  taken.result.seconds += seconds;
  taken.pace = seconds / static_cast<double>(iterations);
  course.elapsed_seconds += seconds;
}

// Returns the median time of an iteration in a rehearsal, in seconds, on the slowest rank.
double rehearse(World& world, Way& way) {
  const std::vector<Phases> samples = way.run(way.rehearsal());
  return slowest_rank(world, median_of(samples, [](const Phases& p) { return p.total_us() * 1e-6; }));
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

void summarise(const std::vector<Iteration>& all, const Problem& problem, Result& result) {
  result.median = medians(all);
  result.communication_us = communication(all);
  result.mflops = problem.flops_per_iteration() / result.median.total_us;
  for (const Iteration& iteration : all) result.samples_us.push_back(iteration.total_us);
}

std::int64_t turns_to_take(const Plan& plan, std::int64_t ways) {
  if (plan.iterations == 0) return ways * turns_each;
  return ways == 1 ? 1 : ways * std::clamp<std::int64_t>(plan.iterations / ways, 1, turns_each);
}

// Iterations on the host with one of a solver's exchanges.
class HostWay : public Way {
 public:
  HostWay(Solver& solver, Exchange& exchange, bool overlap, std::int64_t samples_kept)
      : solver_(solver), exchange_(exchange), overlap_(overlap), kept_(samples_kept) {}

  std::vector<Phases> run(std::int64_t iterations, const Tick& tick) override {
    // The step spreads the samples over the whole turn. It is odd so that they come from both arrays, which
    // alternate.
    const std::int64_t odd_step = ((iterations + kept_ - 1) / kept_) | 1;
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
  std::int64_t kept_;
};

}  // namespace

std::vector<Result> measure(World& world, const Problem& problem, std::span<Way* const> ways,
                            const Plan& plan, const Progress& progress) {
  Course course{.world = world, .plan = plan, .progress = progress};
  const std::size_t count = ways.size();
  std::vector<Taken> taken(count);
  for (std::size_t which = 0; which < count && course.timed(); ++which)
    taken[which].pace = rehearse(world, *ways[which]);
  const std::int64_t turns = turns_to_take(plan, static_cast<std::int64_t>(count));
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto which = static_cast<std::size_t>(turn) % count;
    const std::int64_t iterations =
        course.timed() ? iterations_to_fill(course, turns - turn, taken[which].pace)
                       : plan.iterations * (turn + 1) / turns - plan.iterations * turn / turns;
    take_turn(course, *ways[which], iterations, taken[which]);
    const bool all_had_one = static_cast<std::size_t>(turn) + 1 >= count;
    if (course.timed() && all_had_one && course.elapsed_seconds >= plan.seconds) break;
  }
  std::vector<Result> results;
  for (std::size_t which = 0; which < count; ++which) {
    summarise(taken[which].iterations, problem, taken[which].result);
    add_bytes(world, *ways[which], taken[which].result);
    results.push_back(std::move(taken[which].result));
  }
  return results;
}

std::vector<Result> measure(World& world, const Problem& problem, Solver& solver,
                            std::span<Exchange* const> exchanges, const Plan& plan,
                            const Progress& progress) {
  std::vector<HostWay> ways;
  ways.reserve(exchanges.size());
  for (Exchange* exchange : exchanges)
    ways.emplace_back(solver, *exchange, plan.overlap, samples_kept(world.size()));
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

std::vector<apps::MessageCost> time_messages(World& world, Solver& solver, Exchange& exchange) {
  constexpr int iterations = 20;
  if (world.size() == 1) return {};
  std::vector<double> halo, sum;
  for (int n = 0; n < iterations; ++n) {
    const Phases phases = solver.iterate(exchange, false);
    halo.push_back(phases.start_us + phases.wait_us);
    sum.push_back(phases.reduce_us);
  }
  return {apps::cost_of(world, messages[0], exchange.bytes(), halo, iterations),
          apps::cost_of(world, messages[1], sizeof(double), sum, iterations)};
}

}  // namespace tca::himeno
