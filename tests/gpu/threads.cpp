// Runs the suite over GPUs, or one shared GPU, with ranks as threads.
#include "suite.hpp"

namespace tca::test {
namespace {
Backend cuda_threads() {
  return {"cuda_threads", [] { return thread_ranks("cuda"); }, {"", "ll", "direct", "copy_engine"}, 10};
}
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(cuda_threads()), backend_name);
}  // namespace
}  // namespace tca::test
