// Ranks as the processes of mpirun. Every process runs the same tests in the same order; in each, so many of them as it asks for
// make a world by World::from_mpi, and all of them come to the same result.
#pragma once

#include "ranks.hpp"

namespace tca::test {

// Initialises MPI, for calls from several threads at once if that is asked for, runs all tests, and prints on one process only.
// For `main`.
int run_tests_over_mpi(int argc, char** argv, bool by_threads = false);

// `comm` is the address of an MPI_Comm of the ranks of a world, which `body` is run in.
using InWorld = std::function<void(const void* comm, const Ranks::Body& body, const WorldOptions& options)>;
Backend mpi_backend(std::string name, InWorld in_world, std::vector<std::string> routes);

// `sub_cluster` ranks to a sub-cluster; 0: all of a host.
Backend mpi_backend(const std::string& fabric, int sub_cluster, std::vector<std::string> routes);

}  // namespace tca::test
