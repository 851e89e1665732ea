// Finds this process's rank in the environment that its launcher has set.
#pragma once

#include <string>

namespace tca::boot {

// The place of this process among the ranks that were launched together.
struct LaunchInfo {
  int rank = 0;
  int size = 1;
  std::string launcher = {};  // "tca run", "Open MPI", ...; empty for a process that is not a rank
  std::string path = {};      // of the control segment; empty for a world of one
  bool named = false;         // a name in /dev/shm that rank 0 creates, rather than the launcher's own memory
  std::string rank_variable = {};  // the environment variable that holds the rank; empty if none does
  std::string told = {};     // that variable and the one with the number of ranks, as "NAME=1 and OTHER=4"
  int here = 1;              // ranks on this host; all of them if the launcher does not say
  bool says_where = false;   // whether it does
  int hosts = 1;             // how many there are, from the batch system if the launcher does not say
  bool known_to_mpi = true;  // whether an MPI may know of the ranks
  std::string call = "World::init";  // with which the ranks come up

  bool spans_hosts() const { return here != size || hosts > 1; }
  bool on_one_host() const { return says_where && !spans_hosts(); }
};

// Returns what is known about this process's launch. If launchers were started within one another, the
// innermost counts. Throws Error{invalid_argument} for an environment that contradicts itself.
LaunchInfo find_launch_info();

// Returns the place of a process whose program has told it its place; see World::join. Throws
// Error{invalid_argument} for an invalid rank, size or key.
LaunchInfo launch_by_key(int rank, int size, const std::string& key);

// Returns what to add to a message about ranks that have not arrived: why this process expects them, and
// how to start it if it is not a rank. Empty if no launcher has started it.
std::string why_ranks_are_expected(const LaunchInfo& launch);

// Returns whether this process was started as a rank of an MPI job. Only then may it initialise MPI:
// without mpirun, MPI may end a process that tries. If `tca run` has started it within such a job,
// `find_launch_info` returns the place that `tca run` has set.
bool is_rank_of_mpi();

}  // namespace tca::boot
