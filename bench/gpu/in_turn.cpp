#include "gpu/in_turn.hpp"

#include <algorithm>

#include "gpu/call.hpp"

namespace tca::bench::gpu {

namespace {

// A stream, and a clock by events on it.
class Clock {
 public:
  Clock() {
    for (cudaEvent_t* event : {&begin_, &end_}) cuda_ok(cudaEventCreate(event), "making an event");
  }
  Clock(const Clock&) = delete;
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  Stream stream() const { return stream_.get(); }

  // Collective. Returns the time of a step's exchange on the slowest rank: of all that the step does, less what
  // its kernels that only write and read take by themselves.
  double time_us(World& world, Contender& contender, int steps) const {
    const double all = whole_us(world, contender, steps);
    if (contender.touches == 0) return all;
    const auto touch = [&](int some) { contender.touch(some, stream_.get()); };
    return all - contender.touches * slowest_us(world, lead_of(contender), steps, touch);
  }

  // Collective. Returns the time of a whole step on the slowest rank.
  double whole_us(World& world, Contender& contender, int steps) const {
    return slowest_us(world, lead_of(contender), steps,
                      [&](int some) { contender.run(some, stream_.get()); });
  }

  // Collective. `run` takes a number of steps; some go before the clock starts.
  template <class Run>
  double slowest_us(World& world, int lead, int steps, const Run& run) const {
    world.barrier();
    run(lead);
    cuda_ok(cudaEventRecord(begin_, stream_.get()), "reading the GPU's clock");
    run(steps);
    cuda_ok(cudaEventRecord(end_, stream_.get()), "reading the GPU's clock");
    finish(stream_.get());
    world.check();
    float ms = 0;
    cuda_ok(cudaEventElapsedTime(&ms, begin_, end_), "reading the GPU's clock");
    const std::vector<double> all = world.all_gather(1e3 * static_cast<double>(ms) / steps);
    return *std::max_element(all.begin(), all.end());
  }

 private:
  static int lead_of(const Contender& contender) {
    return (contender.lead + contender.granule - 1) / contender.granule * contender.granule;
  }

  OwnStream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Returns how many steps make a sample last `effort.sample_us`; the same on all ranks.
int calibrate(World& world, const Clock& clock, Contender& contender, const Effort& effort) {
  constexpr int most = 1 << 20;
  for (int steps = contender.granule;; steps *= 2) {
    const double took = clock.whole_us(world, contender, steps) * steps;
    if (took >= effort.sample_us || steps >= most) return steps;
  }
}

void verify(World& world, const Clock& clock, Contender& contender) {
  for (unsigned round = 1; round <= 3; ++round) {
    std::uint64_t wrong = 0;
    for (const std::uint64_t mine : world.all_gather(contender.wrong(world, clock.stream(), round)))
      wrong += mine;
    if (wrong == 0) continue;
    throw Error(Errc::refused, contender.fabric + "/" + contender.protocol + ", started by " +
                                   contender.start + ", brings wrong values: " + std::to_string(wrong) +
                                   " of them; its times would say nothing");
  }
}

}  // namespace

Outcome measure(World& world, const std::function<Contenders()>& make, const Effort& effort,
                const std::function<void(int)>& progress) {
  const Clock clock;
  Outcome outcome;
  for (int placement = 0; placement < effort.placements; ++placement) {
    outcome.contenders.clear();
    outcome.contenders = make();
    outcome.samples.resize(outcome.contenders.size());
    for (const auto& contender : outcome.contenders) {
      contender->prepare(world);
      verify(world, clock, *contender);
      contender->steps_a_sample = calibrate(world, clock, *contender, effort);
    }
    for (int round = 0; round < effort.rounds; ++round) {
      for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
        Contender& contender = *outcome.contenders[i];
        outcome.samples[i].push_back(clock.time_us(world, contender, contender.steps_a_sample));
      }
      progress(placement * effort.rounds + round + 1);
    }
    for (const auto& contender : outcome.contenders) verify(world, clock, *contender);
    world.barrier();  // no rank frees what a partner may still use
  }
  return outcome;
}

double exchange_us(World& world, Contender& contender) {
  const int steps = std::max(contender.granule, 4);
  return std::max(0.0, Clock().time_us(world, contender, steps));
}

double step_us(World& world, const std::function<void(cudaStream_t)>& step) {
  constexpr int lead = 2, steps = 8;
  const Clock clock;
  return clock.slowest_us(world, lead, steps, [&](int some) {
    for (int i = 0; i < some; ++i) step(clock.stream());
  });
}

}  // namespace tca::bench::gpu
