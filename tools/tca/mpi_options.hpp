// Options of subcommands whose ranks may talk over other fabrics than shm.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "route/over_mpi.hpp"

namespace tca::tool {

// Whether the ranks of a fabric must be started by mpirun.
inline bool is_over_mpi(const std::string& fabric) { return route::needs_mpi(fabric); }

// Refuses a fabric, or what `asks` for MPI such as "--peer mpi", that this tca was built without.
void check_built(const std::string& fabric);
void check_built_with_mpi(const std::string& asks);

// For --fabric of subcommands that take all that there are.
inline CLI::IsMember any_fabric() {
  return CLI::IsMember({"shm", "mpi", "shm+mpi", "cuda", "cuda+mpi", "sim"});
}

// --sub-cluster N: said to this process's world, or to those of the ranks that it starts. To be added after --fabric, which it
// decides where nobody has chosen one: a host that is split, by this or OPENTCA_SUBCLUSTER, takes shm+mpi.
void add_sub_cluster_option(CLI::App& app, std::string& fabric);

}  // namespace tca::tool
