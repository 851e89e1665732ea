// The exchange as a program of NCCL would do it, for comparison; the only file here that knows NCCL.
#include "himeno/gpu_exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "himeno/gpu_call.hpp"
#include "himeno/nccl_pack.hpp"
#include "tca/error.hpp"

namespace tca::himeno {

namespace {

using device::Word;

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

class Communicator {
 public:
  explicit Communicator(World& world) {
    check_own_gpus(world);
    // What multicast speeds up is not sent here, and setting it up fails in some virtual machines.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    ncclUniqueId id{};
    if (world.rank() == 0) nccl_ok(ncclGetUniqueId(&id), "starting NCCL");
    id = world.all_gather(id)[0];
    nccl_ok(ncclCommInitRank(&comm_, world.size(), id, world.rank()), "starting NCCL");
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { ncclCommDestroy(comm_); }

  ncclComm_t get() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};

// The cells that one neighbour needs, or the ghosts that it fills.
Box slice(const Share& share, const std::array<int, 3>& step, bool ghosts) {
  Box box{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t own = share[d].size;
    const std::int64_t size = step[d] == 0 ? own : 1;
    box.begin[d] = step[d] > 0 ? own + (ghosts ? 1 : 0) : (step[d] < 0 && ghosts ? 0 : 1);
    box.end[d] = box.begin[d] + size;
  }
  return box;
}

void add(Packing& packing, const Box& box, const Extents& extents) {
  const auto length = [&](std::size_t d) { return static_cast<Word>(box.end[d] - box.begin[d]); };
  Packed& packed = packing.boxes[packing.count];
  packed.cells = device::Divisor::of(length(2));
  packed.width = device::Divisor::of(length(1));
  packed.first = static_cast<Word>((box.begin[0] * extents[1] + box.begin[1]) * extents[2] + box.begin[2]);
  packed.end = packing.elements() + length(0) * length(1) * length(2);
  ++packing.count;
}

struct Messages {
  Packing sent, received;
  std::vector<int> neighbours;

  Messages(World& world, const Grid& grid, const Share& share) {
    const Extents extents = extents_of(share);
    sent.plane = received.plane = static_cast<Word>(extents[1] * extents[2]);
    sent.row = received.row = static_cast<Word>(extents[2]);
    for (int n = 0; n < 27; ++n) {
      const std::array<int, 3> step{n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
      const auto neighbour = grid.neighbour(world.rank(), {step[0], step[1], step[2]});
      if (!neighbour || n == 13) continue;  // 13 is the rank itself
      neighbours.push_back(*neighbour);
      add(sent, slice(share, step, false), extents);
      add(received, slice(share, step, true), extents);
    }
  }
};

class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, const Grid& grid, const Share& share, const Pressure& pressure)
      : comm_(world),
        pressure_(pressure),
        messages_(world, grid, share),
        outgoing_(messages_.sent.elements()),
        incoming_(messages_.received.elements()) {
    // NCCL connects when it first sends, which had better not be while a graph is captured. Ghosts stay as they are: before
    // the first iteration every rank has the same initial values in them.
    exchange(0, beside_.get());
    cuda_ok(cudaStreamSynchronize(beside_.get()), "connecting NCCL");
  }

  // On a stream beside the caller's, so that what the caller does next overlaps.
  void start(int which, Stream stream) override {
    cuda_ok(cudaEventRecord(fork_.get(), stream), "starting NCCL's exchange");
    cuda_ok(cudaStreamWaitEvent(beside_.get(), fork_.get()), "starting NCCL's exchange");
    exchange(which, beside_.get());
    cuda_ok(cudaEventRecord(join_.get(), beside_.get()), "starting NCCL's exchange");
  }
  void wait(int, Stream stream) override {
    cuda_ok(cudaStreamWaitEvent(stream, join_.get()), "waiting for NCCL's exchange");
  }

  void exchange(int which, Stream stream) override {
    if (messages_.neighbours.empty()) return;
    float* const array = pressure_[static_cast<std::size_t>(which)].data();
    cuda_ok(launch_pack(messages_.sent, array, outgoing_.data(), stream), "packing");
    nccl_ok(ncclGroupStart(), "exchanging");
    Word begin = 0;
    for (std::size_t n = 0; n < messages_.neighbours.size(); ++n) {
      const Word end = messages_.sent.boxes[n].end;
      const int neighbour = messages_.neighbours[n];
      nccl_ok(ncclSend(outgoing_.data() + begin, end - begin, ncclFloat, neighbour, comm_.get(), stream),
              "sending");
      nccl_ok(ncclRecv(incoming_.data() + begin, end - begin, ncclFloat, neighbour, comm_.get(), stream),
              "receiving");
      begin = end;
    }
    nccl_ok(ncclGroupEnd(), "exchanging");
    cuda_ok(launch_unpack(messages_.received, array, incoming_.data(), stream), "unpacking");
  }

  void sum(double* value, Stream stream) override {
    nccl_ok(ncclAllReduce(value, value, 1, ncclDouble, ncclSum, comm_.get(), stream), "adding up");
  }

  std::int64_t bytes() const override {
    return std::int64_t{messages_.sent.elements()} * static_cast<std::int64_t>(sizeof(float));
  }
  std::string explain() const override { return "one group of sends and receives, packed and unpacked"; }

 private:
  Communicator comm_;
  Pressure pressure_;
  Messages messages_;
  DeviceArray<float> outgoing_, incoming_;
  OwnEvent fork_, join_;
  OwnStream beside_;
};

}  // namespace

std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Grid& grid, const Share& share,
                                           const Pressure& pressure) {
  return std::make_unique<NcclExchange>(world, grid, share, pressure);
}

bool have_nccl() { return true; }

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace tca::himeno

#else

namespace tca::himeno {

std::unique_ptr<GpuExchange> nccl_exchange(World&, const Grid&, const Share&, const Pressure&) {
  return nullptr;
}
bool have_nccl() { return false; }
std::string nccl_version() { return {}; }

}  // namespace tca::himeno

#endif
