// Uses MPI between GPUs as programs do whose MPI does not accept GPU memory: it stages through pinned host
// memory. It does so even if this MPI accepts GPU memory.
#include <utility>
#include <vector>

#include "qcd/peers/peer.hpp"
#include "shared/gpu_call.hpp"

namespace tca::qcd {
namespace {

using namespace apps;

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  cuda_ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "staging");
}

void finish(cudaStream_t stream) { cuda_ok(cudaStreamSynchronize(stream), "staging"); }

class StagedMessages : public Peer::Exchange {
 public:
  StagedMessages(const Peer& on_host, std::span<const Message> messages)
      : messages_(messages.begin(), messages.end()),
        sent_(bytes_of(messages)),
        received_(bytes_of(messages)) {
    std::vector<Message> staged = messages_;
    std::size_t at = 0;
    for (Message& one : staged) {
      one.from = sent_.data() + at;
      one.to = received_.data() + at;
      at += one.bytes;
    }
    exchange_ = on_host.exchange(staged);
  }

  void start(Stream stream) override {
    std::size_t at = 0;
    for (const Message& one : messages_) {
      copy(sent_.data() + at, one.from, one.bytes, stream);
      at += one.bytes;
    }
    // Also waits for the copies out of `received_` from the step before, since the next messages are received
    // there.
    finish(stream);
    exchange_->start(nullptr);
  }
  void wait(Stream stream) override {
    exchange_->wait(nullptr);
    std::size_t at = 0;
    for (const Message& one : messages_) {
      copy(one.to, received_.data() + at, one.bytes, stream);
      at += one.bytes;
    }
  }

 private:
  static std::size_t bytes_of(std::span<const Message> messages) {
    std::size_t bytes = 0;
    for (const Message& one : messages) bytes += one.bytes;
    return bytes;
  }

  std::vector<Message> messages_;
  PinnedArray<std::byte> sent_, received_;
  std::unique_ptr<Exchange> exchange_;
};

class StagedPeer : public Peer {
 public:
  explicit StagedPeer(std::unique_ptr<Peer> on_host) : on_host_(std::move(on_host)) {}

  std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const override {
    return std::make_unique<StagedMessages>(*on_host_, messages);
  }
  void sum(std::span<double> numbers, Stream stream) const override {
    const std::span<double> here(numbers_.data(), numbers.size());
    copy(here.data(), numbers.data(), numbers.size_bytes(), stream);
    finish(stream);
    on_host_->sum(here, nullptr);
    copy(numbers.data(), here.data(), numbers.size_bytes(), stream);
  }
  std::string explain() const override { return on_host_->explain() + "by way of pinned host memory\n"; }

 private:
  static constexpr std::size_t most_numbers = 512;  // eight for each of 64 right-hand sides

  std::unique_ptr<Peer> on_host_;
  PinnedArray<double> numbers_{most_numbers};
};

}  // namespace

std::unique_ptr<Peer> staged_mpi_peer(World& world) {
  std::unique_ptr<Peer> on_host = mpi_peer(world);
  return on_host ? std::make_unique<StagedPeer>(std::move(on_host)) : nullptr;
}

}  // namespace tca::qcd
