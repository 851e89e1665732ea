// Traffic moves packets over links, with queues, credits and collisions. It alone decides when a packet
// takes a hop, with one event per hop.
//
// A link is free from `busy_until` on. A packet's head leaves then, or when the packet is ready, or when
// there is room at the other end, whichever is last; its tail holds the link. A packet that waits for room
// blocks those that arrived behind it. A credit is a buffer slot at the end of a link, and its return is
// announced in advance: when a packet's next link is booked, it is known when the packet's slot will be
// free, so credits cost no events. Only a packet for which no slot has been announced yet waits in the list
// of the link that it needs.
//
// Around a ring or torus, packets could fill all slots and block each other forever. So a packet that
// enters a cycle must leave as many slots free in it as it has links, or one at its own link, while those
// already in the cycle need only their own (bubble flow control: Puente et al., "Adaptive bubble router",
// 1999; for the whole cycle: Chen et al., "Critical bubble scheme", 2011). If only its own link counted,
// those in the cycle would always have priority.
#pragma once

#include <vector>

#include "model/des/large.hpp"
#include "model/des/simulator.hpp"
#include "model/net/plan.hpp"

namespace tca::net {

// One link on a packet's way.
struct Stage {
  const LinkClass* kind;
  des::Time hop = 0;        // from the end of the link to the next one
  des::Time free;           // when the link has sent everything given to it so far
  des::Time collision = 0;  // time lost for each packet when the link takes turns with another input
  LinkId input = no_link;   // over which the packet has arrived
  LinkId link;
  std::uint8_t flags;   // of the packet on this link
  bool in_cycle;        // the link is part of a cycle
  bool to_nic = false;  // the link ends at the NIC through which the packet leaves its node
  bool data;            // the packet is neither a request nor a word
};

// Receives the packets: the layer above.
class Sink {
 public:
  virtual ~Sink() = default;
  // The head of a data packet has reached the NIC through which it leaves its node.
  virtual void passed(const Packet& packet, std::uint32_t node) = 0;
  // Data is in memory and visible to a polling reader, or a request or word has reached its destination.
  virtual void arrived(const Packet& packet, Endpoint at) = 0;
  // A packet has been lost on a link that has failed, or before it.
  virtual void lost(const Packet& packet, LinkId on) = 0;
  // Announces that one of these calls is imminent: stages 2 and 3 of des::Handler::prepare.
  virtual void prepare(std::uint32_t message, unsigned stage) const = 0;
};

// Claims links for transfers that it computes without packets.
class Claimant {
 public:
  virtual ~Claimant() = default;
  // Handles what `Traffic::schedule` has scheduled; `prepare` announces it (des::Handler).
  virtual void on_event(std::uint32_t what, des::Time now) = 0;
  virtual void prepare(std::uint32_t what, unsigned stage) const = 0;
  // A packet that is not part of a claim is about to occupy a claimed link for `busy` from `start` on.
  virtual void contend(LinkId link, des::Time start, des::Time busy) = 0;
};

class Detours;

class Traffic final : public des::Handler {
 public:
  Traffic(des::Simulator& simulator, const Plan& plan, Sink& sink);

  // Send a packet out of a unit, a request of a NIC, or data out of a memory array. The latter two
  // occupy their port for `gap` in addition. The caller has set the packet's destination, kind, size, flags
  // and message; Traffic sets the rest.
  void issue(Endpoint from, const Packet& packet) { start(plan_.issue_port(from), packet, 0); }
  void request(Endpoint from, const Packet& packet, des::Time gap) {
    start(plan_.request_port(from), packet, gap);
  }
  void read_out(Endpoint from, const Packet& packet, des::Time gap) {
    start(plan_.read_port(from), packet, gap);
  }

  LinkId links() const { return static_cast<LinkId>(links_.size()); }

  void handle(const des::Event& event) override;
  void prepare(const des::Event& event, unsigned stage) const override;

  // Prefetches what `way` will access of a node.
  void expect(std::uint32_t node) const {
    des::prefetch(&links_[std::size_t{node} * plan_.local_links()], plan_.local_links() * sizeof(Link));
  }
  // Prefetches what `sent_in_bulk` will access.
  void expect_link(LinkId link) const {
    des::prefetch(&links_[link], sizeof(Link));
    des::prefetch(&sent_in_bulk_[link], sizeof(std::uint32_t));
  }
  void set_claimant(Claimant& claimant) { claimant_ = &claimant; }
  // Sets whether the claimant is told of packets on a link.
  void set_claimed(LinkId link, bool claimed) { links_[link].claimed = claimed; }
  // The claimant schedules an event in place of that of a packet on a link. It takes the packet's turn
  // among the events of that time.
  void schedule(des::Time at, LinkId link, std::uint32_t what) {
    simulator_.schedule(at, objects_ + link, computed | what);
  }
  // Finds the links that a packet takes, starting at a port. `packets`, if given, receives the packet as it
  // is on each link.
  void way(LinkId port, Packet packet, std::vector<Stage>& stages,
           std::vector<Packet>* packets = nullptr) const;

