#include "model/rtl/hubs.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace tca::rtl {

using des::Time;
using net::Endpoint;

namespace {

const net::RtlKind& rtl_of(const net::Network& network, std::uint32_t interconnect) {
  check_core();
  const net::Description& machine = network.machine();
  const net::UnitKind& nic = machine.node.units[network.nic(0, interconnect).unit];
  if (!nic.rtl)
    base::fail(Errc::invalid_argument,
               "fidelity rtl: machine '{}' has no hub in RTL: its file has no [units.{}.rtl]; choose tlp",
               machine.name, nic.name);
  return *nic.rtl;
}

constexpr std::uint32_t opposite(std::uint32_t port) { return 3 - port; }
static_assert(opposite(port::north) == port::south && opposite(port::east) == port::west);

}  // namespace

Hubs::Hubs(net::Network& network, std::uint32_t interconnect, std::uint32_t host)
    : network_(network),
      simulator_(network.simulator()),
      interconnect_(interconnect),
      host_(host),
      group_(network.machine().interconnects[interconnect].topology.nodes()),
      kind_(rtl_of(network, interconnect)),
      objects_(simulator_.add(*this)),
      nodes_(network.nodes()) {
  const net::Topology& topology = network.machine().interconnects[interconnect].topology;
  if (group_ > most_nodes || topology.size.size() > 2)
    base::fail(Errc::invalid_argument,
               "fidelity rtl: machine '{}' joins {} nodes by '{}' in {} dimensions; hubs know {} nodes in 2",
               network.machine().name, group_, network.machine().interconnects[interconnect].name,
               topology.size.size(), most_nodes);
}

Hubs::Node& Hubs::node(std::uint32_t number) {
  std::unique_ptr<Node>& node = nodes_.at(number);
  if (node) return *node;
  node = std::make_unique<Node>(simulator_);
  node->board =
      std::make_unique<Board>(static_cast<Outside&>(*this), loads_, kind_, number, this->number(number));
  set_up(number);
  return *node;
}

void Hubs::set_up(std::uint32_t node) {
  Board& board = *nodes_[node]->board;
  const auto own = [&](std::uint64_t offset) { return address_of(number(node), Target::hub, offset); };
  const auto cycles = static_cast<std::uint64_t>(kind_.time_out / kind_.cycle);
  board.set(own(at::config), cycles << 32 | std::uint64_t{kind_.tags} << 16 | kind_.request_bytes);
  std::uint64_t route = ~std::uint64_t{0};
  const std::uint32_t first = node - number(node);
  for (std::uint32_t to = 0; to < group_; ++to)
    route ^= (port_to(node, first + to) ^ std::uint64_t{port::none}) << (4 * to);
  board.set(own(at::route), route);
  for (std::uint32_t channel = 0; channel < channels; ++channel)
    board.set(own(at::channel(channel) + at::done),
              address_of(number(node), Target::host, done_box(node, channel)));
}

std::uint64_t Hubs::done_box(std::uint32_t node, std::uint32_t channel) {
  return memory(node).mailboxes.fixed(number(node), channel, UINT32_MAX);
}

std::uint32_t Hubs::port_to(std::uint32_t from, std::uint32_t to) const {
  if (from == to) return port::host;
  const net::Steps steps = network_.plan().trunks()[interconnect_].routes.steps(from, to);
  if (steps[0] != 0) return steps[0] > 0 ? port::east : port::west;
  return steps[1] > 0 ? port::north : port::south;
}

Hubs::Cable Hubs::cable(std::uint32_t node, std::uint32_t port) const {
  Cable cable;
  const bool along = port == port::east || port == port::west;
  cable.steps[along ? 0 : 1] = port == port::east || port == port::north ? 1 : -1;
  const net::Routes& routes = network_.plan().trunks()[interconnect_].routes;
  cable.to = routes.cable(routes.at_node(node, cable.steps).cable).to;
  return cable;
}

