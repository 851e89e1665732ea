// The exchange on GPUs by NCCL, for comparison. No other file of the application calls NCCL.
#include "spin/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <vector>

#include "shared/nccl_communicator.hpp"
#include "spin/peers/nccl_pack.hpp"

namespace tca::spin {

namespace {

using namespace apps;

// The neighbours along the dimensions that the grid cuts, with what they are sent and what comes from them.
struct Messages {
  Messages(World& world, const Share& share) {
    std::vector<Box> outer, ghosts;
    const auto at = [&](std::size_t dim, std::int64_t cell) {
      Box box = share.whole();
      box.begin[dim] = cell;
      box.end[dim] = cell + 1;
      return box;
    };
    const auto connect = [&](std::vector<int>& neighbours, std::size_t dim, int side) {
      Grid::Coordinates step{};
      step[dim] = side;
      neighbours.push_back(*share.grid().neighbour(world.rank(), step));
    };
    // Where both neighbours are one rank, what goes down from here comes from above there: hence the order.
    for (std::size_t dim = 0; dim < 3; ++dim) {
      if (!share.is_cut(dim)) continue;
      const std::int64_t cells = share.cells()[dim];
      connect(to, dim, -1);
      outer.push_back(at(dim, 0));
      connect(to, dim, 1);
      outer.push_back(at(dim, cells - 1));
      connect(from, dim, 1);
      ghosts.push_back(at(dim, cells));
      connect(from, dim, -1);
      ghosts.push_back(at(dim, -1));
    }
    sent = numbered(outer, share.problem().replicas);
    received = numbered(ghosts, share.problem().replicas);
  }

  std::vector<int> to, from;
  Cells sent, received;  // a box for each neighbour
};

template <class Real>
class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, const GpuLattice<Real>& lattice)
      : lattice_(lattice),
        comm_(world),
        messages_(world, lattice.share()),
        outgoing_(messages_.sent.all),
        incoming_(messages_.received.all) {
    // NCCL connects at the first call, which should not happen during the capture of a graph. The ghosts stay what they are.
    exchange(0, lattice.stream().get());
    lattice.stream().synchronize("connecting NCCL");
  }

  void start(int colour, Stream stream) override { exchange(colour, stream); }
  void wait(int, Stream) override {}

  void exchange(int which, Stream stream) override {
    if (messages_.to.empty()) return;
    const auto colour = static_cast<Word>(which);
    cuda_ok(launch_pack(lattice_.sites(), messages_.sent, colour, outgoing_.data(), stream), "packing");
    nccl_ok(ncclGroupStart(), "exchanging");
    for_boxes(messages_.sent, [&](Word box, Word begin, std::size_t bytes) {
      nccl_ok(ncclSend(outgoing_.data() + begin, bytes, ncclChar, messages_.to[box], comm_.get(), stream),
              "sending");
    });
    for_boxes(messages_.received, [&](Word box, Word begin, std::size_t bytes) {
      nccl_ok(ncclRecv(incoming_.data() + begin, bytes, ncclChar, messages_.from[box], comm_.get(), stream),
              "receiving");
    });
    nccl_ok(ncclGroupEnd(), "exchanging");
    cuda_ok(launch_unpack(lattice_.sites(), messages_.received, colour, incoming_.data(), stream),
            "unpacking");
  }

  void add_up(double* values, int count, Stream stream) override {
    nccl_ok(ncclAllReduce(values, values, static_cast<std::size_t>(count), ncclDouble, ncclSum, comm_.get(),
                          stream),
            "adding up");
  }

  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(messages_.sent.all * sizeof(Vector<Real>));
  }
  std::string explain() const override { return "one group of sends and receives, packed and unpacked"; }

 private:
  template <class Visit>
  static void for_boxes(const Cells& cells, const Visit& visit) {
    Word begin = 0;
    for (Word box = 0; box < cells.count; begin = cells.boxes[box++].end)
      visit(box, begin, std::size_t{cells.boxes[box].end - begin} * sizeof(Vector<Real>));
  }

  const GpuLattice<Real>& lattice_;
  NcclCommunicator comm_;
  Messages messages_;
  DeviceArray<Vector<Real>> outgoing_, incoming_;
};

}  // namespace

template <class Real>
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const GpuLattice<Real>& lattice) {
  return std::make_unique<NcclExchange<Real>>(world, lattice);
}

}  // namespace tca::spin

#else

namespace tca::spin {

template <class Real>
std::unique_ptr<GpuExchange> nccl_exchange(World&, const GpuLattice<Real>&) {
  return nullptr;
}

}  // namespace tca::spin

#endif

namespace tca::spin {

template std::unique_ptr<GpuExchange> nccl_exchange(World&, const GpuLattice<float>&);
template std::unique_ptr<GpuExchange> nccl_exchange(World&, const GpuLattice<double>&);

}  // namespace tca::spin
