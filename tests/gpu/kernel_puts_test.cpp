// Tests puts that the program's kernels make: by a block, by threads and by a grid, into windows of the
// library's memory and of the program's. Also tests the errors for puts outside the target and for signals
// that never come.
#include <thread>

#include "cuda_ok.hpp"
#include "kernels/put_kernels.hpp"
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// A stream and the counter of its kernels. Both are made and freed while no rank's kernel waits, since either
// call may wait for the whole GPU.
struct Counting {
  Counting() {
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    ok(cudaMallocHost(&wrong, sizeof *wrong));
    *wrong = 0;
  }
  Counting(const Counting&) = delete;
  ~Counting() {
    cudaStreamDestroy(stream);
    cudaFreeHost(wrong);
  }
  cudaStream_t stream{};
  unsigned* wrong = nullptr;
};

template <class T>
using RingKernel = cudaError_t (*)(const PutRing<T>& ring, cudaStream_t stream);

template <class T>
void run_ring(World& world, RingKernel<T> kernel, int room, int steps, const Window<T>& window) {
  const Team team = world.team("ring", 1);
  const Counting counting;
  world.barrier();
  ok(kernel({window.device(), team.device(), room, steps, counting.wrong}, counting.stream));
  ok(cudaStreamSynchronize(counting.stream));
  world.check();
  require(*counting.wrong == 0, "rank {}: {} elements are wrong, or calls failed", world.rank(),
          *counting.wrong);
  world.barrier();
}

// `memory` null: the library allocates the window.
template <class T>
void run_ring(World& world, RingKernel<T> kernel, int room, int steps, T* memory = nullptr) {
  const std::int64_t elements = std::int64_t{room} * std::max(2, world.size());
  run_ring<T>(world, kernel, room, steps,
              memory != nullptr ? world.window(memory, elements) : world.window<T>(elements));
}

TEST_P(FabricTest, KernelPutsOfABlock) {
  for (const int ranks : {1, 2, 3}) {
    run(ranks, [this](World& world) {
      run_ring<unsigned char>(world, run_block_puts<unsigned char>, 999, steps(500));
      run_ring<float>(world, run_block_puts<float>, 64, steps(2000));
      run_ring<double>(world, run_block_puts<double>, 100'000, steps(100));
    });
  }
}

TEST_P(FabricTest, KernelPutsOfThreads) {
  run(2, [this](World& world) { run_ring<float>(world, run_thread_puts, 1001, steps(500)); });
}

TEST_P(FabricTest, KernelPutsOfAGrid) {
  run(2, [this](World& world) { run_ring<float>(world, run_grid_puts, 4000, steps(500)); });
}

TEST_P(FabricTest, KernelPutsToAllBetweenBarriers) {
  run(3, [this](World& world) { run_ring<float>(world, run_puts_to_all, 201, steps(500)); });
}

// Ranks 2 and 0 are numbers 0 and 1 of their group, in a window of its own and in one of the world.
TEST_P(FabricTest, KernelPutsWithinAGroup) {
  run(3, [this](World& world) {
    constexpr int room = 300;
    const Window<float> around = world.window<float>(2 * room);
    World group = world.split(world.rank() % 2, -world.rank());
    run_ring<float>(group, run_thread_puts, room, steps(200));
    run_ring<float>(group, run_block_puts<float>, room, steps(200), group.view(around));
    run_ring<float>(group, run_puts_to_all, room, steps(200));
    world.barrier();
  });
}

TEST_P(FabricTest, KernelPutsIntoTheCallersMemory) {
  run(2, [this](World& world) {
    constexpr int room = 2000, margin = 3;
    float* memory = nullptr;
    ok(cudaMalloc(&memory, (2 * room + margin) * sizeof(float)));
    run_ring<float>(world, run_block_puts<float>, room, steps(200), memory + margin);
    (void)world.window<char>(1);  // tells all ranks that all have dropped the ring's window
    world.barrier();
    cudaFree(memory);
  });
}

TEST_P(FabricTest, KernelPutsOutsideTheTargetAreRefused) {
  run(2, [](World& world) {
    const Window<float> window = world.window<float>(64 + 36 * world.rank());
    if (world.rank() == 0) fill(window, 0, 64, 1.0f);
    const Counting counting;
    world.barrier();
    const auto put = [&](unsigned rank, std::uint64_t offset, std::uint64_t count) {
      ok(run_put(window.device(), rank, offset, count, counting.wrong, counting.stream));
      ok(cudaStreamSynchronize(counting.stream));
    };
    if (world.rank() == 0) {
      put(1, 90, 10);
      require(*counting.wrong == 64, "a put up to the end is refused");
      world.check();
      *counting.wrong = 0;
      put(1, 60, 41);
      put(2, 0, 1);
      require(*counting.wrong == 0, "a put outside is not refused");
      const Caught error = caught([&] { world.check(); });
      require(error.code == Errc::invalid_argument, "{}", error.message);
      for (const char* part : {"rank 0", "41 elements from element 60 on into window 0 on rank 1", "has 100"})
        require(error.message.find(part) != std::string::npos, "\"{}\" does not say \"{}\"", error.message,
                part);
    }
    world.barrier();
    if (world.rank() == 0) return;
    const std::vector<float> held = contents(window);
    for (std::size_t i = 0; i < held.size(); ++i)
      require(held[i] == (i < 90 ? 0.0f : 1.0f), "element {} is {}", i, held[i]);
  });
}

TEST_P(FabricTest, KernelsThatWaitForASignalEndInTime) {
  // Processes that open the same GPU may reach the kernel seconds apart.
  constexpr std::chrono::seconds limit(5);
  const std::string failure =
      GetParam().make()->run(2,
                             [&](World& world) {
                               const Team team = world.team("quiet", 1);
                               const Counting counting;
                               world.barrier();
                               if (world.rank() == 1) {
                                 // It stays in the world, but sends nothing. A rank that leaves would be
                                 // noticed at once.
                                 std::this_thread::sleep_for(limit + std::chrono::seconds(1));
                                 return;
                               }
                               ok(run_wait_signal(team.device(), 1, counting.wrong, counting.stream));
                               ok(cudaStreamSynchronize(counting.stream));
                               require(*counting.wrong == 0, "a call came back good without a signal");
                               world.check();
                             },
                             {.time_limit = limit});
  EXPECT_TRUE(says(failure, {"rank 0 waited too long on its GPU in a signal of team 'quiet' for rank 1"}));
}

}  // namespace
}  // namespace tca::test
