// Checks random collectives, several in one world, against a plain computation: every kind, algorithm,
// operation and element type, in worlds of 1 to 9 ranks.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "coll_check.hpp"

namespace tca::test {
namespace {

int between(int least, int most) { return *rc::gen::inRange(least, most + 1); }

CollCase random_case(int ranks) {
  CollCase test;
  test.kind = static_cast<CollectiveKind>(between(0, 5));
  test.type = *rc::gen::element<std::string>("float", "double", "int", "long");
  test.own_operation = *rc::gen::arbitrary<bool>();
  test.algorithm = *rc::gen::elementOf(coll_algorithms(test.kind, ranks, test.own_operation));
  // Most counts are around a cache line's or the number of ranks. Now and then one is larger than any ring of
  // the protocols.
  test.count = *rc::gen::weightedOneOf<int>(
      {{12, rc::gen::inRange(1, 40)}, {3, rc::gen::inRange(40, 1000)}, {1, rc::gen::just(9001)}});
  test.root = between(0, ranks - 1);
  test.in_place = test.kind == CollectiveKind::broadcast || *rc::gen::arbitrary<bool>();
  test.op = static_cast<ReduceOp>(between(0, 3));
  test.steps = between(1, 5);
  test.by_test = *rc::gen::arbitrary<bool>();
  return test;
}

void match_the_reference(const Backend& backend, int most_ranks) {
  const int ranks = between(1, most_ranks);
  std::vector<CollCase> tests;
  for (int i = between(1, 4); i > 0; --i) tests.push_back(random_case(ranks));
  RC_CLASSIFY(ranks > 4, "many ranks");
  const std::string failure = backend.make()->run(ranks, [&](World& world) {
    for (const CollCase& test : tests) {
      try {
        check_collective(world, test);
      } catch (const std::exception& error) {
        throw Mismatch(fmt::format("{} ranks, {}", world.size(), named(test, error).what()));
      }
    }
  });
  if (!failure.empty()) RC_FAIL(failure);
}

RC_GTEST_PROP(Collectives, MatchTheReferenceOnThreads, ()) { match_the_reference(thread_backend(), 9); }

RC_GTEST_PROP(Collectives, MatchTheReferenceOnMixedProtocols, ()) {
  match_the_reference(mixed_backend(*rc::gen::arbitrary<unsigned>()), 5);
}

RC_GTEST_PROP(Collectives, MatchTheReferenceOnTheTestDouble, ()) {
  match_the_reference(shuffle_backend(*rc::gen::arbitrary<unsigned>()), 4);
}

// Runs every combination once: all algorithms, 1 to 9 ranks, counts around the number of ranks, each root.
TEST(Collectives, EveryAlgorithmForEveryNumberOfRanks) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const std::string failure = thread_ranks()->run(ranks, [&](World& world) {
      for (const CollectiveKind kind :
           {CollectiveKind::barrier, CollectiveKind::broadcast, CollectiveKind::all_gather,
            CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
        for (const std::string& algorithm : coll_algorithms(kind, ranks)) {
          for (const std::int64_t count : {1, ranks - 1, ranks + 1, 67}) {
            CollCase test{.kind = kind, .type = "double", .algorithm = algorithm, .count = count};
            for (test.root = 0; test.root < (kind == CollectiveKind::broadcast ? ranks : 1); ++test.root) {
              for (const bool in_place : {true, false}) {
                if (!in_place && (kind == CollectiveKind::broadcast || kind == CollectiveKind::barrier))
                  continue;
                test.in_place = in_place;
                if (count > 0) check_collective(world, test);
              }
            }
          }
        }
      }
    });
    EXPECT_EQ(failure, "") << ranks << " ranks";
  }
}

}  // namespace
}  // namespace tca::test
