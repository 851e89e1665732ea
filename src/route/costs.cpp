#include "route/costs.hpp"

namespace tca::route {

Distance Costs::distance_between(const fabric::Fabric& fabric, int from, int to) const {
  if (from == to) return Distance::self;
  if (const double ns = fabric.pricing().cache_line_transfer_ns(); ns > 0) return distance(ns);
  const auto sub_cluster = [&](int rank) { return sub_clusters_[static_cast<std::size_t>(rank)]; };
  return sub_clusters_.empty() || sub_cluster(from) == sub_cluster(to) ? Distance::near : Distance::far;
}

std::optional<double> Costs::predict_us(const fabric::Fabric& fabric, std::size_t protocol, int from, int to,
                                        const base::Shape& shape, std::size_t puts) const {
  if (const auto own = fabric.pricing().predict_us(static_cast<int>(protocol), from, to, shape)) return own;
  const Distance distance = distance_between(fabric, from, to);
  const std::string_view name = fabric.name(), how = fabric.protocols()[protocol];
  const Cost* cost = find_cost(measured_->pieces(name, how), name, how, distance, shape, puts);
  if (cost == nullptr && !measured(fabric, distance)) {
    cost = find_cost(builtin_costs(processor_), name, how, distance, shape, puts);
    if (cost == nullptr) cost = find_cost(builtin_costs(), name, how, distance, shape, puts);
    // If the built-in table has nothing for this distance, the costs of a near rank stand in.
    if (cost == nullptr) cost = find_cost(builtin_costs(), name, how, Distance::near, shape, puts);
  }
  return cost != nullptr ? std::optional(cost->predict_us(shape)) : std::nullopt;
}

std::string Costs::origin() const {
  if (by_fabrics_) return "the model of the machine";
  return measured_->empty() ? "the built-in table" : "the table of " + date_of(measured_->origin.measured);
}

bool Costs::measured(const fabric::Fabric& fabric, Distance distance) const {
  return measured_->knows(fabric.name(), distance);
}

}  // namespace tca::route
