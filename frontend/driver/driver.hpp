// `tca xacc`: the front end as a command.
#pragma once

#include <string>
#include <vector>

namespace tca::xacc {

// Where the headers and libraries of OpenTCA are that a translated program needs.
struct Home {
  std::string include;            // holds tca/xacc/runtime.h
  std::vector<std::string> mpi;   // holds mpi.h, if OpenTCA has been built with MPI
  std::vector<std::string> link;  // what a program is linked with; empty where it is not there
  std::string gpus;               // what GPUs OpenTCA was built for, as nvcc's option; empty: for none
};

// Runs `tca xacc` with what stands behind it: cc, check or --help. Returns the exit code.
int run(const std::vector<std::string>& words, const Home& home);

}  // namespace tca::xacc
