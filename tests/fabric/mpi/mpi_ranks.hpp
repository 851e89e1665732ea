// Runs ranks as the processes of mpirun. Every process runs the same tests in the same order. In each test,
// as many processes as it asks for make a world by World::from_mpi, and all processes get the same result.
#pragma once

#include "ranks.hpp"

namespace tca::test {

// Initialises MPI and runs all tests, and is all that `main` calls. Only one process prints. `by_threads`
// asks for MPI_THREAD_MULTIPLE.
int run_tests_over_mpi(int argc, char** argv, bool by_threads = false);

// Runs `body` in a world. `comm` is the address of an MPI_Comm of the world's ranks.
using InWorld = std::function<void(const void* comm, const Ranks::Body& body, const WorldOptions& options)>;
Backend mpi_backend(std::string name, InWorld in_world, std::vector<std::string> channels);

// `sub_cluster`: ranks per sub-cluster; 0 makes each host one sub-cluster.
Backend mpi_backend(const std::string& fabric, int sub_cluster, std::vector<std::string> channels);

}  // namespace tca::test
