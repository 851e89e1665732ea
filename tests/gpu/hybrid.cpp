// Runs the suite over GPUs that reach each other within sub-clusters, with MPI between these. mpirun starts
// five processes of it.
#include "mpi/mpi_ranks.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// Processes that share a GPU take turns of a few milliseconds each, so these tests run fewer steps.
Backend hybrid(int sub_cluster, std::vector<std::string> channels) {
  Backend backend = mpi_backend("cuda+mpi", sub_cluster, std::move(channels));
  backend.effort = 100;
  return backend;
}

INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(hybrid(2, {"", "mpi/staged"}), hybrid(1, {""})),
                         backend_name);

}  // namespace
}  // namespace tca::test

int main(int argc, char** argv) { return tca::test::run_tests_over_mpi(argc, argv, true); }
