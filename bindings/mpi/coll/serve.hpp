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
#define TCA_PLACED(Count, Place, c)                                                                  \
  TCA_SERVED(Neighbor_allgather##c, const void* from, Count count, MPI_Datatype type, void* to,      \
             Count to_count, MPI_Datatype to_type, MPI_Comm comm)                                    \
  TCA_SERVED(Neighbor_allgatherv##c, const void* from, Count count, MPI_Datatype type, void* to,     \
             const Count* to_counts, const Place* places, MPI_Datatype to_type, MPI_Comm comm)       \
  TCA_SERVED(Neighbor_alltoall##c, const void* from, Count count, MPI_Datatype type, void* to,       \
             Count to_count, MPI_Datatype to_type, MPI_Comm comm)                                    \
  TCA_SERVED(Neighbor_alltoallv##c, const void* from, const Count* counts, const Place* places,      \
             MPI_Datatype type, void* to, const Count* to_counts, const Place* to_places,            \
             MPI_Datatype to_type, MPI_Comm comm)                                                    \
  TCA_SERVED(Neighbor_alltoallw##c, const void* from, const Count* counts, const MPI_Aint* places,   \
             const MPI_Datatype* types, void* to, const Count* to_counts, const MPI_Aint* to_places, \
             const MPI_Datatype* to_types, MPI_Comm comm)
TCA_SERVED(Barrier, MPI_Comm comm)
TCA_FOR_COUNTS(TCA_COUNTED)
TCA_FOR_COUNTS_AND_PLACES(TCA_PLACED)
#undef TCA_PLACED
#undef TCA_COUNTED
#undef TCA_SERVED

}  // namespace tca::interposer
