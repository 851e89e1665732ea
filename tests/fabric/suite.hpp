// The suite that every fabric must pass: its fixture, and how an executable says which fabrics it tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plan.hpp"
#include "ranks.hpp"

namespace tca::test {

class FabricTest : public testing::TestWithParam<Backend> {
 protected:
  void run(int ranks, const Ranks::Body& body) {
    if (ranks > GetParam().most_ranks) GTEST_SKIP() << "no room for " << ranks << " ranks";
    EXPECT_EQ(GetParam().make()->run(ranks, body), "");
  }

  // Runs the plans one after the other in one world. A failure prints its plan.
  void run_plans(int ranks, const std::vector<Plan>& plans) {
    run(ranks, [&](World& world) {
      for (const Plan& plan : plans) {
        try {
          run_plan(world, plan);
        } catch (const std::exception& error) {
          std::ostringstream text;
          text << error.what() << "\nin the plan of " << plan;
          throw Mismatch(text.str());
        }
      }
    });
  }

  const std::vector<std::string>& channels() const { return GetParam().channels; }
  int steps(int steps) const { return std::max(2, steps / GetParam().effort); }
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& test) { return test.param.name; }

}  // namespace tca::test
