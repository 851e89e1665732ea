// The suite over shared memory between threads whose stores go past the caches, wherever they run.
#include <cstdlib>

#include "suite.hpp"

namespace tca::test {
namespace {
[[maybe_unused]] const bool told = setenv("OPENTCA_STREAM", "on", 1) == 0;
}
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(thread_backend(), mixed_backend(1)),
                         backend_name);

TEST(Streamed, IsAskedForInWords) {
  setenv("OPENTCA_STREAM", "perhaps", 1);
  std::string said;
  try {
    World::run_threads(1, [](World&) {});
  } catch (const Error& error) {
    said = error.what();
  }
  setenv("OPENTCA_STREAM", "on", 1);
  EXPECT_NE(said.find("OPENTCA_STREAM=perhaps"), std::string::npos) << said;
}
}  // namespace tca::test
