// Tests Himeno on modelled machines: it gives the serial answer, in virtual time.
#include <gtest/gtest.h>

#include "himeno/check.hpp"
#include "himeno/solver.hpp"
#include "tca/world.hpp"

namespace tca::himeno {
namespace {

constexpr int iterations = 4;

// Returns the microseconds of virtual time per iteration.
double solve(const std::string& machine, const std::array<int, 3>& shape, const std::string& size) {
  const Problem problem{.extents = size_named(size).extents};
  double us = 0;
  World::run_threads(shape[0] * shape[1] * shape[2],
                     [&](World& world) {
                       const Grid grid(world.size(), {shape[0], shape[1], shape[2]});
                       Solver solver(world, problem, grid);
                       const auto exchange =
                           direct_exchange(world, grid, solver.share(), solver.pressure(), false);
                       world.barrier();
                       const double begin = world.now().count();
                       for (int n = 0; n < iterations; ++n) solver.iterate(*exchange, false);
                       if (world.rank() == 0) us = (world.now().count() - begin) * 1e6 / iterations;
                       const Check verdict = check(world, problem, solver);
                       EXPECT_TRUE(verdict.agrees()) << machine;
                     },
                     {.fabric = "sim", .machine = machine});
  return us;
}

TEST(SimHimeno, GivesTheSerialAnswerOnEveryMachine) {
  for (const char* machine : {"ha-pacs-tca", "quong", "dgx-h200", "h200-cluster"}) {
    const double us = solve(machine, {2, 2, 2}, "XS");
    std::printf("%s, 2x2x2, XS: %.1f us an iteration\n", machine, us);
    EXPECT_GT(us, 0) << machine;
  }
}

// A box's NVLink carries the same faces faster than cables of 2013.
TEST(SimHimeno, IsFasterOnAFasterMachine) {
  EXPECT_LT(solve("dgx-h200", {2, 2, 1}, "XS"), solve("ha-pacs-tca", {2, 2, 1}, "XS"));
}

}  // namespace
}  // namespace tca::himeno