Target Hubs::target(Endpoint memory) const {
  if (memory.unit == host_) return Target::host;
  std::uint32_t gpus = 0;  // before it
  const std::vector<net::UnitKind>& units = network_.machine().node.units;
  for (std::uint32_t unit = 0; unit < memory.unit; ++unit)
    if (network_.is_device({memory.node, unit})) ++gpus;
  if (!network_.is_device(memory) || gpus > 1)
    base::fail(Errc::invalid_argument, "fidelity rtl: hubs reach {} and the node's first two GPUs, not {}",
               units[host_].name, units[memory.unit].name);
  return gpus == 0 ? Target::gpu0 : Target::gpu1;
}

void Hubs::wake(std::uint32_t node, Time at) {
  simulator_.schedule(at, objects_ + 2 * node, nodes_[node]->events++);
}

void Hubs::leave(std::uint32_t node, std::uint32_t port, std::uint32_t load) {
  nodes_[node]->leaving.push_back({port, load});
  simulator_.schedule(simulator_.now() + kind_.cycle + kind_.hard_ip, objects_ + 2 * node + 1,
                      nodes_[node]->events++);
}

void Hubs::make_room(std::uint32_t at, std::uint32_t port) {
  const net::Trunk& trunk = network_.plan().trunks()[interconnect_];
  const Time latency = network_.plan().classes()[trunk.kind].latency;
  node(cable(at, port).to).board->credit(opposite(port), simulator_.now() + latency + 2 * kind_.hard_ip);
}

void Hubs::handle(const des::Event& event) {
  const std::uint32_t object = event.object - objects_;
  object % 2 == 0 ? nodes_[object / 2]->board->cycle(event.time) : depart(object / 2);
}

void Hubs::send(net::Parcel parcel, std::uint32_t load) {
  parcel.number = load;
  network_.send(parcel, *this);
}

void Hubs::depart(std::uint32_t number) {
  Node& node = *nodes_[number];
  const auto [port, load] = node.leaving.front();
  node.leaving.pop_front();
  if (port == port::host) return depart_to_host(number, load);
  const Endpoint from = nic(number);
  loads_[load].port = opposite(port);
  send({.from = from,
        .to_unit = from.unit,
        .interconnect = interconnect_,
        .steps = cable(number, port).steps,
        .bytes = loads_[load].tlp.data_bytes()},
       load);
}

// The room behind the host's port is that of the PCIe block, which a packet leaves once the wire is free.
void Hubs::depart_to_host(std::uint32_t number, std::uint32_t load) {
  Node& node = *nodes_[number];
  const Tlp& tlp = loads_[load].tlp;
  const std::uint32_t bytes = tlp.data_bytes();
  const net::LinkClass& wire = network_.wire(nic(number), host_);
  const Time start = std::max(simulator_.now(), node.host_free);
  node.host_free = start + wire.wire_time(bytes, 0);
  for (std::uint32_t beat = 0; beat < 1 + (8 * bytes + kind_.bits - 1) / kind_.bits; ++beat)
    node.board->credit(port::host, start);
  const Target target = target_of(tlp.address());
  std::uint32_t unit = host_, gpus = 0;
  if (target != Target::host)
    for (unit = 0;; ++unit)
      if (network_.is_device({number, unit}) && ++gpus == static_cast<std::uint32_t>(target)) break;
  if (tlp.is_write()) ++node.arrivals[static_cast<std::size_t>(target)].sent;
  send({.from = nic(number),
        .to_unit = unit,
        .kind = tlp.is_read() ? net::PacketKind::request : net::PacketKind::data,
        .bytes = tlp.is_read() ? tlp.bytes() : bytes},
       load);
}

void Hubs::store(std::uint32_t number, std::uint64_t address, std::span<const std::byte> bytes) {
  const std::uint32_t load = loads_.add(make_write(address, bytes), port::host);
  send({.from = host(number), .to_unit = nic(number).unit, .bytes = static_cast<std::uint32_t>(bytes.size())},
       load);
}

