// Compares random chains between processes with a plain copy.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_plan.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

RC_GTEST_PROP(RandomChains, MatchACopyBetweenProcesses, ()) {
  const Plan plan = *random_plan(4, process_backend().channels, 6);
  const std::string failure = process_ranks()->run(plan.ranks, [&](World& world) { run_plan(world, plan); });
  if (!failure.empty()) RC_FAIL(failure);
}

}  // namespace
}  // namespace tca::test
