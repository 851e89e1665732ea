// Options of subcommands whose ranks may talk over MPI.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "route/over_mpi.hpp"

namespace tca::tool {

// Whether the ranks of a fabric must be started by mpirun.
inline bool is_over_mpi(const std::string& fabric) { return route::needs_mpi(fabric); }

// --sub-cluster N: said to this process's world, or to those of the ranks that it starts.
void add_sub_cluster_option(CLI::App& app);

}  // namespace tca::tool
