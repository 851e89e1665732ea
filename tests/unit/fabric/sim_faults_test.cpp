// Tests programs on machines of which parts fail: what ranks are told, who gets which error, and what goes round.
#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "messages.hpp"
#include "tca/tca.hpp"

namespace tca::test {
namespace {

// What became of a rank.
struct End {
  std::string error;  // empty: it came to its end
  Errc code = Errc::refused;
  std::vector<KnownFault> known;
  int steps = 0;  // that it finished
  double now = 0;
};

using Body = std::function<void(World&, End&)>;

std::vector<End> run_failing(const std::string& machine, const std::string& faults, int ranks,
                             const Body& body, bool reroute = false) {
  std::vector<End> ends(static_cast<std::size_t>(ranks));
  const auto noted = [&](World& world) {
    End& end = ends[static_cast<std::size_t>(world.rank())];
    try {
      body(world, end);
    } catch (const Error& error) {
      end.error = error.what();
      end.code = error.code();
    }
    end.known = world.known_faults();
    end.now = world.now().count();
    if (!end.error.empty()) throw Error(end.code, end.error);
  };
  const WorldOptions options{
      .fabric = "sim", .machine = machine, .faults = faults, .fibers = true, .reroute = reroute};
  caught([&] { World::run_threads(ranks, noted, options); });
  return ends;
}

// Every rank sends to both of its neighbours along the ring of ranks, and checks what comes. 2 KiB a message, which
// several packets carry. Throws Error{refused} where something wrong has arrived.
void ring(World& world, End& end, int steps, const ChainOptions& options) {
  const int me = world.rank(), size = world.size();
  constexpr std::int64_t values = 512;
  const Window<int> window = world.window<int>(4 * values);
  const std::array sides{(me + 1) % size, (me + size - 1) % size};
  Chain chain = world.chain("ring", options);
  for (const std::size_t side : {0u, 1u}) {
    const auto from = static_cast<std::int64_t>(side) * values;
    chain
        .put(window.on(sides[side]).at((3 - static_cast<std::int64_t>(side)) * values), window.at(from),
             block(values))
        .expect(sides[1 - side]);
  }
  chain.commit();
  for (int step = 1; step <= steps; ++step) {
    std::fill_n(window.data(), 2 * values, 1000 * step + me);
    chain.start();
    world.compute(1e6, 1e6);
    chain.wait();
    for (const std::size_t side : {0u, 1u}) {
      const int from = sides[side];
      const auto begin = window.data() + (2 + static_cast<std::int64_t>(side)) * values;
      if (std::any_of(begin, begin + values, [&](int value) { return value != 1000 * step + from; }))
        throw Error(Errc::refused, fmt::format("step {}: {} from rank {}", step, *begin, from));
    }
    end.steps = step;
  }
}

Body ring_of(int steps, const ChainOptions& options = {}) {
  return [=](World& world, End& end) { ring(world, end, steps, options); };
}

// Returns when everybody has been told.
void idle(World& world) {
  const auto end = world.now() + std::chrono::milliseconds(2);
  while (world.now() < end) {
    world.compute(0, 0);
    world.progress();
  }
}

// Long enough for everybody to be told.
constexpr int long_run = 60;

TEST(SimFaults, AChainOverTheCableEndsOnBothEndsWithItsName) {
  const std::vector<End> ends = run_failing("ha-pacs-tca", "cable:0-1@100us", 16, ring_of(long_run));

  for (const int rank : {0, 1}) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)].code, Errc::path_lost);
    EXPECT_TRUE(
        says(ends[static_cast<std::size_t>(rank)].error,
             {fmt::format("rank {}, step ", rank), "chain 'ring'", fmt::format("rank {} is lost", 1 - rank),
              "cable 0-1, which failed at 100.000 us", "noticed at"}));
  }
  for (const End& end : ends) EXPECT_TRUE(says(end.error, {"cable 0-1"}));
}

TEST(SimFaults, EveryRankIsToldWithinTheSilenceAndAFewHops) {
  for (const auto& [machine, fault] :
       {std::pair("ha-pacs-tca", "cable:0-1@100us"), std::pair("quong", "hub:5@70us")}) {
    const std::vector<End> ends = run_failing(machine, fault, 16, [](World& world, End&) { idle(world); });
    for (const End& end : ends) {
      ASSERT_EQ(end.known.size(), 1u) << machine;
      const KnownFault& known = end.known[0];
      EXPECT_NEAR(known.noticed - known.failed, 185e-6, 16e-6) << "200 us after one of the last 30";
      EXPECT_GT(known.told, known.noticed);
      const bool is_cut_off = known.name == "hub 5" && &end == &ends[5];
      EXPECT_LT(known.told - known.noticed, is_cut_off ? 1e-3 : 30e-6);
      EXPECT_EQ(known.side.empty(), fault[0] == 'c');
    }
  }
}

