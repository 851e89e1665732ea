// Runs each algorithm of each collective on every fabric, in place and not.
#include "coll_check.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

void check(World& world, const CollCase& test) {
  try {
    check_collective(world, test);
  } catch (const Mismatch& error) {
    throw named(test, error);
  }
}

// Returns a body that runs all algorithms of a kind in one world.
Ranks::Body body_of(int ranks, CollectiveKind kind, std::int64_t count, int steps,
                    const std::string& type = "double") {
  return [=](World& world) {
    for (const std::string& algorithm : coll_algorithms(kind, ranks)) {
      for (const bool in_place : {true, false}) {
        CollCase test{.kind = kind, .type = type, .algorithm = algorithm, .count = count};
        test.root = ranks - 1;
        test.in_place = in_place || kind == CollectiveKind::broadcast;
        test.steps = steps;
        check(world, test);
      }
    }
  };
}

TEST_P(FabricTest, CollectiveBarrier) { run(3, body_of(3, CollectiveKind::barrier, 0, steps(6))); }
TEST_P(FabricTest, CollectiveBroadcast) { run(4, body_of(4, CollectiveKind::broadcast, 37, steps(6))); }
TEST_P(FabricTest, CollectiveAllGather) {
  run(4, body_of(4, CollectiveKind::all_gather, 5, steps(6), "float"));
}
TEST_P(FabricTest, CollectiveAllReduce) { run(3, body_of(3, CollectiveKind::all_reduce, 20, steps(6))); }
TEST_P(FabricTest, CollectiveReduceScatter) {
  run(3, body_of(3, CollectiveKind::reduce_scatter, 7, steps(6), "int"));
}
TEST_P(FabricTest, CollectiveAllToAll) {
  run(4, body_of(4, CollectiveKind::all_to_all, 3, steps(6), "long"));
}

// There are enough elements for each rank in turn to have the NaN, and whatever else compares unlike others.
TEST_P(FabricTest, CollectiveMinAndMaxKeepNans) {
  run(4, [](World& world) {
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
      for (const std::string& algorithm : coll_algorithms(kind, 4)) {
        check(world, {.kind = kind,
                      .type = "float",
                      .algorithm = algorithm,
                      .count = 23,
                      .op = ReduceOp::min,
                      .steps = 2});
        check(world, {.kind = kind,
                      .type = "double",
                      .algorithm = algorithm,
                      .count = 23,
                      .op = ReduceOp::max,
                      .steps = 2});
      }
    }
  });
}

// Uses blocks that are large enough for the protocols of large messages.
TEST_P(FabricTest, CollectiveLargeBlocks) {
  run(2, body_of(2, CollectiveKind::broadcast, 40000, steps(6)));
  run(2, body_of(2, CollectiveKind::all_reduce, 40001, steps(6)));
  run(3, body_of(3, CollectiveKind::all_gather, 10000, steps(6)));
}

}  // namespace
}  // namespace tca::test
