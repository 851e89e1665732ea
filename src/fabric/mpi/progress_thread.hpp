// A ProgressThread is a thread that lets MPI progress whatever is under way while the rank computes.
//
// It touches nothing in this library: it only probes for a message that nobody sends. This needs
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
