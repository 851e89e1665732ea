// Collectives as committed chains: declared once, run as often as needed.
#pragma once

#include <functional>
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
    for (int i = 0; i < values_; ++i)
      mine_[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i)];
    chain_.start();
    chain_.wait();
    const auto stride = static_cast<std::size_t>(values_);
    for (std::size_t i = 0; i < stride; ++i) {
      T combined = all_[i];
      for (std::size_t at = i + stride; at < all_.size(); at += stride)
        combined = operation_(combined, all_[at]);
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
  Chain chain_;
};

}  // namespace tca
