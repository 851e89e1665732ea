// NCCL's device API as a peer: kernels that exchange by themselves, small messages by packets and large ones by stores between
// barriers, as its documentation recommends.
#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_NCCL_DEVICE
#include <algorithm>
#include <exception>

#include "gpu/in_kernel.hpp"
#include "gpu/peers/nccl_in_graph.hpp"
#include "gpu/peers/nccl_kernels.hpp"

namespace tca::bench::gpu {

namespace nccl {

namespace {

constexpr const char* by_packets_name = "device API, LL packets";
constexpr const char* by_stores_name = "device API, LSA stores";

// What a kernel needs of a communicator: packets' slots for some blocks, and a number of barriers among the ranks of a team.
class DeviceSide {
 public:
  struct Needs {
    unsigned blocks = 0;         // with packets
    std::size_t packets = 0;     // of a block
    unsigned barriers = 0;       // of all ranks
    unsigned pair_barriers = 0;  // of this rank's pair
    ncclTeam pair = {2, 0, 1};
  };

  DeviceSide(ncclComm_t comm, const Needs& needs) : comm_(comm) {
#ifdef NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER
    ncclDevCommRequirements all = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#else
    ncclDevCommRequirements all{};
#endif
    ncclDevResourceRequirements slots{}, barriers{};
    all.lsaBarrierCount = static_cast<int>(needs.barriers);
    if (needs.packets > 0) {
      const int each = ncclLLA2ACalcSlots(static_cast<int>(needs.packets), packet_data);
      check(ncclLLA2ACreateRequirement(static_cast<int>(needs.blocks), each, &device_.slots, &slots),
            "asking for slots");
      add(all, slots);
    }
    if (needs.pair_barriers > 0) {
      check(ncclLsaBarrierCreateRequirement(needs.pair, static_cast<int>(needs.pair_barriers),
                                            &device_.barriers, &barriers),
            "asking for barriers");
      add(all, barriers);
    }
    check(ncclDevCommCreate(comm, &all, &device_.comm), "making a communicator for kernels");
  }
  DeviceSide(const DeviceSide&) = delete;
  ~DeviceSide() {
    if (std::uncaught_exceptions() == 0) ncclDevCommDestroy(comm_, &device_.comm);
  }

  const Device& device() const { return device_; }

 private:
  static void add(ncclDevCommRequirements& all, ncclDevResourceRequirements& one) {
    one.next = all.resourceRequirementsList;
    all.resourceRequirementsList = &one;
  }

  ncclComm_t comm_;
  Device device_;
};

std::size_t share_of(std::size_t items, unsigned parts) { return (items + parts - 1) / parts; }

unsigned threads_for(std::size_t items, unsigned most) {
  return static_cast<unsigned>(std::clamp<std::size_t>((items + 31) / 32 * 32, 32, most));
}

class DeviceMessages final : public InKernel<Messages> {
 public:
  DeviceMessages(ncclComm_t comm, int rank, const Rows& layout, bool by_packets)
      : InKernel(peer_name, layout, true),
        rank_(rank),
        by_packets_(by_packets),
        blocks_(parts_for(layout.bytes(), by_packets ? 1024 : 16384)),
        pair_{2, rank % 2, 1},
        memory_(comm, 2 * layout.padded(), Memory::window),
        side_(comm, needs()) {
    protocol = by_packets ? by_packets_name : by_stores_name;
    in = memory_.as();
    out = in + layout.padded();
  }

 private:
  std::size_t packets() const { return share_of(rows.bytes() / packet_data, blocks_); }
  DeviceSide::Needs needs() const {
    if (by_packets_) return {.blocks = blocks_, .packets = packets()};
    return {.pair_barriers = blocks_, .pair = pair_};
  }

  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    if (rank_ > 1) return;
    const unsigned threads =
        by_packets_ ? threads_for(packets(), 128) : threads_for(rows.bytes() / 16 / blocks_, 1024);
    const Message message{side_.device(), pair_,   memory_.handle(), in,     out,
                          rows.bytes(),   blocks_, threads,          touched};
    (by_packets_ ? ping_pong_by_packets : ping_pong_by_stores)(message, static_cast<std::uint32_t>(first),
                                                               steps, stream);
  }

  int rank_;
  bool by_packets_;
  unsigned blocks_;
  ncclTeam pair_;
  Memory memory_;
  DeviceSide side_;
};

// With stores there are two cubes, for the ghosts of even and odd steps. A run ends with an even one, so that the first cube has
// what arrived last.
class DeviceFaces final : public InKernel<Faces> {
 public:
  DeviceFaces(ncclComm_t comm, const World& world, const Face& which, bool by_packets)
      : InKernel(peer_name, world, which),
        ranks_(world.size()),
        by_packets_(by_packets),
        parts_(parts_for(which.bytes(), by_packets ? 2048 : 4096)),
        memory_(comm, (by_packets ? 1 : 2) * which.cube() * sizeof(double), Memory::window),
        side_(comm, needs()) {
    protocol = by_packets ? by_packets_name : by_stores_name;
    scope = "parts";
    granule = 2;
    cube = memory_.as<double>();
  }

