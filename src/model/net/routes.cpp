#include "model/net/routes.hpp"

#include "base/fail.hpp"

namespace tca::net {

namespace {

// Returns the shorter way around a cycle. Opposite positions are equally far both ways; there the odd ones
// go backwards, so that both directions carry the same load.
std::int16_t shorter_way(std::uint32_t from, std::uint32_t to, std::uint32_t size, bool wraps) {
  const auto distance = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
  const auto around = static_cast<std::int32_t>(size);
  if (!wraps) return static_cast<std::int16_t>(distance);
  const std::int32_t ahead = (distance + around) % around;
  const bool forwards = 2 * ahead < around || (2 * ahead == around && from % 2 == 0);
  return static_cast<std::int16_t>(forwards ? ahead : ahead - around);
}

}  // namespace

Routes::Routes(const Topology& topology, std::uint32_t nodes)
    : kind_(topology.kind),
      switched_(kind_ == TopologyKind::star || kind_ == TopologyKind::fat_tree),
      nodes_(nodes),
      group_(topology.nodes()),
      order_(topology.order) {
  position_.resize(order_.size());
  for (std::uint32_t position = 0; position < order_.size(); ++position)
    position_[order_[position]] = position;
  if (switched_) {
    const bool star = kind_ == TopologyKind::star;
    leaf_nodes_ = topology.size[0];
    group_leaves_ = star ? 1 : topology.size[1];
    group_spines_ = star ? 0 : topology.size[2];
    leaves_ = nodes_ / leaf_nodes_;
    spines_ = nodes_ / group_ * group_spines_;
    cable_count_ = 2 * std::uint64_t{nodes_} + std::uint64_t{leaves_} * group_spines_ +
                   std::uint64_t{spines_} * group_leaves_;
    return;
  }
  for (std::size_t i = 0; i < topology.size.size(); ++i) {
    size_[i] = topology.size[i];
    wraps_[i] = kind_ != TopologyKind::chain && size_[i] > 2;
  }
  ports_ = 2 * static_cast<std::uint32_t>(topology.size.size());
  cable_count_ = std::uint64_t{nodes_} * ports_;
}

Cable Routes::cable(std::uint32_t number) const {
  return switched_ ? tree_cable(number) : direct_cable(number);
}

Cable Routes::direct_cable(std::uint32_t number) const {
  const std::uint32_t node = number / ports_, port = number % ports_, dimension = port / 2;
  const bool forwards = port % 2 == 0;
  std::uint32_t position = node % group_, stride = 1;
  if (!position_.empty()) position = position_[position];
  for (std::uint32_t i = 0; i < dimension; ++i) stride *= size_[i];
  const std::uint32_t size = size_[dimension], at = position / stride % size;

  Cable cable{.from = node};
  const bool at_end = forwards ? at + 1 == size : at == 0;
  // A cycle of two positions has one cable in each direction: forwards from the first, backwards from the
  // second.
  if (size == 1 || (at_end && !wraps_[dimension])) return cable;
  const std::uint32_t next = forwards ? (at + 1) % size : (at + size - 1) % size;
  const std::uint32_t to = position + next * stride - at * stride;
  cable.to = node / group_ * group_ + (order_.empty() ? to : order_[to]);
  cable.used = true;
  // A cycle is identified by its dimension and direction and by its position in the other dimensions.
  if (wraps_[dimension]) cable.cycle = port * nodes_ + node / group_ * group_ + position - at * stride;
  return cable;
}

// Cables are numbered in this order: up from the nodes, down to the nodes, up from the leaves, down from the
// spines.
Cable Routes::tree_cable(std::uint32_t number) const {
  Cable cable{.used = true};
  if (number < 2 * nodes_) {
    const std::uint32_t node = number % nodes_;
    (number < nodes_ ? cable.from : cable.to) = node;
    (number < nodes_ ? cable.to : cable.from) = node / leaf_nodes_;
    (number < nodes_ ? cable.to_switch : cable.from_switch) = true;
    return cable;
  }
  cable.from_switch = cable.to_switch = true;
  const std::uint32_t up = number - 2 * nodes_;
  if (up < leaves_ * group_spines_) {
    cable.from = up / group_spines_;
    cable.to = leaves_ + cable.from / group_leaves_ * group_spines_ + up % group_spines_;
  } else {
    const std::uint32_t down = up - leaves_ * group_spines_, spine = down / group_leaves_;
    cable.from = leaves_ + spine;
    cable.to = spine / group_spines_ * group_leaves_ + down % group_leaves_;
  }
  return cable;
}

Steps Routes::steps(std::uint32_t from, std::uint32_t to) const {
  if (!joined(from, to)) {
    base::fail(
        Errc::invalid_argument,
        "no cables lead from node {} to node {}: this {} joins {} nodes, and they are in different ones",
        from, to, to_string(kind_), group_);
  }
  std::uint32_t here = from % group_, there = to % group_;
  if (switched_) {
    if (here == there) return {};
    const std::uint32_t leaf = there / leaf_nodes_;
    const auto down = static_cast<std::int16_t>(there % leaf_nodes_ + 1);
    if (here / leaf_nodes_ == leaf) return {0, 0, down};
    return {static_cast<std::int16_t>(there % group_spines_ + 1), static_cast<std::int16_t>(leaf + 1), down};
  }
  if (!position_.empty()) here = position_[here], there = position_[there];
  Steps steps{};
  for (std::size_t i = 0; i < 3; ++i) {
    steps[i] = shorter_way(here % size_[i], there % size_[i], size_[i], wraps_[i]);
    here /= size_[i];
    there /= size_[i];
  }
  return steps;
}

Routes::Hop Routes::at_switch(std::uint32_t number, const Steps& steps) const {
  if (number < leaves_) {
    if (steps[0] != 0) {
      return {2 * nodes_ + number * group_spines_ + static_cast<std::uint32_t>(steps[0] - 1), 0};
    }
    return {nodes_ + number * leaf_nodes_ + static_cast<std::uint32_t>(steps[2] - 1), 2};
  }
  const std::uint32_t spine = number - leaves_;
  return {
      2 * nodes_ + leaves_ * group_spines_ + spine * group_leaves_ + static_cast<std::uint32_t>(steps[1] - 1),
      1};
}

std::uint32_t Routes::distance(std::uint32_t from, std::uint32_t to) const {
  const Steps way = steps(from, to);
  if (switched_) return done(way) ? 0 : way[0] != 0 ? 4 : 2;
  return static_cast<std::uint32_t>(std::abs(way[0]) + std::abs(way[1]) + std::abs(way[2]));
}

}  // namespace tca::net
