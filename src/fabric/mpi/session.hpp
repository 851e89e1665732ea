// MPI in this process: initialised by whoever comes first, and finalised here only where it was initialised here.
#pragma once

#include <chrono>

namespace tca::mpi {

// Initialises MPI unless that has been done; it is finalised when the process ends. `threads` is the level that is needed, e.g.
// MPI_THREAD_FUNNELED. Throws Error{incompatible} when MPI gives less, or has been finalised already.
void ensure_session(int threads, std::chrono::milliseconds time_limit);

// A rank is lost: MPI_Finalize would wait for it, so that this process ends without it.
void spoil_session();

}  // namespace tca::mpi
