// Tests what commit refuses. All ranks get the same message, which names ranks, chain, descriptor and bytes.
#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "core/words.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

// Returns the message of the refusal, after checking that all ranks got the same one and that the world still
// works.
std::string refusal(int ranks, const std::function<void(World&)>& declare_and_commit) {
  std::vector<Caught> all(static_cast<std::size_t>(ranks));
  World::run_threads(ranks, [&](World& world) {
    Caught& mine = all[static_cast<std::size_t>(world.rank())];
    mine = caught([&] { declare_and_commit(world); });
    world.barrier();
  });
  for (const Caught& each : all) {
    EXPECT_EQ(each.code, Errc::refused) << each.message;
    EXPECT_EQ(each.message, all[0].message);
  }
  return all[0].message;
}

// Elements are counted to the last one, bytes to the one behind it.
TEST(Words, CountElementsAndBytes) {
  EXPECT_EQ(core::in_words({0, 512}, 8, "window 'u'", 1),
            "elements 0 to 63 (bytes 0 to 512) of window 'u' on rank 1");
  EXPECT_EQ(core::in_words({40, 48}, 8, "window 3", 0), "element 5 (bytes 40 to 48) of window 3 on rank 0");
  EXPECT_EQ(core::in_words({7, 9}, 8, "window 3", 0), "elements 0 to 1 (bytes 7 to 9) of window 3 on rank 0");
  EXPECT_EQ(core::count_in_words(1), "1 element");
  EXPECT_EQ(core::count_in_words(0), "0 elements");
}

TEST(Words, ColumnsBeginBelowEachOther) {
  EXPECT_EQ(core::in_columns({{"put", "to"}, {"0", "rank 10", "shm"}, {"1"}}),
            "  put  to\n  0    rank 10  shm\n  1\n");
}

TEST(Commit, RefusesAPutOutOfTheTargetsBounds) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> window = world.window<int>(world.rank() == 0 ? 32 : 8);
    Chain chain = world.chain("faces");
    if (world.rank() == 0) chain.put(window.on(1).at(4), window.at(0), block(5));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
  });
  EXPECT_TRUE(
      says(message, {"chain 'faces' refused, 1 problem:",
                     "put 0 of rank 0 (block of 5) writes elements 4 to 8 (bytes 16 to 36) of window 0 on "
                     "rank 1, which has 8 elements"}));
}

TEST(Commit, RefusesTheLastStridedElementOutOfBounds) {
  const std::string message = refusal(2, [](World& world) {
    const Window<double> source = world.window<double>(100), target = world.window<double>(20);
    Chain chain = world.chain("columns");
    if (world.rank() == 1) chain.put(target.on(0).at(1), source.at(0), stride(5, 5));
    if (world.rank() == 0) chain.expect(1);
    chain.commit();
  });
  EXPECT_TRUE(says(
      message, {"put 0 of rank 1 (stride of 5, pitch 5) writes elements 1 to 21 (bytes 8 to 176) of window "
                "1 on rank 0, which has 20 elements"}));
}

TEST(Commit, RefusesAPutToARankWithoutMemory) {
  EXPECT_TRUE(says(refusal(2,
                           [](World& world) {
                             const Window<char> window = world.window<char>(world.rank() == 0 ? 4 : 0);
                             Chain chain = world.chain("c");
                             if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(0), block(1));
                             if (world.rank() == 1) chain.expect(0);
                             chain.commit();
                           }),
                   {"element 0 (bytes 0 to 1) of window 0 on rank 1, which has 0 elements"}));
}

TEST(Commit, RefusesAPutToARankThatDoesNotExpectIt) {
  const std::string message = refusal(3, [](World& world) {
    const Window<int> window = world.window<int>(8);
    Chain chain = world.chain("one sided");
    if (world.rank() == 2) chain.put(window.on(0).at(0), window.at(4), block(2));
    chain.commit();
  });
  EXPECT_TRUE(says(
      message, {"chain 'one sided'",
                "put 0 of rank 2 (block of 2) writes elements 0 to 1 (bytes 0 to 8) of window 0 on rank 0, "
                "which does not expect it; "
                "add expect(2) on rank 0"}));
}

