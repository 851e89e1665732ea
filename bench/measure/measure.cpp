#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "agree.hpp"
#include "crowding.hpp"
#include "tca/error.hpp"
#include "touching.hpp"

namespace tca::bench {

namespace {

// Returns the time of a call on this rank.
template <class Step>
double time_us(World& world, int calls, const Step& step) {
  world.barrier();
  step();  // not timed: it finds memory as another contender has left it
  const std::chrono::duration<double, std::micro> begin = world.now();
  for (int i = 0; i < calls; ++i) step();
  return (world.now() - begin).count() / calls;
}

// Returns how many calls make a sample last `effort.sample_us`. The number is doubled until they do, by rank
// 0's clock for all ranks.
template <class Step>
int calibrate(World& world, const Effort& effort, const Step& step) {
  for (int calls = 1;; calls *= 2) {
    const double took = world.all_gather(time_us(world, calls, step) * calls)[0];
    if (took >= effort.sample_us || calls >= 1 << 20) return calls;
  }
}

// Returns the time of a call on the slowest rank.
template <class Step>
double sample_us(World& world, const Effort& effort, int calls, const Step& step) {
  struct Sample {
    double us;
    long disturbances;
  };
  for (int tries = 0;; ++tries) {
    const long before = disturbances();
    const double us = time_us(world, calls, step);
    double slowest = 0;
    bool disturbed = false;
    for (const Sample& of_rank : world.all_gather(Sample{us, disturbances() - before})) {
      slowest = std::max(slowest, of_rank.us);
      disturbed |= of_rank.disturbances > 0;
    }
    if (tries == effort.retries || !disturbed) return slowest;
  }
}

[[noreturn]] void refuse(const Contender& contender) {
  throw Error(Errc::refused,
              "what arrived over " + contender.fabric + "/" + contender.protocol + " is not what was sent");
}

// A turn of a ping-pong on this rank: what it sends is written before, and what arrives is read.
class Turn {
 public:
  Turn(const World& world, PingPong& contender) : contender_(contender), rank_(world.rank()) {}

  void operator()() {
    if (rank_ > 1) return;
    ++number_;
    if (rank_ == 0) send();
    contender_.receive();
    wrong_ |= !read_all(contender_.arrived(), fresh_value(number_, 1 - rank_));
    if (rank_ == 1) send();
  }

  // Collective; throws on every rank alike.
  void check(World& world) const {
    if (!all_say(world, !wrong_)) refuse(contender_);
  }

 private:
  void send() {
    write_all(contender_.sent(), fresh_value(number_, rank_));
    contender_.send();
  }

  PingPong& contender_;
  int rank_;
  std::uint64_t number_ = 0;
  bool wrong_ = false;
};

void write_layer(double* cube, const Face& face, std::size_t layer, double value) {
  for (std::size_t row = 0; row < face.rows; ++row) {
    double* run = cube + layer + row * face.pitch;
    std::fill(run, run + face.run, value);
  }
}

bool is_layer(const double* cube, const Face& face, std::size_t layer, double value) {
  for (std::size_t row = 0; row < face.rows; ++row) {
    const double* run = cube + layer + row * face.pitch;
    if (!std::all_of(run, run + face.run, [&](double element) { return element == value; })) return false;
  }
  return true;
}

double read_ghosts(const double* cube, const Face& face) {
  double sum = 0;
  for (const std::size_t ghost : {face.low_ghost(), face.high_ghost()}) {
    for (std::size_t row = 0; row < face.rows; ++row) {
      const double* run = cube + ghost + row * face.pitch;
      for (std::size_t i = 0; i < face.run; ++i) sum += run[i];
    }
  }
  return sum;
}

// What an application does in a step of faces. Each step writes a value of its own.
class FaceStep {
 public:
  FaceStep(FaceExchange& contender, const Face& face)
      : contender_(contender), face_(face), cube_(contender.cube()) {}

  void operator()() {
    ++value_;
    write_layer(cube_, face_, face_.low_edge(), value_);
    write_layer(cube_, face_, face_.high_edge(), value_);
    contender_.exchange();
    was_right_ = read_ghosts(cube_, face_) == 2 * value_ * static_cast<double>(face_.elements());
    // Without a guard, a neighbour may be a step ahead before this rank has read.
    wrong_ |= contender_.guarded && !was_right_;
  }

  // Collective; throws on every rank alike.
  void check(World& world) const {
    if (contender_.protocol.empty()) return;  // there is no exchange
    const bool is_neighbours = is_from_neighbours(world);
    if (!all_say(world, was_right_ && !wrong_ && is_neighbours)) refuse(contender_);
  }

