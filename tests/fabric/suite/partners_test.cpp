// Chains that partners commit among themselves, without the other ranks of their world.
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

ChainOptions among_partners(const std::string& channel = {}) {
  return {.channel = channel, .partners_only = true};
}

// Two ranks exchange an element in each step.
void exchange(World& world, const Window<int>& window, int other, const std::string& channel, int steps) {
  const int me = world.rank();
  Chain chain = world.chain("pair", among_partners(channel));
  chain.put(window.on(other).at(1), window.at(0), block(1)).expect(other).commit();
  for (int step = 1; step <= steps; ++step) {
    fill(window, 0, 1, 100 * step + me);
    chain.run();
    require(element(window, 1) == 100 * step + other, "{} instead of {}", element(window, 1),
            100 * step + other);
  }
}

// Ranks 0 and 2 commit while the others are on the way to a barrier, which needs all. Again and again, so that the
// memory of those before is used anew; in between, and at last, all ranks commit.
TEST_P(FabricTest, PartnersCommitWhileTheOthersGoOn) {
  for (const std::string& channel : channels()) {
    if (channel.ends_with("rma")) continue;  // all ranks make its windows together
    run(4, [&](World& world) {
      const Window<int> window = world.window<int>(2);
      for (int round = 0; round < 3; ++round) {
        if (world.rank() % 2 == 0)
          for (int again = 0; again < 3; ++again) exchange(world, window, 2 - world.rank(), channel, 2);
        if (round == 1) exchange(world, window, 3 - world.rank(), channel, 1);  // other pairs
        world.barrier();
      }
      Chain all = world.chain("all", {.channel = channel});
      const int next = (world.rank() + 1) % 4, before = (world.rank() + 3) % 4;
      all.put(window.on(next).at(1), window.at(0), block(1)).expect(before).commit();
      fill(window, 0, 1, world.rank());
      all.run();
      require(element(window, 1) == before, "{} came from {}", element(window, 1), before);
    });
  }
}

// On a path of ranks only two know of the mistake. It is told to all whom partners join, and to nobody else.
TEST_P(FabricTest, ARefusalReachesAllWhomPartnersJoin) {
  run(5, [](World& world) {
    const int me = world.rank();
    const Window<int> window = world.window<int>(4);
    if (me < 4) {
      Chain chain = world.chain("path", among_partners());
      for (const int other : {me - 1, me + 1}) {
        if (other < 0 || other > 3) continue;
        chain.put(window.on(other).at(other < me ? 3 : 2), window.at(other < me ? 0 : 1), block(1))
            .expect(other);
      }
      if (me == 3) chain.put(window.on(2).at(2), window.at(0), block(1));  // where rank 1 puts as well
      const Caught error = caught([&] { chain.commit(); });
      require(error.code == Errc::refused, "rank {}: {}", me, error.message);
      const auto told =
          says(error.message, {"chain 'path' refused, 1 problem", "of rank 1", "of rank 3", "window 0"});
      require(static_cast<bool>(told), "{}", error.message);
      Chain mended = world.chain("mended", among_partners());
      if (me < 2) mended.put(window.on(1 - me).at(2), window.at(0), block(1)).expect(1 - me);
      mended.commit();  // of ranks 2 and 3 each by itself
      mended.run();
    }
    world.barrier();
  });
}

TEST_P(FabricTest, PartnersOfDifferentChainsAreTold) {
  run(3, [](World& world) {
    const int me = world.rank();
    if (me > 0) {
      Chain chain = world.chain(me == 1 ? "a" : "b", among_partners());
      chain.signal(3 - me).expect(3 - me);
      const Caught error = caught([&] { chain.commit(); });
      const auto told =
          says(error.message, {"rank 1 commits the guarded chain 'a', rank 2 the guarded chain 'b'"});
      require(error.code == Errc::refused && told, "{}", error.message);
    }
    world.barrier();
  });
}

// The numbers of messages are those of the group in which the chain is.
TEST_P(FabricTest, PartnersInAGroup) {
  run(4, [](World& world) {
    if (world.rank() == 0) return;
    World group = world.group({3, 1, 2});
    const Window<int> window = group.window<int>(2);
    if (group.rank() == 2) return group.barrier();
    exchange(group, window, 1 - group.rank(), {}, 3);
    Chain wrong = group.chain("wrong", among_partners());
    wrong.put(window.on(1 - group.rank()).at(2), window.at(0), block(1)).expect(1 - group.rank());
    const Caught error = caught([&] { wrong.commit(); });
    const auto told = says(error.message, {"put 0 of rank 0", "put 0 of rank 1"});
    require(error.code == Errc::refused && told, "{}", error.message);
    group.barrier();
  });
}

}  // namespace
}  // namespace tca::test
