// Checks collectives between processes against a plain computation.
#include <gtest/gtest.h>

#include "coll_check.hpp"

namespace tca::test {
namespace {

using coll::Kind;

TEST(CollectivesOfProcesses, EveryAlgorithm) {
  for (const int ranks : {1, 2, 3, 4, 6}) {
    const std::string failure = process_ranks()->run(ranks, [&](World& world) {
      for (const Kind kind : {Kind::barrier, Kind::broadcast, Kind::all_gather, Kind::all_reduce,
                              Kind::reduce_scatter, Kind::all_to_all}) {
        for (const std::string& algorithm : coll_algorithms(kind, ranks)) {
          for (const std::int64_t count : {1, 19, 5003}) {
            CollCase test{.kind = kind, .type = "float", .algorithm = algorithm, .count = count};
            test.root = ranks / 2;
            test.in_place = kind == Kind::broadcast || count == 19;
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
