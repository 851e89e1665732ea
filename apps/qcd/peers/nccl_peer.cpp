// Uses NCCL as lattice programs do. Only this file of the library calls it.
#include "qcd/peers/peer.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <algorithm>
#include <vector>

#include "shared/gpu_call.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::qcd {
namespace {

using namespace apps;

class Messages : public Peer::Exchange {
 public:
  Messages(ncclComm_t comm, std::span<const Message> messages)
      : comm_(comm), messages_(messages.begin(), messages.end()) {
    // NCCL matches the messages between two ranks in the order of the calls. So sender and receiver both
    // order them by the direction in which they travel: what the sender sends forward, the receiver gets from
    // behind.
    std::sort(messages_.begin(), messages_.end(),
              [](const Message& a, const Message& b) { return a.tag < b.tag; });
    receives_ = messages_;
    std::sort(receives_.begin(), receives_.end(),
              [](const Message& a, const Message& b) { return a.back_tag < b.back_tag; });
    // NCCL connects in its first transfer. Do that here, because it should not happen while a graph is
    // captured.
    const OwnStream stream;
    exchange(stream.get());
    stream.synchronize("connecting NCCL");
  }

  void start(Stream stream) override { exchange(stream); }
  void wait(Stream) override {}

 private:
  void exchange(cudaStream_t stream) const {
    nccl_ok(ncclGroupStart(), "exchanging");
    for (const Message& one : messages_)
      nccl_ok(ncclSend(one.from, one.bytes, ncclInt8, one.neighbour, comm_, stream), "sending");
    for (const Message& one : receives_)
      nccl_ok(ncclRecv(one.to, one.bytes, ncclInt8, one.neighbour, comm_, stream), "receiving");
    nccl_ok(ncclGroupEnd(), "exchanging");
  }

  ncclComm_t comm_;
  std::vector<Message> messages_, receives_;
};

class NcclPeer : public Peer {
 public:
  explicit NcclPeer(World& world) : comm_(world) {}

  std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const override {
    return std::make_unique<Messages>(comm_.get(), messages);
  }
  void sum(std::span<double> numbers, Stream stream) const override {
    nccl_ok(ncclAllReduce(numbers.data(), numbers.data(), numbers.size(), ncclDouble, ncclSum, comm_.get(),
                          stream),
            "adding up");
  }
  std::string explain() const override { return "nccl: one group of sends and receives, ncclAllReduce\n"; }

 private:
  NcclCommunicator comm_;
};

}  // namespace

std::unique_ptr<Peer> nccl_peer(World& world) { return std::make_unique<NcclPeer>(world); }

}  // namespace tca::qcd

#else

namespace tca::qcd {

std::unique_ptr<Peer> nccl_peer(World&) { return nullptr; }

}  // namespace tca::qcd

#endif
