// Tests on every fabric what is refused: all ranks hear the same words, in the program's elements and names,
// and the world goes on. What is empty is legal.
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// Requires that `act` is refused on this rank with these words; then the world is usable still.
void require_refused(World& world, Errc code, std::string_view words, const std::function<void()>& act) {
  const Caught error = caught(act);
  require(error.code == code && error.message.find(words) != std::string::npos,
          "rank {}: \"{}\" is not \"{}\"", world.rank(), error.message, words);
  world.barrier();
}

TEST_P(FabricTest, CommitSpeaksInElementsAndNames) {
  run(2, [](World& world) {
    const auto u = world.window<double>(128, "u"), v = world.window<double>(world.rank() == 1 ? 100 : 128);
    const auto commit = [&](const char* name, const std::function<void(Chain&)>& declare) {
      Chain chain = world.chain(name);
      if (world.rank() == 0) declare(chain);
      if (world.rank() == 1) chain.expect(0);
      chain.commit();
    };
    require_refused(
        world, Errc::refused,
        "put 0 of rank 0 (block of 64) writes elements 37 to 100 (bytes 296 to 808) of window 1 on "
        "rank 1, which has 100 elements",
        [&] { commit("out", [&](Chain& chain) { chain.put(v.on(1).at(37), u.at(0), block(64)); }); });
    require_refused(
        world, Errc::refused,
        "put 0 of rank 0 (block of 4) writes element 10 (bytes 80 to 88) of window 'u' on rank 1, "
        "which put 1 of rank 0 (stride of 3, pitch 2) writes too",
        [&] {
          commit("twice", [&](Chain& chain) {
            chain.put(u.on(1).at(8), v.at(0), block(4));
            chain.put(u.on(1).at(10), v.at(0), stride(3, 2));
          });
        });
  });
}

TEST_P(FabricTest, WindowsHaveOneNameOnEveryRank) {
  run(3, [](World& world) {
    const bool last = world.rank() == 2;
    require_refused(
        world, Errc::refused,
        "rank 0 makes window 'u', rank 2 window 'v'; every rank must make the same windows and collectives "
        "in the same order, under the same names",
        [&] { return world.window<int>(4, last ? "v" : "u"); });
    require_refused(world, Errc::refused,
                    "rank 0 makes window 'u' of 4-byte elements, rank 2 window 'u' of 8-byte elements", [&] {
                      if (last)
                        static_cast<void>(world.window<double>(4, "u"));
                      else
                        static_cast<void>(world.window<int>(4, "u"));
                    });
    require_refused(world, Errc::refused,
                    "rank 0 is in creation of window 0, rank 2 in creation of window 'u'",
                    [&] { return world.window<int>(4, last ? "u" : ""); });
    const auto u = world.window<int>(4, "u");
    require(u.number() == 0, "it is number {}", u.number());
  });
}

TEST_P(FabricTest, AMistakeOfOneRankIsHeardByAll) {
  run(3, [](World& world) {
    const bool wrong = world.rank() == 1;
    require_refused(world, Errc::invalid_argument, "rank 1: window 'u': -4 elements cannot be",
                    [&] { return world.window<int>(wrong ? -4 : 4, "u"); });
    require_refused(world, Errc::invalid_argument, "rank 0, 2: window 'u': -4 elements cannot be",
                    [&] { return world.window<int>(wrong ? 4 : -4, "u"); });
    const Caught alike = caught([&] { return world.window<int>(-4, "u"); });
    require(alike.message.starts_with("window 'u': -4 elements"), "\"{}\" names ranks", alike.message);
    require_refused(world, Errc::invalid_argument, "rank 1: window 'u': no memory is given for 4 elements",
                    [&] {
                      int* const none = nullptr;
                      if (wrong)
                        static_cast<void>(world.window(none, 4, "u"));
                      else
                        static_cast<void>(world.window<int>(4, "u"));
                    });
    require_refused(world, Errc::invalid_argument, "rank 1: team 't': 0 values",
                    [&] { (void)world.team("t", wrong ? 0 : 2); });
    require_refused(world, Errc::invalid_argument, "rank 1: halo 'h': a grid of 4 is one of 4 ranks",
                    [&] { Halo(world, "h", wrong ? Grid(4, {4}) : Grid(3, {3}), {4}); });
    require_refused(world, Errc::refused, "rank 1: a block of -1 elements",
                    [&] { AllReduce<int>(world, "sum", wrong ? -1 : 1); });
  });
}

TEST_P(FabricTest, APutOfNothingIsASignal) {
  run(3, [](World& world) {
    const int me = world.rank(), right = (me + 1) % 3, left = (me + 2) % 3;
    // Rank r owns r cells and passes them on.
    const auto cells = world.window<int>(me, "cells"), ghosts = world.window<int>(2, "ghosts");
    Chain chain = world.chain("parts");
    chain.put(ghosts.on(right).at(0), cells.at(0), block(me)).expect(left).commit();
    for (int step = 1; step <= 3; ++step) {
      fill(cells, 0, me, 10 * step + me);
      chain.start();
      chain.wait();
      const std::vector<int> have = contents(ghosts);
      for (int i = 0; i < left; ++i)
        require(have[static_cast<std::size_t>(i)] == 10 * step + left, "{} came",
                have[static_cast<std::size_t>(i)]);
    }
  });
}

TEST_P(FabricTest, NothingOfWhatACollectiveMayHaveNoneOf) {
  run(2, [](World& world) {
    AllReduce<int> sum(world, "sum", 0);
    sum.run();
    AllGather<int> gather(world, "gather", 0);
    gather.run();
    require(sum.to().size() == 0 && gather.to().size() == 0, "there are elements");
    const auto none = world.window<int>(0, "none");
    Chain chain = world.chain("of nothing");
    chain.commit();
    chain.run();
  });
}

}  // namespace
}  // namespace tca::test
