// MSCCL++ as a peer, used as its documentation recommends for these patterns: packets through memory channels
// for small messages, puts and signals for large ones. One kernel does all steps of a run; it sends, and
// waits for the partner's data.
#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_MSCCLPP
#include <algorithm>
#include <cstdlib>
#include <mscclpp/version.hpp>

#include "gpu/in_kernel.hpp"
#include "gpu/peers/mscclpp_kernels.hpp"

namespace tca::bench::gpu {

namespace {

using Communicator = mscclpp::Communicator;

constexpr std::size_t packet_overhead = 2;  // bytes of a packet buffer per byte of data

// A rank's memory and its channels to `others`, in that order. The constructor is collective among them.
class Channels {
 public:
  // The channels lead to the others' packet buffers of `packets` bytes, or to their memory if that is 0.
  Channels(Communicator& communicator, std::size_t bytes, std::size_t packets, const std::vector<int>& others)
      : memory_(bytes), packets_(packets), handles_(others.size()) {
    const mscclpp::TransportFlags transport = mscclpp::Transport::CudaIpc;
    source_ = communicator.registerMemory(memory_, bytes, transport);
    target_ = packets > 0 ? communicator.registerMemory(packets_, packets, transport) : source_;
    // Sends all requests of one kind before it waits for any answer. Otherwise, in a ring, every rank would
    // wait for the next.
    std::vector<std::shared_future<mscclpp::Connection>> connections;
    std::vector<std::shared_future<mscclpp::RegisteredMemory>> theirs;
    for (const int other : others) {
      connections.push_back(communicator.connect(mscclpp::Transport::CudaIpc, other));
      communicator.sendMemory(target_, other);
      theirs.push_back(communicator.recvMemory(other));
    }
    std::vector<std::shared_future<mscclpp::Semaphore>> semaphores;
    for (std::size_t i = 0; i < others.size(); ++i)
      semaphores.push_back(communicator.buildSemaphore(connections[i].get(), others[i]));
    std::vector<msccl::Channel> handles;
    for (std::size_t i = 0; i < others.size(); ++i) {
      channels_.emplace_back(semaphores[i].get(), theirs[i].get(), source_,
                             packets > 0 ? static_cast<std::byte*>(packets_) : nullptr);
      handles.push_back(channels_.back().deviceHandle());
    }
    copy(handles_, handles.data(), handles.size() * sizeof(msccl::Channel), "giving channels to a kernel");
  }

  std::byte* memory() const { return memory_; }
  msccl::Channel* handles() const { return handles_; }

 private:
  Buffer<std::byte> memory_, packets_;
  // Others have these mapped as long as they may use them.
  mscclpp::RegisteredMemory source_, target_;
  std::vector<mscclpp::MemoryChannel> channels_;
  Buffer<msccl::Channel> handles_;
};

constexpr const char* peer_name = "mscclpp";

// With packets all blocks share a channel; without, each block has its own.
class MscclPingPong final : public InKernel<Messages> {
 public:
  MscclPingPong(Communicator& communicator, int rank, const Rows& layout, bool by_packets)
      : InKernel(peer_name, layout, true),
        rank_(rank),
        by_packets_(by_packets),
        blocks_(parts_for(layout.bytes(), by_packets ? 1024 : 16384)),
        channels_(communicator, 2 * layout.padded(), by_packets ? packet_overhead * layout.bytes() : 0,
                  std::vector<int>(rank < 2 ? (by_packets ? 1 : blocks_) : 0, 1 - rank)) {
    protocol = by_packets ? "LL16 packets" : "put, signal, wait";
    in = channels_.memory();
    out = in + layout.padded();
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    if (rank_ > 1) return;
    const auto threads = static_cast<unsigned>(
        std::clamp<std::size_t>(rows.bytes() / 8 / blocks_, 32, by_packets_ ? 128 : 1024));
    const msccl::Message message{channels_.handles(), rows.padded(), rows.bytes(), blocks_, threads, touched};
    if (by_packets_) {
      msccl::ping_pong_by_packets(message, rank_, static_cast<std::uint32_t>(first), steps, stream);
    } else {
      msccl::ping_pong_by_puts(message, rank_, static_cast<std::uint32_t>(first), steps, stream);
    }
  }

