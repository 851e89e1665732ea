// What collectives refuse, what their errors say, and which algorithm they take.
#include <atomic>
#include <thread>

#include "messages.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;

// The same on every rank, and what it says.
testing::AssertionResult all_refused(int ranks, std::initializer_list<std::string_view> parts,
                                     const std::function<void(World&)>& body) {
  const std::vector<Caught> all = caught_by_ranks(ranks, body);
  for (const Caught& error : all) {
    if (error.code != Errc::refused) return testing::AssertionFailure() << error.message;
    if (error.message != all[0].message)
      return testing::AssertionFailure() << error.message << "\nis not\n" << all[0].message;
    if (const auto result = says(error.message, parts); !result) return result;
  }
  return testing::AssertionSuccess();
}

TEST(Coll, RefusesAnotherCount) {
  EXPECT_TRUE(all_refused(3, {"allreduce 'sum' refused", "rank 0 has a count of 4, rank 2 a count of 5"},
                          [](World& world) { AllReduce<double>(world, "sum", world.rank() == 2 ? 5 : 4); }));
}

TEST(Coll, RefusesAnotherRoot) {
  EXPECT_TRUE(all_refused(2, {"broadcast 'w' refused", "rank 0 has root 0, rank 1 root 1"},
                          [](World& world) { Broadcast<int>(world, "w", 3, world.rank()); }));
}

TEST(Coll, RefusesAnotherOperation) {
  EXPECT_TRUE(all_refused(2, {"rank 0 has max, rank 1 sum"}, [](World& world) {
    ReduceScatter<int>(world, "s", 3, world.rank() == 0 ? Op::max : Op::sum);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has product, rank 1 an operation of its own"}, [](World& world) {
    const Operation<int> own = [](int a, int b) { return a * b; };
    AllReduce<int>(world, "p", 3, world.rank() == 0 ? Operation<int>(Op::product) : own);
  }));
}

TEST(Coll, RefusesAnotherKind) {
  EXPECT_TRUE(all_refused(2, {"rank 0 has barrier, rank 1 allgather"}, [](World& world) {
    if (world.rank() == 0) {
      Barrier barrier(world, "x");
      world.barrier();
    } else {
      world.window<double>(0);  // as many windows as a barrier has
      AllGather<double> gather(world, "x", 1);
    }
  }));
}

TEST(Coll, RefusesOtherElementsAndBuffers) {
  EXPECT_TRUE(
      all_refused(2, {"rank 0 has elements of 4 bytes, rank 1 elements of 8 bytes"}, [](World& world) {
        world.rank() == 0 ? void(Broadcast<float>(world, "w", 3)) : void(Broadcast<double>(world, "w", 3));
      }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has one buffer, rank 1 two buffers"}, [](World& world) {
    const auto a = world.window<int>(6), b = world.window<int>(6);
    world.rank() == 0 ? void(AllToAll<int>(world, "a", a, 3)) : void(AllToAll<int>(world, "a", a, b, 3));
  }));
}

TEST(Coll, RefusesWhatCannotBe) {
  EXPECT_TRUE(all_refused(2, {"rank 1: a block of -1 elements is negative"},
                          [](World& world) { AllGather<int>(world, "g", world.rank() == 1 ? -1 : 2); }));
  EXPECT_TRUE(all_refused(2, {"rank 0: there is no root 2 in a world of 2"},
                          [](World& world) { Broadcast<int>(world, "w", 1, 2); }));
  EXPECT_TRUE(all_refused(2, {"rank 1: the output window has 7 elements, 8 are needed"}, [](World& world) {
    const auto window = world.window<int>(world.rank() == 1 ? 7 : 8);
    AllGather<int>(world, "g", window, 4);
  }));
}

// By one rank alone, before it has any memory for it.
TEST(Coll, RefusesForAllWhatOneCannotCount) {
  EXPECT_TRUE(all_refused(2, {"rank 1: a block of", "overflows"}, [](World& world) {
    AllGather<double>(world, "g", world.rank() == 1 ? std::int64_t{1} << 60 : 1);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 0: a time limit of 0 ms cannot be met"}, [](World& world) {
    Barrier(world, "b", {.time_limit = world.rank() == 0 ? 0ms : 1000ms});
  }));
}

