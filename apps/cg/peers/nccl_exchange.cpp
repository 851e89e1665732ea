// The exchange on GPUs by NCCL, for comparison. No other file of the application calls NCCL.
#include "cg/gpu/exchange.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <numeric>
#include <vector>

#include "shared/gpu_call.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::cg {

namespace {

using namespace apps;

std::size_t length(const Range& range) { return static_cast<std::size_t>(range.size); }

class NcclExchange : public GpuExchange {
 public:
  NcclExchange(World& world, const Share& share, const Vectors& vectors)
      : comm_(world),
        summing_(summing(world, share)),
        sum_comm_(summing_),
        share_(share),
        vectors_(vectors),
        received_(share.reductions.size() * length(share.summed)),
        scalars_(most_values) {
    // NCCL connects at the first call, which should not happen during the capture of a graph.
    const OwnStream stream;
    gather(stream.get());
    for (std::size_t which = 0; which < share_.reductions.size(); ++which) exchange_sums(which, stream.get());
    transpose(stream.get());
    for (int count : {1, 2, most_values}) sum(scalars_.data(), count, stream.get());
    stream.synchronize("connecting NCCL");
  }

  void gather(Stream stream) override {
    if (!share_.whole_rows) return;
    const auto part = static_cast<std::size_t>(share_.largest);
    nccl_ok(ncclAllGather(vectors_.own_operand(share_), vectors_.operand.data(), part, ncclDouble,
                          comm_.get(), stream),
            "gathering the operand");
  }

  const double* exchange_sums(std::size_t which, Stream stream) override {
    const Reduction& reduction = share_.reductions[which];
    double* const into = received_.data() + which * length(share_.summed);
    swap(reduction.partner, vectors_.product.data() + reduction.sent.begin, length(reduction.sent), into,
         length(reduction.received), stream);
    return into;
  }

  void transpose(Stream stream) override {
    if (share_.whole_rows) return;
    swap(share_.transposed, vectors_.product.data() + share_.summed.begin, length(share_.summed),
         vectors_.result.data(), length(share_.own), stream);
  }

  void sum(double* values, int count, Stream stream) override {
    nccl_ok(ncclAllReduce(values, values, static_cast<std::size_t>(count), ncclDouble, ncclSum,
                          sum_comm_.get(), stream),
            "adding up");
  }

  std::string explain(Message) const override { return "by NCCL\n"; }

 private:
  static constexpr int most_values = 4;

  // The ranks among which the vector is divided: all, or a row of the grid.
  static World summing(World& world, const Share& share) {
    std::vector<int> all(static_cast<std::size_t>(world.size()));
    std::iota(all.begin(), all.end(), 0);
    return world.group(share.whole_rows ? all : share.row_of_grid);
  }

  void swap(int partner, const double* sent, std::size_t sent_size, double* received,
            std::size_t received_size, Stream stream) const {
    nccl_ok(ncclGroupStart(), "exchanging");
    nccl_ok(ncclSend(sent, sent_size, ncclDouble, partner, comm_.get(), stream), "sending");
    nccl_ok(ncclRecv(received, received_size, ncclDouble, partner, comm_.get(), stream), "receiving");
    nccl_ok(ncclGroupEnd(), "exchanging");
  }

  NcclCommunicator comm_;
  World summing_;
  NcclCommunicator sum_comm_;
  Share share_;
  Vectors vectors_;
  DeviceArray<double> received_, scalars_;
};

}  // namespace

std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Share& share, const Vectors& vectors) {
  return std::make_unique<NcclExchange>(world, share, vectors);
}

}  // namespace tca::cg

#else

namespace tca::cg {

std::unique_ptr<GpuExchange> nccl_exchange(World&, const Share&, const Vectors&) { return nullptr; }

}  // namespace tca::cg

#endif
