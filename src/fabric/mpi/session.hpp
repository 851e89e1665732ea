// MPI in this process: initialised by whoever comes first, and finalised here only where it was initialised here.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

namespace tca::mpi {

// Who calls MPI: the rank's own thread, its progress thread (pump.hpp) besides, or a carrier (staged.hpp).
enum class Callers { own_thread, progress_thread, carrier };

// Initialises MPI unless that has been done; it is finalised when the process ends. Throws Error{incompatible} when MPI
// does not allow the callers, or has been finalised already.
void ensure_session(Callers callers, std::chrono::milliseconds time_limit);

// Throws Error{incompatible} where MPI may be called only by the thread that initialised it, and another is about to.
void check_thread(std::string_view what);

// What a part of a world that is still there does before MPI is finalised, by this library or by the program: nothing of MPI's may be
// called from then on. `trouble` is empty, or why the process ends in the middle of it.
class BeforeEnd {
 public:
  explicit BeforeEnd(std::function<void(std::string_view trouble)> call);
  BeforeEnd(const BeforeEnd&) = delete;
  ~BeforeEnd();

 private:
  friend class Ends;
  std::function<void(std::string_view)> call_;
};

// A rank is lost: MPI_Finalize would wait for it, so that this process ends without it.
void spoil_session();

// Every process of the job has come together again, after worlds that failed for some.
void mend_session();

}  // namespace tca::mpi
