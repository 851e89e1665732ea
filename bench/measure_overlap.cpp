#include "measure_overlap.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "agree.hpp"
#include "reading.hpp"

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

class Part final : public OverlapPart {
 public:
  enum class Does { exchange, compute, both };

  Part(Overlap& overlap, const Computation& computation, Does does)
      : overlap_(overlap), computation_(computation), does_(does) {
    static_cast<Contender&>(*this) = overlap;
  }

  void step() override {
    if (does_ != Does::compute) overlap_.start();
    if (does_ != Does::exchange) {
      const bool points = does_ == Does::both && overlap_.progress == "points";
      computation_.run([&] {
        if (points) overlap_.point();
      });
    }
    if (does_ == Does::compute) return;
    overlap_.wait();
    read_all({overlap_.arrived(), overlap_.bytes});
  }

  // Does one more step, with values that no other rank and no step before has sent.
  bool right(World& world) override {
    if (does_ == Does::compute) return true;
    const auto value_of = [this](int rank) {
      return static_cast<std::byte>(static_cast<int>(does_) * 64 + 1 + rank);
    };
    std::fill_n(overlap_.sent(), overlap_.bytes, value_of(world.rank()));
    step();
    const std::byte expected = value_of((world.rank() + world.size() - 1) % world.size());
    const std::byte* arrived = overlap_.arrived();
    const bool mine =
        std::all_of(arrived, arrived + overlap_.bytes, [&](std::byte b) { return b == expected; });
    return all_say(world, mine);
  }

 private:
  Overlap& overlap_;
  Computation computation_;
  Does does_;
};

// Collective. Returns the median time of some exchanges, by rank 0's clock for all ranks.
double exchange_us(World& world, Overlap& overlap) {
  constexpr std::size_t warm_up = 5, kept = 15;
  Samples samples;
  for (std::size_t i = 0; i < warm_up + kept; ++i) {
    const std::chrono::duration<double, std::micro> begin = world.now();
    overlap.start();
    overlap.wait();
    read_all({overlap.arrived(), overlap.bytes});
    samples.push_back((world.now() - begin).count());
  }
  const auto middle = samples.begin() + warm_up + kept / 2;
  std::nth_element(samples.begin() + warm_up, middle, samples.end());
  return world.all_gather(*middle)[0];
}

}  // namespace

double hidden_share(double exchange_us, double compute_us, double both_us) {
  return (exchange_us + compute_us - both_us) / std::min(exchange_us, compute_us);
}

std::vector<double> OverlapSamples::hidden() const {
  std::vector<double> shares;
  for (std::size_t i = 0; i < both_us.size(); ++i)
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
    Contenders<OverlapPart> parts;
    for (const auto& overlap : outcome.contenders) {
      const Computation computation(exchange_us(world, *overlap), turn_us, points);
      for (const Part::Does does : {Part::Does::exchange, Part::Does::compute, Part::Does::both})
        parts.push_back(std::make_unique<Part>(*overlap, computation, does));
    }
    return parts;
  };
  const std::vector<Samples> samples = measure(world, make_parts, effort, progress).samples;
  for (std::size_t i = 0; i < samples.size(); i += 3)
    outcome.samples.push_back({samples[i], samples[i + 1], samples[i + 2]});
  return outcome;
}

}  // namespace tca::bench