  int rank_;
  bool by_packets_;
  unsigned blocks_;
  Channels channels_;
};

class MscclFaces final : public InKernel<Faces> {
 public:
  MscclFaces(Communicator& communicator, const World& world, const Face& which)
      : InKernel(peer_name, world, which),
        cube_(which.cube()),
        channels_(communicator, 4 * which.bytes(), 4 * packet_overhead * which.bytes(), {left, right}) {
    protocol = "pack, LL16 packets, unpack";
    scope = "parts";
    cube = cube_;
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    const msccl::Exchange exchange{
        channels_.handles(),
        cube,
        reinterpret_cast<double*>(channels_.memory()),
        {face.low_edge(), face.high_edge()},
        {face.low_ghost(), face.high_ghost()},
        {static_cast<unsigned>(face.rows), static_cast<unsigned>(face.run), face.pitch},
        parts_for(face.bytes(), 2048),
        256,
        touched};
    msccl::exchanges(exchange, static_cast<std::uint32_t>(first), steps, stream);
  }

  Buffer<double> cube_;
  Channels channels_;
};

std::vector<int> others_of(const World& world) {
  std::vector<int> all;
  for (int rank = 0; rank < world.size(); ++rank)
    if (rank != world.rank()) all.push_back(rank);
  return all;
}

class MscclSums final : public InKernel<Sums> {
 public:
  MscclSums(Communicator& communicator, const World& world, std::size_t values)
      : InKernel(peer_name, values),
        rank_(world.rank()),
        ranks_(world.size()),
        channels_(communicator, 2 * values * sizeof(double),
                  2 * packet_overhead * values * sizeof(double) * static_cast<std::size_t>(world.size()),
                  others_of(world)),
        by_rank_(static_cast<std::size_t>(world.size())) {
    protocol = "LL16 packets, all pairs";
    const auto before = static_cast<std::size_t>(rank_),
               behind = static_cast<std::size_t>(ranks_) - before - 1;
    copy(by_rank_, channels_.handles(), before * sizeof(msccl::Channel), "sorting channels");
    copy(by_rank_ + before + 1, channels_.handles() + before, behind * sizeof(msccl::Channel),
         "sorting channels");
  }
  double* result(int steps_run) override {
    return reinterpret_cast<double*>(channels_.memory()) + (steps_run % 2 == 0 ? 0 : count);
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    msccl::sums({by_rank_, rank_, ranks_, reinterpret_cast<double*>(channels_.memory()), count},
                static_cast<std::uint32_t>(first), steps, stream);
  }

  int rank_, ranks_;
  Channels channels_;
  Buffer<msccl::Channel> by_rank_;
};

class Mscclpp final : public Peer {
 public:
  explicit Mscclpp(World& world) : world_(world) {
    name = peer_name;
    version = std::to_string(MSCCLPP_MAJOR) + "." + std::to_string(MSCCLPP_MINOR) + "." +
              std::to_string(MSCCLPP_PATCH);
    // All ranks are on this host. Multicast in the switch (NVLS) stays off whatever the environment says, as
    // it is in OpenTCA.
    setenv("MSCCLPP_SOCKET_IFNAME", "lo", 0);
    setenv("MSCCLPP_FORCE_DISABLE_NVLS", "1", 1);
    mscclpp::UniqueId id{};
    if (world.rank() == 0) id = mscclpp::TcpBootstrap::createUniqueId();
    try {
      const auto bootstrap = std::make_shared<mscclpp::TcpBootstrap>(world.rank(), world.size());
      bootstrap->initialize(world.all_gather(id)[0]);
      communicator_ = std::make_shared<Communicator>(bootstrap);
    } catch (const std::exception& error) {
      throw Error(Errc::device_failed, std::string("MSCCL++ does not come up: ") + error.what());
    }
  }

  Contenders ping_pong(const Rows& rows) override {
    constexpr std::size_t most_for_packets = 1 << 20;
    Contenders all;
    if (rows.bytes() <= most_for_packets && rows.bytes() % 8 == 0) all.push_back(ping_pong(rows, true));
    all.push_back(ping_pong(rows, false));
    return all;
  }
  Contenders faces(const Face& face) override {
    return one(std::make_unique<MscclFaces>(*communicator_, world_, face));
  }
  Contenders sums(std::size_t count) override {
    return one(std::make_unique<MscclSums>(*communicator_, world_, count));
  }

 private:
  std::unique_ptr<Contender> ping_pong(const Rows& rows, bool by_packets) {
    return std::make_unique<MscclPingPong>(*communicator_, world_.rank(), rows, by_packets);
  }

  World& world_;
  std::shared_ptr<Communicator> communicator_;
};

}  // namespace

bool has_mscclpp() { return true; }
std::unique_ptr<Peer> open_mscclpp(World& world) { return std::make_unique<Mscclpp>(world); }

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
bool has_mscclpp() { return false; }
std::unique_ptr<Peer> open_mscclpp(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