TEST(Commit, RefusesARouteOfOneRankThatIsNone) {
  const std::string message = refusal(3, [](World& world) {
    const Window<int> window = world.window<int>(8);
    Chain chain = world.chain("lost", {.channel = world.rank() == 1 ? "teleport" : ""});
    chain.put(window.on((world.rank() + 1) % 3).at(0), window.at(4), block(2)).expect((world.rank() + 2) % 3);
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"chain 'lost' refused, 1 problem",
                             "put 0 of rank 1: channel 'teleport' is none of the channels"}));
}

TEST(Commit, RefusesASignalToARankThatDoesNotExpectIt) {
  EXPECT_TRUE(says(refusal(2,
                           [](World& world) {
                             Chain chain = world.chain("bell");
                             if (world.rank() == 0) chain.signal(1);
                             chain.commit();
                           }),
                   {"rank 0 signals rank 1, which does not expect it"}));
}

TEST(Commit, RefusesAnExpectedRankThatSendsNothing) {
  EXPECT_TRUE(
      says(refusal(2,
                   [](World& world) {
                     Chain chain = world.chain("vain");
                     if (world.rank() == 1) chain.expect(0);
                     chain.commit();
                   }),
           {"chain 'vain'",
            "rank 1 expects rank 0, which puts and signals nothing to it; have rank 0 put or signal(1)"}));
}

TEST(Commit, RefusesTwoPutsOfOneRankIntoTheSameBytes) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> source = world.window<int>(8), target = world.window<int>(8);
    Chain chain = world.chain("twice");
    if (world.rank() == 0) {
      chain.put(target.on(1).at(0), source.at(0), block(4)).put(target.on(1).at(3), source.at(0), block(4));
    }
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
  });
  EXPECT_TRUE(
      says(message, {"chain 'twice'",
                     "put 0 of rank 0 (block of 4) writes element 3 (bytes 12 to 16) of window 1 on rank 1, "
                     "which put 1 of rank 0 (block of 4) writes too"}));
}

TEST(Commit, RefusesPutsOfTwoRanksIntoTheSameBytes) {
  const std::string message = refusal(3, [](World& world) {
    const Window<int> source = world.window<int>(100), target = world.window<int>(100);
    Chain chain = world.chain("collide");
    if (world.rank() == 0) chain.put(target.on(2).at(1), source.at(0), stride(10, 3));
    if (world.rank() == 1) chain.put(target.on(2).at(0), source.at(0), block_stride(3, 2, 8));
    if (world.rank() == 2) chain.expect(0).expect(1);
    chain.commit();
  });
  EXPECT_TRUE(
      says(message, {"put 0 of rank 0 (stride of 10, pitch 3) writes element 1 (bytes 4 to 8) of window 1 on "
                     "rank 2, which put 0 of rank 1 (block-stride of 3 rows of 2, pitch 8) writes too"}));
}

TEST(Commit, AllowsPutsThatInterleave) {
  World::run_threads(2, [](World& world) {
    const Window<int> source = world.window<int>(100), target = world.window<int>(100);
    Chain chain = world.chain("interleave");
    if (world.rank() == 0) {
      chain.put(target.on(1).at(0), source.at(0), stride(10, 3));
      chain.put(target.on(1).at(1), source.at(0), block_stride(10, 2, 3));
    }
    if (world.rank() == 1) chain.expect(0);
    EXPECT_NO_THROW(chain.commit());
  });
}

TEST(Commit, RefusesAPutIntoBytesThatTheTargetSends) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> window = world.window<int>(8);
    Chain chain = world.chain("swap");
    chain.put(window.on(1 - world.rank()).at(2), window.at(0), block(4)).expect(1 - world.rank());
    chain.commit();
  });
  EXPECT_TRUE(
      says(message,
           {"chain 'swap' refused, 2 problems:",
            "put 0 of rank 1 (block of 4) writes elements 2 to 3 (bytes 8 to 16) of window 0 on rank 0, "
            "which put 0 of rank 0 (block of 4) reads in the same step",
            "put 0 of rank 0 (block of 4) writes elements 2 to 3 (bytes 8 to 16) of window 0 on rank 1"}));
}

