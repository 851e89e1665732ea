// Tests the times that kernels take: on streams, in graphs and in kernels of the program, and of steps that one of the
// two ranks does not time.
#include <algorithm>

#include "cuda_ok.hpp"
#include "kernels/timing_kernels.hpp"
#include "messages.hpp"
#include "replay.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// Two ranks that send each other a block.
struct TimedPair {
  TimedPair(World& world, const std::string& channel, std::int64_t elements, bool timed = true)
      : other(1 - world.rank()),
        window(world.window<int>(2 * elements)),
        chain(world.chain("pair",
                          {.time_limit = std::chrono::seconds(20), .channel = channel, .timed = timed})) {
    chain.put(window.on(other).at(0), window.at(elements), block(elements)).expect(other).commit();
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    world.barrier();
  }
  TimedPair(const TimedPair&) = delete;
  ~TimedPair() { cudaStreamDestroy(stream); }

  void finish(World& world) const {
    ok(cudaStreamSynchronize(stream));
    world.check();
  }
  // Returns what has come since the last call.
  MessageTiming come() {
    const Timing timing = chain.timing();
    require(timing.messages.size() == 1 && timing.messages[0].measured, "{}", timing.describe());
    chain.clear_timing();
    return timing.messages[0];
  }

  int other;
  Window<int> window;
  Chain chain;
  cudaStream_t stream{};
};

void require_count(const MessageTiming& message, int steps, std::string_view what) {
  require(message.count == static_cast<std::uint64_t>(steps) && message.untimed == 0,
          "{}: {} timed, {} not, of {}", what, message.count, message.untimed, steps);
  require(message.waiting.count() == message.count &&
              message.carriage.count() + message.there_at_once == message.count,
          "{}: {} waits, {} carried, {} at once", what, message.waiting.count(), message.carriage.count(),
          message.there_at_once);
}

const std::vector<std::string> channels_of_kernels{"ll", "direct"};

TEST_P(FabricTest, TimesOfStepsOnStreamsAndInGraphs) {
  for (const std::string& channel : channels_of_kernels) {
    run(2, [&](World& world) {
      const bool shared = threads_share_a_gpu(world);
      TimedPair pair(world, channel, 3000);
      for (const bool fused : {true, false}) {
        const int many = steps(40);
        for (int n = 0; n < many; ++n) {
          fused ? pair.chain.run(pair.stream) : (pair.chain.start(pair.stream), pair.chain.wait(pair.stream));
          if (shared) ok(cudaStreamSynchronize(pair.stream));
        }
        pair.finish(world);
        require_count(pair.come(), many, fused ? "run" : "start and wait");
      }
      constexpr int in_graph = 3, replays = 4;
      Replay graph(world, pair.stream, in_graph, [&](int) { pair.chain.run(pair.stream); });
      for (int n = 0; n < replays; ++n) {
        graph.launch();
        ok(cudaStreamSynchronize(pair.stream));
      }
      pair.finish(world);
      require_count(pair.come(), in_graph * replays, "graph");
      world.barrier();
    });
  }
}

TEST_P(FabricTest, TimesOfStepsInKernels) {
  for (const std::string& channel : channels_of_kernels) {
    for (const std::int64_t elements : {2, 3000}) {
      run(2, [&](World& world) {
        TimedPair pair(world, channel, elements);
        for (const unsigned blocks : {1U, 4U}) {
          const int many = steps(200);
          ok(run_timed(pair.chain.device_timed(), many, 0, blocks, pair.stream));
          pair.finish(world);
          require_count(pair.come(), many, fmt::format("{} blocks", blocks));
          world.barrier();
        }
      });
    }
  }
}

// Rank 1 is 30 us late in each step, for which rank 0 waits; carriage does not have it.
TEST_P(FabricTest, AKernelThatStartsLateIsWaitedFor) {
  constexpr unsigned late_ns = 30'000;
  constexpr double late_us = late_ns * 1e-3, exact_us = 3;
  run(2, [&](World& world) {
    if (world.ranks_on_device() > 1 && !threads_share_a_gpu(world)) return;  // processes take turns on it
    TimedPair pair(world, "ll", 2);
    ok(run_timed(pair.chain.device_timed(), 100, world.rank() == 1 ? late_ns : 0, 1, pair.stream));
    pair.finish(world);
    const MessageTiming message = pair.come();
    const double waiting = message.waiting.median_us(), carriage = message.carriage.median_us();
    if (world.rank() == 0)
      require(waiting > late_us - exact_us && waiting < late_us + exact_us, "waited {}", waiting);
    if (world.rank() == 1) require(waiting < exact_us, "waited {} for one that was early", waiting);
    if (message.carriage.count() > 0) require(carriage < late_us / 2, "carried in {}", carriage);
    world.barrier();
  });
}

// The ring of records has the last 1,024; those of kernels that take no times have none.
TEST_P(FabricTest, MessagesWithoutTimesAreCounted) {
  run(2, [&](World& world) {
    TimedPair pair(world, "ll", 2);
    const auto kept = static_cast<int>(device::TimeRecord::kept);
    ok(run_timed(pair.chain.device_timed(), kept + 10, 0, 1, pair.stream));
    pair.finish(world);
    const MessageTiming all = pair.come();
    require(all.count == device::TimeRecord::kept && all.untimed == 10, "{} timed, {} not", all.count,
            all.untimed);
    world.barrier();

    // Only rank 0 takes times, and rank 1 sends no stamps.
    ok(world.rank() == 0 ? run_timed(pair.chain.device_timed(), 5, 0, 1, pair.stream)
                         : run_untimed(pair.chain.device(), 5, pair.stream));
    pair.finish(world);
    const MessageTiming none = pair.come();
    require(none.count == 0 && none.untimed == 5, "{} timed, {} not", none.count, none.untimed);
    world.barrier();

    ok(run_timed(pair.chain.device_timed(), 20, 0, 1, pair.stream));
    pair.finish(world);
    require_count(pair.come(), 20, "both again");
    world.barrier();
  });
}

// What a message takes, some 2 us, cannot be told by a clock that is coarser than that.
TEST_P(FabricTest, TheClockOfKernelsIsFineEnough) {
  run(1, [&](World&) {
    cudaStream_t stream{};
    std::uint64_t* step_ns = nullptr;
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaMallocHost(&step_ns, sizeof *step_ns));
    ok(measure_clock(step_ns, stream));
    ok(cudaStreamSynchronize(stream));
    fmt::print("%globaltimer steps by {} ns\n", *step_ns);
    require(*step_ns > 0 && *step_ns <= 1'100, "the clock steps by {} ns", *step_ns);
    cudaFreeHost(step_ns);
    cudaStreamDestroy(stream);
  });
}

TEST_P(FabricTest, OnlyTimedChainsAreSeenTimed) {
  run(2, [&](World& world) {
    TimedPair pair(world, "", 2, false);
    const Caught error = caught([&] { static_cast<void>(pair.chain.device_timed()); });
    require(error.code == Errc::invalid_argument &&
                error.message.find("device_timed() of chain 'pair', which is not timed") != std::string::npos,
            "{}", error.message);
    world.barrier();
  });
}

}  // namespace
}  // namespace tca::test