 private:
  DeviceSide::Needs needs() const {
    if (!by_packets_) return {.barriers = parts_};
    return {.blocks = parts_ * static_cast<unsigned>(ranks_), .packets = share_of(face.elements(), parts_)};
  }
  // A pair is of a rank and the next one of the ring, and has the number of the first.
  static ncclTeam pair(int first, int second, bool is_first) { return {2, is_first ? 0 : 1, second - first}; }

  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    const Exchange exchange{side_.device(),
                            memory_.handle(),
                            cube,
                            {face.low_edge(), face.high_edge()},
                            {face.low_ghost(), face.high_ghost()},
                            {static_cast<unsigned>(face.rows), static_cast<unsigned>(face.run), face.pitch},
                            {left, right},
                            {pair(left, rank, false), pair(rank, right, true)},
                            {left, rank},
                            face.cube(),
                            parts_,
                            by_packets_ ? 256U : 512U,
                            touched};
    (by_packets_ ? exchanges_by_packets : exchanges_by_stores)(exchange, static_cast<std::uint32_t>(first),
                                                               steps, stream);
  }

  int ranks_;
  bool by_packets_;
  unsigned parts_;
  Memory memory_;
  DeviceSide side_;
};

class DeviceSums final : public InKernel<Sums> {
 public:
  DeviceSums(ncclComm_t comm, const World& world, std::size_t values)
      : InKernel(peer_name, values),
        values_(values),
        side_(comm, {.blocks = 1, .packets = values * static_cast<std::size_t>(world.size())}) {
    protocol = by_packets_name;
  }
  double* result(int) override { return values_; }

 private:
  void run_from(std::uint64_t, int steps, cudaStream_t stream) override {
    nccl::sums(side_.device(), values_, static_cast<unsigned>(count), steps, stream);
  }

  Buffer<double> values_;
  DeviceSide side_;
};

// A kernel for each all-to-all, in a graph.
class DeviceAllToAll final : public InGraph<Blocks> {
 public:
  DeviceAllToAll(ncclComm_t comm, World& world, const CollTask& task, bool by_packets)
      : InGraph(world, task),
        bytes_(task.bytes),
        by_packets_(by_packets),
        blocks_(parts_for(task.bytes, by_packets ? 1024 : 8192)),
        ranks_(static_cast<std::size_t>(world.size())),
        from_(values.in_bytes()),
        to_(comm, values.out_bytes(), Memory::window),
        side_(comm, by_packets ? DeviceSide::Needs{.blocks = blocks_, .packets = packets()}
                               : DeviceSide::Needs{.barriers = blocks_}) {
    protocol = std::string(by_packets ? by_packets_name : by_stores_name) + ", a kernel each";
    in = from_;
    out = to_.as();
  }

 private:
  std::size_t packets() const { return ranks_ * share_of(bytes_ / packet_data, blocks_); }

  void step(cudaStream_t stream) override {
    write(stream);
    const unsigned threads = by_packets_ ? threads_for(packets(), 512) : 512;
    const AllToAll all{side_.device(), to_.handle(), in, out, bytes_, blocks_, threads};
    (by_packets_ ? all_to_all_by_packets : all_to_all_by_stores)(all, stream);
    cuda_ok(cudaGetLastError(), "launching an all-to-all");
    read(stream);
  }

  std::size_t bytes_;
  bool by_packets_;
  unsigned blocks_;
  std::size_t ranks_;
  Buffer<std::byte> from_;
  Memory to_;
  DeviceSide side_;
};

constexpr std::size_t most_by_packets = 65536;

class NcclDevice final : public Peer {
 public:
  explicit NcclDevice(World& world) : world_(world), comm_(world) {
    name = peer_name;
    version = nccl::version();
  }

  Contenders ping_pong(const Rows& rows) override {
    return both(rows.bytes(), 2 * sizeof(std::uint64_t), [&](bool by_packets) {
      return std::make_unique<DeviceMessages>(comm_, world_.rank(), rows, by_packets);
    });
  }
  Contenders faces(const Face& face) override {
    return both(packet_data, packet_data, [&](bool by_packets) {
      return std::make_unique<DeviceFaces>(comm_, world_, face, by_packets);
    });
  }
  Contenders sums(std::size_t count) override {
    if (count > most_sums) return {};
    return one(std::make_unique<DeviceSums>(comm_, world_, count));
  }
  Contenders blocks(const CollTask& task) override {
    if (task.what != "alltoall") return {};
    return both(task.bytes, sizeof(uint4), [&](bool by_packets) {
      return std::make_unique<DeviceAllToAll>(comm_, world_, task, by_packets);
    });
  }

 private:
  // Returns what is made for packets, for stores, or for both, as they can carry messages of this size.
  template <class Make>
  static Contenders both(std::size_t bytes, std::size_t of_a_store, const Make& make) {
    Contenders all;
    if (bytes % packet_data == 0 && bytes <= most_by_packets) all.push_back(make(true));
    if (bytes % of_a_store == 0) all.push_back(make(false));
    return all;
  }

  World& world_;
  Communicator comm_;
};

}  // namespace

}  // namespace nccl

bool has_nccl_device() { return true; }
std::unique_ptr<Peer> open_nccl_device(World& world) { return std::make_unique<nccl::NcclDevice>(world); }

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
bool has_nccl_device() { return false; }
std::unique_ptr<Peer> open_nccl_device(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
