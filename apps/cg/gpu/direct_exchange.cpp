// The exchange on GPUs by OpenTCA: chains, a collective and sums of a team.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cg/gpu/exchange.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/chain.hpp"
#include "tca/coll.hpp"

namespace tca::cg {

namespace {

constexpr int most_values = 4;

class GpuByRows : public GpuExchange {
 public:
  GpuByRows(World& world, const Share& share, const Vectors& vectors)
      : gather_(world, "GATHER", vectors.operand, share.largest), sum_(world, "DOT", most_values) {}

  void gather(Stream stream) override { gather_.run(stream); }
  void sum(double* values, int count, Stream stream) override { sum_.add_up(values, count, stream); }
  std::string explain() const override { return gather_.explain(); }

 private:
  AllGather<double> gather_;
  apps::GpuSum sum_;
};

// The ranks of a column of the grid have the same part of each vector, which stays the same to the bit: teams
// add up in the order of their ranks, and the sums of two ranks do not depend on the order.
class GpuByBlocks : public GpuExchange {
 public:
  GpuByBlocks(World& world, const Share& share, const Vectors& vectors)
      : row_of_grid_(world.group(share.row_of_grid)),
        received_(world.window<double>(static_cast<std::int64_t>(share.reductions.size()) * share.summed.size,
                                       "sums")),
        pitch_(share.summed.size),
        transpose_(world.chain("EXCH")),
        sum_(row_of_grid_, "DOT", most_values) {
    for (const Reduction& reduction : share.reductions) {
      const auto which = static_cast<std::int64_t>(reductions_.size());
      Chain chain = world.chain(fmt::format("SPMV {}", which));
      // On the partner a part of `received` is as long as what this rank sends.
      chain
          .put(received_.on(reduction.partner).at(which * reduction.sent.size),
               vectors.product.at(reduction.sent.begin), block(reduction.sent.size))
          .expect(reduction.partner)
          .commit();
      reductions_.push_back(std::move(chain));
    }
    transpose_
        .put(vectors.result.on(share.transposed), vectors.product.at(share.summed.begin),
             block(share.summed.size))
        .expect(share.transposed)
        .commit();
  }

  const double* exchange_sums(std::size_t which, Stream stream) override {
    reductions_[which].run(stream);
    return received_.data() + static_cast<std::int64_t>(which) * pitch_;
  }
  void transpose(Stream stream) override { transpose_.run(stream); }
  void sum(double* values, int count, Stream stream) override { sum_.add_up(values, count, stream); }

  std::string explain() const override {
    std::string text;
    for (const Chain& reduction : reductions_) text += reduction.explain();
    return text + transpose_.explain();
  }

 private:
  World row_of_grid_;
  Window<double> received_;
  std::int64_t pitch_;
  std::vector<Chain> reductions_;
  Chain transpose_;
  apps::GpuSum sum_;
};

}  // namespace

std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Share& share, const Vectors& vectors) {
  if (share.whole_rows) return std::make_unique<GpuByRows>(world, share, vectors);
  return std::make_unique<GpuByBlocks>(world, share, vectors);
}

}  // namespace tca::cg
