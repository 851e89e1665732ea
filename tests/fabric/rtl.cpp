// Runs the suite on a modelled machine whose hubs are RTL.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(sim_backend("ha-pacs-tca", {"tca"}, 4, "rtl"),
                                         sim_backend("peach3", {"tca"}, 2, "rtl")),
                         backend_name);
}  // namespace tca::test