void Hubs::take(std::uint64_t number, Endpoint at, Time tail) {
  const auto load = static_cast<std::uint32_t>(number);
  if (at.unit == nic(at.node).unit) {
    const std::uint32_t bytes = loads_[load].tlp.data_bytes();
    const auto beats = static_cast<Time>((8 * bytes + kind_.bits - 1) / kind_.bits);
    const Time first = std::max(simulator_.now(), tail - beats * kind_.cycle);
    return node(at.node).board->arrive(loads_[load].port, load, first + kind_.hard_ip);
  }
  const Tlp tlp = std::move(loads_[load].tlp);
  loads_.remove(load);
  tlp.is_read() ? answer(at, tlp) : write(at, tlp);
}

// Memory answers in packets that end at multiples of `answer_bytes`.
void Hubs::answer(Endpoint memory, const Tlp& read) {
  const std::optional<Fault> fault = this->fault(memory.node);
  const std::uint64_t offset = offset_of(read.address());
  const std::uint32_t bytes = read.bytes();
  const Apertures::Found found =
      node(memory.node).memory.apertures(target_of(read.address())).find(offset, bytes);
  if (fault == Fault::lost) return;
  if (!found.exists || fault == Fault::unsupported)
    return answer(memory, make_refusal(read, Status::unsupported), true);
  if (fault == Fault::abort) return answer(memory, make_refusal(read, Status::abort), true);
  std::array<std::byte, most_payload> zeros{};
  for (std::uint32_t at = 0, end; at < bytes; at = end) {
    const auto to_border =
        static_cast<std::uint32_t>(kind_.answer_bytes - (offset + at) % kind_.answer_bytes);
    end = std::min(bytes, at + to_border);
    const std::byte* const from = found.memory == nullptr ? zeros.data() : found.memory + at;
    Tlp part = make_answer(read, at, {from, end - at});
    if (fault == Fault::poisoned) part.poison();
    answer(memory, std::move(part), at == 0);
  }
}

void Hubs::answer(Endpoint memory, Tlp part, bool first) {
  const std::uint32_t bytes = part.data_bytes();
  const net::MemoryPort& port = *network_.machine().node.units[memory.unit].memory;
  send({.from = memory,
        .to_unit = nic(memory.node).unit,
        .from_array = true,
        .bytes = bytes,
        .gap = first ? port.request_gap : 0},
       loads_.add(std::move(part), port::host));
}

void Hubs::write(Endpoint memory, const Tlp& tlp) {
  const std::uint64_t offset = offset_of(tlp.address());
  const std::span<const std::byte> bytes = tlp.written();
  Node& own = node(memory.node);
  const Target target = target_of(tlp.address());
  own.arrivals[static_cast<std::size_t>(target)].landed.add();
  if (target == Target::host && Mailboxes::holds(offset)) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    if (own.memory.mailboxes.write(offset, value)) return;
    base::fail(Errc::device_failed,
               "fidelity rtl: a hub wrote {:#x} where node {} expected no flag (address {:#x})", value,
               memory.node, tlp.address());
  }
  const Apertures::Found found = own.memory.apertures(target).find(offset, bytes.size());
  if (!found.exists)
    base::fail(Errc::device_failed,
               "fidelity rtl: a hub wrote {} bytes of node {} that no put leads to (address {:#x})",
               bytes.size(), memory.node, tlp.address());
  if (found.memory != nullptr) std::ranges::copy(bytes, found.memory);
}

std::optional<Fault> Hubs::fault(std::uint32_t number) {
  std::optional<Trouble>& trouble = node(number).trouble;
  if (!trouble || trouble->reads-- > 0) return std::nullopt;
  return std::exchange(trouble, std::nullopt)->fault;
}

}  // namespace tca::rtl
