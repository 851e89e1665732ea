// The entries for mpi_f08 in MPICH. What has buffers calls C's functions there, as all of mpif.h and of the module mpi does, but what
// has none goes past them: these are the ones that C's ranks would wait for in vain.
#include "mpi/enter.hpp"

extern "C" {
int MPI_Init(int*, char***);
int MPI_Init_thread(int*, char***, int, int*);
}

#define ENTRY extern "C" __attribute__((visibility("default"))) void

namespace {

// Fortran's last argument, which a program may leave out.
void give(MPI_Fint* error, int code) {
  if (error != nullptr) *error = code;
}

}  // namespace

using tca::interposer::Call;
using tca::interposer::enter;

ENTRY mpi_init_f08_(MPI_Fint* error) { give(error, MPI_Init(nullptr, nullptr)); }
ENTRY mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  give(error, MPI_Init_thread(nullptr, nullptr, *required, provided));
}
ENTRY mpi_barrier_f08_(const MPI_Fint* comm, MPI_Fint* error) {
  give(error, enter<Call::Barrier>(PMPI_Comm_f2c(*comm)));
}
ENTRY mpi_finalize_f08_(MPI_Fint* error) { give(error, enter<Call::Finalize>()); }
