#include "model/net/plan.hpp"

#include <bit>
#include <cmath>
#include <queue>

#include "base/fail.hpp"

namespace tca::net {

namespace {

constexpr LinkId most_links = 1u << 28;    // objects that a simulator can number
constexpr std::size_t most_classes = 256;  // a link stores its class in one byte

LinkClass make_class(const LinkKind& link) {
  LinkClass kind{.rate = Rate(link.bytes_per_s),
                 .payload_bytes = link.payload_bytes,
                 .header_bytes = link.header_bytes,
                 .latency = link.latency,
                 .credits = link.credits,
                 .credit_slots = link.credits == 0 ? 0 : std::bit_ceil(link.credits),
                 .name = link.name};
  if (link.peer_bytes_per_s > 0) {
    kind.second_rate = Rate(link.peer_bytes_per_s);
    kind.second_flags = Packet::peer;
  }
  return kind;
}

}  // namespace

Rate::Rate(double bytes_per_s)
    : per_byte_(static_cast<std::uint64_t>(std::llround(65536e12 / bytes_per_s))) {}

Plan::Plan(const Description& description) : machine_(description) {
  check(machine_);
  units_ = static_cast<std::uint32_t>(machine_.node.units.size());
  for (const LinkKind& link : machine_.links) add_class(make_class(link));
  add_wires();
  find_ways();
  add_ports();
  if (classes_.size() > most_classes)
    base::fail(Errc::invalid_argument,
               "machine '{}' has {} kinds of links, those into and out of its units among them; {} are the "
               "most that can be modelled",
               machine_.name, classes_.size(), most_classes);
  add_trunks();
}

std::uint32_t Plan::add_class(LinkClass kind) {
  classes_.push_back(std::move(kind));
  return static_cast<std::uint32_t>(classes_.size() - 1);
}

// The links of a wire get the same numbers whichever end the file names first, so that events of equal times
// keep the same order.
void Plan::add_wires() {
  for (const Wire& wire : machine_.node.wires) {
    const LocalLink there{wire.a, wire.b, wire.there, End::unit}, back{wire.b, wire.a, wire.back, End::unit};
    locals_.push_back(wire.a < wire.b ? there : back);
    locals_.push_back(wire.a < wire.b ? back : there);
  }
}

// Searches breadth-first from every target, against the direction of the links. Of equally short paths, the
// wires listed first win.
void Plan::find_ways() {
  next_.assign(std::size_t{units_} * units_, no_link);
  for (std::uint32_t target = 0; target < units_; ++target) {
    std::vector<bool> seen(units_);
    std::queue<std::uint32_t> edge;
    seen[target] = true;
    edge.push(target);
    for (; !edge.empty(); edge.pop()) {
      for (LinkId link = 0; link < locals_.size(); ++link) {
        const std::uint32_t from = locals_[link].from;
        if (locals_[link].to != edge.front() || seen[from]) continue;
        seen[from] = true;
        next_[from * units_ + target] = link;
        edge.push(from);
      }
    }
  }
}

void Plan::add_ports() {
  read_ports_.assign(units_, no_link);
  write_ports_ = request_ports_ = issue_ports_ = receive_ports_ = read_ports_;
  const auto add = [this](std::uint32_t unit, std::uint32_t kind, End end) {
    locals_.push_back({unit, unit, kind, end});
    return static_cast<LinkId>(locals_.size() - 1);
  };
  const std::uint32_t request = add_class({.rate = Rate(1e15), .name = "request"});
  const std::uint32_t issue = add_class({.rate = Rate(1e15), .name = "issue"});
  const std::uint32_t buffer = add_class({.rate = Rate(1e15), .whole = true, .name = "buffer"});
  for (std::uint32_t unit = 0; unit < units_; ++unit) {
    const UnitKind& kind = machine_.node.units[unit];
    if (kind.role == Role::bridge) continue;
    if (kind.role == Role::nic) request_ports_[unit] = add(unit, request, End::unit);
    issue_ports_[unit] = add(unit, issue, End::unit);
    if (kind.ape) {
      receive_ports_[unit] = add(unit, add_class(receive_class(unit, *kind.ape)), End::unit);
      write_ports_[unit] = add(unit, buffer, End::memory_array);
    }
    if (!kind.memory) continue;
    const MemoryPort& memory = *kind.memory;
    LinkClass read{.rate = Rate(memory.read_bytes_per_s), .latency = memory.read_latency, .name = "read"};
    if (memory.near_bytes > 0) {
      read.second_rate = Rate(memory.far_read_bytes_per_s);
      read.second_flags = Packet::far;
    }
    read_ports_[unit] = add(unit, add_class(read), End::unit);
    const LinkClass write{.rate = Rate(memory.write_bytes_per_s),
                          .whole = true,
                          .latency = memory.write_latency,
                          .name = "write"};
    write_ports_[unit] = add(unit, add_class(write), End::memory_array);
  }
}

// A card writes incoming data over its first wire, at that wire's rate, once it has translated the addresses.
LinkClass Plan::receive_class(std::uint32_t unit, const ApeKind& card) const {
  LinkClass kind;
  for (const LocalLink& local : locals_) {
    if (local.from == unit && local.to != unit) {
      kind = classes_[local.kind];
      break;
    }
  }
  kind.name = "receive";
  kind.credits = kind.credit_slots = 0;
  kind.latency = 0;
  kind.each = card.translate;
  kind.second_rate = kind.rate;
  kind.second_flags = Packet::peer;
  kind.second_each = card.translate_gpu;
  kind.meanwhile = card.translate_overlaps;
  return kind;
}

void Plan::add_trunks() {
  std::uint64_t count = std::uint64_t{machine_.nodes} * locals_.size();
  for (const Interconnect& net : machine_.interconnects) {
    trunks_.push_back({Routes(net.topology, machine_.nodes), static_cast<LinkId>(count), net.link, net.nic,
                       net.switches.hop, net.switches.collision});
    count += trunks_.back().routes.cables();
  }
  if (count > most_links) {
    base::fail(Errc::invalid_argument, "machine '{}' has {} links, {} are the most that can be modelled",
               machine_.name, count, most_links);
  }
  links_ = static_cast<LinkId>(count);
}

const Trunk& Plan::trunk_of(LinkId link) const {
  std::size_t trunk = trunks_.size() - 1;
  while (link < trunks_[trunk].first) --trunk;
  return trunks_[trunk];
}

const LinkClass& Plan::class_of(LinkId link) const {
  if (link < machine_.nodes * local_links()) return classes_[locals_[link % local_links()].kind];
  return classes_[trunk_of(link).kind];
}

std::string Plan::link_name(LinkId link) const {
  const std::vector<UnitKind>& units = machine_.node.units;
  if (link < machine_.nodes * local_links()) {
    const LocalLink& local = locals_[link % local_links()];
    const std::uint32_t node = link / local_links();
    if (local.from == local.to) {
      return fmt::format("node {}: {} {}", node, units[local.from].name, classes_[local.kind].name);
    }
    return fmt::format("node {}: {} to {}", node, units[local.from].name, units[local.to].name);
  }
  const Trunk& trunk = trunk_of(link);
  const Cable cable = trunk.routes.cable(link - trunk.first);
  return fmt::format(
      "{}: {} {} to {} {}", machine_.interconnects[static_cast<std::size_t>(&trunk - trunks_.data())].name,
      cable.from_switch ? "switch" : "node", cable.from, cable.to_switch ? "switch" : "node", cable.to);
}

}  // namespace tca::net
