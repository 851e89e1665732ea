// Runs the suite on modelled machines.
#include "suite.hpp"

namespace tca::test {
INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(sim_backend("ha-pacs-tca", {"", "tca", "mpi", "rma"}),
                                         sim_backend("peach3", {"", "tca", "mpi"}, 2),
                                         sim_backend("ha-pacs", {""}),
                                         sim_backend("quong", {"", "ape", "sim/mpi"}),
                                         sim_backend("quong-v5", {"ape"}),
                                         sim_backend("dgx-h200", {"", "nvlink"}),
                                         sim_backend("h200-cluster", {""}), sim_backend("torus-32k", {""})),
                         backend_name);
}  // namespace tca::test
