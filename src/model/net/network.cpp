#include "model/net/network.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"

namespace tca::net {

using des::Time;

namespace {

// A hub in RTL forwards packets itself, with its own timing.
Description without_routers_of_hubs(Description machine) {
  bool any = false;
  for (UnitKind& unit : machine.node.units) {
    if (!unit.rtl) continue;
    unit.router = {};
    any = true;
  }
  if (!any)
    base::fail(Errc::invalid_argument,
               "fidelity rtl: machine '{}' has no hub in RTL: its file has no [units.NAME.rtl]; choose tlp",
               machine.name);
  return machine;
}

des::Task give_back(des::Simulator& simulator, des::Semaphore& tags, Time at) {
  co_await simulator.sleep_until(at);
  tags.release();
}

}  // namespace

Network::Network(des::Simulator& simulator, const Description& description, Fidelity fidelity)
    : simulator_(simulator),
      plan_(fidelity == Fidelity::rtl ? without_routers_of_hubs(description) : description),
      traffic_(simulator, plan_, *this),
      fidelity_(fidelity) {
  const bool by_packets = fidelity == Fidelity::tlp || fidelity == Fidelity::rtl;
  if (!by_packets) trains_.emplace(simulator, traffic_, *this, fidelity == Fidelity::flow);
}

void Network::check_endpoint(Endpoint at) const {
  if (at.node >= nodes()) {
    base::fail(Errc::invalid_argument, "there is no node {}: machine '{}' has {}", at.node, machine().name,
               nodes());
  }
  if (at.unit >= machine().node.units.size()) {
    base::fail(Errc::invalid_argument, "there is no unit {}: a node of machine '{}' has {}", at.unit,
               machine().name, machine().node.units.size());
  }
}

Endpoint Network::endpoint(std::uint32_t node, std::string_view unit) const {
  const Endpoint at{node, find_unit(machine().node, unit)};
  check_endpoint(at);
  return at;
}

std::uint32_t Network::interconnect(std::string_view name) const {
  return find_interconnect(machine(), name);
}

Endpoint Network::nic(std::uint32_t node, std::uint32_t interconnect) const {
  return {node, plan_.trunks().at(interconnect).nic};
}

bool Network::joined(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const {
  return plan_.trunks().at(interconnect).routes.joined(from, to);
}

std::uint32_t Network::distance(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const {
  return plan_.trunks().at(interconnect).routes.distance(from, to);
}

const LinkClass& Network::wire(Endpoint from, std::uint32_t to_unit) const {
  return plan_.class_of(plan_.toward(from.node, from.unit, to_unit));
}

bool Network::is_device(Endpoint at) const {
  const UnitKind& unit = machine().node.units[at.unit];
  return unit.memory && unit.memory->device;
}

std::uint32_t Network::open(const Message& message) {
  if (free_message_ == UINT32_MAX) {
    messages_.push_back(message);
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t number = free_message_;
  free_message_ = messages_[number].next_free;
  messages_[number] = message;
  return number;
}

void Network::close(std::uint32_t message) {
  messages_[message].next_free = free_message_;
  free_message_ = message;
}

// Makes a packet between two units, without its size, kind and message.
Packet Network::packet_from(Endpoint from, Endpoint to, std::uint32_t interconnect,
                            std::optional<View> view) const {
  check_endpoint(from);
  check_endpoint(to);
  Packet packet{};
  packet.to_unit = static_cast<std::uint8_t>(to.unit);
  packet.interconnect = static_cast<std::uint8_t>(interconnect);
  packet.nic = Packet::passed;
  if (interconnect != Transfer::inside) {
    if (interconnect >= plan_.trunks().size()) {
      base::fail(Errc::invalid_argument, "there is no interconnect {}: machine '{}' has {}", interconnect,
                 machine().name, plan_.trunks().size());
    }
    const Trunk& trunk = plan_.trunks()[interconnect];
    if (from.unit != trunk.nic) packet.nic = static_cast<std::uint8_t>(trunk.nic);
    packet.steps = trunk.routes.steps(from.node, to.node);
    if (damage_ != nullptr && interconnect == damage_->interconnect)
      redirect(packet, from.node, to.node, view);
  } else if (from.node != to.node) {
    base::fail(Errc::invalid_argument, "no wires lead from node {} to node {}: name an interconnect",
               from.node, to.node);
  }
  const bool at_device = is_device(packet.nic == Packet::passed ? to : from);
  if (at_device) packet.flags |= Packet::peer;
  if (is_device(to)) packet.flags |= Packet::to_peer;
  return packet;
}

des::Task Network::transfer(Transfer transfer) {
  Passage passage(simulator_, {"its data to leave node", transfer.from.node});
  des::Task asked = ask(transfer, passage);
  co_await asked;
  co_await passage.passed();
}

void Network::check_transfer(const Transfer& transfer) const {
  const auto refuse = [&](std::string_view why) {
    base::fail(Errc::invalid_argument, "a transfer of {} rows of {} bytes from node {} to node {} {}",
               transfer.rows.count, transfer.rows.bytes, transfer.from.node, transfer.to.node, why);
  };
  check_endpoint(transfer.from);
  check_endpoint(transfer.to);
  const std::vector<UnitKind>& units = machine().node.units;
  const bool inside = transfer.interconnect == Transfer::inside;
  const bool nothing = transfer.rows.total() == 0 || transfer.packet_bytes == 0;
  if (nothing) refuse("has nothing to send, or packets of nothing");
  if (transfer.tags == nullptr && transfer.window == 0) refuse("may have nothing under way");
  if (!units[transfer.from.unit].memory) refuse("does not come from a memory");
  if (inside && (transfer.request_bytes > 0) != (units[transfer.to.unit].role == Role::nic)) {
    refuse("goes by no interconnect: a NIC asks for its data, a memory is sent it unasked");
  }
}

des::Task Network::ask(Transfer transfer, Passage& passage) {
  check_transfer(transfer);
  const Rows rows = transfer.rows;
  const bool asks = transfer.request_bytes > 0, inside = transfer.interconnect == Transfer::inside;
  const std::uint32_t most = asks ? transfer.request_bytes : transfer.packet_bytes;
  des::Semaphore own(simulator_, {"a slot for a request in the window of node", transfer.from.node},
                     transfer.window);
  des::Semaphore& tags = transfer.tags != nullptr ? *transfer.tags : own;

  Packet packet = packet_from(transfer.from, transfer.to, transfer.interconnect, transfer.view);
  if (!plan_.has_write_port(transfer.to.unit)) packet.kind = PacketKind::word;
  const MemoryPort& memory = *machine().node.units[transfer.from.unit].memory;
  if (memory.near_bytes > 0 && rows.total() > memory.near_bytes) packet.flags |= Packet::far;
  passage.requests_ = rows.count * ((rows.bytes + most - 1) / most);
  const std::uint32_t message =
      open({.to_arrive = rows.total(),
            .from = transfer.from,
            .to = transfer.to,
            .packet = packet,
            .packet_bytes = transfer.packet_bytes,
            .asker = inside ? transfer.to.unit : plan_.trunks()[transfer.interconnect].nic,
            .passage = &passage,
            .tags = &tags,
            .tag_back = transfer.tag_back,
            .arrived = transfer.arrived});
  Boarding boarding(simulator_, {"requests of node", transfer.from.node});
  if (trains_) {
    board(message, transfer, boarding);
    co_await boarding.over.wait();
  }
  const std::uint64_t in_row = (rows.bytes + most - 1) / most;
  Time ready = boarding.ready;
  for (std::uint64_t next = boarding.requests; next < rows.count * in_row; ++next) {
    if (ready > simulator_.now()) co_await simulator_.sleep_until(ready);
    if (!std::exchange(boarding.has_tag, false)) co_await tags.acquire();
    ready = simulator_.now() + ((next + 1) % in_row == 0 ? transfer.row_gap : 0);
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most, rows.bytes - next % in_row * most));
    asks ? request(message, bytes, transfer.request_gap) : answer(message, bytes);
  }
  // This task owns the window, so it lives until the last slot in it has been given back.
  if (transfer.tags == nullptr) co_await passage.passed();
}

// Tries to send a transfer as a train. Boarding is over at once if the transfer is sent by packets.
void Network::board(std::uint32_t number, const Transfer& transfer, Boarding& boarding) {
  traffic_.expect(transfer.from.node);
  traffic_.expect(transfer.to.node);
  const bool asks = transfer.request_bytes > 0;
  RoutedTransfer& routed = trains_->draft();
  routed.rows = transfer.rows.count;
  routed.row_bytes = transfer.rows.bytes;
  routed.request_bytes = asks ? transfer.request_bytes : transfer.packet_bytes;
  routed.packet_bytes = transfer.packet_bytes;
  routed.request_gap = transfer.request_gap;
  routed.row_gap = transfer.row_gap;
  routed.memory_gap = machine().node.units[transfer.from.unit].memory->request_gap;
  routed.tag_back = transfer.tag_back;
  routed.own_tags = transfer.tags == nullptr;
  routed.inside = transfer.interconnect == Transfer::inside;
  routed.begin = simulator_.now();
  routed.asking.clear();
  routed.source =
      asks ? plan_.issue_port({transfer.from.node, messages_[number].asker}) : plan_.read_port(transfer.from);
  if (asks) {
    const LinkId port = plan_.request_port({transfer.from.node, messages_[number].asker});
    traffic_.way(port, train_packet(number, true), routed.asking);
  }
  traffic_.way(plan_.read_port(transfer.from), train_packet(number, false), routed.data);
  messages_[number].boarding = &boarding;
  const TrainId train = trains_->start(number, *messages_[number].tags);
  messages_[number].train = train;
  if (trains_->by_packets(train) || trains_->all_issued(train)) train_issued(number);
}

void Network::train_issued(std::uint32_t number) {
  Message& message = messages_[number];
  if (!trains_->by_packets(message.train)) message.boarding->requests = UINT64_MAX;
  message.boarding->over.raise();
  message.boarding = nullptr;
}

void Network::train_passed(std::uint32_t number) {
  Message& message = messages_[number];
  message.passage->passed_.raise();
  message.passage = nullptr;
}

void Network::train_arrived(std::uint32_t number) {
  messages_[number].train = no_train;
  finish(number);
}

void Network::train_demoted(std::uint32_t number, const Progress& progress) {
  Message& message = messages_[number];
  if (message.boarding != nullptr) {
    Boarding& boarding = *message.boarding;
    boarding.requests = progress.requests;
    boarding.ready = progress.ready;
    // A request that is due would already be waiting for a tag, ahead of all later ones.
    boarding.has_tag = boarding.ready <= simulator_.now();
    boarding.has_tag ? message.tags->ask_for(boarding.over) : boarding.over.raise();
    message.boarding = nullptr;
  }
  if (message.passage != nullptr) {
    message.passage->requests_ -= progress.passed;
    if (message.passage->requests_ == 0) train_passed(number);
  }
  message.to_arrive -= progress.bytes;
}

// Stage 2 prefetches the message, stage 3 the objects that it notifies.
void Network::prepare(std::uint32_t number, unsigned stage) const {
  const Message& message = messages_[number];
  if (stage == 2) return des::prefetch(&message, sizeof(Message));
  if (stage != 3) return;
  des::prefetch(message.passage, sizeof(Passage));
  des::prefetch(message.boarding, sizeof(Boarding));
  des::prefetch(message.arrived, sizeof(des::Counter));
}

Packet Network::train_packet(std::uint32_t number, bool request) const {
  return request ? request_packet(number, 0) : messages_[number].packet;
}

Packet Network::request_packet(std::uint32_t number, std::uint32_t bytes) const {
  Packet packet{};
  packet.kind = PacketKind::request;
  packet.nic = Packet::passed;
  packet.to_unit = static_cast<std::uint8_t>(messages_[number].from.unit);
  packet.message = number;
  packet.bytes = bytes;
  return packet;
}

void Network::request(std::uint32_t number, std::uint32_t bytes, Time gap) {
  const Message& message = messages_[number];
  traffic_.request({message.from.node, message.asker}, request_packet(number, bytes), gap);
}

// A memory sends the data that was requested.
void Network::answer(std::uint32_t number, std::uint32_t bytes) {
  const Message& message = messages_[number];
  Packet packet = message.packet;
  packet.message = number;
  Time gap = machine().node.units[message.from.unit].memory->request_gap;
  for (std::uint32_t left = bytes; left > 0; left -= packet.bytes) {
    packet.bytes = std::min(left, message.packet_bytes);
    if (packet.bytes == left) packet.flags |= Packet::last;
    traffic_.read_out(message.from, packet, gap);
    gap = 0;
  }
}

// The last packet of an answer has arrived, its head now and its end at `end`.
void Network::finish_request(Message& message, Time end) {
  if (message.tag_back)
    simulator_.spawn(give_back(simulator_, *message.tags, end + *message.tag_back), {"a tag on its way back"},
                     des::AgentKind::service);
  else if (message.tags != nullptr)
    message.tags->release();
  if (message.passage == nullptr || --message.passage->requests_ > 0) return;
  message.passage->passed_.raise();
  message.passage = nullptr;
}

void Network::passed(const Packet& packet, std::uint32_t) {
  if ((packet.flags & Packet::last) != 0) finish_request(messages_[packet.message], packet.tail);
}

void Network::arrived(const Packet& packet, Endpoint at) {
  if (Consignee* const consignee = messages_[packet.message].consignee) {
    const std::uint64_t number = messages_[packet.message].to_arrive;
    close(packet.message);
    return consignee->take(number, at, packet.tail);
  }
  if (packet.kind == PacketKind::request) return answer(packet.message, packet.bytes);
  Message& message = messages_[packet.message];
  message.to_arrive -= packet.bytes;
  if (packet.interconnect == Transfer::inside && (packet.flags & Packet::last) != 0)
    finish_request(message, packet.tail);
  if (message.to_arrive == 0) finish(packet.message);
}

// Finishes a message of which all data has arrived.
void Network::finish(std::uint32_t number) {
  des::Counter* counter = messages_[number].arrived;
  if (messages_[number].train != no_train) trains_->release(messages_[number].train);
  close(number);
  if (counter != nullptr) counter->add();
}

void Network::send(const Word& word) {
  Packet packet = packet_from(word.from, word.to, word.interconnect, word.view);
  packet.kind = machine().node.units[word.to.unit].memory ? PacketKind::data : PacketKind::word;
  packet.bytes = word.bytes;
  packet.message = open({.to_arrive = word.bytes,
                         .from = word.from,
                         .to = word.to,
                         .arrived = word.arrived,
                         .concerns = word.concerns});
  traffic_.issue(word.from, packet);
}

void Network::send(const Parcel& parcel, Consignee& consignee) {
  const Endpoint to{parcel.from.node, parcel.to_unit};
  Packet packet = packet_from(parcel.from, to, Packet::inside, std::nullopt);
  if (is_device(parcel.from)) packet.flags |= Packet::peer;
  packet.interconnect = static_cast<std::uint8_t>(parcel.interconnect);
  packet.steps = parcel.steps;
  packet.kind = parcel.kind;
  packet.bytes = parcel.bytes;
  packet.message = open({.to_arrive = parcel.number, .from = parcel.from, .to = to, .consignee = &consignee});
  if (parcel.kind == PacketKind::request) return traffic_.request(parcel.from, packet, parcel.gap);
  if (!parcel.from_array) return traffic_.issue(parcel.from, packet);
  traffic_.read_out(parcel.from, packet, parcel.gap);
}

LinkUse Network::use(LinkId link) const {
  const Traffic::Use use = traffic_.use(link);
  return {plan_.link_name(link), plan_.class_of(link).rate.bytes_per_s(), use.busy, use.packets};
}

std::size_t Network::bytes() const {
  return traffic_.bytes() + messages_.capacity() * sizeof(Message) + (trains_ ? trains_->bytes() : 0);
}

}  // namespace tca::net
