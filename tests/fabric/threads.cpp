// Runs the suite over shared memory between threads, with one protocol per chain and with a mixture.
#include <thread>

#include "suite.hpp"

namespace tca::test {
namespace {

// Both ranks start a step and destroy the chain at once. Rank 0 starts its step 10 ms later, so rank 1's puts
// may be on their way while rank 0 already makes its next window.
TEST(Threads, AChainAndItsWindowGoInTheMiddleOfAStep) {
  constexpr std::int64_t count = std::int64_t{1} << 20;
  for (const std::string& channel : thread_backend().channels) {
    const auto give_up = [&](World& world) {
      const Window<std::byte> window = world.window<std::byte>(2 * count);
      const int other = 1 - world.rank();
      Chain chain = world.chain("given up", {.channel = channel});
      chain.put(window.on(other).at(0), window.at(count), block(count)).expect(other).commit();
      chain.start();
      chain.wait();
      world.barrier();
      if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      chain.start();
    };
    EXPECT_EQ(thread_ranks()->run(2,
                                  [&](World& world) {
                                    for (int i = 0; i < 10; ++i) {
                                      give_up(world);
                                      static_cast<void>(world.window<int>(1));
                                    }
                                  }),
              "")
        << channel;
  }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(thread_backend(), mixed_backend(1), mixed_backend(2)), backend_name);
}  // namespace tca::test
