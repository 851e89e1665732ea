// Runs the suite over shared memory between threads, with non-temporal stores, which bypass the caches, in
// every place that can use them.
#include <cstdlib>

#include "suite.hpp"

namespace tca::test {
namespace {
[[maybe_unused]] const bool told = setenv("OPENTCA_NONTEMPORAL", "on", 1) == 0;
}
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(thread_backend(), mixed_backend(1)),
                         backend_name);

TEST(Nontemporal, IsAskedForInWords) {
  setenv("OPENTCA_NONTEMPORAL", "perhaps", 1);
  std::string said;
  try {
    World::run_threads(1, [](World&) {});
  } catch (const Error& error) {
    said = error.what();
  }
  setenv("OPENTCA_NONTEMPORAL", "on", 1);
  EXPECT_NE(said.find("OPENTCA_NONTEMPORAL=perhaps"), std::string::npos) << said;
}
}  // namespace tca::test
