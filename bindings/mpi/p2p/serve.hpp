// The point-to-point calls that the engine serves, by their parameters in MPI.
#pragma once

#include <mpi.h>

#include "mpi/hook.hpp"

namespace tca::interposer {

#define TCA_SENDS(call)                                                                                 \
  template <>                                                                                           \
  struct Served<Call::call> {                                                                           \
    static int serve(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm); \
  };
TCA_SENDS(Send)
TCA_SENDS(Bsend)
TCA_SENDS(Ssend)
TCA_SENDS(Rsend)
#undef TCA_SENDS

#define TCA_STARTS(call)                                                                               \
  template <>                                                                                          \
  struct Served<Call::call> {                                                                          \
    static int serve(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                     MPI_Request* request);                                                            \
  };
TCA_STARTS(Isend)
TCA_STARTS(Ibsend)
TCA_STARTS(Issend)
TCA_STARTS(Irsend)
TCA_STARTS(Send_init)
TCA_STARTS(Bsend_init)
TCA_STARTS(Ssend_init)
TCA_STARTS(Rsend_init)
#undef TCA_STARTS

#define TCA_SERVED(call, ...)      \
  template <>                      \
  struct Served<Call::call> {      \
    static int serve(__VA_ARGS__); \
  };
TCA_SERVED(Recv, void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
           MPI_Status* status)
TCA_SERVED(Irecv, void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
           MPI_Request* request)
TCA_SERVED(Recv_init, void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
           MPI_Request* request)
TCA_SERVED(Sendrecv, const void* sent, int count, MPI_Datatype type, int to, int tag, void* received,
           int most, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm,
           MPI_Status* status)
TCA_SERVED(Sendrecv_replace, void* buffer, int count, MPI_Datatype type, int to, int tag, int from,
           int received_tag, MPI_Comm comm, MPI_Status* status)
TCA_SERVED(Start, MPI_Request* request)
TCA_SERVED(Startall, int count, MPI_Request* requests)
TCA_SERVED(Probe, int from, int tag, MPI_Comm comm, MPI_Status* status)
TCA_SERVED(Iprobe, int from, int tag, MPI_Comm comm, int* found, MPI_Status* status)
TCA_SERVED(Mprobe, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
TCA_SERVED(Improbe, int from, int tag, MPI_Comm comm, int* found, MPI_Message* message, MPI_Status* status)
TCA_SERVED(Mrecv, void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)
TCA_SERVED(Imrecv, void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request)
TCA_SERVED(Wait, MPI_Request* request, MPI_Status* status)
TCA_SERVED(Waitall, int count, MPI_Request* requests, MPI_Status* statuses)
TCA_SERVED(Waitany, int count, MPI_Request* requests, int* index, MPI_Status* status)
TCA_SERVED(Waitsome, int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses)
TCA_SERVED(Test, MPI_Request* request, int* done, MPI_Status* status)
TCA_SERVED(Testall, int count, MPI_Request* requests, int* done, MPI_Status* statuses)
TCA_SERVED(Testany, int count, MPI_Request* requests, int* index, int* done, MPI_Status* status)
TCA_SERVED(Testsome, int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses)
TCA_SERVED(Request_get_status, MPI_Request request, int* done, MPI_Status* status)
TCA_SERVED(Request_free, MPI_Request* request)
TCA_SERVED(Cancel, MPI_Request* request)
TCA_SERVED(Comm_dup, MPI_Comm comm, MPI_Comm* made)
TCA_SERVED(Comm_split, MPI_Comm comm, int color, int key, MPI_Comm* made)
TCA_SERVED(Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm* made)
TCA_SERVED(Cart_create, MPI_Comm comm, int dimensions, const int* extents, const int* are_periodic,
           int may_reorder, MPI_Comm* made)
TCA_SERVED(Cart_sub, MPI_Comm comm, const int* are_kept, MPI_Comm* made)
#undef TCA_SERVED

}  // namespace tca::interposer
