// Reads the links, wires and interconnects of a machine file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/machine/machine_names.hpp"
#include "model/machine/machine_parts.hpp"

namespace tca::net {

namespace {

constexpr std::int64_t most_bytes = 1 << 30;
constexpr std::int64_t most_credits = 1 << 20;

std::uint32_t small_size(const MachineTable& table, std::string_view key, std::int64_t least) {
  const std::int64_t bytes = table.size(key);
  if (bytes < least || bytes > most_bytes)
    table.reject(key, fmt::format("`{}` is {} bytes; it can be {} to {}", key, bytes, least, most_bytes));
  return static_cast<std::uint32_t>(bytes);
}

// A link has either a rate, or a PCIe generation and lanes.
double read_rate(const MachineTable& table) {
  if (!table.has("generation")) return table.rate("rate");
  if (table.has("rate"))
    table.reject("rate",
                 fmt::format("{} has `generation` and `lanes` already; leave `rate` out or, where a file "
                             "that this one extends gives those, name another link",
                             heading(table.path())));
  const auto generation = static_cast<int>(table.count("generation", 1, 5));
  const auto lanes = static_cast<int>(table.count("lanes", 1, 16));
  const double rate = pcie_bytes_per_s(generation, lanes);
  if (rate == 0) table.reject("lanes", fmt::format("PCIe has no links of {} lanes", lanes));
  return rate;
}

LinkKind read_link(const MachineTable& table, const std::string& name) {
  LinkKind link;
  link.name = name;
  link.bytes_per_s = read_rate(table);
  if (table.has("peer_rate")) link.peer_bytes_per_s = table.rate("peer_rate");
  link.payload_bytes = small_size(table, "payload", 1);
  link.header_bytes = small_size(table, "header", 0);
  link.latency = table.time("latency");
  link.credits = static_cast<std::uint32_t>(table.count("credits", 1, most_credits));
  return link;
}

template <class Kinds>
std::uint32_t index_of(const MachineTable& table, std::string_view key, const Kinds& kinds,
                       const std::string& name, std::string_view what) {
  std::vector<std::string_view> names;
  for (const auto& kind : kinds) {
    if (kind.name == name) return static_cast<std::uint32_t>(names.size());
    names.push_back(kind.name);
  }
  table.reject(key, fmt::format("there is no {} `{}`; there are {}", what, name, fmt::join(names, ", ")));
}

TopologyKind read_kind(const MachineTable& table) {
  using enum TopologyKind;
  const std::string word =
      table.word("topology", {"chain", "ring", "double_ring", "torus", "star", "fat_tree"});
  if (word == "chain") return chain;
  if (word == "ring") return ring;
  if (word == "double_ring") return double_ring;
  if (word == "torus") return torus;
  return word == "star" ? star : fat_tree;
}

// Returns Topology::order, in which nodes count from 0; in the file they count from 1.
std::vector<std::uint32_t> read_order(const MachineTable& table, std::uint32_t nodes) {
  std::vector<std::uint32_t> order;
  for (const std::int64_t node : table.extents("order", nodes))
    order.push_back(static_cast<std::uint32_t>(node - 1));
  const std::set<std::uint32_t> named(order.begin(), order.end());
  if (order.size() != nodes || named.size() != nodes)
    table.reject("order",
                 fmt::format("`order` does not name each of the {} nodes of the topology once", nodes));
  return order;
}

Topology read_topology(const MachineTable& table, std::uint32_t nodes) {
  Topology topology;
  topology.kind = read_kind(table);
  const auto extents = table.extents("size", nodes);
  const auto [least, most] = dimensions(topology.kind);
  if (extents.size() < least || extents.size() > most)
    table.reject("size", fmt::format("a {} has {} to {} extents, not {}", to_string(topology.kind), least,
                                     most, extents.size()));
  for (const std::int64_t extent : extents) {
    if (extent > most_extent)
      table.reject("size", fmt::format("`size` has an extent of {}; {} is the most", extent, most_extent));
    topology.size.push_back(static_cast<std::uint32_t>(extent));
  }
  if (topology.kind == TopologyKind::double_ring && topology.size[1] != 2)
    table.reject("size", "a double_ring has two rings: its second extent is 2");
  if (topology.nodes() > nodes)
    table.reject("size", fmt::format("a {} of {} has more nodes than the machine's {}",
                                     to_string(topology.kind), fmt::join(extents, " x "), nodes));
  if (topology.nodes() == 0 || nodes % topology.nodes() != 0)
    table.reject("size", fmt::format("{} nodes cannot be made up of parts of {}", nodes, topology.nodes()));
  if (table.has("order")) topology.order = read_order(table, topology.nodes());
  return topology;
}

// Only stars and fat trees have switches. Other topologies refuse the key, which would have no effect there.
RouterKind read_switches(const MachineTable& table, TopologyKind kind) {
  if (kind == TopologyKind::star || kind == TopologyKind::fat_tree) {
    const MachineTable switches = table.table("switch");
    return {.hop = switches.time("hop"), .collision = switches.time("collision")};
  }
  if (table.has("switch"))
    table.reject("switch",
                 fmt::format("a {} has no switches; leave `switch` out or, where a file that this one "
                             "extends gives it, name another interconnect",
                             to_string(kind)));
  return {};
}

// Around a cycle, a packet that enters must leave one credit free, so a link there needs two credits.
void check_credits(const MachineTable& links, const LinkKind& link, const Interconnect& interconnect) {
  using enum TopologyKind;
  const TopologyKind kind = interconnect.topology.kind;
  const bool cycles = kind == ring || kind == double_ring || kind == torus;
  if (cycles && link.credits < 2)
    links.table(link.name).reject(
        "credits",
        fmt::format("a link around the cycles of [interconnects.{}] needs 2 credits at least, so that "
                    "packets do not block each other",
                    interconnect.name));
}

}  // namespace

void read_links(const MachineTable& root, Description& into) {
  const MachineTable links = root.table("links");
  for (const std::string& name : links.tables()) into.links.push_back(read_link(links.table(name), name));
}

void read_wires(const MachineTable& root, Description& into) {
  for (const std::vector<std::string>& wire : root.word_lists("wires")) {
    if (wire.size() != 3 && wire.size() != 4)
      root.reject("wires",
                  "a wire is [UNIT, UNIT, LINK] or, when it is another one back, [UNIT, UNIT, LINK, LINK]");
    const auto unit = [&](const std::string& name) {
      return index_of(root, "wires", into.node.units, name, "unit");
    };
    const auto link = [&](const std::string& name) {
      return index_of(root, "wires", into.links, name, "link");
    };
    if (wire[0] == wire[1]) root.reject("wires", fmt::format("a wire joins `{}` to itself", wire[0]));
    into.node.wires.push_back({unit(wire[0]), unit(wire[1]), link(wire[2]), link(wire.back())});
  }
}

void read_interconnects(const MachineTable& root, Description& into) {
  if (!root.has("interconnects")) return;
  const MachineTable all = root.table("interconnects"), links = root.table("links");
  if (all.tables().size() > most_interconnects)
    root.reject("interconnects", fmt::format("there are {} interconnects; {} are the most",
                                             all.tables().size(), most_interconnects));
  for (const std::string& name : all.tables()) {
    const MachineTable table = all.table(name);
    Interconnect interconnect;
    interconnect.name = name;
    interconnect.nic = index_of(table, "nic", into.node.units, table.word("nic"), "unit");
    if (into.node.units[interconnect.nic].role != Role::nic)
      table.reject("nic", fmt::format("`{}` has not the role of a nic", table.word("nic")));
    interconnect.link = index_of(table, "link", into.links, table.word("link"), "link");
    interconnect.topology = read_topology(table, into.nodes);
    interconnect.switches = read_switches(table, interconnect.topology.kind);
    check_credits(links, into.links[interconnect.link], interconnect);
    into.interconnects.push_back(std::move(interconnect));
  }
}

}  // namespace tca::net
