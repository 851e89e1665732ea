#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

namespace {

template <Call call>
int send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, p2p::Mode mode) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_send(to, tag) && elements.is_valid();
  return serve_or_pass<call>(
      channel, is_served, [&] { return next<call>()(buffer, count, type, to, tag, comm); },
      [&] {
        const auto packed = elements.are_in_a_row() ? nullptr : elements.packed();
        Channel::engine()->send(channel->context(), channel->process(to), tag,
                                {packed ? packed.get() : elements.data(), elements.bytes()}, mode);
        return MPI_SUCCESS;
      });
}

template <Call call>
int start_send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request, p2p::Mode mode, bool is_persistent = false) {
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

#define TCA_SENDS(call, mode)                                                                      \
  int Served<Call::call>::serve(const void* buffer, int count, MPI_Datatype type, int to, int tag, \
                                MPI_Comm comm) {                                                   \
    return send<Call::call>(buffer, count, type, to, tag, comm, mode);                             \
  }
TCA_SENDS(Send, p2p::Mode::standard)
TCA_SENDS(Bsend, p2p::Mode::buffered)
TCA_SENDS(Ssend, p2p::Mode::synchronous)
TCA_SENDS(Rsend, p2p::Mode::standard)

#define TCA_STARTS(call, mode, is_persistent)                                                        \
  int Served<Call::call>::serve(const void* buffer, int count, MPI_Datatype type, int to, int tag,   \
                                MPI_Comm comm, MPI_Request* request) {                               \
    return start_send<Call::call>(buffer, count, type, to, tag, comm, request, mode, is_persistent); \
  }
TCA_STARTS(Isend, p2p::Mode::standard, false)
TCA_STARTS(Ibsend, p2p::Mode::buffered, false)
TCA_STARTS(Issend, p2p::Mode::synchronous, false)
TCA_STARTS(Irsend, p2p::Mode::standard, false)
TCA_STARTS(Send_init, p2p::Mode::standard, true)
TCA_STARTS(Bsend_init, p2p::Mode::buffered, true)
TCA_STARTS(Ssend_init, p2p::Mode::synchronous, true)
TCA_STARTS(Rsend_init, p2p::Mode::standard, true)

}  // namespace tca::interposer
