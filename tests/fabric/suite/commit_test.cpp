// Tests on every fabric how often the ranks meet in a commit: each meeting costs a round trip between all of them.
#include "core/world/world_state.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// They tell each other what they declare, and then what their fabrics offer. GPUs fill tables after that, which
// may fail on one of them alone.
TEST_P(FabricTest, RanksMeetTwiceInACommitHoweverManyFabricsThereAre) {
  run(2, [](World& world) {
    core::WorldState& state = core::WorldState::of(world);
    const std::uint64_t twice = state.accelerator() != nullptr ? 3 : 2;
    const auto window = world.window<int>(16);
    const auto commit = [&](const char* name, std::uint64_t expected) {
      const int other = 1 - world.rank();
      Chain chain = world.chain(name);
      chain.put(window.on(other).at(0), window.at(8), block(8)).expect(other);
      const std::uint64_t before = state.control().meetings();
      chain.commit();
      const std::uint64_t meetings = state.control().meetings() - before;
      require(meetings == expected, "{} meetings in the commit of chain '{}', not {}", meetings, name,
              expected);
      return chain;
    };

    { const Chain gone = commit("first", twice); }
    // What the first chain has left is announced now, and freed, in a meeting each.
    const Chain second = commit("second", twice + 2), third = commit("third", twice);
  });
}

}  // namespace
}  // namespace tca::test
