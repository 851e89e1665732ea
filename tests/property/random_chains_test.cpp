// Compares random chains on every fabric with a plain copy.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "random_plan.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

void matches_the_copy(const Backend& backend, int ranks) {
  const Plan plan = *random_plan(ranks, backend.channels, 6);
  const std::string failure = backend.make()->run(plan.ranks, [&](World& world) { run_plan(world, plan); });
  RC_CLASSIFY(plan.guarded, "guarded");
  RC_CLASSIFY(plan.one_window, "one window");
  if (!failure.empty()) RC_FAIL(failure);
}

RC_GTEST_PROP(RandomChains, MatchACopyOnThreads, ()) { matches_the_copy(thread_backend(), 5); }

RC_GTEST_PROP(RandomChains, MatchACopyOnMixedProtocols, ()) {
  matches_the_copy(mixed_backend(*rc::gen::arbitrary<unsigned>()), 5);
}

RC_GTEST_PROP(RandomChains, MatchACopyOnTheTestDouble, ()) {
  matches_the_copy(shuffle_backend(*rc::gen::arbitrary<unsigned>()), 4);
}

}  // namespace
}  // namespace tca::test
