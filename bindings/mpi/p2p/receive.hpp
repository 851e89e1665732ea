// A receive that ends with the call, so that it needs no handle.
#pragma once

#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/elements.hpp"

namespace tca::interposer {

class Receive {
 public:
  explicit Receive(const Elements& elements) : elements_(elements), target_(elements_.target(packed_)) {}
  Receive(const Receive&) = delete;

  void start(const Channel& channel, int from, int tag) {
    Channel::engine()->start_receive(request_, channel.context(), channel.source(from), Channel::tag(tag),
                                     target_);
  }
  int end(const Channel& channel, MPI_Status* status) {
    Channel::engine()->wait(request_);
    elements_.take_in(packed_, request_.envelope.bytes);
    channel.write_status(status, request_.envelope);
    return channel.fail(request_.failure);
  }

 private:
  const Elements& elements_;
  Elements::Packed packed_;
  p2p::Target target_;
  p2p::Request request_;
};

}  // namespace tca::interposer
