// Tests that nothing hangs: a rank that does not come, or that fails, is named to those that wait for it.
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "base/text/ranks.hpp"
#include "core/world/world_state.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds short_limit{200};

double seconds_of(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Chain ring(World& world, const char* name, ChainOptions options) {
  world.barrier();  // a short time limit may hold for what follows
  Chain chain = world.chain(name, std::move(options));
  const int size = world.size();
  chain.signal((world.rank() + 1) % size).expect((world.rank() + size - 1) % size).commit();
  return chain;
}

TEST(Failure, WaitNamesTheRankThatNeverStarts) {
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(3, [&](World& world) {
    Chain chain = ring(world, "faces", {.guarded = true, .time_limit = short_limit, .channel = {}});
    for (int step = 0; step < 2; ++step) {
      chain.start();
      chain.wait();
    }
    if (world.rank() != 2) chain.start();
    if (world.rank() == 0) {
      const Caught error = caught([&] { chain.wait(); });
      told = true;
      throw Error(error.code, error.message, error.fields);
    }
    // The other ranks stay in the world until rank 0 has hit its time limit, so that it does not take them
    // for lost.
    while (!told) std::this_thread::sleep_for(milliseconds(5));
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message,
                   {"rank 0 waited 0.", "in step 3 of chain 'faces' for rank 2, which has not signalled",
                    "OPENTCA_TIME_LIMIT"}));
  EXPECT_EQ(all[0].fields.rank, 0);
  EXPECT_EQ(all[0].fields.chain, "faces");
  EXPECT_EQ(all[0].fields.step, 3u);
  EXPECT_EQ(all[0].fields.missing, std::vector<int>{2});
}

// Rank 1 is no partner, and goes on.
TEST(Failure, CommitAmongPartnersNamesTheOneThatNeverComes) {
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(3, [&](World& world) {
    if (world.rank() != 0) {
      while (!told) std::this_thread::sleep_for(milliseconds(5));
      return;
    }
    Chain chain = world.chain("pair", {.time_limit = short_limit, .channel = {}, .partners_only = true});
    chain.signal(2).expect(2);
    const Caught error = caught([&] { chain.commit(); });
    told = true;
    throw Error(error.code, error.message, error.fields);
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message, {"rank 0 waited 0.", "in commit of chain 'pair' for rank 2",
                                    "do both ranks put to each other or expect it?"}));
  EXPECT_EQ(all[0].fields.chain, "pair");
  EXPECT_EQ(all[0].fields.missing, std::vector<int>{2});
}

class ShortWaits : public testing::TestWithParam<std::chrono::microseconds> {};

// The waits of a step count together, however short each of them is.
TEST_P(ShortWaits, HonourTheChainsLimit) {
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) {
    Chain chain = ring(world, "faces", {.guarded = true, .time_limit = short_limit, .channel = {}});
    if (world.rank() == 0) {
      chain.start();
      const Caught error = caught_while_looking([&] { return chain.wait_for(GetParam()); });
      told = true;
      throw Error(error.code, error.message, error.fields);
    }
    while (!told) std::this_thread::sleep_for(milliseconds(5));
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message, {"rank 0 waited 0.", "in step 1 of chain 'faces' for rank 1"}));
}

INSTANTIATE_TEST_SUITE_P(Failure, ShortWaits,
                         testing::Values(std::chrono::microseconds(0), std::chrono::microseconds(1),
                                         milliseconds(20)));

TEST(Failure, WaitHonoursTheWorldsLimit) {
  std::atomic<bool> told = false;
  std::string message;
  const double seconds = seconds_of([&] {
    World::run_threads(2,
                       [&](World& world) {
                         Chain chain = ring(world, "slow", {});
                         if (world.rank() == 0) {
                           chain.start();
                           message = caught([&] { chain.wait(); }).message;
                           told = true;
                         }
                         while (!told) std::this_thread::sleep_for(milliseconds(5));
                       },
                       {.time_limit = short_limit});
  });
  EXPECT_TRUE(says(message, {"rank 0 waited 0.", " s in step 1 of chain 'slow' for rank 1"}));
  EXPECT_LT(seconds, 5);
}

