#include "model/machine/description.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <numeric>

#include "base/fail.hpp"

namespace tca::net {

namespace {

template <class... Args>
void require(bool holds, const Description& machine, fmt::format_string<Args...> text, Args&&... args) {
  if (holds) return;
  base::fail(Errc::invalid_argument, "machine '{}': {}", machine.name,
             fmt::format(text, std::forward<Args>(args)...));
}

template <class List>
std::uint32_t find_named(const List& list, std::string_view name, std::string_view what) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<std::uint32_t>(i);
  }
  std::vector<std::string_view> names;
  for (const auto& entry : list) names.push_back(entry.name);
  base::fail(Errc::invalid_argument, "there is no {} '{}', only {}", what, name, fmt::join(names, ", "));
}

void check_link(const Description& machine, const LinkKind& link) {
  require(link.bytes_per_s > 0, machine, "link '{}' carries nothing: its bytes_per_s is {}", link.name,
          link.bytes_per_s);
  require(link.peer_bytes_per_s >= 0, machine, "link '{}' has a negative peer_bytes_per_s", link.name);
  require(link.payload_bytes > 0, machine, "link '{}' has packets without payload", link.name);
  require(link.latency >= 0, machine, "link '{}' has a negative latency", link.name);
}

void check_unit(const Description& machine, const UnitKind& unit) {
  require(unit.memory.has_value() == (unit.role == Role::memory), machine,
          "unit '{}' must have the numbers of a memory if and only if it is one", unit.name);
  require(!(unit.dma || unit.ape) || unit.role == Role::nic, machine,
          "unit '{}' has a DMA controller but is no NIC", unit.name);
  if (unit.memory) {
    require(unit.memory->read_bytes_per_s > 0 && unit.memory->write_bytes_per_s > 0, machine,
            "memory '{}' is read or written at no rate", unit.name);
    require(unit.memory->near_bytes == 0 || unit.memory->far_read_bytes_per_s > 0, machine,
            "memory '{}' has near_bytes but no far_read_bytes_per_s", unit.name);
  }
  if (unit.dma) {
    const DmaKind& dma = *unit.dma;
    require(dma.channels > 0 && dma.tags > 0 && dma.request_bytes > 0 && dma.packet_bytes > 0, machine,
            "the DMA controller '{}' needs channels, tags, request_bytes and packet_bytes", unit.name);
  }
}

void check_wires(const Description& machine) {
  const std::vector<UnitKind>& units = machine.node.units;
  std::vector<std::size_t> group(units.size());
  std::iota(group.begin(), group.end(), 0);
  for (const Wire& wire : machine.node.wires) {
    require(wire.a < units.size() && wire.b < units.size() && wire.a != wire.b, machine,
            "a wire joins units {} and {} of {}", wire.a, wire.b, units.size());
    require(wire.there < machine.links.size() && wire.back < machine.links.size(), machine,
            "the wire from '{}' to '{}' is of no kind of link", units[wire.a].name, units[wire.b].name);
    const std::size_t joined = group[wire.a], both = group[wire.b];
    std::replace(group.begin(), group.end(), joined, both);
  }
  const auto apart = std::adjacent_find(group.begin(), group.end(), std::not_equal_to<>{});
  require(
      apart == group.end(), machine, "no wires lead from unit '{}' to unit '{}'",
      units[static_cast<std::size_t>(apart - group.begin())].name,
      apart == group.end() ? units[0].name : units[static_cast<std::size_t>(apart - group.begin()) + 1].name);
}

void check_interconnect(const Description& machine, const Interconnect& net) {
  require(net.nic < machine.node.units.size() && machine.node.units[net.nic].role == Role::nic, machine,
          "interconnect '{}' has no NIC", net.name);
  require(net.link < machine.links.size(), machine, "interconnect '{}' is of no kind of link", net.name);

  const Topology& topology = net.topology;
  const auto [least, most] = dimensions(topology.kind);
  require(topology.size.size() >= least && topology.size.size() <= most, machine,
          "the {} of interconnect '{}' has {} sizes instead of {}", to_string(topology.kind), net.name,
          topology.size.size(), most);
  for (const std::uint32_t size : topology.size) {
    require(size > 0 && size <= most_extent, machine, "the {} of interconnect '{}' has a size of {}",
            to_string(topology.kind), net.name, size);
  }
  require(topology.kind != TopologyKind::double_ring || topology.size[1] == 2, machine,
          "the double ring of interconnect '{}' has {} rings", net.name, topology.size.back());
  require(topology.nodes() <= machine.nodes, machine,
          "the {} of interconnect '{}' has more nodes than the machine's {}", to_string(topology.kind),
          net.name, machine.nodes);
  require(machine.nodes % topology.nodes() == 0, machine,
          "interconnect '{}' joins {} nodes, which does not divide the machine's {}", net.name,
          topology.nodes(), machine.nodes);

  std::vector<std::uint32_t> order = topology.order;
  if (order.empty()) order.resize(topology.nodes());
  if (topology.order.empty()) std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < topology.nodes(); ++i) {
    require(order.size() == topology.nodes() && order[i] == i, machine,
            "the order of interconnect '{}' does not name each of its {} nodes once", net.name,
            topology.nodes());
  }
  const bool cycles = topology.kind == TopologyKind::ring || topology.kind == TopologyKind::double_ring ||
                      topology.kind == TopologyKind::torus;
  require(!cycles || machine.links[net.link].credits != 1, machine,
          "link '{}' has one credit; around the cycles of interconnect '{}' packets need two not to block "
          "each other",
          machine.links[net.link].name, net.name);
}

}  // namespace

