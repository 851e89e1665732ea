#include "fabric/mpi/progress_thread.hpp"

#include <chrono>

#include "base/system/limits.hpp"
#include "base/system/signals.hpp"
#include "control/mpi/mpi_control.hpp"

namespace tca::mpi {

namespace {

// Long enough for the thread to take only a few hundredths of a core, and short compared with a large
// message.
constexpr std::chrono::microseconds pause{50};

}  // namespace

ProgressThread::ProgressThread(MPI_Comm comm)
    : thread_(base::start_thread("MPI's progress", [this, comm] {
        base::leave_signals_to_others();
        // Relaxed: nothing else is handed over.
        while (!over_.load(std::memory_order_relaxed)) {
          int come = 0;
          if (MPI_Iprobe(MPI_ANY_SOURCE, Tag::never, comm, &come, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
          std::this_thread::sleep_for(pause);
        }
      })) {}

ProgressThread::~ProgressThread() {
  over_.store(true, std::memory_order_relaxed);
  if (is_own_process())
    thread_.join();
  else
    thread_.detach();
}

}  // namespace tca::mpi
