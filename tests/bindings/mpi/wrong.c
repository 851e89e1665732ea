/* A tool that stands before MPI too, and whose answers are wrong. */
#include <mpi.h>

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(from, to, count, type, op, comm);
  if (type == MPI_DOUBLE && count > 0) *(double*)to += 1;
  return code;
}
