// The exchange by NCCL, for comparison. No other file of the solver calls NCCL.
#include "himeno/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <vector>

#include "himeno/gpu/nccl_pack.hpp"
#include "shared/gpu_call.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::himeno {

namespace {

using namespace apps;
using device::Word;

void add(Packing& packing, const Box& box, const Extents& extents) {
  const auto length = [&](std::size_t d) { return static_cast<Word>(box.end[d] - box.begin[d]); };
  Packed& packed = packing.boxes[packing.count];
  packed.cells = device::Divisor::of(length(2));
  packed.width = device::Divisor::of(length(1));
  packed.first = static_cast<Word>(index_in(extents, box.begin));
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
    for (const Grid::Coordinates& step : directions()) {
      const auto neighbour = grid.neighbour(world.rank(), step);
      if (!neighbour) continue;
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
    // NCCL connects at the first send, which should not happen during the capture of a graph. This exchange
    // leaves the ghosts unchanged: before the first iteration every rank has the same initial values in them.
    const OwnStream stream;
    exchange(0, stream.get());
    stream.synchronize("connecting NCCL");
  }

  void start(int which, Stream stream) override { exchange(which, stream); }
  void wait(int, Stream) override {}

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
  NcclCommunicator comm_;
  Pressure pressure_;
  Messages messages_;
  DeviceArray<float> outgoing_, incoming_;
};

}  // namespace

std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Grid& grid, const Share& share,
                                           const Pressure& pressure) {
  return std::make_unique<NcclExchange>(world, grid, share, pressure);
}

}  // namespace tca::himeno

#else

namespace tca::himeno {

std::unique_ptr<GpuExchange> nccl_exchange(World&, const Grid&, const Share&, const Pressure&) {
  return nullptr;
}

}  // namespace tca::himeno

#endif
