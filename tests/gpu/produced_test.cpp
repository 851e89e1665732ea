// Tests produced puts between kernels of GPUs: by parts and by a grid, with a guard, in kernels one after the other,
// and what is said where a kernel makes a mistake.
#include <chrono>
#include <thread>

#include "cuda_ok.hpp"
#include "kernels/produced_kernels.hpp"
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// A ring of ranks with a put to either side, each of more elements than a block's warps take at once.
class Ring {
 public:
  explicit Ring(World& world, std::int64_t elements = 1000, const ChainOptions& options = {})
      : chain_(world.chain("ring", options)) {
    const int left = (world.rank() + world.size() - 1) % world.size(),
              right = (world.rank() + 1) % world.size();
    const auto to_left = chain_.put_produced<Grain>(left, elements);
    const auto to_right = chain_.put_produced<Grain>(right, elements);
    const auto from_right = chain_.expect_produced<Grain>(right, elements);
    const auto from_left = chain_.expect_produced<Grain>(left, elements);
    chain_.commit();
    ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ok(cudaMallocHost(&wrong_, sizeof *wrong_));
    *wrong_ = 0;
    ring = {.chain = chain_.device_produced(),
            .to_left = to_left.device(),
            .to_right = to_right.device(),
            .from_left = from_left.device(),
            .from_right = from_right.device(),
            .rank = static_cast<unsigned>(world.rank()),
            .size = static_cast<unsigned>(world.size()),
            .steps = 0,
            .wrong = wrong_};
    world.barrier();
  }
  Ring(const Ring&) = delete;
  ~Ring() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(wrong_);
  }

  void run(bool whole_grid, unsigned blocks) {
    ok((whole_grid ? run_grid : run_blocks)(ring, blocks, stream_));
    ok(cudaStreamSynchronize(stream_));
  }
  unsigned wrong() const { return *wrong_; }

  ProducedRing ring;

 private:
  Chain chain_;
  cudaStream_t stream_{};
  unsigned* wrong_ = nullptr;
};

TEST_P(FabricTest, KernelsProduceForEachOther) {
  for (const int ranks : {1, 2, 3}) {
    run(ranks, [this](World& world) {
      Ring ring(world);
      // Kernels of other sizes go on with the same chain.
      int done = 0;
      for (const unsigned blocks : {1U, 4U, 7U}) {
        for (const bool whole_grid : {false, true}) {
          ring.ring.steps = steps(200);
          ring.run(whole_grid, blocks);
          world.check();
          require(ring.wrong() == 0, "rank {}: {} words are wrong after {} steps", world.rank(), ring.wrong(),
                  done += ring.ring.steps);
          world.barrier();
        }
      }
    });
  }
}

// In a chain that looks after each element rank 0's message says which it was; in any other, the time limit ends the
// wait, and rank 1's message says for whom it waited.
void make_a_mistake(World& world, unsigned mistake, std::string_view sender, std::string_view receiver) {
  constexpr std::chrono::milliseconds limit(1000);
  Ring ring(world, 100, {.time_limit = limit});
  ring.ring.steps = 3;
  if (world.rank() == 0) {
    ring.ring.mistake = mistake;
    ring.ring.element = 41;
  }
  ring.run(false, 2);
  // A rank that leaves would be noticed at once.
  if (world.rank() == 0 && !receiver.empty()) std::this_thread::sleep_for(2 * limit);
  const Caught error = caught([&] { world.check(); });
  const std::string_view words = world.rank() == 0 ? sender : receiver;
  require(error.message.find(words) != std::string::npos, "rank {}: \"{}\" is not \"{}\"", world.rank(),
          error.message, words);
}

TEST_P(FabricTest, AnElementThatIsNotProducedEndsByTheTimeLimit) {
  run(2, [](World& world) {
    make_a_mistake(world, device::Mistake::not_written, "",
                   "rank 1 waited too long on its GPU in step 3 of chain 'ring' for rank 0");
  });
}

TEST_P(FabricTest, CheckedElementsAreNamed) {
  const auto checked = [](unsigned mistake, std::string_view sender, std::string_view receiver) {
    const auto body = [=](World& world) { make_a_mistake(world, mistake, sender, receiver); };
    EXPECT_EQ(GetParam().make()->run(2, body, {.check_steps = true}), "");
  };
  checked(device::Mistake::twice, "element 41 of put 0 of rank 0 to rank 1 in step 3 of chain 'ring' twice",
          "");
  checked(
      device::Mistake::out_of_range,
      "element 141 of put 0 of rank 0 to rank 1 in step 3 of chain 'ring', which has 100 elements, 0 to 99",
      "");
  checked(device::Mistake::not_written, "",
          "a kernel waited too long for element 41 of put 0 of rank 0 to rank 1 in step 3 of chain 'ring'");
}

}  // namespace
}  // namespace tca::test
