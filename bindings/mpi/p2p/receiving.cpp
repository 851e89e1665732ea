#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/receive.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

namespace {

template <Call call, class Count>
int receive(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
            MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_receive(from, tag) && elements.is_valid();
  return serve_or_pass<call>(
      channel, is_served, [&] { return next<call>()(buffer, count, type, from, tag, comm, status); },
      [&] {
        Receive receive(elements);
        receive.start(*channel, from, tag);
        return receive.end(*channel, status);
      });
}

template <Call call, class Count>
int start_receive(void* buffer, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request, bool is_persistent) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_receive(from, tag) && elements.is_valid();
  return serve_or_pass<call>(
      channel, is_served, [&] { return next<call>()(buffer, count, type, from, tag, comm, request); },
      [&] {
        Slot& slot =
            Slot::make(channel, {false, channel->source(from), Channel::tag(tag)}, elements, is_persistent);
        if (!is_persistent) slot.start();
        *request = slot.handle();
        return MPI_SUCCESS;
      });
}

}  // namespace

#define TCA_RECEIVES(Count, c)                                                                           \
  int Served<Call::Recv##c>::serve(void* buffer, Count count, MPI_Datatype type, int from, int tag,      \
                                   MPI_Comm comm, MPI_Status* status) {                                  \
    return receive<Call::Recv##c>(buffer, count, type, from, tag, comm, status);                         \
  }                                                                                                      \
  int Served<Call::Irecv##c>::serve(void* buffer, Count count, MPI_Datatype type, int from, int tag,     \
                                    MPI_Comm comm, MPI_Request* request) {                               \
    return start_receive<Call::Irecv##c>(buffer, count, type, from, tag, comm, request, false);          \
  }                                                                                                      \
  int Served<Call::Recv_init##c>::serve(void* buffer, Count count, MPI_Datatype type, int from, int tag, \
                                        MPI_Comm comm, MPI_Request* request) {                           \
    return start_receive<Call::Recv_init##c>(buffer, count, type, from, tag, comm, request, true);       \
  }
TCA_FOR_COUNTS(TCA_RECEIVES)

}  // namespace tca::interposer
