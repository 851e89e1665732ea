// NCCL as lattice programs use it; the only file here that knows it.
#include "qcd/peer.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "qcd/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

void nccl_ok(ncclResult_t result, std::string_view what) {
  if (result == ncclSuccess) return;
  throw Error(Errc::device_failed, fmt::format("{}: NCCL says {}", what, ncclGetErrorString(result)));
}

void check_own_gpus(World& world) {
  std::array<char, 32> bus{};
  int device = 0;
  cuda_ok(cudaGetDevice(&device), "asking for the GPU");
  cuda_ok(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "asking for the GPU");
  auto all = world.all_gather(bus);
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) == all.end()) return;
  throw Error(Errc::invalid_argument,
              "NCCL needs a GPU for each rank, and here some share one: to compare, start fewer ranks");
}

class Messages : public Peer::Exchange {
 public:
  Messages(ncclComm_t comm, std::span<const Message> messages)
      : comm_(comm), messages_(messages.begin(), messages.end()) {
    // Between two ranks NCCL matches in the order of calls. Both name what goes ahead first, which comes back from behind.
    std::sort(messages_.begin(), messages_.end(),
              [](const Message& a, const Message& b) { return a.tag < b.tag; });
    receives_ = messages_;
    std::sort(receives_.begin(), receives_.end(),
              [](const Message& a, const Message& b) { return a.back_tag < b.back_tag; });
    // NCCL connects when it first sends, which had better not be while a graph is captured.
    exchange(beside_.get());
    beside_.synchronize("connecting NCCL");
  }

  // On a stream beside the caller's, so that the interior overlaps.
  void start(Stream stream) override {
    cuda_ok(cudaEventRecord(fork_.get(), stream), "starting NCCL's exchange");
    cuda_ok(cudaStreamWaitEvent(beside_.get(), fork_.get()), "starting NCCL's exchange");
    exchange(beside_.get());
    cuda_ok(cudaEventRecord(join_.get(), beside_.get()), "starting NCCL's exchange");
  }
  void wait(Stream stream) override {
    cuda_ok(cudaStreamWaitEvent(stream, join_.get()), "waiting for NCCL's exchange");
  }

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
  OwnEvent fork_, join_;
  OwnStream beside_;
};

class NcclPeer : public Peer {
 public:
  explicit NcclPeer(World& world) {
    check_own_gpus(world);
    // What multicast speeds up is not sent here, and setting it up fails in some virtual machines.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    ncclUniqueId id{};
    if (world.rank() == 0) nccl_ok(ncclGetUniqueId(&id), "starting NCCL");
    id = world.all_gather(id)[0];
    nccl_ok(ncclCommInitRank(&comm_, world.size(), id, world.rank()), "starting NCCL");
  }
  NcclPeer(const NcclPeer&) = delete;
  NcclPeer& operator=(const NcclPeer&) = delete;
  ~NcclPeer() override { ncclCommDestroy(comm_); }

  std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const override {
    return std::make_unique<Messages>(comm_, messages);
  }
  void sum(std::span<double> numbers, Stream stream) const override {
    nccl_ok(ncclAllReduce(numbers.data(), numbers.data(), numbers.size(), ncclDouble, ncclSum, comm_, stream),
            "adding up");
  }
  std::string explain() const override { return "nccl: one group of sends and receives, ncclAllReduce\n"; }

 private:
  ncclComm_t comm_ = nullptr;
};

}  // namespace

std::unique_ptr<Peer> nccl_peer(World& world) { return std::make_unique<NcclPeer>(world); }

bool have_nccl() { return true; }

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace tca::qcd

#else

namespace tca::qcd {

std::unique_ptr<Peer> nccl_peer(World&) { return nullptr; }
bool have_nccl() { return false; }
std::string nccl_version() { return {}; }

}  // namespace tca::qcd

#endif
