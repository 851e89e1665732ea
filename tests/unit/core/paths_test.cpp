// Tests paths between ranks that fail: what says which, what a commit takes instead, and what steps and their ends are told.
#include "core/world/paths.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "seed.hpp"
#include "tca/tca.hpp"

namespace tca::test {
namespace {

std::string message_of(const std::function<void()>& call, Errc code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was said";
  return {};
}

void expect_within(std::string_view part, const std::string& text) {
  EXPECT_NE(text.find(part), text.npos) << "\"" << part << "\" is not in: " << text;
}

// A chain by which two ranks put their number into each other's window.
struct Pair {
  Pair(World& world, const std::string& name, ChainOptions options)
      : other(1 - world.rank()), window(world.window<int>(2)), chain(world.chain(name, std::move(options))) {
    chain.put(window.on(other).at(1), window.at(0), block(1)).expect(other).commit();
  }
  int step(int value) {
    window.write(0, {&value, 1});
    chain.start();
    chain.wait();
    int come = 0;
    window.read(1, {&come, 1});
    return come;
  }

  int other;
  Window<int> window;
  Chain chain;
};

// Runs ranks whose path fails after a while, which grows until their chains are committed by then.
void run_until_it_fails(int ranks, const std::function<void(World&)>& body, const std::string& path,
                        double ms) {
  for (;; ms *= 4) {
    try {
      return World::run_threads(ranks, body, {.faults = path + "@" + std::to_string(ms) + "ms"});
    } catch (const Error& error) {
      if (error.code() != Errc::refused || ms > 10'000) throw;
    }
  }
}

TEST(Paths, AreReadWithTheirTimes) {
  const std::vector<core::Path> paths = core::read_paths("path:3-1:shm/pull@20ms,path:0-2:mpi@0s", "a test");

  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].name(), "path 1-3 by shm/pull");
  EXPECT_DOUBLE_EQ(paths[0].after, 0.02);
  EXPECT_EQ(paths[1].name(), "path 0-2 by mpi");
}

TEST(Paths, ThatCannotBeAreRefused) {
  for (const char* const text : {"path:0-1@1s", "path:0:shm@1s", "path:1-1:shm@1s", "path:0-1:shm",
                                 "path:0-1:sim@1s", "path:0-1:shm@1h", "cable:0-1@1us", "path:-1:shm@1s"}) {
    const std::string why =
        message_of([&] { core::read_paths(text, "OPENTCA_FAULTS"); }, Errc::invalid_argument);
    expect_within(std::string("OPENTCA_FAULTS: '") + text + "' is no fault of this machine", why);
  }
  const auto run = [] { World::run_threads(2, [](World&) {}, {.faults = "path:0-2:shm@0s"}); };
  expect_within("there is no rank 2 in a world of 2", message_of(run, Errc::invalid_argument));
}

TEST(Paths, AChainGoesRoundOneThatHasFailed) {
  const auto run = [](World& world) {
    Pair pair(world, "round", {});
    for (int step = 0; step < 3; ++step)
      EXPECT_EQ(pair.step(10 * step + world.rank()), 10 * step + 1 - world.rank());
    EXPECT_EQ(pair.chain.explain().find("shm/direct"), std::string::npos) << pair.chain.explain();
    ASSERT_EQ(world.known_faults().size(), 1u);
    EXPECT_EQ(world.known_faults()[0].name, "path 0-1 by shm/direct");
  };
  World::run_threads(2, run, {.faults = "path:0-1:shm/direct@0s"});
}

TEST(Paths, ACommitIsRefusedWhereNoneIsLeft) {
  const auto forced = [](World& world) { Pair(world, "forced", {.channel = "direct"}); };
  const auto any = [](World& world) { Pair(world, "any", {}); };
  const auto run = [](const auto& body, const char* faults) {
    return message_of([&] { World::run_threads(2, body, {.faults = faults}); }, Errc::refused);
  };
  expect_within("lost: path 0-1 by shm/direct", run(forced, "path:0-1:shm/direct@0s"));
  expect_within("no channel leads to rank 1 any more; lost: path 0-1 by shm", run(any, "path:0-1:shm@0s"));
}

// Both ends of a path that fails meanwhile are told, a third rank notices nothing, and a chain that is made then carries.
TEST(Paths, AStepWhoseWayFailsEndsAtBothEnds) {
  const auto run = [](World& world) {
    const Window<int> window = world.window<int>(2);
    Chain ring = world.chain("ring");
    const int next = (world.rank() + 1) % world.size(),
              before = (world.rank() + world.size() - 1) % world.size();
    ring.put(window.on(next).at(1), window.at(0), block(1)).expect(before).commit();
    World ends = world.split(world.rank() == 2 ? 1 : 0, 0);
    if (world.rank() < 2) {
      std::optional<Pair> pair(std::in_place, ends, "faces", ChainOptions{.channel = "pull"});
      std::uint32_t step = 0;
      try {
        for (;; ++step) EXPECT_EQ(pair->step(static_cast<int>(step)), static_cast<int>(step));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::path_lost) << error.what();
        EXPECT_EQ(error.chain(), "faces");
        EXPECT_EQ(error.step(), step + 1);
        EXPECT_EQ(error.missing(), std::vector<int>{1 - world.rank()});
        expect_within(
            "its way to rank " + std::to_string(1 - world.rank()) + " is lost: path 0-1 by shm/pull",
            error.what());
      }
      EXPECT_EQ(world.known_faults().size(), 1u);
      pair.reset();
      Pair anew(ends, "anew", {});
      for (int again = 0; again < 3; ++again) EXPECT_EQ(anew.step(again), again);
    } else {
      EXPECT_TRUE(world.known_faults().empty());
    }
    for (int steps = 0; steps < 3; ++steps) {
      ring.start();
      ring.wait();
    }
  };
  run_until_it_fails(3, run, "path:0-1:shm/pull", 5);
}

// Whenever the first way fails, every step brings what was sent in it, and the chain goes on by the second.
TEST(Paths, AReroutedChainGoesOn) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 random(seed.value());
  for (const char* const channel : {"direct", "pull", "staged"}) {
    const double after_ms = 1 + 0.01 * static_cast<double>(random() % 1000);
    const auto run = [&](World& world) {
      constexpr int numbers = 1000;
      const int me = world.rank(), next = (me + 1) % 3, before = (me + 2) % 3;
      const Window<int> window = world.window<int>(2 * numbers);
      Chain chain = world.chain("ring", {.channel = channel, .reroute = true});
      chain.put(window.on(next).at(numbers), window.at(0), block(numbers)).expect(before).commit();
      std::vector<int> values(numbers);
      int last = 0;  // step, which rank 0 chooses when it knows of the fault, and the ring passes on
      for (int step = 1; last == 0 || step <= last; ++step) {
        if (me == 0 && last == 0 && !world.known_faults().empty()) last = step + 30;
        std::fill(values.begin(), values.end(), 3 * step + me);
        values[0] = last;
        window.write(0, values);
        chain.start();
        chain.wait();
        window.read(numbers, values);
        last = std::max(last, values[0]);
        for (int i = 1; i < numbers; ++i)
          ASSERT_EQ(values[static_cast<std::size_t>(i)], 3 * step + before)
              << channel << " after " << after_ms << " ms";
      }
    };
    run_until_it_fails(3, run, std::string("path:0-1:shm/") + channel, after_ms);
  }
}

}  // namespace
}  // namespace tca::test
