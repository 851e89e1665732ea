// Runs the suite over shared memory between processes.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(process_backend()), backend_name);
}  // namespace tca::test
