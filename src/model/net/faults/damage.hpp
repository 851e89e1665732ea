// What has failed on one interconnect of a network, and which node's hub knows of it.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/des/wait.hpp"
#include "model/net/faults/detours.hpp"

namespace tca::net {

// Is told about losses: the counter that a transfer or a word was to increment, and no longer will, and the
// fault that caused this.
class Losses {
 public:
  virtual ~Losses() = default;
  virtual void lost(const des::Counter& concerned, std::size_t fault) = 0;
};

struct Damage {
  Damage(const Trunk& trunk, std::uint32_t number, std::uint32_t nodes, std::vector<Fault> faults,
         std::string_view asker, Losses& told)
      : interconnect(number), detours(trunk, nodes, std::move(faults), asker), known(nodes), losses(told) {}

  std::uint32_t interconnect;
  Detours detours;
  std::vector<View> known;  // by node
  std::unordered_map<LinkId, std::size_t> fault_of;
  Losses& losses;
};

}  // namespace tca::net
