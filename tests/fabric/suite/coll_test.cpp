// Runs each algorithm of each collective on every fabric, in place and not.
#include "coll_check.hpp"
#include "messages.hpp"
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

// The same without types, as other languages call it.
TEST_P(FabricTest, RawAllReduceOfARuntimeType) {
  run(3, [](World& world) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max}) {
      raw::Collective all(world, {.kind = CollectiveKind::all_reduce,
                                  .name = "all",
                                  .type = DataType::float64,
                                  .element_bytes = 8,
                                  .count = 2,
                                  .operation = op});
      const double mine[]{1.0 + world.rank(), -1.0};
      all.from().write(0, std::as_bytes(std::span(mine)));

      all.start();
      while (!all.wait_for(std::chrono::milliseconds(5))) {
      }

      double have[2];
      all.to().read(0, std::as_writable_bytes(std::span(have)));
      const bool sums = op == ReduceOp::sum;
      require(have[0] == (sums ? 6 : 3) && have[1] == (sums ? -3 : -1), "{} and {}", have[0], have[1]);
    }
  });
}

TEST_P(FabricTest, RawReductionByAFunction) {
  run(3, [](World& world) {
    using Pair = std::pair<float, float>;
    const raw::Combiner adds = [](void* into, const void* left, const void* right, std::size_t count) {
      const auto *a = static_cast<const Pair*>(left), *b = static_cast<const Pair*>(right);
      for (std::size_t i = 0; i < count; ++i)
        static_cast<Pair*>(into)[i] = {a[i].first + b[i].first, a[i].second + b[i].second};
    };
    const raw::Window values(world, 3, sizeof(Pair), "values");
    const raw::Request request{.kind = CollectiveKind::reduce_scatter,
                               .name = "pairs",
                               .element_bytes = sizeof(Pair),
                               .count = 1,
                               .operation = adds};
    raw::Collective sum(world, request, values);
    const Pair mine[]{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}};
    values.write(0, std::as_bytes(std::span(mine)));

    sum.run();

    Pair have;
    values.read(world.rank(), std::as_writable_bytes(std::span(&have, 1)));
    const Pair& one = mine[world.rank()];
    require(have.first == 3 * one.first && have.second == 3 * one.second, "{} and {}", have.first,
            have.second);
  });
}

TEST_P(FabricTest, RawCollectivesThatCannotBeAreRefused) {
  run(2, [](World& world) {
    const auto refused = [&](raw::Request request, std::string_view why) {
      const Caught error = caught([&] { raw::Collective(world, std::move(request)); });
      require(error.code == Errc::refused && error.message.find(why) != std::string::npos, "{}",
              error.message);
    };
    refused({.kind = CollectiveKind::all_reduce, .name = "bytes", .element_bytes = 3, .count = 1},
            "does not know how to combine");
    refused({.kind = CollectiveKind::all_gather, .name = "doubles", .type = DataType::float64, .count = 1},
            "elements of double have 8 bytes, not 1");
    refused({.kind = CollectiveKind::all_reduce,
             .name = "empty",
             .type = DataType::int32,
             .element_bytes = 4,
             .count = 1,
             .operation = raw::Combiner()},
            "empty function");
  });
}

}  // namespace
}  // namespace tca::test
