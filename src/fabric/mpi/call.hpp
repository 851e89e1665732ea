// MPI's C interface, and its errors as ours.
#pragma once

// The C++ bindings that some mpi.h still bring would have to be linked.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tca::mpi {

// Throws Error{rank_lost} with MPI's own words when a call did not succeed.
void check(int code, std::string_view doing);

// Stands around what calls MPI on a rank's own thread, so that another thread can see that MPI does not come back: Open MPI's
// way of ending a job from within may block for ever. Odd while inside. One may stand within another; none stands around a wait for
// other ranks, in which MPI does come back.
class InMpi {
 public:
  InMpi() {
    if (depth_++ == 0) step();
  }
  InMpi(const InMpi&) = delete;
  ~InMpi() {
    if (--depth_ == 0) step();
  }
  // Of the calling thread, which is not the rank's own: as if it had been inside before.
  static void leave_uncounted() { depth_ = 1; }
  static std::uint32_t count() { return count_.load(std::memory_order_relaxed); }

 private:
  // Relaxed, and no read-modify-write: one thread counts, another only looks whether it goes on.
  static void step() { count_.store(count() + 1, std::memory_order_relaxed); }
  static inline std::atomic<std::uint32_t> count_ = 0;
  static inline thread_local int depth_ = 0;
};

// Which MPI's mpi.h this is; as include/tca/mpi.hpp says it of the program's.
std::string_view header_name();

// Whether MPI gives the core away when it is asked and has nothing: Open MPI does where it was told of more ranks than cores.
bool gives_way_when_idle();

// Whether this is the process that made the worlds it has, of which the first says so: a child forked from it has none of their
// threads, and must not speak over their connections.
void claim_process();
bool is_own_process();

// Between MPI_Init and MPI_Finalize, in the process that has done so; handles can be given back only then.
bool is_up();

}  // namespace tca::mpi
