// Learns when MPI frees a communicator.
#pragma once

#include <mpi.h>

namespace tca::interposer {

// Has MPI call `forget` when this communicator is freed, in whatever way. Copies of the communicator are not watched.
template <MPI_Comm_delete_attr_function* forget>
void call_when_freed(MPI_Comm comm) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr);
    return made;
  }();
  PMPI_Comm_set_attr(comm, key, nullptr);
}

}  // namespace tca::interposer