double pcie_bytes_per_s(int generation, int lanes) {
  constexpr std::array<double, 5> transfers{2.5e9, 5e9, 8e9, 16e9, 32e9};
  constexpr std::array<int, 6> widths{1, 2, 4, 8, 16, 32};
  if (generation < 1 || generation > 5) return 0;
  if (std::find(widths.begin(), widths.end(), lanes) == widths.end()) return 0;
  const double coding = generation < 3 ? 8.0 / 10 : 128.0 / 130;
  return transfers[static_cast<std::size_t>(generation - 1)] * coding * lanes / 8;
}

std::uint32_t Topology::nodes() const {
  const auto end = kind == TopologyKind::fat_tree ? size.begin() + 2 : size.end();
  const auto times = [](std::uint64_t count, std::uint64_t extent) {
    return std::min<std::uint64_t>(count * extent, UINT32_MAX);
  };
  return static_cast<std::uint32_t>(std::accumulate(size.begin(), end, std::uint64_t{1}, times));
}

std::pair<std::size_t, std::size_t> dimensions(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::chain:
    case TopologyKind::ring:
    case TopologyKind::star:
      return {1, 1};
    case TopologyKind::double_ring:
      return {2, 2};
    case TopologyKind::torus:
      return {1, 3};
    case TopologyKind::fat_tree:
      return {3, 3};
  }
  return {0, 0};
}

void check(const Description& machine) {
  require(machine.nodes > 0, machine, "there are no nodes");
  require(!machine.node.units.empty() && machine.node.units.size() <= most_units, machine,
          "a node has {} units; 1 to {} may be", machine.node.units.size(), most_units);
  for (const LinkKind& link : machine.links) check_link(machine, link);
  for (const UnitKind& unit : machine.node.units) check_unit(machine, unit);
  check_wires(machine);
  require(machine.interconnects.size() <= most_interconnects, machine,
          "there are {} interconnects; {} are the most that can be modelled", machine.interconnects.size(),
          most_interconnects);
  for (const Interconnect& net : machine.interconnects) check_interconnect(machine, net);
}

bool ports_collide(const Description& machine) {
  const auto turns = [](const RouterKind& router) { return router.collision > 0; };
  return std::ranges::any_of(machine.node.units, turns, &UnitKind::router) ||
         std::ranges::any_of(machine.interconnects, turns, &Interconnect::switches);
}

std::uint32_t find_unit(const NodeKind& node, std::string_view name) {
  return find_named(node.units, name, "unit");
}

std::uint32_t nearest_host(const NodeKind& node, std::uint32_t unit) {
  std::vector<bool> seen(node.units.size());
  std::deque<std::uint32_t> edge{unit};
  for (seen[unit] = true; !edge.empty(); edge.pop_front()) {
    const std::uint32_t at = edge.front();
    if (node.units[at].memory && !node.units[at].memory->device) return at;
    for (const Wire& wire : node.wires) {
      if (wire.a != at && wire.b != at) continue;
      const std::uint32_t next = wire.a == at ? wire.b : wire.a;
      if (!seen[next]) edge.push_back(next);
      seen[next] = true;
    }
  }
  base::fail(Errc::invalid_argument, "no wires lead from unit '{}' to a host's memory",
             node.units[unit].name);
}

std::uint32_t find_link(const Description& description, std::string_view name) {
  return find_named(description.links, name, "kind of link");
}

std::uint32_t find_interconnect(const Description& description, std::string_view name) {
  return find_named(description.interconnects, name, "interconnect");
}

std::string_view to_string(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::chain:
      return "chain";
    case TopologyKind::ring:
      return "ring";
    case TopologyKind::double_ring:
      return "double ring";
    case TopologyKind::torus:
      return "torus";
    case TopologyKind::star:
      return "star";
    case TopologyKind::fat_tree:
      return "fat tree";
  }
  return "?";
}

std::string_view to_string(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::tlp:
      return "tlp";
    case Fidelity::train:
      return "train";
    case Fidelity::flow:
      return "flow";
    case Fidelity::rtl:
      return "rtl";
  }
  return "?";
}

Fidelity find_fidelity(std::string_view name, std::string_view asker) {
  for (const Fidelity fidelity : {Fidelity::tlp, Fidelity::train, Fidelity::flow, Fidelity::rtl}) {
    if (name == to_string(fidelity)) return fidelity;
  }
  base::fail(Errc::invalid_argument, "{} {}: there are tlp, train, flow and rtl", asker, name);
}

}  // namespace tca::net
