// The exchange on GPUs by NCCL, for comparison. No other file of the application calls NCCL.
#include "spin/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <type_traits>

#include "shared/nccl_communicator.hpp"
#include "tca/error.hpp"

namespace tca::spin {

namespace {

using namespace apps;

template <class Real>
class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, const GpuLattice<Real>& lattice)
      : lattice_(lattice), comm_(world), is_alone_(world.size() == 1) {
    const Share& share = lattice.share();
    if (share.is_cut(1) || share.is_cut(2))
      throw Error(Errc::invalid_argument,
                  "the comparison with NCCL is for grids that cut z alone, whose faces lie together; give "
                  "--grid RANKSx1x1");
    if (!is_alone_) {
      below_ = *share.grid().neighbour(world.rank(), {-1, 0, 0});
      above_ = *share.grid().neighbour(world.rank(), {1, 0, 0});
    }
    // NCCL connects at the first call, which should not happen during the capture of a graph. The ghosts stay what they are.
    exchange(0, lattice.stream().get());
    lattice.stream().synchronize("connecting NCCL");
  }

  void start(int colour, Stream stream) override { exchange(colour, stream); }
  void wait(int, Stream) override {}

  // Where both neighbours are one rank, what goes down from here comes from above there: hence the order.
  void exchange(int colour, Stream stream) override {
    if (is_alone_) return;
    const Share& share = lattice_.share();
    const std::int64_t last = share.cells()[0];
    nccl_ok(ncclGroupStart(), "exchanging");
    for (int field = 0; field < share.fields(); ++field) {
      Real* const spins = lattice_.spins(colour).data() + field * share.elements();
      send(spins, 0, below_, stream);
      receive(spins, last, above_, stream);
      send(spins, last - 1, above_, stream);
      receive(spins, -1, below_, stream);
    }
    nccl_ok(ncclGroupEnd(), "exchanging");
  }

  void add_up(double* values, int count, Stream stream) override {
    nccl_ok(ncclAllReduce(values, values, static_cast<std::size_t>(count), ncclDouble, ncclSum, comm_.get(),
                          stream),
            "adding up");
  }

  std::int64_t bytes() const override {
    const Share& share = lattice_.share();
    return is_alone_ ? 0
                     : 2 * share.fields() * share.cells()[1] * share.cells()[2] *
                           static_cast<std::int64_t>(sizeof(Real));
  }
  std::string explain() const override { return "one group of sends and receives of whole planes"; }

 private:
  static constexpr ncclDataType_t type = std::is_same_v<Real, float> ? ncclFloat : ncclDouble;

  // A plane's own rows, with the ghosts between them.
  std::int64_t at(std::int64_t z) const { return lattice_.share().index(z, 0, 0); }
  std::size_t count() const {
    const Extents& cells = lattice_.share().cells();
    return static_cast<std::size_t>(lattice_.share().index(0, cells[1] - 1, cells[2]) - at(0));
  }
  void send(const Real* spins, std::int64_t z, int to, Stream stream) const {
    nccl_ok(ncclSend(spins + at(z), count(), type, to, comm_.get(), stream), "sending");
  }
  void receive(Real* spins, std::int64_t z, int from, Stream stream) const {
    nccl_ok(ncclRecv(spins + at(z), count(), type, from, comm_.get(), stream), "receiving");
  }

  const GpuLattice<Real>& lattice_;
  NcclCommunicator comm_;
  bool is_alone_;
  int below_ = 0, above_ = 0;
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
