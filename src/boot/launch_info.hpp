// Finds the rank of this process in the environment that its launcher has set.
#pragma once

#include <string>

namespace tca::boot {

// The place of this process among the ranks that were launched together.
struct LaunchInfo {
  int rank = 0;
  int size = 1;
  std::string launcher = {};  // "tca run", "Open MPI", ...; empty for a process that is no rank
  std::string path = {};      // of the control segment; empty for a world of one
  bool named = false;         // a name in /dev/shm that rank 0 creates, rather than the launcher's own memory
  std::string rank_variable = {};  // the environment variable that says the rank; empty where none does
  std::string told = {};     // that variable and the one with the number of ranks, as "NAME=1 and OTHER=4"
  int here = 1;              // ranks on this host; all of them when the launcher does not say
  bool says_where = false;   // whether it does
  int hosts = 1;             // how many there are, as the batch system says where the launcher does not
  bool known_to_mpi = true;  // whether an MPI may know of the ranks
  std::string call = "World::init";  // by which the ranks come up

  bool spans_hosts() const { return here != size || hosts > 1; }
  bool on_one_host() const { return says_where && !spans_hosts(); }
};

// Returns what is known of the launch of this process. Where launchers were started within one another, the
// innermost counts. Throws Error{invalid_argument} for an environment that contradicts itself.
LaunchInfo find_launch_info();

// Returns the place of a process that its program has told of it; see World::join. Throws
// Error{invalid_argument} for a rank, size or key that cannot be.
LaunchInfo launch_by_key(int rank, int size, const std::string& key);

// Returns what to add to a message about ranks that have not come: what made this process believe in them,
// and how it is started if it is no rank. Empty where no launcher has started it.
std::string why_ranks_are_expected(const LaunchInfo& launch);

// Returns whether this process was started as a rank of an MPI job. Only then may it initialise MPI: without
// mpirun, MPI may end a process that tries. Where `tca run` has started it within such a job,
// `find_launch_info` gives the seat that `tca run` has set.
bool is_rank_of_mpi();

}  // namespace tca::boot
