// The collectives that the library serves, by their parameters in MPI.
#pragma once

#include "mpi/hook.hpp"

namespace tca::interposer {

template <>
struct Served<Call::Barrier> {
  static int serve(MPI_Comm comm);
};
template <>
struct Served<Call::Bcast> {
  static int serve(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
};
template <>
struct Served<Call::Reduce> {
  static int serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm comm);
};
template <>
struct Served<Call::Allreduce> {
  static int serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
};
template <>
struct Served<Call::Allgather> {
  static int serve(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm);
};
template <>
struct Served<Call::Alltoall> {
  static int serve(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm);
};
template <>
struct Served<Call::Reduce_scatter_block> {
  static int serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
};

}  // namespace tca::interposer
