// Tests counted puts whose lengths kernels set and read: in kernels, on streams and in graphs, mixed with lengths of
// the host, and what is said of a length that cannot be.
#include <chrono>

#include "cuda_ok.hpp"
#include "kernels/counted_kernels.hpp"
#include "messages.hpp"
#include "replay.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// A ring of ranks with a counted put to the next one.
class CountedSteps {
 public:
  CountedSteps(World& world, std::int64_t room, const std::string& channel,
               std::chrono::milliseconds time_limit = std::chrono::seconds(20), bool on_host = false)
      : source_(on_host ? world.host_window<int>(room) : world.window<int>(room)),
        target_(on_host ? world.host_window<int>(room) : world.window<int>(room)),
        chain_(world.chain("ring", {.time_limit = time_limit, .channel = channel})),
        put_(chain_.put_counted(target_.on((world.rank() + 1) % world.size()), source_.at(0), block(room))),
        arrival_(chain_.expect_counted((world.rank() + world.size() - 1) % world.size())) {
    chain_.commit();
    fill(target_, 0, room, -1);
    ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ok(cudaMallocHost(&wrong_, sizeof *wrong_));
    ok(cudaMalloc(&step_, sizeof *step_));
    *wrong_ = 0;
    ring = {.chain = chain_.device(),
            .to_right = put_.device(),
            .from_left = arrival_.device(),
            .source = source_.data(),
            .target = target_.data(),
            .room = static_cast<unsigned>(room),
            .rank = static_cast<unsigned>(world.rank()),
            .size = static_cast<unsigned>(world.size()),
            .wrong = wrong_};
    world.barrier();
  }
  CountedSteps(const CountedSteps&) = delete;
  ~CountedSteps() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(wrong_);
    cudaFree(step_);
  }

  void run(bool whole_grid, unsigned blocks) {
    ok(whole_grid ? run_grid(ring, blocks, stream_) : run_block(ring, stream_));
    ok(cudaStreamSynchronize(stream_));
  }
  // On the stream: another would not wait until the number has arrived.
  void begin_at(unsigned step) {
    ok(cudaMemcpyAsync(step_, &step, sizeof step, cudaMemcpyHostToDevice, stream_));
    ok(cudaStreamSynchronize(stream_));
  }
  // Puts a step on the stream.
  void enqueue(bool sets_length) {
    write_counted(ring, step_, sets_length, stream_);
    chain_.run(stream_);
    check_counted(ring, step_, stream_);
  }
  void require_right(World& world) const {
    ok(cudaStreamSynchronize(stream_));
    world.check();
    require(*wrong_ == 0, "rank {}: {} elements or lengths are wrong", world.rank(), *wrong_);
  }

  CountedRing ring;
  CountedPut& put() { return put_; }
  CountedArrival& arrival() { return arrival_; }
  cudaStream_t stream() const { return stream_; }

 private:
  Window<int> source_, target_;
  Chain chain_;
  CountedPut put_;
  CountedArrival arrival_;
  cudaStream_t stream_{};
  unsigned *wrong_ = nullptr, *step_ = nullptr;
};

const std::vector<std::string> carriers{"ll", "direct"};

// Kernels of other sizes go on with the same chain. 3 elements fit one packet, 3000 take many chunks.
TEST_P(FabricTest, KernelsSetLengths) {
  for (const std::string& channel : carriers) {
    for (const std::int64_t room : {3, 3000}) {
      run(2, [&](World& world) {
        CountedSteps ring(world, room, channel);
        for (const unsigned blocks : {1U, 4U, 3U}) {
          for (const bool whole_grid : {false, true}) {
            ring.ring.steps = steps(200);
            ring.run(whole_grid, blocks);
            ring.require_right(world);
            world.barrier();
          }
        }
      });
    }
  }
  run(1, [&](World& world) {
    CountedSteps ring(world, 100, "");
    ring.ring.steps = 20;
    ring.run(false, 1);
    ring.require_right(world);
  });
}

// Kernels write and read what lies in host memory.
TEST_P(FabricTest, KernelsSendBetweenHostWindows) {
  for (const std::string& channel : carriers) {
    run(2, [&](World& world) {
      CountedSteps ring(world, 300, channel, std::chrono::seconds(20), true);
      for (const bool whole_grid : {false, true}) {
        ring.ring.steps = steps(50);
        ring.run(whole_grid, 2);
        ring.require_right(world);
        world.barrier();
      }
    });
  }
}

