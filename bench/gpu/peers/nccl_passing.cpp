#include "gpu/peers/nccl_passing.hpp"

namespace tca::bench::gpu::nccl {

namespace {

// Sends and receives, grouped.
class NcclPassing final : public Passing {
 public:
  NcclPassing(const Way& way, const World& world, std::size_t of_a_block)
      : Passing(of_a_block),
        comm_(way.comm),
        next_((world.rank() + 1) % world.size()),
        before_((world.rank() + world.size() - 1) % world.size()),
        memory_(way.comm, 2 * of_a_block, way.memory) {
    fabric = peer = peer_name;
    protocol = "grouped send/recv" + way.words;
    start = "graph";
    in = memory_.as();
    out = in + of_a_block;
  }
  void exchange(cudaStream_t stream) override {
    check(ncclGroupStart(), "an exchange");
    check(ncclSend(out, bytes, ncclChar, next_, comm_, stream), "sending");
    check(ncclRecv(in, bytes, ncclChar, before_, comm_, stream), "receiving");
    check(ncclGroupEnd(), "an exchange");
  }

 private:
  ncclComm_t comm_;
  int next_, before_;
  Memory memory_;
};

// An allgather in place, by which a rank's block goes to every other one.
class NcclGathering final : public Passing {
 public:
  NcclGathering(const Way& way, const World& world, std::size_t of_a_block)
      : Passing(of_a_block),
        comm_(way.comm),
        memory_(way.comm, of_a_block * static_cast<std::size_t>(world.size()), way.memory) {
    fabric = peer = peer_name;
    protocol = "allgather" + way.words;
    start = "graph";
    const int before = (world.rank() + world.size() - 1) % world.size();
    out = memory_.as() + of_a_block * static_cast<std::size_t>(world.rank());
    in = memory_.as() + of_a_block * static_cast<std::size_t>(before);
  }
  void exchange(cudaStream_t stream) override {
    check(ncclAllGather(out, memory_.as(), bytes, ncclChar, comm_, stream), "an allgather");
  }

 private:
  ncclComm_t comm_;
  Memory memory_;
};

}  // namespace

std::unique_ptr<Passing> send_and_receive(const Way& way, const World& world, std::size_t bytes) {
  return std::make_unique<NcclPassing>(way, world, bytes);
}

std::unique_ptr<Passing> gather(const Way& way, const World& world, std::size_t bytes) {
  return std::make_unique<NcclGathering>(way, world, bytes);
}

}  // namespace tca::bench::gpu::nccl
