// Sums computes the sums over all ranks that a solver needs, and measures the time that they take.
#pragma once

#include <string>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/peers/peer.hpp"
#include "tca/coll.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

class Sums {
 public:
  // Collective. Sums up to `most` doubles at a time. With a peer, which must outlive this object, the peer
  // computes the sums. `channel` is forced for them, as CollOptions::channel.
  Sums(World& world, int most, const Peer* peer = nullptr, const std::string& channel = {});

  // Collective: replaces the numbers by their sums over all ranks. Without a peer they are added in rank
  // order.
  void operator()(std::span<double> numbers);

  double& time_us() { return time_us_; }
  std::string explain() const { return reduce_.explain(); }

 private:
  World& world_;
  AllReduce<double> reduce_;
  const Peer* peer_;
  std::vector<double> room_;
  double time_us_ = 0;
};

}  // namespace tca::qcd