// One window twice, or two of memory that overlaps on one rank alone.
TEST(Coll, RefusesOverlappingBuffers) {
  EXPECT_TRUE(all_refused(2,
                          {"rank 0: 8 bytes are input and output", "give the window once", "rank 1: 8 bytes"},
                          [](World& world) {
                            const auto window = world.window<int>(4);
                            AllGather<int>(world, "g", window, window, 2);
                          }));
  EXPECT_TRUE(all_refused(2, {"rank 0: 12 bytes are input and output"}, [](World& world) {
    const auto window = world.window<int>(6);
    ReduceScatter<int>(world, "s", window, window, 3);
  }));
  for (const bool all_reduce : {false, true}) {
    EXPECT_TRUE(all_refused(2, {"\n  rank 1: 4 bytes are input and output"}, [&](World& world) {
      std::vector<int> memory(8);
      const auto from = world.window(memory.data(), 4);
      const auto to = world.window(memory.data() + (world.rank() == 0 ? 4 : 3), 4);
      all_reduce ? void(AllReduce<int>(world, "r", from, to, 4))
                 : void(AllToAll<int>(world, "a", from, to, 2));
    }));
  }
  World::run_threads(2, [](World& world) {
    const auto window = world.window<int>(3);
    AllReduce<int> sum(world, "r", window, window, 3);
    window[1] = 1 + world.rank();
    sum();
    EXPECT_EQ(window[1], 3);
  });
}

TEST(Coll, RefusesAnAlgorithmThatIsNotThere) {
  EXPECT_TRUE(all_refused(2,
                          {"rank 1: broadcast of 2 ranks has no algorithm 'tree'; there are", "binomial",
                           "one_shot", "split", "ring"},
                          [](World& world) {
                            Broadcast<int>(world, "w", 1, 0, {.algorithm = world.rank() == 1 ? "tree" : ""});
                          }));
  // Blocks go round a ring from the middle, which an operation that does not commute would show.
  EXPECT_TRUE(all_refused(2, {"has no algorithm 'ring'"}, [](World& world) {
    AllReduce<int>(world, "r", 1, [](int a, int) { return a; }, {.algorithm = "ring"});
  }));
}

TEST(Coll, OperationsKeepTheOrderOfRanks) {
  for (const char* algorithm : {"one_shot", "recursive_doubling", "split"}) {
    World::run_threads(7, [&](World& world) {
      AllReduce<std::int64_t> digits(world, "digits", 9,
                                     [](std::int64_t a, std::int64_t b) {
                                       std::int64_t shift = 10;
                                       while (shift <= b) shift *= 10;
                                       return a * shift + b;
                                     },
                                     {.algorithm = algorithm});
      std::array<std::int64_t, 9> values;
      values.fill(world.rank() + 1);
      digits(values);
      for (const std::int64_t value : values) EXPECT_EQ(value, 1234567) << algorithm;
    });
  }
}

TEST(Coll, AnElementOfTheProgramsOwn) {
  struct Extreme {
    double value;
    int rank;
  };
  World::run_threads(3, [](World& world) {
    AllReduce<Extreme> largest(world, "largest", 1,
                               [](Extreme a, Extreme b) { return b.value > a.value ? b : a; });
    EXPECT_EQ(largest(Extreme{world.rank() == 1 ? 9.5 : 1.5, world.rank()}).rank, 1);
  });
}

template <class T>
void reduces(World& world) {
  EXPECT_EQ(AllReduce<T>(world, "largest", 1, Op::max)(static_cast<T>(10 + world.rank())), T{11});
}

TEST(Coll, EveryArithmeticTypeHasTheOperations) {
  World::run_threads(2, [](World& world) {
    reduces<char>(world);
    reduces<char8_t>(world);
    reduces<char16_t>(world);
    reduces<char32_t>(world);
    reduces<wchar_t>(world);
    reduces<signed char>(world);
    reduces<unsigned short>(world);
    reduces<long long>(world);
    reduces<long double>(world);
  });
  static_assert(!std::is_constructible_v<Operation<bool>, Op>);
}