TEST(SimFaults, AChainThatIsReroutedEndsRightRoundACable) {
  for (const auto& [machine, fault] :
       {std::pair("ha-pacs-tca", "cable:0-1@100us"), std::pair("quong", "cable:0-1@100us"),
        std::pair("quong", "cable:4-5@33us,cable:8-12@150us")}) {
    const std::vector<End> ends = run_failing(machine, fault, 16, ring_of(long_run, {.reroute = true}));
    for (const End& end : ends) {
      EXPECT_EQ(end.error, "") << machine;
      EXPECT_EQ(end.steps, long_run) << machine;
    }
  }
}

TEST(SimFaults, ARankWhoseHubFailsIsReachedByMpi) {
  for (const char* machine : {"ha-pacs-tca", "quong"}) {
    const std::vector<End> ends =
        run_failing(machine, "hub:3@50us", 16, ring_of(long_run, {.reroute = true}));
    for (const End& end : ends) EXPECT_EQ(end.error, "") << machine;
    for (const End& end : ends) EXPECT_EQ(end.steps, long_run) << machine;
  }
}

TEST(SimFaults, UnguardedAndCountedChainsAreReroutedToo) {
  const auto counted = [](World& world, End& end) {
    const int me = world.rank(), other = 1 - me;
    const Window<int> window = world.window<int>(2048);
    Chain chain = world.chain("counted", {.reroute = true});
    CountedPut put = chain.put_counted(window.on(other).at(1024), window.at(0), block(1024));
    const CountedArrival arrival = chain.expect_counted(other);
    chain.commit();
    for (int step = 1; step <= long_run; ++step) {
      std::iota(window.data(), window.data() + 1024, step);
      put.set(16 * step);
      chain.start();
      world.compute(1e6, 1e6);
      chain.wait();
      if (arrival.count() != 16 * step || window[static_cast<std::size_t>(1023 + 16 * step)] != 17 * step - 1)
        throw Error(Errc::refused, fmt::format("step {} brought {}", step, arrival.count()));
      end.steps = step;
    }
  };
  for (const char* machine : {"ha-pacs-tca", "quong"}) {
    for (const End& end : run_failing(machine, "cable:0-1@100us", 2, counted))
      EXPECT_EQ(end.error, "") << machine;
  }
  const auto doubled = [](World& world, End& end) {
    const int other = 1 - world.rank();
    const Window<int> window = world.window<int>(4);
    std::vector<Chain> chains;
    for (const int turn : {0, 1}) {
      chains.push_back(world.chain(fmt::format("turn {}", turn), {.guarded = false, .reroute = true}));
      chains.back().put(window.on(other).at(2 + turn), window.at(turn), block(1)).expect(other).commit();
    }
    for (int step = 1; step <= 2 * long_run; ++step) {
      const int turn = step % 2;
      window[static_cast<std::size_t>(turn)] = step;
      chains[static_cast<std::size_t>(turn)].run();
      world.compute(0, 0);
      if (window[static_cast<std::size_t>(2 + turn)] != step)
        throw Error(Errc::refused, fmt::format("step {}", step));
      end.steps = step;
    }
  };
  for (const End& end : run_failing("ha-pacs-tca", "cable:0-1@100us", 2, doubled)) EXPECT_EQ(end.error, "");
}

TEST(SimFaults, CollectivesGoRoundWhereTheWorldSaysSo) {
  const auto sums = [](World& world, End& end) {
    AllReduce<int> sum(world, "sum");
    for (int step = 1; step <= long_run; ++step) {
      world.compute(1e6, 1e6);
      const int have = sum.reduce(step + world.rank());
      if (have != 16 * step + 120) throw Error(Errc::refused, fmt::format("step {}: {}", step, have));
      end.steps = step;
    }
  };
  for (const End& end : run_failing("quong", "cable:0-1@100us,hub:6@200us", 16, sums, true)) {
    EXPECT_EQ(end.error, "");
    EXPECT_EQ(end.steps, long_run);
  }
}

TEST(SimFaults, AChainThatIsCommittedLaterGoesRound) {
  const std::vector<End> ends =
      run_failing("ha-pacs-tca", "cable:0-1@10us,hub:9@10us", 16, [](World& world, End& end) {
        idle(world);
        ring(world, end, 3, {});
      });

  for (const End& end : ends) EXPECT_EQ(end.error, "");
}

