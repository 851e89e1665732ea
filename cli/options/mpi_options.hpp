// Options of subcommands whose ranks may communicate over other fabrics than shm.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "boot/over_mpi.hpp"
#include "cli/options/one_of.hpp"

namespace tca::tool {

// Whether the ranks of a fabric must be started by mpirun.
inline bool is_over_mpi(const std::string& fabric) { return boot::needs_mpi(fabric); }

// Refuse what this tca was built without: the libraries of a fabric, or the MPI that `asks` needs, such as
// "--peer mpi".
void check_built(const std::string& fabric);
void check_built_with_mpi(const std::string& asks);

// Checks --fabric of subcommands that accept every fabric.
inline CLI::Validator any_fabric() { return one_of({"shm", "mpi", "shm+mpi", "cuda", "cuda+mpi", "sim"}); }

// Adds --sub-cluster N, which is passed on to this process's world, or to the worlds of the ranks that it
// starts. To be called after --fabric has been added. When the user has chosen no fabric, this changes the
// default: a host that is split, by this option or by OPENTCA_SUBCLUSTER, takes shm+mpi.
void add_sub_cluster_option(CLI::App& app, std::string& fabric);

}  // namespace tca::tool
