// The suite over shared memory between threads, with one protocol a chain and with a mixture.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(thread_backend(), mixed_backend(1), mixed_backend(2)), backend_name);
}  // namespace tca::test
