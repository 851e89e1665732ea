// The point-to-point calls that the engine serves, by their parameters in MPI.
#pragma once

#include <mpi.h>

#include "mpi/hook.hpp"
#include "mpi/macros.hpp"

namespace tca::interposer {

#define TCA_SERVED(call, ...)      \
  template <>                      \
  struct Served<Call::call> {      \
    static int serve(__VA_ARGS__); \
  };

#define TCA_SENDS(Count, call) \
  TCA_SERVED(call, const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
#define TCA_STARTS_SENDS(Count, call)                                                                  \
  TCA_SERVED(call, const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
             MPI_Request* request)
#define TCA_STARTS_RECEIVES(Count, call)                                                           \
  TCA_SERVED(call, void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, \
             MPI_Request* request)
#define TCA_EXCHANGES(Count, call, End)                                                               \
  TCA_SERVED(call, const void* sent, Count count, MPI_Datatype type, int to, int tag, void* received, \
             Count most, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, End* end)
#define TCA_REPLACES(Count, call, End)                                                      \
  TCA_SERVED(call, void* buffer, Count count, MPI_Datatype type, int to, int tag, int from, \
             int received_tag, MPI_Comm comm, End* end)
#define TCA_COUNTED(Count, c)                                                                         \
  TCA_SENDS(Count, Send##c)                                                                           \
  TCA_SENDS(Count, Bsend##c)                                                                          \
  TCA_SENDS(Count, Ssend##c)                                                                          \
  TCA_SENDS(Count, Rsend##c)                                                                          \
  TCA_STARTS_SENDS(Count, Isend##c)                                                                   \
  TCA_STARTS_SENDS(Count, Ibsend##c)                                                                  \
  TCA_STARTS_SENDS(Count, Issend##c)                                                                  \
  TCA_STARTS_SENDS(Count, Irsend##c)                                                                  \
  TCA_STARTS_SENDS(Count, Send_init##c)                                                               \
  TCA_STARTS_SENDS(Count, Bsend_init##c)                                                              \
  TCA_STARTS_SENDS(Count, Ssend_init##c)                                                              \
  TCA_STARTS_SENDS(Count, Rsend_init##c)                                                              \
  TCA_SERVED(Recv##c, void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, \
             MPI_Status* status)                                                                      \
  TCA_STARTS_RECEIVES(Count, Irecv##c)                                                                \
  TCA_STARTS_RECEIVES(Count, Recv_init##c)                                                            \
  TCA_EXCHANGES(Count, Sendrecv##c, MPI_Status)                                                       \
  TCA_REPLACES(Count, Sendrecv_replace##c, MPI_Status)                                                \
  TCA_SERVED(Mrecv##c, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,            \
             MPI_Status* status)                                                                      \
  TCA_SERVED(Imrecv##c, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,           \
             MPI_Request* request)
TCA_FOR_COUNTS(TCA_COUNTED)
#if MPI_VERSION >= 4
TCA_EXCHANGES(int, Isendrecv, MPI_Request)
TCA_EXCHANGES(MPI_Count, Isendrecv_c, MPI_Request)
TCA_REPLACES(int, Isendrecv_replace, MPI_Request)
TCA_REPLACES(MPI_Count, Isendrecv_replace_c, MPI_Request)
#endif
#undef TCA_COUNTED
#undef TCA_REPLACES
#undef TCA_EXCHANGES
#undef TCA_STARTS_RECEIVES
#undef TCA_STARTS_SENDS
#undef TCA_SENDS

TCA_SERVED(Start, MPI_Request* request)
TCA_SERVED(Startall, int count, MPI_Request* requests)
TCA_SERVED(Probe, int from, int tag, MPI_Comm comm, MPI_Status* status)
TCA_SERVED(Iprobe, int from, int tag, MPI_Comm comm, int* found, MPI_Status* status)
TCA_SERVED(Mprobe, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
TCA_SERVED(Improbe, int from, int tag, MPI_Comm comm, int* found, MPI_Message* message, MPI_Status* status)
TCA_SERVED(Wait, MPI_Request* request, MPI_Status* status)
TCA_SERVED(Waitall, int count, MPI_Request* requests, MPI_Status* statuses)
TCA_SERVED(Waitany, int count, MPI_Request* requests, int* index, MPI_Status* status)
TCA_SERVED(Waitsome, int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses)
TCA_SERVED(Test, MPI_Request* request, int* done, MPI_Status* status)
TCA_SERVED(Testall, int count, MPI_Request* requests, int* done, MPI_Status* statuses)
TCA_SERVED(Testany, int count, MPI_Request* requests, int* index, int* done, MPI_Status* status)
TCA_SERVED(Testsome, int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses)
TCA_SERVED(Request_get_status, MPI_Request request, int* done, MPI_Status* status)
#if TCA_HAS_MPI_4_1
TCA_SERVED(Request_get_status_all, int count, const MPI_Request* requests, int* done, MPI_Status* statuses)
TCA_SERVED(Request_get_status_any, int count, const MPI_Request* requests, int* index, int* done,
           MPI_Status* status)
TCA_SERVED(Request_get_status_some, int count, const MPI_Request* requests, int* done, int* indices,
           MPI_Status* statuses)
#endif
TCA_SERVED(Request_free, MPI_Request* request)
TCA_SERVED(Cancel, MPI_Request* request)
TCA_SERVED(Comm_dup, MPI_Comm comm, MPI_Comm* made)
TCA_SERVED(Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm* made)
TCA_SERVED(Comm_split, MPI_Comm comm, int color, int key, MPI_Comm* made)
TCA_SERVED(Comm_split_type, MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
TCA_SERVED(Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm* made)
TCA_SERVED(Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made)
TCA_SERVED(Graph_create, MPI_Comm comm, int nodes, const int* indices, const int* edges, int may_reorder,
           MPI_Comm* made)
TCA_SERVED(Dist_graph_create, MPI_Comm comm, int sources, const int* source, const int* degrees,
           const int* targets, const int* weights, MPI_Info info, int may_reorder, MPI_Comm* made)
TCA_SERVED(Dist_graph_create_adjacent, MPI_Comm comm, int sources, const int* source,
           const int* source_weights, int targets, const int* target, const int* target_weights,
           MPI_Info info, int may_reorder, MPI_Comm* made)
TCA_SERVED(Cart_create, MPI_Comm comm, int dimensions, const int* extents, const int* are_periodic,
           int may_reorder, MPI_Comm* made)
TCA_SERVED(Cart_sub, MPI_Comm comm, const int* are_kept, MPI_Comm* made)
#undef TCA_SERVED

}  // namespace tca::interposer
