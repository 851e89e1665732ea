// What launchers leave in the environment of the processes that they start.
#pragma once

#include <string>

namespace tca::shm {

// Where this process stands among the ranks that were launched together.
struct Seating {
  int rank = 0;
  int size = 1;
  std::string launcher;  // "tca run", "Open MPI", ...; empty where none has started this process as a rank
  std::string path;      // of the control segment; empty for a world of one
  bool named = false;    // a name in /dev/shm that rank 0 creates, rather than the launcher's own memory
  std::string told_by;   // the environment variable that says the rank; empty where none does
  int here = 1;  // how many of them the launcher started on this host, all of them when it does not say
  bool says_where = false;
  int hosts = 1;  // on how many they are, where somebody else says so

  bool spans_hosts() const { return here != size || hosts > 1; }
  bool on_one_host() const { return says_where && !spans_hosts(); }
};

// Throws Error{invalid_argument} for an environment that contradicts itself.
Seating find_seating();

// Whether this process was started as a rank of MPI's, which may then be initialised: without mpirun MPI may end a process that
// tries. `tca run` may have started it within one, whose seat is then the one that counts.
bool is_rank_of_mpi();

}  // namespace tca::shm
