#include "mpi/progress.hpp"

#include <mpi.h>

namespace tca::interposer {

namespace {

// A communicator on which no message is ever sent: to ask for one has MPI progress all others.
MPI_Comm silent() {
  static const MPI_Comm made = [] {
    MPI_Comm copy = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &copy);
    return copy;
  }();
  return made;
}

}  // namespace

void progress_mpi() {
  int come = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, silent(), &come, MPI_STATUS_IGNORE);
}

}  // namespace tca::interposer
