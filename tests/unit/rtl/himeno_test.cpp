// Himeno on hubs in RTL: the serial program's answer, to the bit.
#include <gtest/gtest.h>

#include "himeno/check.hpp"
#include "himeno/solver.hpp"
#include "tca/world.hpp"

namespace tca::himeno {
namespace {

TEST(RtlHimeno, GivesTheSerialAnswer) {
  const Problem problem{.extents = size_named("S").extents};
  World::run_threads(4,
                     [&](World& world) {
                       const Grid grid(world.size(), {2, 2, 1});
                       Solver solver(world, problem, grid);
                       const auto exchange =
                           direct_exchange(world, grid, solver.share(), solver.pressure(), false);
                       for (int n = 0; n < 3; ++n) solver.iterate(*exchange, false);
                       EXPECT_TRUE(check(world, problem, solver).agrees());
                     },
                     {.fabric = "sim", .machine = "ha-pacs-tca", .fidelity = "rtl"});
}

}  // namespace
}  // namespace tca::himeno