TEST(Failure, CommitHonoursTheChainsLimit) {
  std::atomic<bool> told = false;
  Caught error;
  const double seconds = seconds_of([&] {
    World::run_threads(2, [&](World& world) {
      if (world.rank() == 0) {
        Chain chain = world.chain("lonely", {.guarded = true, .time_limit = short_limit, .channel = {}});
        error = caught([&] { chain.commit(); });
        told = true;
      }
      while (!told) std::this_thread::sleep_for(milliseconds(5));
    });
  });
  EXPECT_EQ(error.code, Errc::timed_out);
  EXPECT_TRUE(says(error.message, {"rank 0 waited 0.", " s in commit of chain 'lonely' for rank 1"}));
  EXPECT_LT(seconds, 5);
}

TEST(Failure, ACollectiveNamesTheRankThatDoesNotCome) {
  std::atomic<bool> told = false;
  Caught error;
  World::run_threads(3,
                     [&](World& world) {
                       if (world.rank() != 1) {
                         const Caught mine = caught([&] { world.barrier(); });
                         if (world.rank() == 0) {
                           error = mine;
                           told = true;
                         }
                       }
                       while (!told) std::this_thread::sleep_for(milliseconds(5));
                     },
                     {.time_limit = short_limit});
  EXPECT_EQ(error.code, Errc::timed_out);
  EXPECT_TRUE(says(error.message,
                   {"rank 0 waited 0.", " s in World::barrier for rank 1", "same call, in the same order"}));
}

// The constructor fails already.
TEST(Failure, ACollectiveThatARankDoesNotMakeIsNamed) {
  std::atomic<bool> told = false;
  Caught error;
  World::run_threads(2,
                     [&](World& world) {
                       const Window<double> window = world.window<double>(1);
                       if (world.rank() == 0) {
                         error = caught([&] { AllReduce<double>(world, "residual", window, 1); });
                         told = true;
                       }
                       while (!told) std::this_thread::sleep_for(milliseconds(5));
                     },
                     {.time_limit = short_limit});
  EXPECT_EQ(error.code, Errc::timed_out);
  EXPECT_TRUE(says(error.message, {"rank 0 waited 0.", "collective 'residual' for rank 1"}));
}

TEST(Failure, CallsBesideACollectiveAreToldTheSame) {
  const std::vector<Caught> all = caught_by_ranks(2, [](World& world) {
    const Window<double> window = world.window<double>(1);
    if (world.rank() == 0)
      AllReduce<double>(world, "residual", window, 1);
    else
      static_cast<void>(world.all_gather(world.rank()));
  });
  const std::vector<Caught> gathers = caught_by_ranks(
      3, [](World& world) { world.rank() == 2 ? void(world.all_gather(2.5)) : void(world.all_gather(1)); });
  for (const Caught& error : all) {
    EXPECT_EQ(error.code, Errc::refused);
    EXPECT_TRUE(says(error.message, {"collective 'residual', rank 1 in World::all_gather"}));
  }
  for (const Caught& error : gathers) {
    EXPECT_EQ(error.code, Errc::refused);
    EXPECT_TRUE(says(error.message, {"World::all_gather: rank 0 gives 4 bytes, rank 2 8"}));
  }
}

TEST(Failure, ThePartnersOfARankThatThrowsAreTold) {
  std::vector<Caught> all(3);
  std::string first;
  const double seconds = seconds_of([&] {
    try {
      World::run_threads(3, [&](World& world) {
        Chain chain = ring(world, "faces", {});
        chain.start();
        chain.wait();
        if (world.rank() == 1) throw std::runtime_error("disk full");
        all[static_cast<std::size_t>(world.rank())] = caught([&] {
          for (;;) {
            chain.start();
            chain.wait();
          }
        });
        throw Error(all[static_cast<std::size_t>(world.rank())].code, "passed on");
      });
    } catch (const std::exception& error) {
      first = error.what();
    }
  });
  EXPECT_EQ(first, "disk full");
  EXPECT_LT(seconds, 5);
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(all[rank].code, Errc::rank_lost) << all[rank].message;
    EXPECT_TRUE(says(all[rank].message, {"chain 'faces'", "step "}));
  }
  EXPECT_TRUE(says(all[2].message, {"rank 1 failed (disk full) while rank 2 was waiting for it in step "}));
  EXPECT_EQ(all[2].fields.rank, 2);
  EXPECT_EQ(all[2].fields.missing, std::vector<int>{1});
}

