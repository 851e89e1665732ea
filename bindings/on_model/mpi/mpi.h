/// @file
/// The part of MPI by which programs for TCA and APEnet+ find each other, among the ranks of a modelled machine: who is
/// there, an exchange of addresses, a barrier, a clock. MPI_COMM_WORLD is the only communicator. The clock is the
/// machine's, and the other calls take none of its time; `tca model` says what MPI costs there.
#ifndef OPENTCA_ON_MODEL_MPI_H
#define OPENTCA_ON_MODEL_MPI_H

#include <stddef.h>

// Names of its own, since the library may have been built with an MPI.
#define MPI_Init opentca_mpi_init
#define MPI_Init_thread opentca_mpi_init_thread
#define MPI_Initialized opentca_mpi_initialized
#define MPI_Finalize opentca_mpi_finalize
#define MPI_Abort opentca_mpi_abort
#define MPI_Comm_rank opentca_mpi_comm_rank
#define MPI_Comm_size opentca_mpi_comm_size
#define MPI_Get_processor_name opentca_mpi_get_processor_name
#define MPI_Wtime opentca_mpi_wtime
#define MPI_Barrier opentca_mpi_barrier
#define MPI_Bcast opentca_mpi_bcast
#define MPI_Gather opentca_mpi_gather
#define MPI_Allgather opentca_mpi_allgather
#define MPI_Alltoall opentca_mpi_alltoall
#define MPI_Reduce opentca_mpi_reduce
#define MPI_Allreduce opentca_mpi_allreduce

#ifdef __cplusplus
extern "C" {
#endif

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;

#define MPI_COMM_WORLD 1
#define MPI_SUCCESS 0
#define MPI_IN_PLACE ((void*)-1)
#define MPI_MAX_PROCESSOR_NAME 64

enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum {
  MPI_DATATYPE_NULL,
  MPI_BYTE,
  MPI_CHAR,
  MPI_INT,
  MPI_UNSIGNED,
  MPI_LONG,
  MPI_UNSIGNED_LONG,
  MPI_LONG_LONG,
  MPI_UNSIGNED_LONG_LONG,
  MPI_FLOAT,
  MPI_DOUBLE
};
enum { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX };

int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Initialized(int* flag);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int status);
int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Get_processor_name(char* name, int* length);
double MPI_Wtime(void);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Gather(const void* mine, int count, MPI_Datatype type, void* all, int count_of_each,
               MPI_Datatype type_of_each, int root, MPI_Comm comm);
int MPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all, int count_of_each,
                  MPI_Datatype type_of_each, MPI_Comm comm);
int MPI_Alltoall(const void* mine, int count, MPI_Datatype type, void* theirs, int count_of_each,
                 MPI_Datatype type_of_each, MPI_Comm comm);
int MPI_Reduce(const void* mine, void* result, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm);
int MPI_Allreduce(const void* mine, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

#ifdef __cplusplus
}
#endif

#endif
