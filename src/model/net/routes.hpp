// Computes the routes over an interconnect: its cables, and which one a packet takes next. A few numbers in
// the packet suffice, so a machine of any size needs no routing tables.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/machine/description.hpp"

namespace tca::net {

// What is left of a packet's path. On chains, rings and tori these are the hops to make in each dimension,
// negative ones backwards, taken in order of the dimensions. On stars and fat trees it is the path up and
// down: spine, leaf and node, each plus one, or 0 if not needed.
using Steps = std::array<std::int16_t, 3>;

constexpr bool done(const Steps& steps) { return (steps[0] | steps[1] | steps[2]) == 0; }

// One direction of a cable. Its ends are nodes or switches; switches are numbered separately.
struct Cable {
  std::uint32_t from = 0, to = 0;
  bool from_switch = false, to_switch = false;
  bool used = false;               // false at the ends of a chain, where a cable leads nowhere
  std::uint32_t cycle = no_cycle;  // the number of the cycle that it is part of, less than that of all cables

  static constexpr std::uint32_t no_cycle = ~0u;
};

class Routes {
 public:
  Routes(const Topology& topology, std::uint32_t nodes);

  std::uint64_t cables() const { return cable_count_; }
  std::uint32_t switches() const { return switched_ ? leaves_ + spines_ : 0; }
  Cable cable(std::uint32_t number) const;

  // Whether cables lead from one node to the other: both are in the same instance.
  bool joined(std::uint32_t from, std::uint32_t to) const { return from / group_ == to / group_; }
  // Throws Error{invalid_argument} if no cables lead there.
  Steps steps(std::uint32_t from, std::uint32_t to) const;

  // Where a packet goes next: the cable, and the element of its steps that counts this hop.
  struct Hop {
    std::uint32_t cable;
    std::uint8_t step;
  };
  static constexpr std::uint8_t no_step = 3;
  static constexpr std::uint8_t round_step = 4;  // on a detour (faults/detours.hpp)

  Hop at_node(std::uint32_t node, const Steps& steps) const {
    if (switched_) return {node, no_step};
    std::uint8_t dimension = 0;
    while (steps[dimension] == 0) ++dimension;
    return {node * ports_ + 2u * dimension + (steps[dimension] < 0 ? 1u : 0u), dimension};
  }
  Hop at_switch(std::uint32_t number, const Steps& steps) const;

  void take(Hop hop, Steps& steps) const {
    if (hop.step == no_step) return;
    if (hop.step == round_step) {
      if (--steps[2] == 0) steps = {};
      return;
    }
    std::int16_t& left = steps[hop.step];
    left = static_cast<std::int16_t>(switched_ || left == 1 || left == -1 ? 0
                                     : left > 0                           ? left - 1
                                                                          : left + 1);
  }

  // Returns the number of hops between two nodes.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const;

 private:
  Cable direct_cable(std::uint32_t number) const;
  Cable tree_cable(std::uint32_t number) const;

  TopologyKind kind_;
  bool switched_;
  std::uint32_t nodes_;                         // of the machine
  std::uint32_t group_;                         // nodes of one instance
  std::array<std::uint32_t, 3> size_{1, 1, 1};  // of chains, rings and tori
  std::array<bool, 3> wraps_{};
  std::uint32_t ports_ = 0;
  // Position to node and node to position, within an instance; empty when both are the same.
  std::vector<std::uint32_t> order_, position_;
  // For stars and fat trees: nodes per leaf, leaves and spines per instance, and leaves and spines of the
  // machine.
  std::uint32_t leaf_nodes_ = 0, group_leaves_ = 0, group_spines_ = 0, leaves_ = 0, spines_ = 0;
  std::uint64_t cable_count_ = 0;
};

}  // namespace tca::net