TEST(Failure, AThirdRankLearnsWhereTheTroubleBegan) {
  std::vector<Caught> all(3);
  const auto body = [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    Chain first = world.chain("first"), second = world.chain("second");
    if (rank == 0) first.signal(1);
    if (rank == 1) first.expect(0), second.signal(2);
    if (rank == 2) second.expect(1);
    first.commit();
    second.commit();
    if (rank == 0) throw std::runtime_error("disk full");
    all[rank] = caught([&] { (rank == 1 ? first : second).run(); });
    throw Error(all[rank].code, all[rank].message);
  };

  EXPECT_THROW(World::run_threads(3, body), std::runtime_error);

  EXPECT_TRUE(says(all[1].message, {"rank 0 failed (disk full) while rank 1 was waiting"}));
  EXPECT_TRUE(says(all[2].message, {"rank 1 failed (rank 0 failed (disk full)) while rank 2 was waiting"}));
}

TEST(Failure, ARankThatReturnsEarlyIsMissed) {
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) {
    if (world.rank() == 1) return;
    world.barrier();
  });
  EXPECT_EQ(all[0].code, Errc::rank_lost);
  EXPECT_TRUE(says(all[0].message, {"rank 1 left the world", "World::barrier"}));
}

TEST(Failure, ARankThatThrowsAnythingElseIsToldToo) {
  std::vector<Caught> all(2);
  EXPECT_THROW(World::run_threads(2,
                                  [&](World& world) {
                                    if (world.rank() == 1) throw 42;  // NOLINT: no std::exception on purpose
                                    all[0] = caught([&] { world.barrier(); });
                                  }),
               int);
  EXPECT_EQ(all[0].code, Errc::rank_lost);
}

TEST(Failure, NumbersOfThreadsThatMakeNoWorldAreRefused) {
  for (const int ranks : {-1, 0, 4097}) {
    const Caught error = caught([&] { World::run_threads(ranks, [](World&) {}); });
    EXPECT_EQ(error.code, Errc::invalid_argument);
    EXPECT_TRUE(
        says(error.message, {"a world of " + std::to_string(ranks) + " ranks: 1 to 4096 are possible"}));
  }
}

TEST(Failure, WhatASenderSentBeforeItLeftStillArrives) {
  for (int round = 0; round < 50; ++round) {
    World::run_threads(2, [&](World& world) {
      const Window<int> window = world.window<int>(2);
      Chain chain = world.chain("last words", {.guarded = false, .time_limit = {}, .channel = "staged"});
      if (world.rank() == 0) chain.put(window.on(1).at(1), window.at(0), block(1));
      if (world.rank() == 1) chain.expect(0);
      chain.commit();
      window[0] = 5;
      if (world.rank() == 1) std::this_thread::sleep_for(milliseconds(round % 5));
      chain.start();
      chain.wait();
      EXPECT_EQ(window[1], world.rank() == 1 ? 5 : 0);
    });
  }
}

