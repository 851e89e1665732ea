// What the exchange by OpenTCA is made of, on hosts and on GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pic/domain.hpp"
#include "pic/exchange.hpp"
#include "pic/particles.hpp"
#include "tca/chain.hpp"
#include "tca/counted.hpp"
#include "tca/fold.hpp"
#include "tca/halo.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::pic {

// All are collective.
template <class Number>
Fold committed_fold(World& world, const Exchanged<Number>& what, const std::string& channel);
Halo committed_halo(World& world, const Domain& domain, const Window<Vec<double>>& e,
                    const std::string& channel);

// A queue of so many particles to each neighbour, and one from each, in the order of Domain::neighbours.
struct Queues {
  Queues(World& world, const Domain& domain, std::int64_t room, const std::string& channel);

  Window<Traveller> out, in;
  Chain chain;
  std::vector<CountedPut> puts;
  std::vector<CountedArrival> arrivals;
};

}  // namespace tca::pic
