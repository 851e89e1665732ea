// The suite over the test double, in several orders.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(shuffle_backend(1), shuffle_backend(2), shuffle_backend(3)),
                         backend_name);
}  // namespace tca::test