TEST(Failure, ThousandsOfRanksAreALine) {
  EXPECT_EQ(base::list_ranks(std::vector<int>{}), "");
  EXPECT_EQ(base::list_ranks(std::vector{7}), "7");
  EXPECT_EQ(base::list_ranks(std::vector{0, 1, 3}), "0, 1, 3");
  EXPECT_EQ(base::list_ranks(std::vector{0, 2, 3, 4, 8, 9, 11, 12, 13, 14}), "0, 2 to 4, 8, 9, 11 to 14");
  std::vector<int> odd;
  for (int rank = 1; rank < 22; rank += 2) odd.push_back(rank);
  EXPECT_EQ(base::list_ranks(odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 1 other");
  for (int rank = 23; rank < 4096; ++rank) odd.push_back(rank);
  EXPECT_EQ(base::list_ranks(odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 4074 others");
}

TEST(Failure, ExitCodes) {
  EXPECT_EQ(Error(Errc::invalid_argument, "").exit_code(), 2);
  EXPECT_EQ(Error(Errc::refused, "").exit_code(), 3);
  EXPECT_EQ(Error(Errc::timed_out, "").exit_code(), 4);
  EXPECT_EQ(Error(Errc::rank_lost, "").exit_code(), 5);
  EXPECT_EQ(Error(Errc::out_of_memory, "").exit_code(), 6);
  EXPECT_EQ(Error(Errc::incompatible, "").exit_code(), 7);
}

void test_until_over(Chain& chain) {
  while (!chain.test()) {
  }
}

// A loop around `test` has the same time limit and errors as `wait`.
TEST(Failure, TestNamesTheRankThatNeverStarts) {
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) {
    Chain chain = ring(world, "polled", {.guarded = true, .time_limit = short_limit, .channel = {}});
    if (world.rank() == 0) {
      chain.start();
      const Caught error = caught([&] { test_until_over(chain); });
      told = true;
      throw Error(error.code, error.message, error.fields);
    }
    while (!told) std::this_thread::sleep_for(milliseconds(5));
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message, {"in step 1 of chain 'polled' for rank 1, which has not signalled"}));
}

// Rank 0 drops a chain in the middle of a step, in which rank `from` puts, and then waits for another chain.
// Rank 1 waits for the step in vain and gets an error that names rank 0. Nothing may land in either window.
void drop_in_a_step(std::string route, int from) {
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) {
    const Window<int> window = world.window<int>(2);
    Chain other = ring(world, "other", {});
    Chain chain = world.chain("dropped", {.guarded = true, .time_limit = short_limit, .channel = route});
    if (world.rank() == from) {
      chain.put(window.on(1 - from).at(0), window.at(1), block(1));
      window.write(1, {{1}});
    } else {
      chain.expect(from);
    }
    chain.commit();
    if (world.rank() == 0) {
      chain.start();
      { const Chain gone = std::move(chain); }
      window.write(1, {{77}});
      world.barrier();
      other.start();
      other.wait();
      while (!told) world.progress();
    } else {
      world.barrier();
      chain.start();
      other.start();
      other.wait();
      const Caught error = caught([&] { chain.wait(); });
      EXPECT_EQ(window[0], 0);
      told = true;
      throw Error(error.code, error.message, error.fields);
    }
    EXPECT_EQ(window[0], 0);
  });
  EXPECT_EQ(all[1].code, Errc::timed_out) << route << ": " << all[1].message;
  EXPECT_TRUE(says(all[1].message, {"in step 1 of chain 'dropped' for rank 0, which has not signalled"}));
}

TEST(Failure, WaitNamesTheRankThatDroppedTheChain) {
  drop_in_a_step("direct", 0);
  drop_in_a_step("pull", 1);
}

TEST(Failure, TestNamesTheRankThatIsLost) {
  const std::vector<Caught> all = caught_by_ranks(2, [](World& world) {
    Chain chain = ring(world, "polled", {});
    if (world.rank() == 1) throw Error(Errc::refused, "of its own will");
    chain.start();
    test_until_over(chain);
  });
  EXPECT_EQ(all[0].code, Errc::rank_lost) << all[0].message;
  EXPECT_TRUE(
      says(all[0].message, {"rank 1", "while rank 0 was waiting for it in step 1 of chain 'polled'"}));
}

// A later call could take an answer to the failed one for its own.
TEST(Failure, CollectiveCallsAreOverOnceOneHasFailed) {
  std::atomic<bool> told = false;
  caught_by_ranks(2,
                  [&](World& world) {
                    if (world.rank() == 1) {
                      while (!told) std::this_thread::sleep_for(milliseconds(5));
                      return;
                    }
                    const Caught first = caught([&] { world.barrier(); });
                    EXPECT_EQ(first.code, Errc::timed_out);
                    const Caught next = caught([&] { return world.window<int>(4); });
                    EXPECT_EQ(next.message, first.message);
                    told = true;
                  },
                  {.time_limit = short_limit});
}

// A rank's progress work during its wait may fail in the middle of a call, of which the other ranks have then
// seen a part.
TEST(Failure, CollectiveCallsAreOverOnceOneHasFailedInTheMiddle) {
  std::atomic<bool> told = false;
  const auto body = [&](World& world) {
    if (world.rank() == 1) {
      while (!told) std::this_thread::sleep_for(milliseconds(5));
      return;
    }
    control::Control& control = core::WorldState::of(world).control();
    const auto before = std::exchange(
        control.while_waiting, []() -> bool { throw Error(Errc::device_failed, "a kernel has failed"); });
    EXPECT_EQ(caught([&] { world.barrier(); }).code, Errc::device_failed);
    control.while_waiting = before;
    EXPECT_TRUE(refuses(Errc::device_failed, {"a kernel has failed"},
                        [&] { return world.all_gather(world.rank()); }));
    told = true;
  };
  caught_by_ranks(2, body, {.time_limit = short_limit});
}

