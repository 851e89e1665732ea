// Runs the suite over MPI alone, and over MPI with shared memory inside sub-clusters.
#include "mpi_ranks.hpp"
#include "suite.hpp"

namespace tca::test {

INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest,
                         testing::Values(mpi_backend("mpi", 0, {"", "mpi/datatype", "mpi/packed", "mpi/rma"}),
                                         mpi_backend("shm+mpi", 2, {"", "mpi"}),
                                         mpi_backend("shm+mpi", 0, {"", "shm", "mpi/packed"})),
                         backend_name);

}  // namespace tca::test

int main(int argc, char** argv) { return tca::test::run_tests_over_mpi(argc, argv); }
