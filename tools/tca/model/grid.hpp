// Checks the options of `tca model` that say which ranks exchange what, and makes a program of them.
#pragma once

#include "model/program.hpp"
#include "model/run.hpp"

namespace tca::tool {

inline bool exchanges_faces(const std::string& program) { return program == "himeno" || program == "halo"; }

// Whether MPI carries anything. In Himeno it carries the residual, in every scheme.
inline bool takes_mpi(const std::string& program, const std::string& scheme) {
  return scheme != "direct" || program == "himeno";
}

// The next three throw Error{invalid_argument} with a message of one line.
Scheme find_scheme(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);
std::uint32_t count_ranks(const net::Machine& machine, const ModelOptions& options);
Exchange make_exchange(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);

std::string describe(const std::vector<std::uint32_t>& grid);  // such as "2x8x1"

}  // namespace tca::tool