TEST(SimFaults, CablesThatDivideTheRanksAreNamedOnBothSides) {
  // All that joins the planes of x = 0 and 1 with those of x = 2 and 3.
  std::string cut = "hub:15@100us";
  for (const char* cable : {"1-2", "5-6", "9-10", "13-14", "0-3", "4-7", "8-11", "12-15"})
    cut += fmt::format(",cable:{}@100us", cable);
  const std::vector<End> ends = run_failing("quong", cut, 16, [](World& world, End&) {
    const int me = world.rank(), other = me == 1 ? 2 : 1;
    const Window<int> window = world.window<int>(2);
    Chain chain = world.chain("between");
    if (me == 1 || me == 2) chain.put(window.on(other).at(1), window.at(0), block(1)).expect(other);
    chain.commit();
    idle(world);
    chain.run();
  });

  const std::vector<int> low{0, 1, 4, 5, 8, 9, 12, 13}, high{2, 3, 6, 7, 10, 11, 14};
  for (const std::vector<int>& side : {low, high})
    for (const int rank : side) EXPECT_EQ(ends[static_cast<std::size_t>(rank)].known.at(0).side, side);
  EXPECT_EQ(ends[15].known.at(0).side, std::vector<int>{15});
  EXPECT_TRUE(says(ends[1].error,
                   {"what comes from rank 2 has no way over ape any more", "cable 1-2, which failed",
                    "that cuts rank 0, 1, 4, 5, 8, 9, 12, 13 off from rank 2, 3, 6, 7, 10, 11, 14, 15"}));
  EXPECT_TRUE(says(ends[2].error,
                   {"what comes from rank 1 has no way over ape any more",
                    "that cuts rank 2, 3, 6, 7, 10, 11, 14 off from rank 0, 1, 4, 5, 8, 9, 12, 13, 15"}));
}

TEST(SimFaults, AHostThatStopsIsNamedByThoseWhoWaitForIt) {
  const std::vector<End> ends =
      run_failing("quong", "host:2@100us", 16, ring_of(long_run, {.reroute = true}));

  EXPECT_TRUE(says(ends[2].error, {"rank 2 stopped with its host 2, which failed at 100.000 us"}));
  for (const std::size_t rank : {1u, 3u}) {
    EXPECT_EQ(ends[rank].code, Errc::rank_lost);
    EXPECT_TRUE(says(ends[rank].error, {"host 2, which failed at 100.000 us and which node 2 noticed"}));
  }
  for (const End& end : ends) EXPECT_TRUE(says(end.error, {"host 2"}));
}

TEST(SimFaults, APostThatIsLostIsSaidAndAnotherGoesRound) {
  const std::vector<End> ends = run_failing("ha-pacs-tca", "cable:0-1@1us", 2, [](World& world, End&) {
    Region region(world, 2 * sizeof(int));
    const RegionToken to = world.all_gather(region.token())[static_cast<std::size_t>(1 - world.rank())];
    world.compute(0, 0);
    const auto send = [&](int value) {
      Post post(world);
      post.put(to, 1, std::span(&value, 1), block(1));
      post.start();
      post.flush();
    };
    const Caught first = caught([&] { send(7); });
    if (first.code != Errc::path_lost) throw Error(Errc::refused, first.message);
    if (const auto right = says(first.message, {"what it posted to rank", "is lost: cable 0-1"}); !right)
      throw Error(Errc::refused, right.message());
    idle(world);
    send(8);
    idle(world);
    int have = 0;
    region.read(sizeof(int), std::as_writable_bytes(std::span(&have, 1)));
    if (have != 8) throw Error(Errc::refused, fmt::format("it holds {}", have));
  });
  for (const End& end : ends) EXPECT_EQ(end.error, "");
}

TEST(SimFaults, RunsAreAllAlike) {
  const auto run = [] {
    return run_failing("quong", "cable:0-1@40us,hub:5@41us", 16, ring_of(long_run, {.reroute = true}));
  };
  const std::vector<End> first = run(), second = run();
  for (std::size_t rank = 0; rank < first.size(); ++rank) {
    EXPECT_EQ(first[rank].error, second[rank].error);
    EXPECT_EQ(first[rank].now, second[rank].now);
  }
}

TEST(SimFaults, WhatCannotFailIsRefused) {
  const auto refused = [](const std::string& machine, const std::string& faults,
                          const std::string& fidelity = {}) {
    return caught([&] {
      World::run_threads(2, [](World&) {},
                         {.fabric = "sim", .machine = machine, .fidelity = fidelity, .faults = faults});
    });
  };
  EXPECT_TRUE(says(refused("quong", "cable:0-1").message, {"option faults", "'cable:0-1' is no fault"}));
  EXPECT_TRUE(says(refused("quong", "cable:0-9@1us").message, {"no cable joins nodes 0 and 9", "lead to 1"}));
  EXPECT_TRUE(says(refused("quong", "hub:16@1us").message, {"hub 16: the machine has nodes 0 to 15"}));
  EXPECT_TRUE(says(refused("dgx-h200", "hub:0@1us").message, {"has no hubs that watch each other"}));
  EXPECT_TRUE(says(refused("quong", "hub:0@1us", "train").message, {"leave the fidelity at tlp"}));
}

}  // namespace
}  // namespace tca::test
