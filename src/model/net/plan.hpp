// A Plan lays a machine out for the event loop. Every one-way link has a number. Where a link ends, what it
// costs and where a packet continues from there follow from that number and a few small tables that all
// nodes share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/machine/description.hpp"
#include "model/net/packet.hpp"
#include "model/net/routes.hpp"

namespace tca::net {

using LinkId = std::uint32_t;
constexpr LinkId no_link = UINT32_MAX;

// Converts bytes to picoseconds. The time per byte is a whole number of 1/65536 picoseconds.
class Rate {
 public:
  Rate() = default;
  explicit Rate(double bytes_per_s);
  des::Time time(std::uint64_t bytes) const {
    // For whole transfers over slow links, the product does not fit into 64 bits.
    __extension__ using Product = unsigned __int128;
    return static_cast<des::Time>((Product{bytes} * per_byte_ + half) >> 16);
  }
  double bytes_per_s() const { return 65536e12 / static_cast<double>(per_byte_); }

 private:
  static constexpr std::uint64_t half = 1 << 15;
  std::uint64_t per_byte_ = 0;
};

// What a link of one kind costs. The ports of memories and NICs are links too: from the memory array to the
// unit, and from the unit to the array.
struct LinkClass {
  Rate rate;
  Rate second_rate;  // for packets with any of the flags below
  std::uint8_t second_flags = 0;
  bool whole = false;  // a packet has arrived only when its last byte has
  std::uint32_t payload_bytes = UINT32_MAX;
  std::uint32_t header_bytes = 0;
  des::Time latency = 0;
  std::uint32_t credits = 0;       // 0: unlimited
  std::uint32_t credit_slots = 0;  // a power of two
  std::string name;

  // The time that a card spends on each packet before its head leaves: before the data arrives or, if
  // `meanwhile`, pipelined with it.
  des::Time each = 0, second_each = 0;
  bool meanwhile = false;

  // Returns the time of `packets` packets with `bytes` bytes in all. They are cut further if packets on the
  // wire are smaller.
  des::Time wire_time(std::uint64_t bytes, std::uint64_t packets, std::uint8_t flags) const {
    const std::uint64_t pieces =
        bytes <= payload_bytes ? packets : std::max(packets, (bytes + payload_bytes - 1) / payload_bytes);
    const Rate& of_packet = (flags & second_flags) != 0 ? second_rate : rate;
    const des::Time sending = of_packet.time(bytes + pieces * header_bytes);
    const des::Time besides = static_cast<des::Time>(packets) * lead(flags);
    return meanwhile ? std::max(sending, besides) : sending + besides;
  }
  des::Time wire_time(std::uint32_t bytes, std::uint8_t flags) const { return wire_time(bytes, 1, flags); }
  // Returns the time from the start of a packet on the link until its head leaves.
  des::Time lead(std::uint8_t flags) const { return (flags & second_flags) != 0 ? second_each : each; }
};

enum class End : std::uint8_t { unit, memory_array, network_switch };

// A link between two units of a node, or a port of a unit. It is the same for every node.
struct LocalLink {
  std::uint32_t from = 0, to = 0;  // units
  std::uint32_t kind = 0;          // index of its class
  End end = End::unit;
};

// The links of one interconnect.
struct Trunk {
  Routes routes;
  LinkId first;        // number of its first cable
  std::uint32_t kind;  // index of the class of its cables
  std::uint32_t nic;   // unit
  des::Time switch_hop, switch_collision;
};

class Plan {
 public:
  explicit Plan(const Description& description);

  const Description& machine() const { return machine_; }
  LinkId links() const { return links_; }
  LinkId local_links() const { return static_cast<LinkId>(locals_.size()); }  // of a node
  const std::vector<LocalLink>& locals() const { return locals_; }
  const std::vector<LinkClass>& classes() const { return classes_; }
  const std::vector<Trunk>& trunks() const { return trunks_; }

  // The ports of a unit:
  // - read: out of a memory array;
  // - write: into it;
  // - request: out of the reader of a NIC;
  // - issue: everything else that is sent from there (a processor's stores, a NIC's data and flags), so that
  //   it does not wait behind requests;
  // - receive: into a NIC that handles incoming data packet by packet.
  LinkId read_port(Endpoint at) const { return port(at, read_ports_); }
  LinkId write_port(Endpoint at) const { return port(at, write_ports_); }
  LinkId request_port(Endpoint at) const { return port(at, request_ports_); }
  LinkId issue_port(Endpoint at) const { return port(at, issue_ports_); }
  // Whether a unit has a receive port, and whether it has a memory array to write into.
  bool has_receive_port(std::uint32_t unit) const { return receive_ports_[unit] != no_link; }
  bool has_write_port(std::uint32_t unit) const { return write_ports_[unit] != no_link; }
  LinkId receive_port(Endpoint at) const { return port(at, receive_ports_); }

  // Returns the first link on the way from one unit of a node to another.
  LinkId toward(std::uint32_t node, std::uint32_t unit, std::uint32_t target) const {
    return node * local_links() + next_[unit * units_ + target];
  }

  const LinkClass& class_of(LinkId link) const;
  std::string link_name(LinkId link) const;

 private:
  LinkId port(Endpoint at, const std::vector<LinkId>& ports) const {
    return at.node * local_links() + ports[at.unit];
  }
  void add_ports();
  void add_wires();
  void find_ways();
  const Trunk& trunk_of(LinkId link) const;
  void add_trunks();
  std::uint32_t add_class(LinkClass kind);
  LinkClass receive_class(std::uint32_t unit, const ApeKind& card) const;

  Description machine_;
  std::uint32_t units_;
  LinkId links_ = 0;
  std::vector<LinkClass> classes_;
  std::vector<LocalLink> locals_;
  std::vector<LinkId> next_;  // [unit][target]: the local link to take
  std::vector<LinkId> read_ports_, write_ports_, request_ports_, issue_ports_, receive_ports_;  // by unit
  std::vector<Trunk> trunks_;
};

}  // namespace tca::net
