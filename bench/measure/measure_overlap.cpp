#include "measure_overlap.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "agree.hpp"
#include "touching.hpp"

namespace tca::bench {

namespace {

// Arithmetic without memory accesses: an exchange beside it takes nothing from it but time on the core.
class Computation {
 public:
  Computation(double us, double turn_us, int points)
      : parts_(points + 1),
        turns_(std::max<std::int64_t>(1, static_cast<std::int64_t>(us / turn_us / parts_))) {}

  template <class Point>
  void run(Point point) {
    for (int part = 0; part < parts_; ++part) {
      if (part > 0) point();
      turn(turns_);
    }
  }

  // Collective. Returns how long a turn takes when nothing disturbs it, by rank 0's clock for all ranks.
  static double turn_us(World& world) {
    constexpr std::int64_t turns = 1 << 14;
    Computation computation(0, 1, 0);
    double fastest = 0;
    for (int i = 0; i < 9; ++i) {
      const std::chrono::duration<double, std::micro> begin = world.now();
      computation.turn(turns);
      const double took = (world.now() - begin).count();
      if (i == 0 || took < fastest) fastest = took;
    }
    return world.all_gather(fastest)[0] / turns;
  }

 private:
  // Each turn depends on the one before.
  void turn(std::int64_t times) {
    double value = value_;
    for (std::int64_t i = 0; i < times; ++i) value = value * 0.75 + 0.5;
    value_ = value;
  }

  int parts_;
  std::int64_t turns_;
  // Volatile so that the compiler does not leave the arithmetic out.
  volatile double value_ = 1;
};

// One of the four steps that together show how much was hidden: writing and reading alone, and beside it the
// exchange, the computation, or both at once.
class Part final : public Stepped {
 public:
  enum class Does { nothing, exchange, compute, both };

  Part(World& world, Overlap& overlap, const Computation& computation, Does does)
      : overlap_(overlap),
        computation_(computation),
        does_(does),
        rank_(world.rank()),
        left_((rank_ + world.size() - 1) % world.size()) {
    static_cast<Contender&>(*this) = overlap;
  }

  void step() override {
    const bool exchanges = does_ == Does::exchange || does_ == Does::both;
    if (does_ == Does::compute) return compute(false);
    write_all({overlap_.sent(), overlap_.bytes}, fresh_value(++number_, rank_));
    if (exchanges) overlap_.start();
    if (does_ == Does::both) compute(overlap_.progress == "points");
    if (exchanges) overlap_.wait();
    was_right_ = read_all({overlap_.arrived(), overlap_.bytes}, fresh_value(number_, left_)) || !exchanges;
    // Without a guard, the neighbour may be a step ahead before this rank has read.
    wrong_ |= guarded && !was_right_;
  }

  bool right(World& world) override { return all_say(world, was_right_ && !wrong_); }

 private:
  void compute(bool with_points) {
    computation_.run([&] {
      if (with_points) overlap_.point();
    });
  }

  Overlap& overlap_;
  Computation computation_;
  Does does_;
  int rank_, left_;
  std::uint64_t number_ = 0;
  bool was_right_ = true;
  bool wrong_ = false;
};

// Collective. Returns the median time of some steps, by rank 0's clock for all ranks.
double step_us(World& world, Part part) {
  constexpr std::size_t warm_up = 5, kept = 15;
  Samples samples;
  for (std::size_t i = 0; i < warm_up + kept; ++i) {
    const std::chrono::duration<double, std::micro> begin = world.now();
    part.step();
    samples.push_back((world.now() - begin).count());
  }
  const auto middle = samples.begin() + warm_up + kept / 2;
  std::nth_element(samples.begin() + warm_up, middle, samples.end());
  return world.all_gather(*middle)[0];
}

// Collective. Returns how long an exchange takes beyond the writing and reading around it.
double exchange_us(World& world, Overlap& overlap) {
  const Computation none(0, 1, 0);
  const double bare = step_us(world, {world, overlap, none, Part::Does::nothing});
  return std::max(0.0, step_us(world, {world, overlap, none, Part::Does::exchange}) - bare);
}

}  // namespace

double hidden_share(double exchange_us, double compute_us, double both_us) {
  return (exchange_us + compute_us - both_us) / std::min(exchange_us, compute_us);
}

std::vector<double> OverlapSamples::hidden() const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < both_us.size(); ++i)
    if (exchange_us[i] > 0 && compute_us[i] > 0)
      shares.push_back(hidden_share(exchange_us[i], compute_us[i], both_us[i]));
  return shares;
}

OverlapOutcome measure_overlap(World& world, const std::function<Contenders<Overlap>()>& make, int points,
                               const Effort& effort, const std::function<void(int)>& progress) {
  OverlapOutcome outcome;
  const double turn_us = Computation::turn_us(world);
  const auto make_parts = [&] {
    outcome.contenders.clear();
    outcome.contenders = make();
    Contenders<Stepped> parts;
    for (const auto& overlap : outcome.contenders) {
      const Computation computation(exchange_us(world, *overlap), turn_us, points);
      for (const Part::Does does :
           {Part::Does::nothing, Part::Does::exchange, Part::Does::compute, Part::Does::both})
        parts.push_back(std::make_unique<Part>(world, *overlap, computation, does));
    }
    return parts;
  };
  const std::vector<Samples> samples = measure(world, make_parts, effort, progress).samples;
  for (std::size_t i = 0; i < samples.size(); i += 4)
    outcome.samples.push_back(
        {beyond(samples[i + 1], samples[i]), samples[i + 2], beyond(samples[i + 3], samples[i])});
  return outcome;
}

}  // namespace tca::bench
