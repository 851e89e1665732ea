#include "base/quantile.hpp"

#include <gtest/gtest.h>

namespace tca::test {
namespace {

TEST(Quantile, LiesBetweenTheNearestSamples) {
  EXPECT_EQ(base::quantile({}, 0.5), 0);
  EXPECT_EQ(base::median({7}), 7);
  EXPECT_EQ(base::median({3, 1, 2}), 2);
  EXPECT_EQ(base::median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(base::quantile({40, 10, 50, 30, 20}, 0.25), 20);
  EXPECT_EQ(base::quantile({5, 1}, 0.75), 4);
  EXPECT_EQ(base::quantile({5, 1, 3}, 0), 1);
  EXPECT_EQ(base::quantile({5, 1, 3}, 1), 5);
}

}  // namespace
}  // namespace tca::test
