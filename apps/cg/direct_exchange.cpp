// The exchange by OpenTCA: chains, and collectives where there is one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cg/exchange.hpp"
#include "tca/chain.hpp"
#include "tca/coll.hpp"

namespace tca::cg {

namespace {

// The sums of a benchmark's step: one scalar at a time, or up to four.
class Sums {
 public:
  Sums(World& world, const CollOptions& options)
      : one_(world, "DOT", 1, ReduceOp::sum, options), four_(world, "DOTS", 4, ReduceOp::sum, options) {}

  void sum(std::span<double> values) {
    if (values.size() == 1) return one_.reduce_in_place(values);
    std::array<double, 4> all{};
    std::ranges::copy(values, all.begin());
    four_.reduce_in_place(all);
    std::copy_n(all.begin(), values.size(), values.begin());
  }

  std::string explain() const { return one_.explain(); }

 private:
  AllReduce<double> one_, four_;
};

class ByRows : public Exchange {
 public:
  ByRows(World& world, const Share& share, const Vectors& vectors, const apps::Channels& channels)
      : gather_(world, "GATHER", vectors.operand, share.largest, {.channel = channels.of("GATHER")}),
        sums_(world, {.channel = channels.of("DOT")}) {}

  void gather() override { gather_.run(); }
  void sum(std::span<double> values) override { sums_.sum(values); }
  std::string explain(Message message) const override {
    return message == Message::gather ? gather_.explain() : sums_.explain();
  }

 private:
  AllGather<double> gather_;
  Sums sums_;
};

class ByBlocks : public Exchange {
 public:
  ByBlocks(World& world, const Share& share, const Vectors& vectors, const apps::Channels& channels)
      : row_of_grid_(world.group(share.row_of_grid)),
        product_(vectors.product),
        received_(world.window<double>(static_cast<std::int64_t>(share.reductions.size()) * share.summed.size,
                                       "sums")),
        transpose_(world.chain("EXCH", {.channel = channels.of("EXCH")})),
        // The ranks of a column of the grid have the same part of each vector, which stays the same to the
        // bit only if all rows of the grid add up in the same order.
        sums_(row_of_grid_, {.algorithm = "recursive_doubling", .channel = channels.of("DOT")}) {
    for (const Reduction& reduction : share.reductions) add_reduction(world, reduction, channels.of("SPMV"));
    transpose_
        .put(vectors.result.on(share.transposed), vectors.product.at(share.summed.begin),
             block(share.summed.size))
        .expect(share.transposed)
        .commit();
  }

  void add_up() override {
    double* const sums = product_.data();
    for (std::size_t which = 0; which < reductions_.size(); ++which) {
      auto& [chain, target] = reductions_[which];
      chain.run();
      const double* const received =
          received_.data() + static_cast<std::ptrdiff_t>(which) * static_cast<std::ptrdiff_t>(target.size);
      for (std::int64_t i = 0; i < target.size; ++i) sums[target.begin + i] += received[i];
    }
  }

  void transpose() override { transpose_.run(); }
  void sum(std::span<double> values) override { sums_.sum(values); }

  std::string explain(Message message) const override {
    if (message == Message::dot) return sums_.explain();
    if (message == Message::transpose) return transpose_.explain();
    std::string text;
    for (const auto& reduction : reductions_) text += reduction.chain.explain();
    return text;
  }

 private:
  struct Step {
    Chain chain;
    Range target;
  };

  // What comes in a step goes into a part of `received_` of its own, which is as long on the partner as what
  // this rank sends.
  void add_reduction(World& world, const Reduction& reduction, const std::string& channel) {
    const auto which = static_cast<std::int64_t>(reductions_.size());
    Chain chain = world.chain(fmt::format("SPMV {}", which), {.channel = channel});
    chain
        .put(received_.on(reduction.partner).at(which * reduction.sent.size),
             product_.at(reduction.sent.begin), block(reduction.sent.size))
        .expect(reduction.partner)
        .commit();
    reductions_.push_back({std::move(chain), reduction.received});
  }

  World row_of_grid_;
  Window<double> product_, received_;
  std::vector<Step> reductions_;
  Chain transpose_;
  Sums sums_;
};

}  // namespace

std::unique_ptr<Exchange> direct_exchange(World& world, const Share& share, const Vectors& vectors,
                                          const apps::Channels& channels) {
  if (share.whole_rows) return std::make_unique<ByRows>(world, share, vectors, channels);
  return std::make_unique<ByBlocks>(world, share, vectors, channels);
}

}  // namespace tca::cg
