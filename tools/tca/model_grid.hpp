// The options of `tca model` that say what is exchanged by whom: checked, and made into a program.
#pragma once

#include "model_program.hpp"
#include "model_run.hpp"

namespace tca::tool {

inline bool exchanges_faces(const std::string& program) { return program == "himeno" || program == "halo"; }

// Whether MPI carries anything: of Himeno the residual, by every scheme.
inline bool takes_mpi(const std::string& program, const std::string& scheme) {
  return scheme != "direct" || program == "himeno";
}

// Throw Error{invalid_argument}, in one line.
Scheme find_scheme(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);
std::uint32_t count_ranks(const net::Machine& machine, const ModelOptions& options);
Exchange make_exchange(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);

std::string describe(const std::vector<std::uint32_t>& grid);  // "2x8x1"

}  // namespace tca::tool
