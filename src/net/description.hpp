// A machine as plain structures, which a machine file fills: what a node is made of, how nodes are connected, and what
// each part can do. Every number is the machine's; nothing here has a value of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "des/time.hpp"

namespace tca::net {

enum class Fidelity {
  tlp,    // every packet
  train,  // what has its links to itself is computed as a whole, and falls into packets where it meets others
  flow,   // streams share links by max-min fairness; single packets as in train
};

// One direction of a cable or of a bus.
struct LinkKind {
  std::string name;
  double bytes_per_s = 0;       // on the wire after line coding, headers included
  double peer_bytes_per_s = 0;  // for packets from or to a device's memory; 0 when those go as fast as others
  std::uint32_t payload_bytes =
      0;  // most data a packet of the wire carries; what is larger crosses as several
  std::uint32_t header_bytes = 0;  // all else that such a packet puts on the wire
  des::Time latency = 0;           // from the first byte's leaving to its being seen at the other end
  std::uint32_t credits = 0;       // packets that the other end has room for; 2 at least on rings and tori
};

// Lanes times transfers, less the line coding: 8b/10b up to generation 2, 128b/130b from 3 on. 0 for a generation or a
// number of lanes that PCIe does not have.
double pcie_bytes_per_s(int generation, int lanes);

// What a memory can do for those who reach it from outside.
struct MemoryPort {
  des::Time read_latency = 0;    // from a request's coming in to the first byte's going out
  double read_bytes_per_s = 0;   // of data
  des::Time request_gap = 0;     // each request takes the port this long besides its data
  double write_bytes_per_s = 0;  // of data
  des::Time write_latency = 0;   // from a packet's being taken in to its being seen by whoever polls
  std::uint64_t near_bytes = 0;  // a transfer of more than this is read at the rate below; 0: no such limit
  double far_read_bytes_per_s = 0;
  bool device = false;  // a GPU's: links have a rate of their own for it (peer_bytes_per_s)
};

// How a unit passes packets on.
struct RouterKind {
  des::Time hop = 0;        // from a head's coming in to its going out, on a free output
  des::Time collision = 0;  // lost when a busy output turns from one input to another
};

// A DMA controller in a NIC, as PEACH2's: channels that walk chains of descriptors, all reading through one port.
struct DmaKind {
  std::uint32_t channels = 0;
  des::Time start = 0;              // from the doorbell's coming in to the first descriptor's being wanted
  des::Time internal_fetch = 0;     // to fetch a descriptor from the NIC's own memory
  des::Time decode = 0;             // from a descriptor's being there to its first read request
  des::Time chain_gap = 0;          // from a descriptor's last request to the next one's decoding
  des::Time row_gap = 0;            // between the rows of a block-stride descriptor
  std::uint32_t request_bytes = 0;  // most data that one read request asks for
  std::uint32_t packet_bytes = 0;   // most data in a packet that leaves
  std::uint32_t tags = 0;           // requests under way, over all channels
  des::Time request_gap = 0;        // least time between two requests
  des::Time turn = 0;               // from data's coming in to its going out as a write
  des::Time notify = 0;             // from the last write to the write of the flag
};

// APEnet+'s card: messages are cut into packets that a processor on the card handles one by one.
struct ApeKind {
  std::uint32_t packet_bytes = 0;   // most data in a packet of the torus
  des::Time start = 0;              // from a put's being posted to its first read
  std::uint32_t engines = 0;        // DMA engines of the transmit side, 1 or 2
  des::Time engine_gap = 0;         // an engine's dead time after each packet it reads
  std::uint32_t request_bytes = 0;  // most data that one read request asks for
  std::uint32_t host_window = 0;    // bytes asked for and not yet come, from host memory
  std::uint32_t gpu_window = 0;     // the same from a GPU's
  des::Time gpu_request_gap = 0;    // least time between two requests to a GPU
  des::Time translate = 0;          // a packet's virtual address made physical, at the receiver
  des::Time translate_gpu = 0;      // the same for a GPU's, where the window is switched as well
  bool translate_overlaps = false;  // translated beside the data (TLB), or before it (processor)
};

enum class Role { memory, bridge, nic };

struct UnitKind {
  std::string name;  // "host", "gpu0", "socket0", "peach2"
  Role role = Role::bridge;
  RouterKind router;                 // of bridges and NICs
  std::optional<MemoryPort> memory;  // of memories
  std::optional<DmaKind> dma;        // of NICs that are driven as PEACH2 is
  std::optional<ApeKind> ape;        // of NICs that are driven as APEnet+ is
};

// A cable or bus between two units of a node: both directions, each of its kind.
struct Wire {
  std::uint32_t a = 0, b = 0;         // indices into NodeKind::units
  std::uint32_t there = 0, back = 0;  // indices into Description::links: from a to b, from b to a
};

struct NodeKind {
  std::vector<UnitKind> units;
  std::vector<Wire> wires;  // a route inside a node takes the fewest wires; of equals, the first listed
};

enum class TopologyKind {
  chain,        // size {n}
  ring,         // size {n}
  double_ring,  // size {n, 2}: two rings of n, and a rung between each pair
  torus,        // size {x}, {x, y} or {x, y, z}; x first in node numbers and in routes
  star,         // size {n}: one switch
  fat_tree,     // size {nodes of a leaf, leaves, spines}
};

struct Topology {
  TopologyKind kind = TopologyKind::chain;
  std::vector<std::uint32_t> size;
  // Which node has which place, where that is not the same: node order[p] stands at place p. Places of a double ring
  // count along the first ring, then along the second.
  std::vector<std::uint32_t> order;

