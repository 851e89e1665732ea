// How a process finds its world: from what its launcher left in the environment.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fabric/shm/shm_control.hpp"

namespace tca::shm {

// Where this process stands among the ranks that were launched together.
struct Seating {
  int rank = 0;
  int size = 1;
  std::string launcher;  // "tca run", "Open MPI", ...
  std::string path;      // of the control segment; empty for a world of one
  bool named = false;    // a name in /dev/shm that rank 0 creates, rather than the launcher's own memory
  int here = 1;  // how many of them the launcher started on this host, all of them when it does not say
  bool says_where = false;

  bool spans_hosts() const { return here != size; }
  bool on_one_host() const { return says_where && !spans_hosts(); }
};

// Throws Error{invalid_argument} for an environment that contradicts itself.
Seating find_seating();

// Opens or creates the control segment and waits for every rank. Throws Error{incompatible} for a segment
// that is another user's, foreign, corrupted or of another version, Error{invalid_argument} for ranks on several hosts.
std::unique_ptr<ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit);

// A board for `ranks` threads, or for a world of one.
Mapping make_thread_board(int ranks);

}  // namespace tca::shm
