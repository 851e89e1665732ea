// Guards what the threads of a program have in common, where several may be in MPI at once. Elsewhere it costs a comparison.
#pragma once

#include "mpi/engine/lock.hpp"

namespace tca::interposer {

// Whether MPI gave MPI_THREAD_MULTIPLE; known before anything is served.
inline bool threads_are_many = false;

// Nothing is waited for, and MPI is not called, while one lives.
class Guard {
 public:
  explicit Guard(p2p::Lock& lock) : lock_(threads_are_many ? &lock : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  Guard(const Guard&) = delete;
  ~Guard() {
    if (lock_ != nullptr) lock_->unlock();
  }

 private:
  p2p::Lock* lock_;
};

}  // namespace tca::interposer
