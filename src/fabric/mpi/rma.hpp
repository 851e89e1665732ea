// The part of a chain that MPI's one-sided calls carry: post and start, put, complete and wait (MPI-3, general active target).
//
// A target posts its windows in its start n, which nobody waits for, and then says so in a message of our own, so that
// an origin starts its puts when that cannot block. MPI_Win_complete may still block until they are through; a time
// limit ends the process then, because nothing ends the call.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/mpi/datatype.hpp"
#include "fabric/mpi/memory.hpp"

namespace tca::mpi {

// One window of MPI's, over one window of ours.
struct RmaWindow {
  struct Put {
    int rank;
    Content from, to;
    MPI_Aint to_offset;
  };

  MPI_Win handle = MPI_WIN_NULL;
  MPI_Group origins = MPI_GROUP_NULL, targets = MPI_GROUP_NULL;  // null: none
  std::vector<Put> puts;
  std::vector<int> origin_ranks;
  bool posted = false;  // and not yet complete
};

class Runner;

class RmaPart {
 public:
  // Collective over `comm`: `memories` are the windows that any rank puts into, the same on every rank.
  RmaPart(MPI_Comm comm, const fabric::Share& share, const std::vector<MpiMemory*>& memories, Runner& runner);
  RmaPart(const RmaPart&) = delete;
  ~RmaPart();

  bool is_origin() const { return is_origin_; }

  void post();
  void put();
  // Whether everything that others put in this step is here.
  bool arrived();
  // As Program::end.
  bool end(bool in_order);
  std::vector<int> missing() const;

 private:
  std::string chain_;
  std::chrono::milliseconds time_limit_;
  Runner& runner_;
  bool is_origin_ = false;
  std::vector<RmaWindow> windows_;
};

}  // namespace tca::mpi
