// Checks that the test double is as disorderly as it claims. Programs that rely on more than the library
// promises fail on it. The corrected programs do not.

#include <thread>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool races_are_reported = true;
#else
constexpr bool races_are_reported = false;
#endif

class ShuffleTest : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    if (races_are_reported) GTEST_SKIP() << "the programs of this test race on purpose";
  }
  std::string run(const Ranks::Body& body) { return shuffle_ranks(GetParam())->run(2, body); }
};

constexpr int steps = 300;
constexpr std::int64_t count = 16;

void fill(const Window<int>& window, std::int64_t from, int value) {
  for (std::int64_t i = 0; i < count; ++i) window[static_cast<std::size_t>(from + i)] = value;
}

void check(const Window<int>& window, int value) {
  for (std::int64_t i = 0; i < count; ++i) {
    const int have = window[static_cast<std::size_t>(count + i)];
    require(have == value, "a ghost is {} where {} belongs", have, value);
  }
}

Chain exchange(World& world, const Window<int>& window, ChainOptions options) {
  const int other = 1 - world.rank();
  Chain chain = world.chain("exchange", std::move(options));
  chain.put(window.on(other).at(count), window.at(0), block(count)).expect(other).commit();
  return chain;
}

// How the program of an exchange behaves, by default correctly.
struct Habits {
  bool reads_before_wait = false;
  bool overwrites_before_wait = false;
  bool guarded = true;
  bool dawdles = false;
};

std::string exchange_with(const Habits& habits, const std::function<std::string(const Ranks::Body&)>& run) {
  return run([&](World& world) {
    const Window<int> window = world.window<int>(2 * count);
    Chain chain = exchange(world, window, {.guarded = habits.guarded, .time_limit = {}, .channel = {}});
    for (int step = 1; step <= steps; ++step) {
      fill(window, 0, step);
      chain.start();
      if (habits.reads_before_wait) check(window, step);
      if (habits.overwrites_before_wait) fill(window, 0, -step);
      chain.wait();
      if (habits.dawdles) std::this_thread::sleep_for(std::chrono::microseconds(200));
      check(window, step);
    }
  });
}

TEST_P(ShuffleTest, CatchesNothingWhereNothingIsWrong) {
  EXPECT_EQ(exchange_with({}, [&](const auto& body) { return run(body); }), "");
  EXPECT_EQ(exchange_with({.dawdles = true}, [&](const auto& body) { return run(body); }), "");
}

TEST_P(ShuffleTest, CatchesGhostsReadBeforeWait) {
  EXPECT_TRUE(says(exchange_with({.reads_before_wait = true}, [&](const auto& body) { return run(body); }),
                   {"a ghost is"}));
}

TEST_P(ShuffleTest, CatchesSourcesOverwrittenBeforeWait) {
  EXPECT_TRUE(
      says(exchange_with({.overwrites_before_wait = true}, [&](const auto& body) { return run(body); }),
           {"a ghost is -"}));
}

TEST_P(ShuffleTest, CatchesAnUnguardedChainWithOneBuffer) {
  EXPECT_TRUE(
      says(exchange_with({.guarded = false, .dawdles = true}, [&](const auto& body) { return run(body); }),
           {"a ghost is"}));
}

TEST_P(ShuffleTest, AllowsUnguardedChainsWithTwoBuffers) {
  EXPECT_EQ(run([](World& world) {
              std::vector<Window<int>> windows;
              std::vector<Chain> chains;
              for (int b = 0; b < 2; ++b) {
                windows.push_back(world.window<int>(2 * count));
                chains.push_back(
                    exchange(world, windows.back(), {.guarded = false, .time_limit = {}, .channel = {}}));
              }
              for (int step = 1; step <= steps; ++step) {
                const auto b = static_cast<std::size_t>(step % 2);
                fill(windows[b], 0, step);
                chains[b].start();
                chains[b].wait();
                std::this_thread::sleep_for(std::chrono::microseconds(100));
                check(windows[b], step);
              }
            }),
            "");
}

TEST_P(ShuffleTest, CatchesAnImmediatePutReadWithoutASignal) {
  EXPECT_TRUE(says(run([](World& world) {
                     const Window<int> window = world.window<int>(1);
                     for (int step = 1; step <= steps; ++step) {
                       window.on(1 - world.rank()).at(0).put(step);
                       world.barrier();  // orders the ranks, but is not a chain's signal
                       require(window[0] == step, "read {} in step {}", window[0], step);
                       world.barrier();
                     }
                   }),
                   {"read "}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShuffleTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tca::test
