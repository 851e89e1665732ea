// The exchange on GPUs by OpenTCA: chains, a collective and sums of a team.
#include "cg/gpu/exchange.hpp"
#include "cg/gpu/messages.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/coll.hpp"

namespace tca::cg {

namespace {

constexpr int most_values = 4;

class GpuByRows : public GpuExchange {
 public:
  GpuByRows(World& world, const Share& share, const Vectors& vectors, const apps::Channels& channels)
      : gather_(world, "GATHER", vectors.operand, share.largest, {.channel = channels.of("GATHER")}),
        sum_(world, "DOT", most_values) {}

  void gather(Stream stream) override { gather_.run(stream); }
  void sum(double* values, int count, Stream stream) override { sum_.add_up(values, count, stream); }
  std::string explain(Message message) const override {
    return message == Message::gather ? gather_.explain() : "";
  }

 private:
  AllGather<double> gather_;
  apps::GpuSum sum_;
};

// The ranks of a column of the grid have the same part of each vector, which stays the same to the bit: teams
// add up in the order of their ranks, and the sums of two ranks do not depend on the order.
class GpuByBlocks : public GpuExchange {
 public:
  GpuByBlocks(World& world, const Share& share, const Vectors& vectors, const apps::Channels& channels)
      : messages_(world, share, vectors, channels), sum_(messages_.row_of_grid, "DOT", most_values) {}

  const double* exchange_sums(std::size_t which, Stream stream) override {
    messages_.reductions[which].run(stream);
    return messages_.received_in(which);
  }
  void transpose(Stream stream) override { messages_.transpose.run(stream); }
  void sum(double* values, int count, Stream stream) override { sum_.add_up(values, count, stream); }
  std::string explain(Message message) const override { return messages_.explain(message); }

 private:
  BlockMessages messages_;
  apps::GpuSum sum_;
};

}  // namespace

std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Share& share, const Vectors& vectors,
                                                 const apps::Channels& channels) {
  if (share.whole_rows) return std::make_unique<GpuByRows>(world, share, vectors, channels);
  return std::make_unique<GpuByBlocks>(world, share, vectors, channels);
}

}  // namespace tca::cg
