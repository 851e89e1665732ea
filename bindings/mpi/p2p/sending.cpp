#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

namespace {

template <Call call, class Count>
int send(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm, p2p::Mode mode) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_send(to, tag) && elements.is_valid();
  return serve_or_pass<call>(
      channel, is_served, [&] { return next<call>()(buffer, count, type, to, tag, comm); },
      [&] {
        Elements::Packed packed;
        Channel::engine()->send(channel->context(), channel->process(to), tag, elements.source(packed), mode);
        return MPI_SUCCESS;
      });
}

template <Call call, class Count>
int start_send(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request, p2p::Mode mode, bool is_persistent) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_send(to, tag) && elements.is_valid();
  return serve_or_pass<call>(
      channel, is_served, [&] { return next<call>()(buffer, count, type, to, tag, comm, request); },
      [&] {
        Slot& slot = Slot::make(channel, {true, channel->process(to), tag, mode}, elements, is_persistent);
        if (!is_persistent) slot.start();
        *request = slot.handle();
        return MPI_SUCCESS;
      });
}

}  // namespace

#define TCA_SENDS_IN(mode, Count, call, persistent)                                                          \
  int Served<Call::call>::serve(const void* buffer, Count count, MPI_Datatype type, int to, int tag,         \
                                MPI_Comm comm) {                                                             \
    return send<Call::call>(buffer, count, type, to, tag, comm, p2p::Mode::mode);                            \
  }                                                                                                          \
  int Served<Call::persistent>::serve(const void* buffer, Count count, MPI_Datatype type, int to, int tag,   \
                                      MPI_Comm comm, MPI_Request* request) {                                 \
    return start_send<Call::persistent>(buffer, count, type, to, tag, comm, request, p2p::Mode::mode, true); \
  }
#define TCA_STARTS_IN(mode, Count, call)                                                                \
  int Served<Call::call>::serve(const void* buffer, Count count, MPI_Datatype type, int to, int tag,    \
                                MPI_Comm comm, MPI_Request* request) {                                  \
    return start_send<Call::call>(buffer, count, type, to, tag, comm, request, p2p::Mode::mode, false); \
  }
#define TCA_SENDS(Count, c)                                 \
  TCA_SENDS_IN(standard, Count, Send##c, Send_init##c)      \
  TCA_SENDS_IN(buffered, Count, Bsend##c, Bsend_init##c)    \
  TCA_SENDS_IN(synchronous, Count, Ssend##c, Ssend_init##c) \
  TCA_SENDS_IN(standard, Count, Rsend##c, Rsend_init##c)    \
  TCA_STARTS_IN(standard, Count, Isend##c)                  \
  TCA_STARTS_IN(buffered, Count, Ibsend##c)                 \
  TCA_STARTS_IN(synchronous, Count, Issend##c)              \
  TCA_STARTS_IN(standard, Count, Irsend##c)
TCA_FOR_COUNTS(TCA_SENDS)

}  // namespace tca::interposer
