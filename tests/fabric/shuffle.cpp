// Runs the suite over the test double, with several random orders, and with shared memory beside it.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(shuffle_backend(1), shuffle_backend(2), shuffle_backend(3),
                                         hybrid_backend(4, 2), hybrid_backend(5, 1)),
                         backend_name);
}  // namespace tca::test
