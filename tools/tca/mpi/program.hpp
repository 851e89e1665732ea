// Which MPI a program is linked with, as the loader sees it.
#pragma once

#include <string>

namespace tca::tool {

struct MpiOfProgram {
  std::string name;      // openmpi, mpich or abi; empty where it is none
  std::string obstacle;  // why, where it is empty
};

MpiOfProgram find_mpi(const std::string& path);

// Returns the name of a library without which the loader cannot put another one before the program; empty where it can.
std::string what_is_missing(const std::string& library, const std::string& path);

}  // namespace tca::tool
