// An RmaPart is the part of a chain that MPI's one-sided calls carry: post and start, put, complete and
// wait (MPI-3, general active target).
//
// A target posts its windows in its start n, which does not wait, and then says so in a message of our own,
// so that an origin starts its puts only when that cannot block. MPI_Win_complete may still block until the
// puts are done. When the time limit expires, the process then ends, because nothing else ends the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/mpi/datatype.hpp"
#include "fabric/mpi/handle.hpp"
#include "fabric/mpi/memory.hpp"

namespace tca::mpi {

// An MPI window. All ranks free it together, which a chain does not do, so it stays until the world ends.
struct RmaHandle {
  MPI_Win win = MPI_WIN_NULL;
  bool posted = false;  // but not yet complete
};

// How a chain uses one of MPI's windows, which covers one of this library's.
struct RmaWindow {
  struct Put {
    int rank;
    Content from, to;
    MPI_Aint to_offset;
  };

  std::shared_ptr<RmaHandle> handle;
  Group origins, targets;  // null: none
  std::vector<Put> puts;
  std::vector<int> origin_ranks;
};

class MpiControl;
class Runner;

class RmaPart {
 public:
  RmaPart(MPI_Comm comm, const fabric::ChainSpec& share, Runner& runner);
  RmaPart(const RmaPart&) = delete;

  // Collective. `memories` are the windows that any rank puts into, the same on every rank. Throws
  // Error{refused}, on every rank alike, if MPI cannot make windows.
  void make_windows(MpiControl& control, const std::vector<MpiMemory*>& memories);

  bool is_origin() const { return is_origin_; }

  void post();
  void put();
  // Returns whether everything that others put in this step has arrived.
  bool arrived();
  // Returns whether MPI no longer knows this library's windows.
  bool is_freed() const;
  std::vector<int> missing() const;

 private:
  void make_window(MpiControl& control, MpiMemory& memory);

  std::string chain_;
  std::chrono::milliseconds time_limit_;
  Runner& runner_;
  bool is_origin_ = false;
  std::map<std::uint32_t, RmaWindow> windows_;  // by the number of this library's window
};

// Frees all windows of a world that is ending, on all ranks together. They stay if a rank is lost, or if
// any is in the middle of a step.
void free_windows(MpiControl& control, Runner& runner);

}  // namespace tca::mpi