  // These calls insert packets that were computed elsewhere (timeline.hpp):
  // - sent: a link has sent one that is under way;
  // - resume: its head will reach the end of the link at `head`;
  // - hold: its head has reached the end of the link at `head`, and it waits there;
  // - returned: it leaves the end of the link at `free`;
  // - sent_in_bulk: a link has sent packets whose slots are free again; they no longer affect the link.
  void sent(LinkId link, LinkId input, des::Time busy, des::Time busy_until);
  void resume(LinkId link, const Packet& packet, des::Time head);
  void hold(LinkId link, const Packet& packet, des::Time head);
  void returned(LinkId link, des::Time free) { leave(link, free); }
  void sent_in_bulk(LinkId link, LinkId input, std::uint64_t packets, des::Time busy);
  // Packets that reach a link queue behind what keeps it busy until then.
  void queue(LinkId link, des::Time busy_until) {
    links_[link].busy_until = std::max(links_[link].busy_until, busy_until);
  }

  // Where packets on a detour travel; it lives as long as there are such packets.
  void set_detours(const Detours& detours) { detours_ = &detours; }
  // A link fails: what is on it is lost, and what reaches it waits for credits in vain until the unit
  // before it discards that and everything after it.
  void fail(LinkId link);
  void discard(LinkId link);
  // Returns when the sending end of a link last learned of a free slot; 0 if it never has, or has no
  // credits.
  des::Time last_credit(LinkId link) const;

  // The use of a link so far, for reports.
  struct Use {
    des::Time busy;
    std::uint32_t packets;
  };
  Use use(LinkId link) const { return {links_[link].busy, links_[link].sent + sent_in_bulk_[link]}; }
  std::size_t packets() const { return live_; }  // packets under way
  std::uint64_t hops() const { return hop_count_; }
  std::size_t bytes() const;  // memory used by the state

 private:
  static constexpr std::uint32_t computed = 1u << 31;  // in an event's sequence: an event of the claimant

  // A link and the queue of the packets that have arrived over it: 64 bytes, one cache line.
  struct Link {
    des::Time busy_until = 0;
    des::Time busy = 0;           // time spent sending, for reports
    PacketId first = no_packet;   // the queue: packets that have reached the end and wait there
    PacketId flight = no_packet;  // the first packet in the queue that is still on its way
    PacketId last = no_packet;    // the last packet in the queue
    std::uint32_t to_node = 0;    // a node or a switch
    std::uint32_t sent = 0;       // packets, except those counted in sent_in_bulk_
    std::uint32_t returned = 0;   // packets sent whose slot is free again, or is known to become so
    // The last of the links whose first packet waits for this one: they form a ring through next_waiting.
    LinkId last_waiting = no_link;
    LinkId next_waiting = no_link;
    LinkId input = no_link;        // the link over which its last data arrived
    std::uint32_t first_slot = 0;  // of its credits in room_
    std::uint32_t cycle = Cable::no_cycle;
    std::uint8_t to_unit = 0;
    std::uint8_t kind = 0;  // class
    End end = End::unit;
    bool to_card : 1 = false;  // ends at a NIC that handles incoming data packet by packet
    bool claimed : 1 = false;
    bool failed : 1 = false;
    bool discards : 1 = false;  // it has failed, and the unit before it knows that
  };
  static_assert(sizeof(Link) <= 64);

  struct Way {
    LinkId link;
    std::uint8_t step;
  };

  void set_up_links();
  Link& set_up_link(LinkId link, std::uint32_t kind);
  void start(LinkId port, const Packet& packet, des::Time gap);
  PacketId new_packet(const Packet& packet);
  void free_packet(PacketId packet);
  void append(LinkId link, PacketId packet);
  void insert(Link& link, PacketId packet, PacketId before, PacketId after);

  void expect_flight(const Link& link, std::uint32_t sequence);
  bool arrive(const Link& link, Packet& packet, des::Time& hop) const;
  void serve(LinkId link);
  bool ends_here(const Link& link, const Packet& packet) const;
  Way way_on(const Link& link, const Packet& packet) const;
  des::Time collision(const Link& in, const Way& way) const;
  bool has_room(LinkId in, const Link& out) const;
  void take_slot(Link& link) {
    ++link.sent;
    if (link.cycle != Cable::no_cycle) --slots_left_[link.cycle];
  }
  void contend(LinkId out, const Packet& packet);
  bool book(LinkId in, PacketId packet, const Way& way);
  void feed(Link& link, LinkId input);
  void leave(LinkId link, des::Time free_again);
  void wait_for(LinkId out, LinkId in);
  void wake(LinkId out);
  void wake_all();
  void drop(LinkId link);

  des::Simulator& simulator_;
  const Plan& plan_;
  Sink& sink_;
  Claimant* claimant_ = nullptr;
  const Detours* detours_ = nullptr;
  std::uint32_t objects_;  // the simulator's number of link 0
  des::LargeVector<Link> links_;
  des::LargeVector<std::uint32_t> sent_in_bulk_;  // packets that were computed elsewhere, by link
  des::LargeVector<std::int32_t> slots_left_;     // by cycle, in all its links, beyond one for each
  std::vector<LinkClass> classes_;
  des::LargeVector<des::Time> room_;  // when a packet's slot is free again; one ring of slots per link
  std::vector<des::Time> hops_, turns_, collisions_;  // by unit
  std::vector<bool> is_nic_;
  des::LargeVector<Packet> packets_;
  PacketId free_ = no_packet;
  std::size_t live_ = 0;
  std::uint64_t hop_count_ = 0;
  LinkId serving_ = no_link;   // the link whose first packet contends with trains
  std::vector<LinkId> woken_;  // links that packets wait for and that have room again
};

}  // namespace tca::net
