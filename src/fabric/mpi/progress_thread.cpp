#include "fabric/mpi/progress_thread.hpp"

#include <chrono>
#include <thread>

#include "control/mpi/mpi_control.hpp"

namespace tca::mpi {

namespace {

// Long enough for the thread to take only a few hundredths of a core, and short compared with a large
// message.
constexpr std::chrono::microseconds pause{50};

}  // namespace

ProgressThread::ProgressThread(MPI_Comm comm)
    : thread_("MPI's progress", [comm](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          int come = 0;
          if (MPI_Iprobe(MPI_ANY_SOURCE, Tag::never, comm, &come, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
          std::this_thread::sleep_for(pause);
        }
      }) {}

}  // namespace tca::mpi
