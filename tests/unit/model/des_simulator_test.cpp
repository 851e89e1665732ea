// Tests agents: sleeping, waiting for each other, ends and deadlocks. Also checks that the same model has the
// same events.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "messages.hpp"
#include "model/des/random.hpp"
#include "model/des/simulator.hpp"
#include "model/des/wait.hpp"

namespace tca::test {
namespace {

using namespace des;

class SimulatorTest : public testing::Test {
 public:
  Simulator simulator;
  std::vector<std::pair<Time, int>> seen;

  void note(int what) { seen.emplace_back(simulator.now(), what); }

  Task sleeper(Time first, Time second, int name) {
    co_await simulator.sleep(first);
    note(name);
    co_await simulator.sleep_until(second);
    note(name);
  }
};

using Seen = std::vector<std::pair<Time, int>>;

TEST_F(SimulatorTest, AgentsSleepSideBySide) {
  simulator.spawn(sleeper(10, 30, 1), {"sleeper", 1});
  simulator.spawn(sleeper(5, 30, 2), {"sleeper", 2});
  simulator.run();
  EXPECT_EQ(seen, (Seen{{5, 2}, {10, 1}, {30, 1}, {30, 2}}));
  EXPECT_EQ(simulator.workers(), 0u);
}

TEST_F(SimulatorTest, ARunStopsAtATimeAndGoesOn) {
  simulator.spawn(sleeper(10, 30, 1), {"sleeper", 1});
  EXPECT_TRUE(simulator.run_until(20));
  EXPECT_EQ(simulator.now(), 20);
  EXPECT_EQ(seen, (Seen{{10, 1}}));
  EXPECT_FALSE(simulator.run_until(100));
  EXPECT_EQ(seen, (Seen{{10, 1}, {30, 1}}));
}

TEST_F(SimulatorTest, TasksAwaitTasks) {
  struct Program {
    static Task leaf(SimulatorTest& test, int what) {
      co_await test.simulator.sleep(1);
      if (what == 3) throw Error(Errc::refused, "three");
    }
    static Task middle(SimulatorTest& test, std::vector<int>& done) {
      for (int i = 1; i < 5; ++i) {
        Task child = leaf(test, i);
        co_await child;
        done.push_back(i);
      }
    }
    static Task outer(SimulatorTest& test, std::vector<int>& done) {
      try {
        Task child = middle(test, done);
        co_await child;
      } catch (const Error& error) {
        done.push_back(-3);
      }
      co_await test.simulator.sleep(1);
      done.push_back(static_cast<int>(test.simulator.now()));
    }
  };
  std::vector<int> done;
  simulator.spawn(Program::outer(*this, done), {"outer"});
  simulator.run();
  EXPECT_EQ(done, (std::vector{1, 2, -3, 4}));
}

TEST_F(SimulatorTest, WhatAnAgentThrowsComesOutOfTheRun) {
  struct Program {
    static Task fail(Simulator& simulator) {
      co_await simulator.sleep(7);
      throw Error(Errc::refused, "no such link");
    }
  };
  simulator.spawn(Program::fail(simulator), {"failing"});
  EXPECT_TRUE(refuses(Errc::refused, {"no such link"}, [&] { simulator.run(); }));
  EXPECT_EQ(simulator.now(), 7);
}

struct Waiter {
  static Task reach(Counter& counter, std::uint64_t value, Simulator& simulator,
                    std::vector<std::pair<Time, int>>& seen) {
    co_await counter.reached(value);
    seen.emplace_back(simulator.now(), static_cast<int>(value));
  }
  static Task add(Counter& counter, std::uint64_t count, Time at, Simulator& simulator) {
    co_await simulator.sleep_until(at);
    counter.add(count);
  }
  static Task hold(Semaphore& semaphore, std::uint64_t count, Time span, Simulator& simulator, Seen& seen) {
    co_await semaphore.acquire(count);
    seen.emplace_back(simulator.now(), static_cast<int>(count));
    co_await simulator.sleep(span);
    semaphore.release(count);
  }
};

TEST_F(SimulatorTest, CountersWakeWhomTheyHaveReached) {
  Counter counter(simulator, {"arrivals"});
  for (const std::uint64_t value : {3u, 1u, 2u, 0u}) {
    simulator.spawn(Waiter::reach(counter, value, simulator, seen), {"waiter"});
  }
  simulator.spawn(Waiter::add(counter, 2, 10, simulator), {"adder"});
  simulator.spawn(Waiter::add(counter, 1, 20, simulator), {"adder"});
  simulator.run();
  EXPECT_EQ(seen, (Seen{{0, 0}, {10, 1}, {10, 2}, {20, 3}}));
}

TEST_F(SimulatorTest, SemaphoresServeInTheOrderOfAsking) {
  Semaphore tags(simulator, {"tags"}, 2);
  simulator.spawn(Waiter::hold(tags, 1, 10, simulator, seen), {"a"});
  simulator.spawn(Waiter::hold(tags, 2, 5, simulator, seen), {"b"});
  simulator.spawn(Waiter::hold(tags, 1, 1, simulator, seen), {"c"});  // would fit at once, but came later
  simulator.run();
  EXPECT_EQ(seen, (Seen{{0, 1}, {10, 2}, {15, 1}}));
  EXPECT_EQ(tags.available(), 2u);
}

TEST_F(SimulatorTest, WhoWaitsForASignalCanBeMadeToAskForATag) {
  struct Program {
    static Task wait(SimulatorTest& test, Signal& over, Semaphore& tags) {
      co_await over.wait();
      test.note(7);
      tags.release();
    }
    static Task ask(Simulator& simulator, Signal& over, Semaphore& tags) {
      co_await simulator.sleep(5);
      tags.ask_for(over);
    }
  };
  Semaphore tags(simulator, {"tags"}, 1);
  Signal over(simulator, {"the end"});
  simulator.spawn(Waiter::hold(tags, 1, 10, simulator, seen), {"a"});
  simulator.spawn(Program::wait(*this, over, tags), {"b"});
  simulator.spawn(Program::ask(simulator, over, tags), {"on behalf of b"});
  simulator.run();
  EXPECT_EQ(seen, (Seen{{0, 1}, {10, 7}}));
  EXPECT_EQ(tags.available(), 1u);
}

TEST_F(SimulatorTest, GroupsEndWithTheirLast) {
  struct Program {
    static Task run(SimulatorTest& test) {
      Group group(test.simulator, {"sleepers"});
      group.spawn(test.sleeper(1, 50, 1), {"sleeper", 1});
      group.spawn(test.sleeper(2, 40, 2), {"sleeper", 2});
      co_await group.done();
      test.note(0);
    }
  };
  simulator.spawn(Program::run(*this), {"program"});
  simulator.run();
  EXPECT_EQ(seen.back(), (std::pair<Time, int>{50, 0}));
}

TEST_F(SimulatorTest, ADeadlockNamesWhoWaitsForWhat) {
  Counter arrivals(simulator, {"an arrival from rank", 1});
  Semaphore tags(simulator, {"a tag of dma", 4, 2}, 1);
  simulator.spawn(Waiter::add(arrivals, 1, 2 * microsecond, simulator), {"adder"});
  simulator.spawn(Waiter::reach(arrivals, 2, simulator, seen), {"rank", 0});
  simulator.spawn(Waiter::hold(tags, 2, 1, simulator, seen), {"rank", 7});
  simulator.spawn(Waiter::reach(arrivals, 9, simulator, seen), {"engine"}, AgentKind::service);
  EXPECT_TRUE(
      refuses(Errc::timed_out,
              {"deadlock after 2.000 us", "2 still wait",
               "rank 0 waits for an arrival from rank 1 since 0.000 us", "rank 7 waits for a tag of dma 4.2"},
              [&] { simulator.run(); }));
  const std::vector<Waiting> waiting = simulator.waiting();
  ASSERT_EQ(waiting.size(), 2u);
}

TEST_F(SimulatorTest, ServicesMayBeLeft) {
  Signal work(simulator, {"work"});
  struct Program {
    static Task serve(Signal& work, int& served) {
      for (;;) {
        co_await work.wait();
        work.lower();
        ++served;
      }
    }
    static Task ask(Signal& work, Simulator& simulator) {
      for (int i = 0; i < 3; ++i) {
        co_await simulator.sleep(10);
        work.raise();
      }
    }
  };
  int served = 0;
  simulator.spawn(Program::serve(work, served), {"engine"}, AgentKind::service);
  simulator.spawn(Program::ask(work, simulator), {"host"});
  simulator.run();
  EXPECT_EQ(served, 3);
}

// A crowd of agents that sleep at random and pass tokens on. What it does depends on the order of all events.
struct Crowd {
  Simulator simulator;
  Semaphore tokens{simulator, {"tokens"}, 3};
  Counter turns{simulator, {"turns"}};

