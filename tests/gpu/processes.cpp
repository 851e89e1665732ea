// Runs the suite over GPUs with one process per rank. On a single GPU the processes take turns of a few
// milliseconds each.
#include "suite.hpp"

namespace tca::test {
namespace {
Backend cuda_processes() {
  return {"cuda_processes", [] { return process_ranks("cuda"); }, {"", "ll", "direct", "copy_engine"}, 100};
}
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(cuda_processes()), backend_name);
}  // namespace
}  // namespace tca::test
