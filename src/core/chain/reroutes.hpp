// The rerouted chains of a rank. Whatever this rank is waiting for, their partners may be waiting for it to
// change paths.
#pragma once

#include <vector>

namespace tca::core {

class ChainState;

class Reroutes {
 public:
  Reroutes() = default;
  Reroutes(const Reroutes&) = delete;

  void add(ChainState& chain) { chains_.push_back(&chain); }
  void remove(ChainState& chain) { std::erase(chains_, &chain); }
  void drive() {
    if (!chains_.empty()) drive_all();
  }

 private:
  void drive_all();

  std::vector<ChainState*> chains_;
};

}  // namespace tca::core
