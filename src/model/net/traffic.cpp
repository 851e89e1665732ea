#include "model/net/traffic.hpp"

#include <algorithm>
#include <utility>

#include "model/net/faults/detours.hpp"

namespace tca::net {

using des::Time;

Traffic::Traffic(des::Simulator& simulator, const Plan& plan, Sink& sink)
    : simulator_(simulator),
      plan_(plan),
      sink_(sink),
      objects_(simulator.add(*this)),
      links_(plan.links()),
      sent_in_bulk_(plan.links()),
      slots_left_(plan.links()),
      classes_(plan.classes()) {
  for (const UnitKind& unit : plan.machine().node.units) {
    hops_.push_back(unit.role == Role::memory ? 0 : unit.router.hop);
    turns_.push_back(unit.dma ? unit.dma->turn : unit.router.hop);
    collisions_.push_back(unit.router.collision);
    is_nic_.push_back(unit.role == Role::nic);
  }
  set_up_links();
}

void Traffic::set_up_links() {
  std::size_t slots = 0;
  for (const LocalLink& local : plan_.locals()) slots += classes_[local.kind].credit_slots;
  slots *= plan_.machine().nodes;
  for (const Trunk& trunk : plan_.trunks()) {
    slots += std::size_t{trunk.routes.cables()} * classes_[trunk.kind].credit_slots;
  }
  room_.reserve(slots);

  LinkId number = 0;
  for (std::uint32_t node = 0; node < plan_.machine().nodes; ++node) {
    for (const LocalLink& local : plan_.locals()) {
      const LinkId own = number++;
      Link& link = set_up_link(own, local.kind);
      link.to_node = node;
      link.to_unit = static_cast<std::uint8_t>(local.to);
      link.end = local.end;
      link.to_card = local.end == End::unit && plan_.has_receive_port(local.to) &&
                     plan_.receive_port({node, local.to}) != own;
    }
  }
  for (const Trunk& trunk : plan_.trunks()) {
    for (std::uint32_t i = 0; i < trunk.routes.cables(); ++i) {
      const Cable cable = trunk.routes.cable(i);
      Link& link = set_up_link(number++, trunk.kind);
      link.to_node = cable.to;
      link.to_unit = static_cast<std::uint8_t>(trunk.nic);
      link.end = cable.to_switch ? End::network_switch : End::unit;
      if (cable.cycle != Cable::no_cycle) {
        link.cycle = trunk.first + cable.cycle;
        slots_left_[link.cycle] += static_cast<std::int32_t>(classes_[trunk.kind].credits) - 1;
      }
      link.to_card = !cable.to_switch && plan_.has_receive_port(trunk.nic);
    }
  }
}

Traffic::Link& Traffic::set_up_link(LinkId number, std::uint32_t kind) {
  Link& link = links_[number];
  link.kind = static_cast<std::uint8_t>(kind);
  link.first_slot = static_cast<std::uint32_t>(room_.size());
  room_.resize(room_.size() + classes_[kind].credit_slots);
  return link;
}

PacketId Traffic::new_packet(const Packet& packet) {
  ++live_;
  if (free_ == no_packet) {
    packets_.push_back(packet);
    return static_cast<PacketId>(packets_.size() - 1);
  }
  const PacketId number = free_;
  free_ = packets_[number].next;
  packets_[number] = packet;
  return number;
}

void Traffic::free_packet(PacketId packet) {
  --live_;
  packets_[packet].next = free_;
  free_ = packet;
}

void Traffic::append(LinkId number, PacketId packet) {
  Link& link = links_[number];
  packets_[packet].next = no_packet;
  (link.first == no_packet ? link.first : packets_[link.last].next) = packet;
  link.last = packet;
  if (link.flight == no_packet) link.flight = packet;
}

void Traffic::start(LinkId port, const Packet& packet, Time gap) {
  Link& link = links_[port];
  if (link.failed) return sink_.lost(packet, port);
  const PacketId number = new_packet(packet);
  packets_[number].ready = packets_[number].tail = simulator_.now();
  if (link.claimed) contend(port, Packet{packets_[number]});
  link.busy_until = std::max(link.busy_until, simulator_.now()) + gap;
  book(no_link, number, {port, Routes::no_step});
}

// The head of the next packet in flight has reached the end of a link.
void Traffic::handle(const des::Event& event) {
  if ((event.sequence & computed) != 0) return claimant_->on_event(event.sequence & ~computed, event.time);
  const LinkId number = event.object - objects_;
  Link& link = links_[number];
  const PacketId packet = link.flight;
  // The event is out of date if another packet has since been inserted in front.
  if (packet == no_packet || packets_[packet].ready != event.time) return;
  link.flight = packets_[packet].next;
  if (link.flight != no_packet) expect_flight(link, event.sequence + 1);
  ++hop_count_;
  Time hop;
  const bool passes = arrive(link, packets_[packet], hop);
  packets_[packet].ready = event.time + hop;
  if (passes) sink_.passed(packets_[packet], link.to_node);
  if (link.first != packet) return;  // it waits behind others
  serve(number);
  wake_all();
}

// The stages prefetch the link, then the packet arriving over it, then that packet's next link, then the
// last packet in that link's queue.
void Traffic::prepare(const des::Event& event, unsigned stage) const {
  if ((event.sequence & computed) != 0) return claimant_->prepare(event.sequence & ~computed, stage);
  const Link& link = links_[event.object - objects_];
  if (stage == 0) return __builtin_prefetch(&link, 1);
  if (link.flight == no_packet) return;
  const Packet& packet = packets_[link.flight];
  if (stage == 1) return des::prefetch(&packet, sizeof packet);
  if (stage == 2 && packet.next != no_packet)
    des::prefetch(&packets_[packet.next], sizeof packet);  // the next one in flight
  if (link.end == End::memory_array || packet.nic == link.to_unit || ends_here(link, packet))
    return sink_.prepare(packet.message, stage);
  const Link& out = links_[way_on(link, packet).link];
  if (stage == 2) {
    __builtin_prefetch(&out, 1);
    __builtin_prefetch(&room_[link.first_slot], 1);
  } else if (out.last != no_packet) {
    __builtin_prefetch(&packets_[out.last], 1);
    __builtin_prefetch(&room_[out.first_slot]);
  }
}

// Handles a packet's arrival at the end of a link. `hop` is the time that it takes there. Returns whether it
// is data at the NIC through which it leaves its node.
bool Traffic::arrive(const Link& link, Packet& packet, Time& hop) const {
  hop = link.end == End::network_switch ? plan_.trunks()[packet.interconnect].switch_hop
        : link.end == End::memory_array ? 0
                                        : hops_[link.to_unit];
  if (link.end != End::unit || packet.nic != link.to_unit) return false;
  packet.nic = Packet::passed;
  const bool to_device = (packet.flags & Packet::to_peer) != 0;
  packet.flags = static_cast<std::uint8_t>((packet.flags & ~Packet::peer) | (to_device ? Packet::peer : 0));
  if (packet.kind != PacketKind::data) return false;
  hop = turns_[link.to_unit];
  return true;
}

// Forwards the packets that have arrived over a link, until one has to wait.
void Traffic::serve(LinkId number) {
  Link& link = links_[number];
  while (link.first != link.flight) {
    const PacketId packet = link.first;
    if (ends_here(link, packets_[packet])) {
      const Packet ended = packets_[packet];
      free_packet(packet);
      link.first = ended.next;
      leave(number, ended.tail);
      sink_.arrived(ended, {link.to_node, link.to_unit});
      continue;
    }
    const Way way = way_on(link, packets_[packet]);
    if (links_[way.link].failed) {
      if (!links_[way.link].discards) return wait_for(way.link, number);
      const Packet lost = packets_[packet];
      drop(number);
      sink_.lost(lost, way.link);
      continue;
    }
    if (links_[way.link].claimed) {
      serving_ = number;
      contend(way.link, Packet{packets_[packet]});
      serving_ = no_link;
      if (link.first != packet) continue;  // a demoted train has inserted a packet in front
    }
    // Taken out of this queue before it joins the next one, since both are linked through the packet.
    const PacketId next = packets_[packet].next;
    link.first = next;
    if (!book(number, packet, way)) {
      packets_[packet].next = next;
      link.first = packet;
      return wait_for(way.link, number);
    }
    leave(number, links_[way.link].busy_until);
  }
}

bool Traffic::ends_here(const Link& link, const Packet& packet) const {
  if (link.end != End::unit) return link.end == End::memory_array;
  return packet.kind != PacketKind::data && packet.nic == Packet::passed && packet.to_unit == link.to_unit &&
         done(packet.steps);
}

Traffic::Way Traffic::way_on(const Link& link, const Packet& packet) const {
  const Trunk* trunk = nullptr;
  if (link.end == End::network_switch || (packet.nic == Packet::passed && !done(packet.steps))) {
    if ((packet.flags & Packet::round) != 0) {
      const Routes::Hop hop = detours_->next(packet.steps);
      return {plan_.trunks()[packet.interconnect].first + hop.cable, hop.step};
    }
    trunk = &plan_.trunks()[packet.interconnect];
    const Routes::Hop hop = link.end == End::network_switch
                                ? trunk->routes.at_switch(link.to_node, packet.steps)
                                : trunk->routes.at_node(link.to_node, packet.steps);
    return {trunk->first + hop.cable, hop.step};
  }
  // The packet has come from the interconnect, even if its path led back into the very NIC that it left.
  const bool comes_in = packet.kind == PacketKind::data && packet.nic == Packet::passed &&
                        packet.interconnect != Packet::inside;
  if (link.to_card && comes_in) {
    return {plan_.receive_port({link.to_node, link.to_unit}), Routes::no_step};
  }
  const std::uint32_t target = packet.nic == Packet::passed ? packet.to_unit : packet.nic;
  if (target == link.to_unit) return {plan_.write_port({link.to_node, target}), Routes::no_step};
  return {plan_.toward(link.to_node, link.to_unit, target), Routes::no_step};
}

// Tells the claimant about a packet on a claimed link. `packet` is a copy: demoted trains add packets,
// which may move the originals.
void Traffic::contend(LinkId number, const Packet& packet) {
  const Link& out = links_[number];
  const Time start = std::max({packet.ready, out.busy_until, simulator_.now()});
  claimant_->contend(number, start, classes_[out.kind].wire_time(packet.bytes_on_wire(), packet.flags));
}

// A NIC loses time only at its cables: what arrives for its own node over several of them takes turns at no
// cost.
Time Traffic::collision(const Link& in, const Way& way) const {
  const bool into_node = way.step == Routes::no_step;
  return into_node && is_nic_[in.to_unit] ? 0 : collisions_[in.to_unit];
}

// Whether a packet may continue: there is a slot for it at the end of the link and, if it enters a cycle,
// another one there, or enough in the whole cycle. A packet that may not enter will be woken, since there
// are others at the end of the link.
bool Traffic::has_room(LinkId in, const Link& out) const {
  const std::uint32_t credits = classes_[out.kind].credits, taken = out.sent - out.returned;
  if (credits == 0 || taken + 1 < credits) return true;
  const bool enters = out.cycle != Cable::no_cycle && links_[in].cycle != out.cycle;
  return taken < credits && !(enters && slots_left_[out.cycle] < 1);
}

// Gives a packet its time on its next link. Returns false if it is not yet known when there will be room at
// the end of that link.
bool Traffic::book(LinkId in, PacketId number, const Way& way) {
  Link& out = links_[way.link];
  const LinkClass& kind = classes_[out.kind];
  Packet& packet = packets_[number];
  Time start = std::max({packet.ready, out.busy_until, simulator_.now()});
  if (!has_room(in, out)) return false;
  if (kind.credits > 0 && out.sent >= kind.credits)
    start = std::max(start, room_[out.first_slot + ((out.sent - kind.credits) & (kind.credit_slots - 1))]);
  // Only streams of data collide; requests and flags fit in between.
  const bool collides = in != no_link && packet.kind == PacketKind::data && links_[in].end == End::unit;
  if (collides && out.input != in && out.busy_until > packet.ready) start += collision(links_[in], way);
  if (collides) out.input = in;
  const Time busy = kind.wire_time(packet.bytes_on_wire(), packet.flags);
  out.busy_until = std::max(start + busy, packet.tail);
  out.busy += busy;
  packet.tail = out.busy_until + kind.latency;
  if (way.step != Routes::no_step)
    plan_.trunks()[packet.interconnect].routes.take({0, way.step}, packet.steps);
  append(way.link, number);
  const Time head = kind.whole ? packet.tail : start + kind.latency + kind.lead(packet.flags);
  packet.ready = head;  // at the end of the link, see `resume`
  if (out.flight == number) expect_flight(out, out.sent);
  take_slot(out);
  return true;
}

// Schedules the next packet in flight. Packets reach the end of a link in the order in which they were given
// to it, so only the next one needs an event.
void Traffic::expect_flight(const Link& link, std::uint32_t sequence) {
  const auto number = static_cast<LinkId>(&link - links_.data());
  simulator_.schedule(packets_[link.flight].ready, objects_ + number, sequence & ~computed);
}

// A packet's slot at the end of a link is free from `free` on, which the sending end learns one latency
// later. All slots are alike: the one that is free first is taken first, although the slot of an earlier
// packet, on its way to a slower link, may have been announced before.
void Traffic::leave(LinkId number, Time free) {
  Link& link = links_[number];
  const LinkClass& kind = classes_[link.kind];
  if (kind.credits == 0) return;
  const auto room = [&](std::uint32_t slot) -> Time& {
    return room_[link.first_slot + (slot & (kind.credit_slots - 1))];
  };
  const Time told = free + kind.latency;
  const std::uint32_t taken = link.sent > kind.credits ? link.sent - kind.credits : 0;
  if (link.cycle != Cable::no_cycle) ++slots_left_[link.cycle];
  std::uint32_t slot = link.returned++;
  for (; slot > taken && room(slot - 1) > told; --slot) room(slot) = room(slot - 1);
  room(slot) = told;
  if (link.last_waiting != no_link) woken_.push_back(number);
}

void Traffic::wait_for(LinkId out, LinkId in) {
  LinkId& last = links_[out].last_waiting;
  links_[in].next_waiting = last == no_link ? in : links_[last].next_waiting;
  if (last != no_link) links_[last].next_waiting = in;
  last = in;
}

// The links that wait for a link get one try each, in order of arrival, until there is no room left. One that
// has been served and waits again, or still cannot go although others can, is put last.
void Traffic::wake(LinkId out) {
  Link& link = links_[out];
  const std::uint32_t credits = classes_[link.kind].credits;
  const LinkId last = link.last_waiting;
  for (bool more = last != no_link; more && link.sent - link.returned < credits;) {
    const LinkId in = links_[link.last_waiting].next_waiting;
    if (in == link.last_waiting) {
      link.last_waiting = no_link;
    } else {
      links_[link.last_waiting].next_waiting = links_[in].next_waiting;
    }
    more = in != last;
    serve(in);
  }
}

// Wakes packets that wait for links that have room again.
void Traffic::wake_all() {
  while (!woken_.empty()) {
    const LinkId out = woken_.back();
    woken_.pop_back();
    wake(out);
  }
}

// Removes the first packet from a link's queue, with its slot.
void Traffic::drop(LinkId number) {
  Link& link = links_[number];
  const PacketId packet = link.first;
  link.first = packets_[packet].next;
  free_packet(packet);
  leave(number, simulator_.now());
}

// A packet whose head is at the end of the link has passed it, even if its tail has not.
void Traffic::fail(LinkId number) {
  Link& link = links_[number];
  if (link.failed) return;
  link.failed = true;
  PacketId before = no_packet;
  for (PacketId packet = link.first; packet != link.flight; packet = packets_[packet].next) before = packet;
  PacketId packet = std::exchange(link.flight, no_packet);
  (before == no_packet ? link.first : packets_[before].next) = no_packet;
  link.last = before;
  while (packet != no_packet) {
    const Packet lost = packets_[packet];
    free_packet(std::exchange(packet, lost.next));
    leave(number, simulator_.now());
    sink_.lost(lost, number);
  }
  wake_all();
}

void Traffic::discard(LinkId number) {
  Link& link = links_[number];
  link.discards = true;
  std::vector<LinkId> waiting;
  if (link.last_waiting != no_link) {
    LinkId in = link.last_waiting;
    do {
      in = links_[in].next_waiting;
      waiting.push_back(in);
    } while (in != link.last_waiting);
  }
  link.last_waiting = no_link;
  for (const LinkId in : waiting) serve(in);
  wake_all();
}

Time Traffic::last_credit(LinkId number) const {
  const Link& link = links_[number];
  Time last = 0;
  for (std::uint32_t slot = 0; slot < classes_[link.kind].credit_slots; ++slot)
    if (const Time told = room_[link.first_slot + slot]; told <= simulator_.now())
      last = std::max(last, told);
  return last;
}

void Traffic::way(LinkId port, Packet packet, std::vector<Stage>& stages,
                  std::vector<Packet>* packets) const {
  stages.clear();
  LinkId in = no_link;
  for (Way way{port, Routes::no_step};; way = way_on(links_[in], packet)) {
    const Link& link = links_[way.link];
    if (way.step != Routes::no_step)
      plan_.trunks()[packet.interconnect].routes.take({0, way.step}, packet.steps);
    Stage stage{.kind = &classes_[link.kind],
                .free = link.busy_until,
                .input = in,
                .link = way.link,
                .flags = packet.flags,
                .in_cycle = link.cycle != Cable::no_cycle,
                .data = packet.kind == PacketKind::data};
    if (in != no_link && stage.data && links_[in].end == End::unit)
      stage.collision = collision(links_[in], way);
    if (packets != nullptr) packets->push_back(packet);
    stage.to_nic = arrive(link, packet, stage.hop);
    stages.push_back(stage);
    if (ends_here(link, packet)) return;
    in = way.link;
  }
}

void Traffic::feed(Link& link, LinkId input) {
  if (input != no_link && links_[input].end == End::unit) link.input = input;
}

void Traffic::sent(LinkId number, LinkId input, Time busy, Time busy_until) {
  Link& link = links_[number];
  take_slot(link);
  link.busy += busy;
  queue(number, busy_until);
  feed(link, input);
}

void Traffic::sent_in_bulk(LinkId number, LinkId input, std::uint64_t packets, Time busy) {
  sent_in_bulk_[number] += static_cast<std::uint32_t>(packets);
  links_[number].busy += busy;
  feed(links_[number], input);
}

// Inserts a packet between two that follow each other in the queue of a link, or at one of its ends.
void Traffic::insert(Link& link, PacketId packet, PacketId before, PacketId after) {
  packets_[packet].next = after;
  (before == no_packet ? link.first : packets_[before].next) = packet;
  if (after == no_packet) link.last = packet;
}

// Inserts the packet in order of time, since trains that are demoted together put their packets on a link one
// train after the other.
void Traffic::resume(LinkId number, const Packet& packet, Time head) {
  Link& link = links_[number];
  const PacketId resumed = new_packet(packet);
  packets_[resumed].ready = head;
  PacketId before = no_packet, after = link.first;
  const auto pass = [&] {
    before = after;
    after = packets_[after].next;
  };
  while (after != link.flight) pass();
  while (after != no_packet && packets_[after].ready <= head) pass();
  insert(link, resumed, before, after);
  if (after != link.flight) return;
  link.flight = resumed;
  expect_flight(link, link.sent - 1);
}

// Inserts a packet that waits for room, behind those that arrived before it. A link that is being served
// will look at its first packet again, so it need not wait.
void Traffic::hold(LinkId number, const Packet& packet, Time head) {
  Link& link = links_[number];
  const bool served = serving_ == number;
  const PacketId held = new_packet(packet);
  Time hop;
  arrive(link, packets_[held], hop);
  packets_[held].ready = head + hop;
  PacketId before = no_packet, after = link.first;
  while (after != link.flight && !(served && packets_[after].ready > packets_[held].ready)) {
    before = after;
    after = packets_[after].next;
  }
  insert(link, held, before, after);
  if (before == no_packet && !served) wait_for(way_on(link, packets_[held]).link, number);
}

std::size_t Traffic::bytes() const {
  return links_.capacity() * sizeof(Link) +
         (sent_in_bulk_.capacity() + slots_left_.capacity()) * sizeof(std::uint32_t) +
         room_.capacity() * sizeof(Time) + packets_.capacity() * sizeof(Packet);
}

}  // namespace tca::net
