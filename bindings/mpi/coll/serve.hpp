// The collectives that the library serves, by their parameters in MPI.
#pragma once

#include "mpi/hook.hpp"
#include "mpi/macros.hpp"

namespace tca::interposer {

#define TCA_SERVED(call, ...)      \
  template <>                      \
  struct Served<Call::call> {      \
    static int serve(__VA_ARGS__); \
  };
#define TCA_COUNTED(Count, c)                                                                                \
  TCA_SERVED(Bcast##c, void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm)                \
  TCA_SERVED(Reduce##c, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, int root,     \
             MPI_Comm comm)                                                                                  \
  TCA_SERVED(Allreduce##c, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,            \
             MPI_Comm comm)                                                                                  \
  TCA_SERVED(Allgather##c, const void* from, Count count, MPI_Datatype type, void* to, Count to_count,       \
             MPI_Datatype to_type, MPI_Comm comm)                                                            \
  TCA_SERVED(Alltoall##c, const void* from, Count count, MPI_Datatype type, void* to, Count to_count,        \
             MPI_Datatype to_type, MPI_Comm comm)                                                            \
  TCA_SERVED(Reduce_scatter_block##c, const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, \
             MPI_Comm comm)
TCA_SERVED(Barrier, MPI_Comm comm)
TCA_FOR_COUNTS(TCA_COUNTED)
#undef TCA_COUNTED
#undef TCA_SERVED

}  // namespace tca::interposer
