// Checks collectives between processes against a plain computation.
#include <gtest/gtest.h>

#include "coll_check.hpp"

namespace tca::test {
namespace {

TEST(CollectivesOfProcesses, EveryAlgorithm) {
  for (const int ranks : {1, 2, 3, 4, 6}) {
    const std::string failure = process_ranks()->run(ranks, [&](World& world) {
      for (const CollectiveKind kind :
           {CollectiveKind::barrier, CollectiveKind::broadcast, CollectiveKind::all_gather,
            CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
        for (const std::string& algorithm : coll_algorithms(kind, ranks)) {
          for (const std::int64_t count : {1, 19, 5003}) {
            CollCase test{.kind = kind, .type = "float", .algorithm = algorithm, .count = count};
            test.root = ranks / 2;
            test.in_place = kind == CollectiveKind::broadcast || count == 19;
            check_collective(world, test);
          }
        }
      }
    });
    EXPECT_EQ(failure, "") << ranks << " ranks";
  }
}

}  // namespace
}  // namespace tca::test
