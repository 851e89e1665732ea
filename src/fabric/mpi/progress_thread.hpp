// A ProgressThread is a thread that lets MPI go on with whatever is under way while the rank computes.
//
// It touches nothing of this library: it only looks for a message that nobody sends. This needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include "base/system/worker.hpp"
#include "control/mpi/call.hpp"

namespace tca::mpi {

class ProgressThread {
 public:
  explicit ProgressThread(MPI_Comm comm);

 private:
  base::Worker thread_;
};

}  // namespace tca::mpi