// What has been combined in part must not be combined again.
TEST(Coll, IsOverOnceItsOperationHasThrown) {
  World::run_threads(2, [](World& world) {
    int calls = 0;
    AllReduce<int> sum(world, "sum", 3, [&](int a, int b) {
      if (++calls == 2) throw std::domain_error("these cannot be added");
      return a + b;
    });
    EXPECT_THROW(sum(), std::domain_error);
    const auto over = [&](auto call) {
      EXPECT_TRUE(refuses(Errc::invalid_argument,
                          {"allreduce 'sum' cannot go on: its operation has thrown", "make another"}, call));
    };
    over([&] { sum.wait(); });
    over([&] { sum.test(); });
    over([&] { sum.start(); });
    AllReduce<int> again(world, "sum", 3, Op::sum);
    std::array<int, 3> values{1, 2, 3};
    again(values);
    EXPECT_EQ(values, (std::array{2, 4, 6}));
  });
}

TEST(Coll, NothingAtAll) {
  World::run_threads(2, [](World& world) {
    AllReduce<double> none(world, "none", 0);
    Broadcast<int> nobody(world, "nobody", 0, 1);
    none();
    nobody();
    EXPECT_TRUE(none.test());
  });
}

TEST(Coll, ChecksItsCalls) {
  World::run_threads(1, [](World& world) {
    AllReduce<double> sum(world, "sum", 2);
    EXPECT_TRUE(refuses(Errc::invalid_argument, {"allreduce 'sum' was made for 2 values and is given 1"},
                        [&] { sum(1.0); }));
    sum.start();
    EXPECT_TRUE(refuses(Errc::invalid_argument,
                        {"start of the allreduce 'sum' while a run of it is under way"},
                        [&] { sum.start(); }));
    sum.wait();
  });
}

TEST(Coll, ATimeLimitNamesCollectiveRoundAndRank) {
  const std::vector<Caught> all = caught_by_ranks(3, [](World& world) {
    // Stored straight into place, which waits for the receiver; a staged root is through with its step by itself.
    Broadcast<int> weights(world, "weights", 100, 0,
                           {.algorithm = "binomial", .route = "direct", .time_limit = 200ms});
    weights();
    if (world.rank() != 1) weights();
    std::this_thread::sleep_for(world.rank() == 1 ? 600ms : 0ms);
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message,
                   {"rank 0 waited", "in step 2 of chain 'weights: broadcast by binomial, round 1 of 2'",
                    "for rank 1, which has not signalled"}));
}

// A partner that ends is named, too.
TEST(Coll, ALostRankIsNamed) {
  const std::vector<Caught> all = caught_by_ranks(2, [](World& world) {
    Barrier barrier(world, "end of step");
    if (world.rank() == 0) barrier();
  });
  EXPECT_EQ(all[0].code, Errc::rank_lost);
  EXPECT_TRUE(says(all[0].message, {"rank 1", "chain 'end of step: barrier by one_shot, round 1 of 1'"}));
}

TEST(Coll, TakesOneRoundForFewBytesAndSharesOutMany) {
  World::run_threads(4, [](World& world) {
    EXPECT_EQ(AllReduce<double>(world, "few", 1).algorithm(), "one_shot");
    EXPECT_EQ(AllReduce<double>(world, "many", 1 << 20).algorithm(), "split");
    EXPECT_NE(Broadcast<double>(world, "wide", 1 << 20).algorithm(), "one_shot");
  });
}

TEST(Coll, ExplainsItsChoice) {
  World::run_threads(2, [](World& world) {
    const std::string text = Broadcast<double>(world, "w", 10).explain();
    EXPECT_TRUE(says(text, {"broadcast 'w', 10 elements of 8 bytes", "(taken): predicted", "binomial",
                            "split", "ring", "chain 'w: broadcast by"}));
  });
}

// Between `start` and `wait` the buffers are the collective's, after it the program's again until the next start.
TEST(Coll, LeavesTheOutputAloneUntilTheNextStart) {
  for (const char* algorithm : {"one_shot", "dissemination", "ring"}) {
    World::run_threads(3, [&](World& world) {
      AllGather<int> gather(world, "g", 2, {.algorithm = algorithm});
      const auto mine = static_cast<std::size_t>(2 * world.rank());
      for (int step = 1; step < 200; ++step) {
        gather.to()[mine] = gather.to()[mine + 1] = step;
        gather.start();
        gather.wait();
        if (world.rank() == step % 3) std::this_thread::sleep_for(20us);
        for (const int value : gather.to().elements()) ASSERT_EQ(value, step) << algorithm;
      }
    });
  }
}

}  // namespace
}  // namespace tca::test
