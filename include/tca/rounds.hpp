/// @file
/// Rounds of a chain or a halo with counted puts, for data that may not fit into one step:
///
///     tca::Rounds rounds(world, chain);
///     rounds.run(
///         [&] {                                     // before each start
///           const std::size_t n = std::min(rest.size(), room);
///           pack(rest.first(n));
///           sent.set(n);
///           rest = rest.subspan(n);
///           return !rest.empty();                   // whether this rank needs another round
///         },
///         [&] { take(come.count()); });             // after each wait
///
/// Every rank takes part in all rounds; ranks with nothing left set lengths of 0.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "tca/coll.hpp"

namespace tca {

/// Keeps a reference to the chain or halo. All ranks of the world call everything here together.
template <class Steps>
requires requires(Steps& steps) {
  steps.start();
  steps.wait();
}
class Rounds {
 public:
  /// Collective. Makes the sum by which the ranks know that all have finished; `name` and `options` are
  /// that sum's. The chain may be committed later.
  Rounds(World& world, Steps& steps, std::string name = "rounds", CollOptions options = {})
      : steps_(steps), unfinished_(world, std::move(name), 1, ReduceOp::sum, std::move(options)) {}

  /// Collective. Runs steps until no rank needs another one, and at least one; returns how many. `load` is
  /// called before each start: it sets the lengths, and returns whether this rank will still have something
  /// to send. `unload` is called after each wait. The sum overlaps with the step. Throws what they and the
  /// chain throw; after that the ranks may be in different rounds, so the chain can no longer be used.
  template <std::predicate Load, std::invocable Unload>
  int run(Load load, Unload unload) {
    for (int rounds = 1;; ++rounds) {
      const bool has_more = load();
      steps_.start();
      const std::int32_t unfinished = unfinished_.reduce(has_more ? 1 : 0);
      steps_.wait();
      unload();
      if (unfinished == 0) return rounds;
    }
  }

 private:
  Steps& steps_;
  AllReduce<std::int32_t> unfinished_;
};

}  // namespace tca
