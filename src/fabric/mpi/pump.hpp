// A Pump is a thread that lets MPI go on with whatever is under way while the rank computes.
//
// It touches nothing of this library: it only looks for a message that nobody sends. This needs
// MPI_THREAD_MULTIPLE.
#pragma once

#include <atomic>
#include <thread>

#include "control/mpi/call.hpp"

namespace tca::mpi {

class Pump {
 public:
  explicit Pump(MPI_Comm comm);
  Pump(const Pump&) = delete;
  ~Pump();

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace tca::mpi
