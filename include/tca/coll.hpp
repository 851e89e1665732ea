// Collectives as committed chains: declared once, run as often as needed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "tca/world.hpp"

namespace tca {

// Combines up to a cache line of values across all ranks, in rank order, so that every rank gets the same
// bits. One shot: every rank puts its values to every other, one signal each way; meant for the few values of
// a residual or a time step.
template <Element T>
class AllReduce {
 public:
  using Operation = std::function<T(T, T)>;

  // Collective.
  AllReduce(World& world, std::string name, int values = 1, Operation operation = std::plus<T>())
      : values_(values),
        operation_(std::move(operation)),
        mine_(world.window<T>(values)),
        all_(world.window<T>(static_cast<std::int64_t>(world.size()) * values)),
        gathered_(std::make_unique<T[]>(all_.size())),
        chain_(world.chain(std::move(name))) {
    for (int rank = 0; rank < world.size(); ++rank) {
      chain_.put(all_.on(rank).at(static_cast<std::int64_t>(world.rank()) * values), mine_.at(0),
                 block(values));
      chain_.expect(rank);
    }
    chain_.commit();
  }

  // Collective and blocking; replaces `values` by the combination over all ranks.
  void operator()(std::span<T> values) {
    const auto stride = static_cast<std::size_t>(values_);
    mine_.write(0, values.first(stride));
    chain_.start();
    chain_.wait();
    all_.read(0, {gathered_.get(), all_.size()});
    for (std::size_t i = 0; i < stride; ++i) {
      T combined = gathered_[i];
      for (std::size_t at = i + stride; at < all_.size(); at += stride)
        combined = operation_(combined, gathered_[at]);
      values[i] = combined;
    }
  }

  T operator()(T value) {
    (*this)(std::span<T>(&value, 1));
    return value;
  }

 private:
  int values_;
  Operation operation_;
  Window<T> mine_;
  Window<T> all_;
  std::unique_ptr<T[]> gathered_;  // what `all_` holds, on the host
  Chain chain_;
};

}  // namespace tca
