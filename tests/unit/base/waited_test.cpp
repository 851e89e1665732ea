// Tests when a loop around `test` checks on its partners.
#include "base/waited.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tca::test {
namespace {

using namespace std::chrono_literals;

TEST(TestLoop, LooksEveryFiftyMillisecondsOfOneStep) {
  base::TestLoop loop;
  int looks = 0;
  while (loop.so_far() < 120ms) looks += loop.go_round(1);
  EXPECT_EQ(looks, 2);
  EXPECT_FALSE(loop.go_round(2));
  EXPECT_EQ(loop.so_far(), 0ms);
}

TEST(TestLoop, CountsLittleOfWhatIsComputedInBetween) {
  base::TestLoop loop;
  constexpr int tests = 64;  // only a few of them read the clock
  for (int i = 0; i < tests; ++i) {
    loop.go_round(1);
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_GT(loop.so_far(), 0ms);
  EXPECT_LE(loop.so_far(), 4ms);
}

}  // namespace
}  // namespace tca::test
