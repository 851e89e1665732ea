#include <cstring>

#include "mpi/p2p/pass.hpp"
#include "mpi/p2p/serve.hpp"
#include "mpi/p2p/slot.hpp"

namespace tca::interposer {

namespace {

using p2p::Request;

// A receive that ends with the call, so that it needs no handle.
class Receive {
 public:
  explicit Receive(const Elements& elements) : elements_(elements) {
    if (!elements.are_in_a_row()) packed_ = std::make_unique_for_overwrite<std::byte[]>(elements.bytes());
  }

  void start(const Channel& channel, int from, int tag) {
    Channel::engine()->start_receive(request_, channel.context(), channel.source(from), Channel::tag(tag),
                                     target());
  }
  void start(p2p::Arrival& message) { Channel::engine()->start_receive(request_, message, target()); }
  int end(const Channel& channel, MPI_Status* status) {
    Channel::engine()->wait(request_);
    if (packed_) elements_.unpack(packed_.get(), request_.envelope.bytes);
    channel.write_status(status, request_.envelope);
    return channel.fail(request_.failure);
  }

 private:
  p2p::Target target() { return {packed_ ? packed_.get() : elements_.data(), elements_.bytes()}; }

  Elements elements_;
  Request request_;
  std::unique_ptr<std::byte[]> packed_;
};

template <Call call>
int start_receive(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
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

int Served<Call::Recv>::serve(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                              MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  const bool is_served = channel != nullptr && channel->can_receive(from, tag) && elements.is_valid();
  return serve_or_pass<Call::Recv>(
      channel, is_served, [&] { return next<Call::Recv>()(buffer, count, type, from, tag, comm, status); },
      [&] {
        Receive receive(elements);
        receive.start(*channel, from, tag);
        return receive.end(*channel, status);
      });
}

int Served<Call::Irecv>::serve(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                               MPI_Request* request) {
  return start_receive<Call::Irecv>(buffer, count, type, from, tag, comm, request, false);
}

int Served<Call::Recv_init>::serve(void* buffer, int count, MPI_Datatype type, int from, int tag,
                                   MPI_Comm comm, MPI_Request* request) {
  return start_receive<Call::Recv_init>(buffer, count, type, from, tag, comm, request, true);
}

// With nobody on one side it is a send, or a receive, that may not be mixed with MPI's.
int Served<Call::Sendrecv>::serve(const void* sent, int count, MPI_Datatype type, int to, int tag,
                                  void* received, int most, MPI_Datatype received_type, int from,
                                  int received_tag, MPI_Comm comm, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const auto pass = [&] {
    return next<Call::Sendrecv>()(sent, count, type, to, tag, received, most, received_type, from,
                                  received_tag, comm, status);
  };
  if (channel != nullptr && from == MPI_PROC_NULL) {
    const int code = Served<Call::Send>::serve(sent, count, type, to, tag, comm);
    return code != MPI_SUCCESS ? code
                               : next<Call::Recv>()(received, most, received_type, from, 0, comm, status);
  }
  if (channel != nullptr && to == MPI_PROC_NULL)
    return Served<Call::Recv>::serve(received, most, received_type, from, received_tag, comm, status);
  const Elements out = channel ? Elements(sent, count, type) : Elements();
  const Elements in = channel ? Elements(received, most, received_type) : Elements();
  const bool is_served = channel != nullptr && channel->can_send(to, tag) &&
                         channel->can_receive(from, received_tag) && out.is_valid() && in.is_valid();
  return serve_or_pass<Call::Sendrecv>(channel, is_served, pass, [&] {
    Receive receive(in);
    receive.start(*channel, from, received_tag);
    const auto packed = out.are_in_a_row() ? nullptr : out.packed();
    Channel::engine()->send(channel->context(), channel->process(to), tag,
                            {packed ? packed.get() : out.data(), out.bytes()});
    return receive.end(*channel, status);
  });
}

int Served<Call::Sendrecv_replace>::serve(void* buffer, int count, MPI_Datatype type, int to, int tag,
                                          int from, int received_tag, MPI_Comm comm, MPI_Status* status) {
  const std::shared_ptr<Channel>& channel = Channel::find(comm);
  const Elements elements = channel ? Elements(buffer, count, type) : Elements();
  if (channel == nullptr || !elements.is_valid())
    return next<Call::Sendrecv_replace>()(buffer, count, type, to, tag, from, received_tag, comm, status);
  return guarded(*channel, [&] {
    const auto copy = elements.packed();
    return Served<Call::Sendrecv>::serve(copy.get(), static_cast<int>(elements.bytes()), MPI_BYTE, to, tag,
                                         buffer, count, type, from, received_tag, comm, status);
  });
}

}  // namespace tca::interposer