 private:
  // Collective. Does one more exchange and returns whether it fills each ghost with the neighbour's edge
  // beside it. The values identify rank and side, and no step has written them.
  bool is_from_neighbours(World& world) const {
    const auto low_edge_of = [](int rank) { return -1.0 - 2 * rank; };
    const auto high_edge_of = [](int rank) { return -2.0 - 2 * rank; };
    const int rank = world.rank(), left = (rank + world.size() - 1) % world.size(),
              right = (rank + 1) % world.size();
    // Without a guard, this exchange could otherwise overwrite what another rank still reads from the last
    // one.
    world.barrier();
    write_layer(cube_, face_, face_.low_edge(), low_edge_of(rank));
    write_layer(cube_, face_, face_.high_edge(), high_edge_of(rank));
    contender_.exchange();
    return is_layer(cube_, face_, face_.low_ghost(), high_edge_of(left)) &&
           is_layer(cube_, face_, face_.high_ghost(), low_edge_of(right));
  }

  FaceExchange& contender_;
  const Face& face_;
  double* cube_;
  double value_ = 0;
  bool was_right_ = true;
  bool wrong_ = false;
};

// A step of contenders that write and read by themselves.
template <class Contender, void (Contender::*step)()>
class OwnStep {
 public:
  explicit OwnStep(Contender& contender) : contender_(contender) {}
  void operator()() { (contender_.*step)(); }
  void check(World& world) const {
    if (!contender_.right(world)) refuse(contender_);
  }

 private:
  Contender& contender_;
};

// Measures steps, which `make_step` makes of contenders, and lets each check what it has brought: before its
// first sample and after its last one in each placement.
template <class Contender, class MakeStep>
Outcome<Contender> in_turn(World& world, const std::function<Contenders<Contender>()>& make,
                           const Effort& effort, MakeStep make_step,
                           const std::function<void(int)>& progress) {
  Outcome<Contender> outcome;
  for (int placement = 0; placement < effort.placements; ++placement) {
    outcome.contenders.clear();
    outcome.contenders = make();
    outcome.samples.resize(outcome.contenders.size());
    std::vector<decltype(make_step(*outcome.contenders[0]))> steps;
    for (const auto& contender : outcome.contenders) steps.push_back(make_step(*contender));
    std::vector<int> calls;
    for (auto& step : steps) {
      calls.push_back(calibrate(world, effort, [&] { step(); }));
      step.check(world);
    }
    for (int round = 0; round < effort.rounds; ++round) {
      for (std::size_t i = 0; i < steps.size(); ++i)
        outcome.samples[i].push_back(sample_us(world, effort, calls[i], [&] { steps[i](); }));
      progress(placement * effort.rounds + round + 1);
    }
    for (const auto& step : steps) step.check(world);
  }
  return outcome;
}

}  // namespace

Samples beyond(const Samples& step, const Samples& bare) {
  Samples cost;
  for (std::size_t i = 0; i < step.size(); ++i) cost.push_back(step[i] - bare[i]);
  return cost;
}

Outcome<PingPong> measure(World& world, const std::function<Contenders<PingPong>()>& make,
                          const Effort& effort, const std::function<void(int)>& progress) {
  const auto make_step = [&world](PingPong& contender) { return Turn(world, contender); };
  Outcome<PingPong> outcome = in_turn<PingPong>(world, make, effort, make_step, progress);
  for (Samples& samples : outcome.samples) {
    for (double& round_trip : samples) round_trip /= 2;
  }
  return outcome;
}

Outcome<FaceExchange> measure(World& world, const std::function<Contenders<FaceExchange>()>& make,
                              const Face& face, const Effort& effort,
                              const std::function<void(int)>& progress) {
  const auto make_step = [&face](FaceExchange& contender) { return FaceStep(contender, face); };
  return in_turn<FaceExchange>(world, make, effort, make_step, progress);
}

Outcome<Stepped> measure(World& world, const std::function<Contenders<Stepped>()>& make, const Effort& effort,
                         const std::function<void(int)>& progress) {
  const auto make_step = [](Stepped& contender) { return OwnStep<Stepped, &Stepped::step>(contender); };
  return in_turn<Stepped>(world, make, effort, make_step, progress);
}

Outcome<Coll> measure(World& world, const std::function<Contenders<Coll>()>& make, const Effort& effort,
                      const std::function<void(int)>& progress) {
  const auto make_step = [](Coll& contender) { return OwnStep<Coll, &Coll::run>(contender); };
  Outcome<Coll> outcome = in_turn<Coll>(world, make, effort, make_step, progress);
  for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
    for (double& run : outcome.samples[i]) run /= outcome.contenders[i]->collectives_a_run;
  }
  return outcome;
}

}  // namespace tca::bench
