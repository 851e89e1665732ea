#include "gpu/in_turn.hpp"

#include <algorithm>

#include "gpu/call.hpp"

namespace tca::bench::gpu {

namespace {

// A stream, and a clock by events on it.
class Clock {
 public:
  Clock() {
    for (cudaEvent_t* event : {&begin_, &end_}) check(cudaEventCreate(event), "making an event");
  }
  Clock(const Clock&) = delete;
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  Stream stream() const { return stream_; }

  double time_us(World& world, Contender& contender, int steps) const {
    world.barrier();
    const int lead = (contender.lead + contender.granule - 1) / contender.granule * contender.granule;
    contender.run(lead, stream_);
    check(cudaEventRecord(begin_, stream_), "reading the GPU's clock");
    contender.run(steps, stream_);
    check(cudaEventRecord(end_, stream_), "reading the GPU's clock");
    finish(stream_);
    world.check();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_), "reading the GPU's clock");
    return 1e3 * static_cast<double>(ms) / steps;
  }

 private:
  OwnStream stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Returns how many steps make a sample last `effort.sample_us`, by rank 0's clock for all ranks.
int calibrate(World& world, const Clock& clock, Contender& contender, const Effort& effort) {
  constexpr int most = 1 << 20;
  for (int steps = contender.granule;; steps *= 2) {
    const double took = world.all_gather(clock.time_us(world, contender, steps) * steps)[0];
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
                                   " of them; nothing is measured");
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
    world.barrier();  // no rank frees what a partner may still use
  }
  return outcome;
}

}  // namespace tca::bench::gpu