  std::uint32_t nodes() const;  // of one instance; UINT32_MAX when there are more
};

// How many numbers the size of a topology has, least and most.
std::pair<std::size_t, std::size_t> dimensions(TopologyKind kind);

// What joins nodes through a NIC in each. A topology that is smaller than the machine stands side by side as often as
// it takes: sub-clusters.
struct Interconnect {
  std::string name;
  std::uint32_t nic = 0;   // index into NodeKind::units
  std::uint32_t link = 0;  // index into Description::links
  Topology topology;
  RouterKind switches;  // of topologies that have some
};

struct Description {
  std::string name;
  std::uint32_t nodes = 0;
  NodeKind node;
  std::vector<LinkKind> links;
  std::vector<Interconnect> interconnects;
};

// The most that there may be of units in a node; of interconnects, of which a packet has a byte for its own, or none inside a
// node; and of places along a dimension of a topology.
constexpr std::size_t most_units = 63, most_interconnects = 255;
constexpr std::uint32_t most_extent = 32767;

// Throws Error{invalid_argument} saying which part contradicts which: an index out of range, a rate of nothing, units
// that no wire joins, a topology whose size does not divide the number of nodes. Network's constructor calls it.
void check(const Description& description);

// Whether a busy port of a node loses time when it turns to another input.
bool ports_collide(const Description& description);

// The index of a unit, kind of link or interconnect; throws Error{invalid_argument} naming those that there are.
std::uint32_t find_unit(const NodeKind& node, std::string_view name);
// The host memory that the fewest wires lead to from a unit: that of the socket whose processor drives it. Throws
// Error{invalid_argument} when the node has none.
std::uint32_t nearest_host(const NodeKind& node, std::uint32_t unit);
std::uint32_t find_link(const Description& description, std::string_view name);
std::uint32_t find_interconnect(const Description& description, std::string_view name);

std::string_view to_string(TopologyKind kind);
std::string_view to_string(Fidelity fidelity);
// Throws Error{invalid_argument} naming those there are; `asker` is who wants it, such as "--fidelity".
Fidelity find_fidelity(std::string_view name, std::string_view asker);

}  // namespace tca::net
