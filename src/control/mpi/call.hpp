// MPI's C interface, with its errors thrown as tca::Error.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tca::mpi {

// Throws Error{rank_lost} with MPI's own message if a call did not succeed.
void check(int code, std::string_view doing);

// An InMpi lives while a rank's own thread calls MPI, so that another thread can see that MPI does not
// return: Open MPI may block forever when it aborts a job from within. The count is odd while the thread is
// inside. These objects may be nested. None lives through a whole wait for other ranks, in which MPI does
// return.
class InMpi {
 public:
  InMpi() {
    if (depth_++ == 0) step();
  }
  InMpi(const InMpi&) = delete;
  ~InMpi() {
    if (--depth_ == 0) step();
  }
  // Excludes the calling thread, which is not the rank's own, from the count.
  static void leave_uncounted() { depth_ = 1; }
  static std::uint32_t count() { return count_.load(std::memory_order_relaxed); }

 private:
  // Relaxed, and no read-modify-write: one thread counts, another only checks whether the count advances.
  static void step() { count_.store(count() + 1, std::memory_order_relaxed); }
  static inline std::atomic<std::uint32_t> count_ = 0;
  static inline thread_local int depth_ = 0;
};

// Returns the name of the MPI whose mpi.h this library was compiled with. include/tca/mpi.hpp gives the
// program's MPI in the same form.
std::string_view header_name();

// Returns whether MPI yields the core when it is called and has nothing to do. Open MPI does so if it knows
// of more ranks than cores.
bool yields_when_idle();

// The first world claims its process; `is_own_process` returns whether the caller is still in that one. A
// child forked from it has none of its worlds' threads, and must not use their connections.
void claim_process();
bool is_own_process();

// Returns whether this process has called MPI_Init itself and not yet MPI_Finalize. Only then can handles
// be released.
bool is_up();

}  // namespace tca::mpi