// A chain may outlive its world, and another world may have taken that world's place.
TEST(Failure, AWorldThatEndedInAnErrorIsOverForItsChains) {
  std::optional<Chain> old;
  try {
    World world = World::init();
    old.emplace(world.chain("old"));
    throw std::runtime_error("trouble of the program's own");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(old);
  }
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"this world is over for rank 0", "commit of chain 'old'"},
                      [&] { old->commit(); }));
}

TEST(Failure, WhatOneRankCannotMakeIsThrownByAll) {
  World::run_threads(3, [](World& world) {
    control::Control& control = core::WorldState::of(world).control();
    const auto make = [&](const std::function<void()>& make_mine) {
      return control.make_together("a test", [&] {
        make_mine();
        return base::Writer().put(world.rank()).blob();
      });
    };
    const Caught unmade = caught([&] {
      make([&] {
        if (world.rank() > 0) throw Error(Errc::device_failed, "it is broken");
      });
    });
    EXPECT_EQ(unmade.code, Errc::device_failed);
    EXPECT_EQ(unmade.message, "rank 1, 2: it is broken");
    EXPECT_EQ(unmade.fields.rank, 1);
    const Caught without_memory = caught([&] {
      make([&] {
        if (world.rank() == 2) throw std::bad_alloc();
      });
    });
    EXPECT_EQ(without_memory.code, Errc::out_of_memory);
    EXPECT_EQ(without_memory.message, "rank 2 has no memory left in a test: Cannot allocate memory");
    const std::vector<base::Blob> all = make([] {});
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(base::Reader(all[static_cast<std::size_t>(rank)]).get<int>(), rank);
  });
}

bool is_mapped(const std::byte* memory) {
  const auto page = reinterpret_cast<std::uintptr_t>(memory) & ~std::uintptr_t{4095};
  return msync(reinterpret_cast<void*>(page), 4096, MS_ASYNC) == 0;
}

// A program may catch a refusal and go on. No rank is ahead of the others in the numbers it gives, and memory
// that was to be freed is not forgotten.
TEST(Failure, RanksGoOnAfterDifferentCollectiveCalls) {
  constexpr std::int64_t elements = 256 << 20;
  World::run_threads(2, [](World& world) {
    const int other = 1 - world.rank();
    Chain old = world.chain("old");
    old.signal(other).expect(other).commit();
    std::optional<Window<std::byte>> large = world.window<std::byte>(elements);
    const std::byte* middle = large->data() + elements / 2;
    large.reset();
    { const Chain goes = std::move(old); }
    const auto differ = [&](const std::function<void()>& call) {
      const Caught error = caught([&] { world.rank() == 0 ? call() : world.barrier(); });
      EXPECT_EQ(error.code, Errc::refused) << error.message;
    };
    differ([&] { return world.window<int>(1); });
    differ([&] { world.chain("lonely").commit(); });
    EXPECT_TRUE(refuses(Errc::invalid_argument, {"team 'sums'"}, [&] { return world.team("sums", 1); }));
    EXPECT_TRUE(is_mapped(middle));
    const auto window = world.window<int>(2);
    EXPECT_FALSE(is_mapped(middle));
    Chain chain = world.chain("faces");
    chain.put(window.on(other).at(1), window.at(0), block(1)).expect(other).commit();
    for (int step = 1; step < 10; ++step) {
      window[0] = 10 * step + world.rank();
      chain.start();
      chain.wait();
      EXPECT_EQ(window[1], 10 * step + other);
    }
    EXPECT_EQ(AllReduce<int>(world, "sum").reduce(world.rank() + 1), 3);
  });
}

TEST(Failure, DifferentCollectiveCallsAreNamed) {
  const std::vector<Caught> all = caught_by_ranks(3, [](World& world) {
    world.barrier();
    if (world.rank() == 2) {
      world.chain("lonely").commit();
    } else {
      static_cast<void>(world.window<int>(4));
    }
  });
  for (const Caught& error : all) {
    EXPECT_EQ(error.code, Errc::refused);
    EXPECT_TRUE(says(
        error.message,
        {"rank 0 is in creation of window 0, rank 2 in commit of chain 'lonely'; every rank must make"}));
  }
}

}  // namespace
}  // namespace tca::test
