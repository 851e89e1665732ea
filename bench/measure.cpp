#include "measure.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "agree.hpp"
#include "tca/error.hpp"

namespace tca::bench {

namespace {

template <class Step>
double time_us(World& world, int calls, Step step) {
  world.barrier();
  step();  // not timed: it finds memory as another contender has left it
  const std::chrono::duration<double, std::micro> begin = world.now();
  for (int i = 0; i < calls; ++i) step();
  return (world.now() - begin).count() / calls;
}

// Returns how many calls make a sample last `effort.sample_us`. The number is doubled until they do, by rank
// 0's clock for all ranks.
template <class Step>
int calibrate(World& world, const Effort& effort, Step step) {
  for (int calls = 1;; calls *= 2) {
    const double took = world.all_gather(time_us(world, calls, step) * calls)[0];
    if (took >= effort.sample_us || calls >= 1 << 20) return calls;
  }
}

// Returns how often another thread was let onto this thread's core.
long disturbances() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

template <class Step>
double sample_us(World& world, const Effort& effort, int calls, Step step) {
  for (int tries = 0;; ++tries) {
    const long before = disturbances();
    const double us = time_us(world, calls, step);
    if (tries == effort.retries) return us;
    const std::vector<long> all = world.all_gather(disturbances() - before);
    if (std::all_of(all.begin(), all.end(), [](long count) { return count == 0; })) return us;
  }
}

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

// What an application does in a step. Each step writes a value of its own.
class Step {
 public:
  Step(FaceExchange& contender, const Face& face)
      : contender_(contender), face_(face), cube_(contender.cube()) {}

  void operator()() {
    ++value_;
    write_layer(cube_, face_, face_.low_edge(), value_);
    write_layer(cube_, face_, face_.high_edge(), value_);
    contender_.exchange();
    sum_ = read_ghosts(cube_, face_);
  }