TEST(Commit, RefusesAPutOntoItsOwnSource) {
  EXPECT_TRUE(
      says(refusal(1,
                   [](World& world) {
                     const Window<int> window = world.window<int>(8);
                     Chain chain = world.chain("shift");
                     chain.put(window.on(0).at(1), window.at(0), block(4)).expect(0).commit();
                   }),
           {"put 0 of rank 0 (block of 4) writes elements 1 to 3 (bytes 4 to 16) of window 0 on rank 0, "
            "which put 0 of rank 0 (block of 4) reads"}));
}

TEST(Commit, RefusesDifferentChains) {
  const std::string message = refusal(3, [](World& world) {
    Chain chain = world.chain(world.rank() == 2 ? "y-faces" : "x-faces");
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"rank 0 commits the guarded chain 'x-faces', rank 2 the guarded chain 'y-faces'",
                             "same chains in the same order"}));
}

TEST(Commit, RefusesAGuardThatOnlySomeWant) {
  const std::string message = refusal(2, [](World& world) {
    Chain chain = world.chain("faces", {.guarded = world.rank() == 0, .time_limit = {}, .channel = {}});
    chain.commit();
  });
  EXPECT_TRUE(
      says(message, {"rank 0 commits the guarded chain 'faces', rank 1 the unguarded chain 'faces'"}));
}

TEST(Commit, RefusesAWayRoundThatOnlySomeWant) {
  const std::string message = refusal(2, [](World& world) {
    Chain chain = world.chain("faces", {.reroute = world.rank() == 0});
    chain.commit();
  });
  EXPECT_TRUE(
      says(message, {"rank 0 commits the rerouted guarded chain 'faces', rank 1 the guarded chain 'faces'"}));
}

// A rank may drop its last handle while others keep theirs.
TEST(Commit, RefusesAWindowThatTheTargetHasDestroyed) {
  const std::string message = refusal(2, [](World& world) {
    std::optional<Window<int>> target = world.window<int>(8);
    const Window<int> source = world.window<int>(8);
    Chain chain = world.chain("stale");
    if (world.rank() == 0) chain.put(target->on(1).at(0), source.at(0), block(4));
    if (world.rank() == 1) {
      chain.expect(0);
      target.reset();
    }
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"chain 'stale'",
                             "put 0 of rank 0 uses window 0, which rank 1 has destroyed; keep a handle"}));
}

TEST(Commit, RefusesAWindowThatTheSenderHasDestroyed) {
  const std::string message = refusal(2, [](World& world) {
    std::optional<Window<int>> target = world.window<int>(8);
    const Window<int> source = world.window<int>(8);
    Chain chain = world.chain("stale");
    if (world.rank() == 0) {
      chain.put(target->on(1).at(0), source.at(0), block(4));
      target.reset();
    }
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"put 0 of rank 0 uses window 0, which rank 0 has destroyed"}));
}

TEST(Commit, RefusesASourceWindowThatTheTargetHasDestroyed) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> target = world.window<int>(8);
    std::optional<Window<int>> source = world.window<int>(8);
    Chain chain = world.chain("stale");
    if (world.rank() == 0) chain.put(target.on(1).at(0), source->at(0), block(4));
    if (world.rank() == 1) {
      chain.expect(0);
      source.reset();
    }
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"put 0 of rank 0 uses window 1, which rank 1 has destroyed"}));
}

TEST(Commit, ShowsTheFirstOfManyProblems) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("many");
    for (int i = 0; i < 20 && world.rank() == 0; ++i)
      chain.put(window.on(1).at(10 + i), window.at(0), block(1));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
  });
  EXPECT_TRUE(says(message, {"20 problems", "put 0 of rank 0", "\n  ..."}));
}

