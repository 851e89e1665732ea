// The part of a chain that MPI's one-sided calls carry: post and start, put, complete and wait (MPI-3, general active target).
//
// A target posts its windows in its start n, which nobody waits for, and then says so in a message of our own, so that
// an origin starts its puts when that cannot block. MPI_Win_complete may still block until they are through; a time
// limit ends the process then, because nothing ends the call.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/mpi/datatype.hpp"
#include "fabric/mpi/handle.hpp"
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
  Group origins, targets;  // null: none
  std::vector<Put> puts;
  std::vector<int> origin_ranks;
  bool posted = false;  // and not yet complete
};

class MpiControl;
class Runner;

class RmaPart {
 public:
  RmaPart(MPI_Comm comm, const fabric::Share& share, Runner& runner);
  RmaPart(const RmaPart&) = delete;
  ~RmaPart();

  // Collective: `memories` are the windows that any rank puts into, the same on every rank. Throws, on every rank alike,
  // Error{refused} where MPI makes no windows.
  void make_windows(MpiControl& control, const std::vector<MpiMemory*>& memories);

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
  std::map<std::uint32_t, RmaWindow> windows_;  // by the number of ours
};

}  // namespace tca::mpi
