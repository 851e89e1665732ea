// The environment variables that people set, for `tca info` and the manual.
#pragma once

#include <array>

namespace tca::tool {

struct Variable {
  const char* name;
  const char* meaning;
};

inline constexpr std::array variables{
    Variable{"OPENTCA_TIME_LIMIT", "seconds that a blocking call may take (30)"},
    Variable{"OPENTCA_FABRIC",
             "shm, cuda, mpi, shm+mpi, cuda+mpi or sim, where a program does not say (shm)"},
    Variable{"OPENTCA_SUBCLUSTER", "ranks in a sub-cluster, on shm+mpi and cuda+mpi (all of a host)"},
    Variable{"OPENTCA_PROGRESS_THREAD", "1: a thread moves messages on while a rank computes, on mpi"},
    Variable{"OPENTCA_CUDA_AWARE", "on or off: whether MPI is given GPU memory, on cuda+mpi (MPI is asked)"},
    Variable{"OPENTCA_MACHINE", "the modelled machine, on sim, where a program does not say (ha-pacs-tca)"},
    Variable{"OPENTCA_FIDELITY", "tlp, train or flow, on sim, where a program does not say (tlp)"},
    Variable{"OPENTCA_MACHINES", "folders with more machine files, a colon between them"},
    Variable{"OPENTCA_NONTEMPORAL",
             "on or off: whether larger stores on shm go past the caches (both are tried)"},
    Variable{"OPENTCA_CHANNEL", "the channel that every put takes (chosen for each)"},
    Variable{"OPENTCA_TUNING", "the tuning table: a file, or off (the one of tca tune)"},
    Variable{"OPENTCA_RANK", "this process's rank; set by tca run"},
    Variable{"OPENTCA_SIZE", "the number of ranks; set by tca run"},
    Variable{"OPENTCA_CONTROL", "where the ranks meet; set by tca run"},
};

}  // namespace tca::tool
