#include "model/net/faults/detours.hpp"

#include <algorithm>
#include <queue>

#include "base/fail.hpp"

namespace tca::net {

Detours::Detours(const Trunk& trunk, std::uint32_t nodes, std::vector<Fault> faults, std::string_view asker)
    : routes_(trunk.routes), faults_(std::move(faults)), edges_(nodes) {
  if (routes_.switches() > 0) {
    base::fail(
        Errc::invalid_argument,
        "{}: faults are modelled on chains, rings and tori, and this machine's nodes are joined by switches",
        asker);
  }
  for (std::uint32_t number = 0; number < routes_.cables(); ++number)
    if (const Cable cable = routes_.cable(number); cable.used)
      edges_[cable.from].push_back({number, cable.to});
  for (const Fault& fault : faults_) {
    check(fault, asker);
    std::vector<std::uint32_t>& cables = gone_.emplace_back();
    if (fault.kind == Fault::Kind::host) continue;
    for (std::uint32_t number = 0; number < routes_.cables(); ++number) {
      const Cable cable = routes_.cable(number);
      const auto joins = [&](std::uint32_t a, std::uint32_t b) { return cable.from == a && cable.to == b; };
      const bool is_cut = fault.kind == Fault::Kind::hub
                              ? cable.from == fault.node || cable.to == fault.node
                              : joins(fault.node, fault.other) || joins(fault.other, fault.node);
      if (cable.used && is_cut) cables.push_back(number);
    }
  }
}

void Detours::check(const Fault& fault, std::string_view asker) const {
  const auto nodes = static_cast<std::uint32_t>(edges_.size());
  if (std::max(fault.node, fault.other) >= nodes) {
    base::fail(Errc::invalid_argument, "{}: {}: the machine has nodes 0 to {}", asker, name_of(fault),
               nodes - 1);
  }
  if (fault.kind != Fault::Kind::cable) return;
  const std::vector<std::uint32_t> next = neighbours(fault.node);
  if (std::ranges::find(next, fault.other) != next.end()) return;
  base::fail(Errc::invalid_argument, "{}: no cable joins nodes {} and {}; those of node {} lead to {}", asker,
             fault.node, fault.other, fault.node, fmt::join(next, ", "));
}

std::vector<std::uint32_t> Detours::neighbours(std::uint32_t node) const {
  std::vector<std::uint32_t> next;
  for (const Edge& edge : edges_[node])
    if (std::ranges::find(next, edge.to) == next.end()) next.push_back(edge.to);
  return next;
}

std::vector<bool> Detours::gone(View view) const {
  std::vector<bool> gone(routes_.cables());
  for (std::size_t fault = 0; fault < faults_.size(); ++fault)
    if ((view >> fault & 1) != 0)
      for (const std::uint32_t cable : gone_[fault]) gone[cable] = true;
  return gone;
}

bool Detours::is_free(std::uint32_t from, std::uint32_t to, const std::vector<bool>& gone) const {
  Steps steps = routes_.steps(from, to);
  for (std::uint32_t node = from; !done(steps);) {
    const Routes::Hop hop = routes_.at_node(node, steps);
    if (gone[hop.cable]) return false;
    routes_.take(hop, steps);
    node = routes_.cable(hop.cable).to;
  }
  return true;
}

std::optional<Detours::Found> Detours::way(std::uint32_t from, std::uint32_t to, View view) {
  if (view == 0) return Found{routes_.steps(from, to), false};
  const auto [known, is_new] = found_.try_emplace({from, to, view});
  if (!is_new) return known->second;
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    const Fault& what = faults_[fault];
    const bool is_end = what.kind == Fault::Kind::hub && (what.node == from || what.node == to);
    if ((view >> fault & 1) != 0 && is_end) return std::nullopt;
  }
  const std::vector<bool> gone = this->gone(view);
  if (is_free(from, to, gone)) {
    known->second = Found{routes_.steps(from, to), false};
  } else if (const std::optional<Steps> steps = search(from, to, gone)) {
    known->second = Found{*steps, true};
  }
  return known->second;
}

// Searches breadth first.
std::optional<Steps> Detours::search(std::uint32_t from, std::uint32_t to, const std::vector<bool>& gone) {
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> came_by(edges_.size(), none);
  std::queue<std::uint32_t> edge;
  for (edge.push(from); !edge.empty() && came_by[to] == none; edge.pop()) {
    for (const Edge& on : edges_[edge.front()]) {
      if (gone[on.cable] || on.to == from || came_by[on.to] != none) continue;
      came_by[on.to] = on.cable;
      edge.push(on.to);
    }
  }
  if (came_by[to] == none) return std::nullopt;
  const std::size_t number = ways_.size();
  std::vector<std::uint32_t>& way = ways_.emplace_back();
  for (std::uint32_t node = to; node != from; node = routes_.cable(came_by[node]).from)
    way.push_back(came_by[node]);
  return Steps{static_cast<std::int16_t>(number & 0x7fff), static_cast<std::int16_t>(number >> 15),
               static_cast<std::int16_t>(way.size())};
}

std::vector<std::uint32_t> Detours::reached(std::uint32_t node, View view) const {
  const std::vector<bool> gone = this->gone(view);
  std::vector<bool> seen(edges_.size());
  seen[node] = true;
  std::vector<std::uint32_t> found{node};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Edge& on : edges_[found[i]]) {
      if (gone[on.cable] || seen[on.to]) continue;
      seen[on.to] = true;
      found.push_back(on.to);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace tca::net
