// Checks the options of `tca model` that say which ranks exchange what, and makes a program of them.
#pragma once

#include <functional>
#include <vector>

#include "model/loop.hpp"
#include "model/program.hpp"
#include "model/run.hpp"

namespace tca::tool {

inline bool exchanges_faces(const std::string& program) { return program == "himeno" || program == "halo"; }

inline bool is_loop(const std::string& program) {
  return program == "cg" || program == "qcd" || program == "fft";
}

// Whether MPI carries anything. In Himeno and loops it carries sums, in every scheme.
inline bool takes_mpi(const std::string& program, const std::string& scheme) {
  return scheme != "direct" || program == "himeno" || is_loop(program);
}

// The next four throw Error{invalid_argument} with a message of one line.
Scheme find_scheme(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);
std::uint32_t count_ranks(const net::Machine& machine, const ModelOptions& options);
Exchange make_exchange(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks);

// A loop and what it is of: `lay_down` adds the phases of a pass.
struct LoopPlan {
  std::vector<std::uint32_t> grid;
  bool in_bricks = false;  // whether neighbours in the grid are who exchange
  std::int64_t n = 0;
  std::function<void(Loop&)> lay_down;
};
LoopPlan plan_loop(const ModelOptions& options, std::uint32_t ranks);

std::string describe(const std::vector<std::uint32_t>& grid);  // such as "2x8x1"

}  // namespace tca::tool