// A stream's steps have the lengths that were set when the host ordered them, or that a kernel before them has set.
TEST_P(FabricTest, LengthsOnStreams) {
  for (const std::string& channel : carriers) {
    run(2, [&](World& world) {
      CountedSteps ring(world, 500, channel);
      const bool shared = threads_share_a_gpu(world);
      const auto left = static_cast<unsigned>(1 - world.rank());
      unsigned step = 1;
      ring.begin_at(step);
      for (const bool by_kernel : {false, true, false}) {
        if (by_kernel) static_cast<void>(ring.put().device());
        for (int n = 0; n < 6; ++n, ++step) {
          if (!by_kernel) ring.put().set(counted_length(ring.ring.rank, step, ring.ring.room));
          ring.enqueue(by_kernel);
          if (shared) ok(cudaStreamSynchronize(ring.stream()));
        }
        ring.require_right(world);
        require(ring.arrival().count() == counted_length(left, step - 1, ring.ring.room),
                "{} came in step {}", ring.arrival().count(), step - 1);
        world.barrier();
      }
    });
  }
}

TEST_P(FabricTest, LengthsInGraphs) {
  for (const std::string& channel : carriers) {
    run(2, [&](World& world) {
      CountedSteps ring(world, 500, channel);
      ring.begin_at(1);
      const Replay replay(world, ring.stream(), 4, [&](int) { ring.enqueue(true); });
      for (int round = 0; round < 3; ++round) replay.launch();
      ring.require_right(world);
      const auto left = static_cast<unsigned>(1 - world.rank());
      require(ring.arrival().count() == counted_length(left, 12, ring.ring.room), "{} came",
              ring.arrival().count());
    });
  }
}

// Nothing of the step is sent, and the sender says which put it was.
TEST_P(FabricTest, LengthsOfKernelsThatCannotBe) {
  for (const std::string& channel : carriers) {
    run(2, [&](World& world) {
      CountedSteps ring(world, 20, channel, std::chrono::seconds(1));
      ring.ring.steps = 5;
      if (world.rank() == 0) ring.ring.excess = 1000;
      ring.run(false, 1);
      if (world.rank() == 1) return;  // ends with rank 0, or by it
      const Caught error = caught([&] { world.check(); });
      const std::string words = fmt::format(
          "has set the length of put 0 of rank 0 to rank 1 of chain 'ring' to {} elements; it was committed "
          "for 20",
          1000 + counted_length(0, 5, 20));
      require(error.code == Errc::invalid_argument && says(error.message, {words}), "{}", error.message);
    });
  }
}

// More puts than a start has parameters for.
TEST_P(FabricTest, ManyLengths) {
  run(2, [](World& world) {
    constexpr std::int64_t count = 40;
    const int other = 1 - world.rank();
    const Window<int> source = world.window<int>(count), target = world.window<int>(count);
    Chain chain = world.chain("many");
    std::vector<CountedPut> puts;
    std::vector<CountedArrival> arrivals;
    for (std::int64_t i = 0; i < count; ++i) {
      puts.push_back(chain.put_counted(target.on(other).at(i), source.at(i), block(1)));
      arrivals.push_back(chain.expect_counted(other));
    }
    chain.commit();
    for (int step = 1; step <= 6; ++step) {
      fill(source, 0, count, 10 * step + world.rank());
      fill(target, 0, count, -1);
      world.barrier();
      const auto length = [&](int rank, std::int64_t i) {
        return (i * 7 + step * 3 + rank) % 3 == 0 ? 1 : 0;
      };
      for (std::int64_t i = 0; i < count; ++i) puts[static_cast<std::size_t>(i)].set(length(world.rank(), i));
      chain.run();
      const std::vector<int> have = contents(target);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        require(arrivals[at].count() == length(other, i), "step {}: the count of put {} is {}", step, i,
                arrivals[at].count());
        require(have[at] == (length(other, i) == 1 ? 10 * step + other : -1), "step {}: element {} is {}",
                step, i, have[at]);
      }
      world.barrier();
    }
  });
}

}  // namespace
}  // namespace tca::test
