// Which MPI a program is linked with, as the loader sees it.
#pragma once

#include <string>

namespace tca::tool {

struct MpiOfProgram {
  std::string name;      // openmpi or mpich; empty where it is neither
  std::string obstacle;  // why, where it is empty
};

MpiOfProgram find_mpi(const std::string& path);

}  // namespace tca::tool
