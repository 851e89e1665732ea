// Paths around failures on a chain, a ring or a torus.
//
// A packet on a detour carries the number of a path that is kept here and how many of its cables are left,
// in place of the hops in each dimension. The source decides it, from the faults that it knows: if hubs
// decided it individually, some of them not yet informed, they could send a packet in a circle. Of the
// shortest paths, the one with the first cables is taken, so that all runs are identical.
//
// Such a path may turn from a later dimension into an earlier one. The bubble rule then keeps each ring
// from filling up, but does not prove that streams on several rings cannot block each other in a circle
// (docs/model.md).
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/net/faults/fault.hpp"
#include "model/net/plan.hpp"

namespace tca::net {

class Detours {
 public:
  // For one interconnect. Throws Error{invalid_argument}, which names `asker`, for an impossible fault: a
  // node or cable that the machine does not have, or an interconnect with switches.
  Detours(const Trunk& trunk, std::uint32_t nodes, std::vector<Fault> faults, std::string_view asker);

  const std::vector<Fault>& faults() const { return faults_; }
  // The interconnect's cables that a fault takes away, in both directions.
  const std::vector<std::uint32_t>& cables_of(std::size_t fault) const { return gone_[fault]; }
  // The nodes to which cables lead from a node, in the order of the cables.
  std::vector<std::uint32_t> neighbours(std::uint32_t node) const;

  // Returns what a packet carries to get from one node to another, as seen by somebody who knows of these
  // faults: the ordinary path if it is free of them, otherwise one around them; nothing if there is none.
  struct Found {
    Steps steps;
    bool goes_round;
  };
  std::optional<Found> way(std::uint32_t from, std::uint32_t to, View view);
  bool leads(std::uint32_t from, std::uint32_t to, View view) { return way(from, to, view).has_value(); }

  // The next cable of a detour, and the element that Routes::take counts.
  Routes::Hop next(const Steps& steps) const {
    return {ways_[number_of(steps)][static_cast<std::size_t>(steps[2] - 1)], Routes::round_step};
  }

  // Returns the nodes of this one's sub-cluster that it reaches, including itself, in order.
  std::vector<std::uint32_t> reached(std::uint32_t node, View view) const;
  std::vector<std::uint32_t> sub_cluster(std::uint32_t node) const { return reached(node, 0); }

 private:
  static std::size_t number_of(const Steps& steps) {
    return static_cast<std::size_t>(steps[0]) + (static_cast<std::size_t>(steps[1]) << 15);
  }
  struct Edge {
    std::uint32_t cable, to;
  };

  void check(const Fault& fault, std::string_view asker) const;
  std::vector<bool> gone(View view) const;
  bool is_free(std::uint32_t from, std::uint32_t to, const std::vector<bool>& gone) const;
  std::optional<Steps> search(std::uint32_t from, std::uint32_t to, const std::vector<bool>& gone);

  const Routes& routes_;
  std::vector<Fault> faults_;
  std::vector<std::vector<Edge>> edges_;          // by node
  std::vector<std::vector<std::uint32_t>> gone_;  // by fault
  std::vector<std::vector<std::uint32_t>> ways_;  // the cables of each, the last one first
  std::map<std::tuple<std::uint32_t, std::uint32_t, View>, std::optional<Found>> found_;
};

}  // namespace tca::net
