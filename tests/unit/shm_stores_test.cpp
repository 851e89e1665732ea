// How a link finds out which way of storing is fastest, with clocks that are made up.
#include <gtest/gtest.h>

#include <map>

#include "fabric/shm/stores.hpp"

namespace tca::test {
namespace {

using shm::Stores, shm::StoreTrial;
using enum shm::Stores;

using Ticks = std::map<Stores, std::uint64_t>;  // of a send, by way

// How many of `sends` went which way.
std::map<Stores, int> run(StoreTrial& trial, int sends, const Ticks& ticks) {
  std::map<Stores, int> taken;
  for (int i = 0; i < sends; ++i) {
    const Stores way = trial.way();
    ++taken[way];
    trial.sent(trial.is_timed() ? ticks.at(way) : 0);
  }
  return taken;
}

TEST(StoreTrial, TakesTheFastest) {
  for (const auto& [fastest, ticks] :
       {std::pair(ordinary, Ticks{{long_moves, 12}, {ordinary, 10}, {streamed, 20}}),
        std::pair(long_moves, Ticks{{long_moves, 9}, {ordinary, 10}, {streamed, 8}}),
        std::pair(streamed, Ticks{{long_moves, 30}, {ordinary, 30}, {streamed, 10}})}) {
    StoreTrial trial{long_moves, ordinary, streamed};
    run(trial, 20, ticks);
    EXPECT_EQ(trial.way(), fastest);
  }
}

TEST(StoreTrial, LosesLittleOnIt) {
  StoreTrial trial{ordinary, streamed};
  run(trial, 2000, {{ordinary, 10}, {streamed, 20}});
  EXPECT_LE(run(trial, 10000, {{ordinary, 10}, {streamed, 20}})[streamed], 60);
}

TEST(StoreTrial, NoticesThatCoresHaveMoved) {
  StoreTrial trial{ordinary, streamed};
  const Ticks near{{ordinary, 10}, {streamed, 20}}, far{{ordinary, 40}, {streamed, 15}};
  run(trial, 5000, near);
  EXPECT_LE(run(trial, 5000, far)[ordinary], 600);
  EXPECT_LE(run(trial, 5000, near)[streamed], 600);
}

// A send in which the core did something else counts for nothing.
TEST(StoreTrial, ForgivesASlowSend) {
  StoreTrial trial{ordinary, streamed};
  int slow = 0;
  std::map<Stores, int> taken;
  for (int i = 0; i < 3000; ++i) {
    const Stores way = trial.way();
    ++taken[way];
    const std::uint64_t ticks = way == ordinary ? 10 : 20;
    trial.sent(trial.is_timed() && ++slow % 3 == 0 ? std::uint64_t{1} << 40 : ticks);
  }
  EXPECT_LE(taken[streamed], 60);
}

TEST(StoreTrial, WithOneWayNothingIsTimed) {
  StoreTrial trial;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(trial.way(), ordinary);
    ASSERT_FALSE(trial.is_timed());
    trial.sent(0);
  }
}

}  // namespace
}  // namespace tca::test
