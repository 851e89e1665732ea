// Packets on links: queues, credits and collisions. The one place where the time of a packet's hop is decided, with one
// event a hop.
//
// A link is free from `busy_until` on; a packet's head leaves then, or when it is ready, or when the other end has told of
// room, whichever is last, and its tail holds the link. A packet that has to wait for room holds up those that came in
// behind it. Room at the other end is told of in advance: whoever books a packet's next link knows when its place will be
// free, and no event is spent on that. Only a packet whose place is not yet known waits in the list of the link that it
// wants.
//
// Around a ring or torus packets could fill all places and block each other for good. So one that enters a circle must
// leave a place free behind it, while those already in it need only their own (bubble flow control: Puente et al.,
// "Adaptive bubble router", 1999).
#pragma once

#include <vector>

#include "des/large.hpp"
#include "des/simulator.hpp"
#include "net/plan.hpp"

namespace tca::net {

// A link on a packet's way.
struct Stage {
  const LinkClass* kind;
  des::Time hop = 0;  // from its end to the next link
  des::Time free;     // when it has sent what it was given so far
  LinkId link;
  std::uint8_t flags;   // of the packet on this link
  bool enters;          // a circle, where it must leave a place free
  bool to_nic = false;  // its end is the NIC through which the packet leaves its node
  bool data;            // not a request or word
};

// What packets mean to those above.
class Sink {
 public:
  virtual ~Sink() = default;
  // The head of data is in the NIC through which it leaves its node, on its way out.
  virtual void passed(const Packet& packet, std::uint32_t node) = 0;
  // Data is in its cells and seen by who polls, or a request or word is where it ends.
  virtual void arrived(const Packet& packet, Endpoint at) = 0;
  // One of these will come soon: stages 2 and 3 (des::Handler).
  virtual void prepare(std::uint32_t message, unsigned stage) const = 0;
};

// Who has claimed links for what it computes without packets.
class Claimant {
 public:
  virtual ~Claimant() = default;
  // What `Traffic::schedule` has scheduled; and it will be soon (des::Handler).
  virtual void come(std::uint32_t what, des::Time now) = 0;
  virtual void prepare(std::uint32_t what, unsigned stage) const = 0;
  // A packet that nobody has computed is about to take a claimed link, from a time on and for so long.
  virtual void meet(LinkId link, des::Time start, des::Time busy) = 0;
};

class Traffic final : public des::Handler {
 public:
  Traffic(des::Simulator& simulator, const Plan& plan, Sink& sink);

  // Sends a packet out of a unit, a NIC's request, or data out of a memory's cells; the latter two take their port `gap`
  // besides. Its place, kind, size, flags and message are set; the rest is the traffic's.
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

  // What `way` will look at of a node is wanted soon.
  void expect(std::uint32_t node) const {
    des::prefetch(&links_[node * plan_.local_links()], plan_.local_links() * sizeof(Link));
  }
  // The same of what `carried` will look at.
  void expect_link(LinkId link) const {
    des::prefetch(&links_[link], sizeof(Link));
    des::prefetch(&carried_[link], sizeof(std::uint32_t));
  }
  void set_claimant(Claimant& claimant) { claimant_ = &claimant; }
  // From now on, or no longer, the claimant is told of the packets on a link.
  void set_claimed(LinkId link, bool claimed) { links_[link].claimed = claimed; }
  // For the claimant: something that a packet on a link would do, in its turn among all that happens at that time.
  void schedule(des::Time at, LinkId link, std::uint32_t what) {
    simulator_.schedule(at, objects_ + link, computed | what);
  }
  // The links that a packet takes from a port on, and what it is like on each, where that is asked for.
  void way(LinkId port, Packet packet, std::vector<Stage>& stages,
           std::vector<Packet>* packets = nullptr) const;

  // For packets that were computed elsewhere (timeline.hpp). Those that are under way: a link has sent one; its head comes to
  // the end at a time, or has come there and waits; it leaves the end. And those whose places are free again: the links are as
  // if they had not been.
  void sent(LinkId link, LinkId input, des::Time busy, des::Time busy_until);
  void resume(LinkId link, const Packet& packet, des::Time head);
  void hold(LinkId link, const Packet& packet, des::Time head);
  void returned(LinkId link, des::Time free) { leave(link, free); }
  void carried(LinkId link, LinkId input, std::uint64_t packets, des::Time busy);
  // What comes to a link goes behind what keeps it busy until then.
  void queue(LinkId link, des::Time busy_until) {
    links_[link].busy_until = std::max(links_[link].busy_until, busy_until);
  }

  // For pictures of what the machine did.
  struct Use {
    des::Time busy;
    std::uint32_t packets;
  };
  Use use(LinkId link) const { return {links_[link].busy, links_[link].sent + carried_[link]}; }
  std::size_t packets() const { return live_; }  // under way
  std::uint64_t hops() const { return hop_count_; }
  std::size_t bytes() const;  // of memory that the state takes

 private:
  static constexpr std::uint32_t computed = 1u << 31;  // in an event's sequence

  // A link and the queue of what has come over it: 64 bytes, a cache line.
  struct Link {
    des::Time busy_until = 0;
    des::Time busy = 0;           // time spent sending, for pictures
    PacketId first = no_packet;   // the queue: what has come and waits,
    PacketId flight = no_packet;  // from here on what is still on its way,
    PacketId last = no_packet;    // up to here
    std::uint32_t to_node = 0;    // or switch
    std::uint32_t sent = 0;       // packets, but for those computed elsewhere
    std::uint32_t returned = 0;   // those whose place is, or is known to become, free again
    LinkId last_waiting =
        no_link;  // the links whose first packet wants this one, a circle through next_waiting
    LinkId next_waiting = no_link;
    LinkId input = no_link;        // where its last data came from
    std::uint32_t first_slot = 0;  // of its credits in room_
    std::uint8_t to_unit = 0;
    std::uint8_t kind = 0;  // class
    End end = End::unit;
    std::uint8_t circle = Cable::no_circle;
    bool to_card = false;  // ends at a NIC that handles what comes in packet by packet
    bool claimed = false;
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
  bool come(const Link& link, Packet& packet, des::Time& hop) const;
  void serve(LinkId link);
  bool ends_here(const Link& link, const Packet& packet) const;
  Way way_on(const Link& link, const Packet& packet) const;
  bool enters(LinkId in, const Link& out) const {
    return out.circle != Cable::no_circle && links_[in].circle != out.circle;
  }
  void meet(LinkId out, const Packet& packet);
  bool book(LinkId in, PacketId packet, const Way& way);
  void feed(Link& link, LinkId input);
  void leave(LinkId link, des::Time free_again);
  void wait_for(LinkId out, LinkId in);
  void wake(LinkId out);

  des::Simulator& simulator_;
  const Plan& plan_;
  Sink& sink_;
  Claimant* claimant_ = nullptr;
  std::uint32_t objects_;  // the number of link 0
  des::LargeVector<Link> links_;
  des::LargeVector<std::uint32_t> carried_;  // packets that were computed elsewhere, of links
  std::vector<LinkClass> classes_;
  des::LargeVector<des::Time> room_;  // when the place of a packet is free again, a ring of these a link
  std::vector<des::Time> hops_, turns_, collisions_;  // of units
  des::LargeVector<Packet> packets_;
  PacketId free_ = no_packet;
  std::size_t live_ = 0;
  std::uint64_t hop_count_ = 0;
  LinkId serving_ = no_link;   // whose first packet meets trains
  std::vector<LinkId> woken_;  // links with room again for those who wait
};

}  // namespace tca::net