  // Collective; throws on every rank alike.
  void check(World& world) const {
    if (contender_.protocol.empty()) return;  // there is no exchange
    const bool has_moved = sum_ == 2 * value_ * static_cast<double>(face_.elements());
    const bool is_neighbours = is_from_neighbours(world);
    if (!all_say(world, has_moved && is_neighbours))
      throw Error(Errc::refused,
                  "the ghosts of " + contender_.fabric + "/" + contender_.protocol + " are wrong");
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
  double sum_ = 0;
};

template <class Contender, class MakeStep, class Check>
Outcome<Contender> in_turn(World& world, const std::function<Contenders<Contender>()>& make,
                           const Effort& effort, MakeStep make_step, Check check,
                           const std::function<void(int)>& progress) {
  Outcome<Contender> outcome;
  for (int placement = 0; placement < effort.placements; ++placement) {
    outcome.contenders.clear();
    outcome.contenders = make();
    outcome.samples.resize(outcome.contenders.size());
    std::vector<decltype(make_step(*outcome.contenders[0]))> steps;
    std::vector<int> calls;
    for (const auto& contender : outcome.contenders) {
      steps.push_back(make_step(*contender));
      calls.push_back(calibrate(world, effort, steps.back()));
    }
    for (int round = 0; round < effort.rounds; ++round) {
      for (std::size_t i = 0; i < steps.size(); ++i) {
        outcome.samples[i].push_back(sample_us(world, effort, calls[i], [&] { steps[i](); }));
      }
      progress(placement * effort.rounds + round + 1);
    }
    for (const auto& step : steps) check(step);
  }
  return outcome;
}

// Measures contenders that have step(), and checks with right() after the last round that the right values
// have arrived.
template <class Contender>
Outcome<Contender> right_steps(World& world, const std::function<Contenders<Contender>()>& make,
                               const Effort& effort, const std::function<void(int)>& progress) {
  const auto make_step = [](Contender& contender) { return [&contender] { contender.step(); }; };
  Outcome<Contender> outcome = in_turn<Contender>(
      world, make, effort, make_step, [](const auto&) {}, progress);
  for (const auto& contender : outcome.contenders) {
    if (!contender->right(world))
      throw Error(Errc::refused, "what arrived over " + contender->fabric + "/" + contender->protocol +
                                     " is not what was sent");
  }
  return outcome;
}

// Measures contenders, with a check by `require_right` when they are made and another one after the last
// round.
template <class Contender, class MakeStep, class RequireRight>
Outcome<Contender> right_before_and_after(World& world, const std::function<Contenders<Contender>()>& make,
                                          const Effort& effort, MakeStep make_step,
                                          RequireRight require_right,
                                          const std::function<void(int)>& progress) {
  const auto make_right = [&] {
    Contenders<Contender> all = make();
    for (const auto& contender : all) require_right(*contender);
    return all;
  };
  Outcome<Contender> outcome = in_turn<Contender>(
      world, make_right, effort, make_step, [](const auto&) {}, progress);
  for (const auto& contender : outcome.contenders) require_right(*contender);
  return outcome;
}

// Collective. Does one more round trip and returns, alike on every rank, whether it brings what was sent.
bool is_right(World& world, PingPong& contender, unsigned number) {
  const int rank = world.rank();
  bool mine = true;
  if (rank < 2) {
    const auto value_of = [number](int of_rank) {
      return static_cast<std::byte>(2 * number + static_cast<unsigned>(of_rank));
    };
    std::ranges::fill(contender.sent(), value_of(rank));
    contender.round_trip(rank);
    mine = std::ranges::all_of(contender.arrived(), [&](std::byte b) { return b == value_of(1 - rank); });
  }
  return all_say(world, mine);
}

}  // namespace

Outcome<PingPong> measure(World& world, const std::function<Contenders<PingPong>()>& make,
                          const Effort& effort, const std::function<void(int)>& progress) {
  const int rank = world.rank();
  const auto make_step = [rank](PingPong& contender) {
    return [rank, &contender] {
      if (rank < 2) contender.round_trip(rank);
    };
  };
  const auto require_right = [&world, number = 0U](PingPong& contender) mutable {
    if (!is_right(world, contender, ++number))
      throw Error(Errc::refused,
                  "the message of " + contender.fabric + "/" + contender.protocol + " is not what was sent");
  };
  Outcome<PingPong> outcome =
      right_before_and_after<PingPong>(world, make, effort, make_step, require_right, progress);
  for (Samples& samples : outcome.samples) {
    for (double& round_trip : samples) round_trip /= 2;
  }
  return outcome;
}

Outcome<FaceExchange> measure(World& world, const std::function<Contenders<FaceExchange>()>& make,
                              const Face& face, const Effort& effort,
                              const std::function<void(int)>& progress) {
  const auto make_step = [&face](FaceExchange& contender) { return Step(contender, face); };
  return in_turn<FaceExchange>(
      world, make, effort, make_step, [&world](const Step& step) { step.check(world); }, progress);
}

Outcome<PutExchange> measure(World& world, const std::function<Contenders<PutExchange>()>& make,
                             const Effort& effort) {
  return right_steps(world, make, effort, [](int) {});
}

Outcome<OverlapPart> measure(World& world, const std::function<Contenders<OverlapPart>()>& make,
                             const Effort& effort, const std::function<void(int)>& progress) {
  return right_steps(world, make, effort, progress);
}

Outcome<Coll> measure(World& world, const std::function<Contenders<Coll>()>& make, const Effort& effort,
                      const std::function<void(int)>& progress) {
  const auto require_right = [&world](Coll& contender) {
    if (!contender.right(world))
      throw Error(Errc::refused,
                  "the result of " + contender.fabric + "/" + contender.protocol + " is wrong");
  };
  const auto make_step = [](Coll& contender) { return [&contender] { contender.run(); }; };
  Outcome<Coll> outcome =
      right_before_and_after<Coll>(world, make, effort, make_step, require_right, progress);
  for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
    for (double& run : outcome.samples[i]) run /= outcome.contenders[i]->collectives_a_run;
  }
  return outcome;
}

}  // namespace tca::bench