  explicit Crowd(QueueKind queue) : simulator({.queue = queue}) {
    for (std::uint32_t i = 0; i < 50; ++i) simulator.spawn(member(i), {"member", i});
    simulator.run();
  }
  Task member(std::uint32_t name) {
    Random random(1, name);
    for (int turn = 0; turn < 20; ++turn) {
      co_await tokens.acquire(1 + random.below(2));
      const auto held = random.below(1 << (4 * random.below(8)));
      co_await simulator.sleep(static_cast<Time>(held));
      tokens.release();
      turns.add();
      if (tokens.available() == 0) tokens.release();
    }
  }
};

TEST(EventHash, IsTheSameForEveryQueueAndRun) {
  const Crowd wheel(QueueKind::wheel), again(QueueKind::wheel), heap(QueueKind::heap);
  EXPECT_EQ(wheel.simulator.hash(), again.simulator.hash());
  EXPECT_EQ(wheel.simulator.hash(), heap.simulator.hash());
  EXPECT_EQ(wheel.simulator.events(), heap.simulator.events());
  // The hash is the same on every compiler and in every build type.
  EXPECT_EQ(fmt::format("{:016x}", wheel.simulator.hash()), "1f971b9506c58d44");
}

TEST(Randoms, OfAnObjectAreItsOwn) {
  Random a(1, 2), again(1, 2), other(1, 3), seeded(2, 2);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, again.next());
  EXPECT_NE(first, other.next());
  EXPECT_NE(first, seeded.next());
}

TEST(Randoms, AreSpreadEvenly) {
  Random random(7, 0);
  int counts[10]{};
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) ++counts[random.below(10)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  for (int i = 0; i < 100'000; ++i) sum += random.uniform();
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

}  // namespace
}  // namespace tca::test