// A program that forgets `at` in a loop puts everything to one place.
TEST(Commit, ManyPutsIntoOnePlaceAreAProblemEach) {
  const std::string message = refusal(2, [](World& world) {
    const Window<int> source = world.window<int>(8), target = world.window<int>(8);
    Chain chain = world.chain("same");
    for (int i = 0; i < 20000 && world.rank() == 0; ++i) chain.put(target.on(1), source.at(0), block(1));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
  });
  EXPECT_TRUE(says(
      message, {"chain 'same' refused, 19999 problems:",
                "put 0 of rank 0 (block of 1) writes element 0 (bytes 0 to 4) of window 1 on rank 1, which "
                "put 1 of rank 0 (block of 1) writes too",
                "\n  ..."}));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 9);
}

// Commits a put for each pair of elements, all interleaved, as an irregular program may. Comparing all puts
// with all others would take a minute.
TEST(Commit, ManyPutsTakeLittleTime) {
  World::run_threads(2, [](World& world) {
    constexpr std::int64_t puts = 16000;
    const int other = 1 - world.rank();
    const Window<double> window = world.window<double>(8 * puts);
    Chain chain = world.chain("irregular");
    for (std::int64_t i = 0; i < puts; ++i)
      chain.put(window.on(other).at(4 * puts + 2 * i), window.at(2 * i), stride(2, 2 * puts));
    chain.expect(other);
    const auto begin = std::chrono::steady_clock::now();
    chain.commit();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  });
}

// In a world of two, both neighbours of a rank are the same one.
TEST(Commit, TakesARankThatIsExpectedTwiceAsOne) {
  World::run_threads(2, [](World& world) {
    const int other = 1 - world.rank();
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("ring");
    chain.put(window.on(other).at(0), window.at(2), block(1))
        .put(window.on(other).at(1), window.at(3), block(1));
    chain.expect(other).expect(other).commit();
    for (int step = 1; step <= 3; ++step) {
      window.data()[2] = window.data()[3] = 10 * step + world.rank();
      chain.start();
      chain.wait();
      EXPECT_EQ(window.data()[0], 10 * step + other);
      EXPECT_EQ(window.data()[1], 10 * step + other);
    }
  });
}

TEST(Commit, AcceptsTheChainOnceItIsPutRight) {
  World::run_threads(2, [](World& world) {
    const Window<int> window = world.window<int>(8);
    Chain chain = world.chain("repaired");
    const int other = 1 - world.rank();
    chain.put(window.on(other).at(4), window.at(0), block(4));
    EXPECT_THROW(chain.commit(), Error);
    chain.expect(other);
    chain.commit();
    window[0] = 10 + world.rank();
    chain.start();
    chain.wait();
    EXPECT_EQ(window[4], 10 + other);
  });
}

TEST(Windows, AreIndexedByWhateverIndexesAnArray) {
  enum Side { low, high };
  struct Cell {
    operator int() const { return 2; }
  };
  World::run_threads(1, [](World& world) {
    const Window<int> window = world.window<int>(3);
    window[low] = 1;
    window[high] = 2;
    window[Cell()] = 3;
    EXPECT_EQ(std::vector<int>(window.elements().begin(), window.elements().end()), (std::vector{1, 2, 3}));
  });
}

// Rank 1 has room for what comes by the time it hears that rank 0 waits in vain. An inbox has a gibibyte.
TEST(Commit, GivesBackWhatWasOfferedForAChainThatIsRefused) {
  constexpr std::int64_t bytes = std::int64_t{40} << 20;
  World::run_threads(2, [](World& world) {
    const Window<char> window = world.window<char>(bytes);
    for (int i = 0; i < 14; ++i) {
      Chain chain = world.chain("faces", {.channel = "staged"});
      if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(0), block(bytes)).expect(1);
      if (world.rank() == 1) chain.expect(0);
      const Caught refusal = caught([&] { chain.commit(); });
      EXPECT_TRUE(says(refusal.message, {"refused, 1 problem:", "rank 0 expects rank 1"})) << refusal.message;
    }
  });
}

}  // namespace
}  // namespace tca::test
