// Describes a machine in plain structures, which a machine file fills in: what a node is made of, how nodes
// are connected, and what each part can do. Every number comes from the machine file; nothing here has a
// default of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/des/time.hpp"

namespace tca::net {

enum class Fidelity {
  tlp,  // every packet is simulated
  // A transfer that has its links to itself is computed as a whole; it is demoted to packets where it meets
  // others.
  train,
  flow,  // streams share links with max-min fairness; single packets as in train
  rtl,   // as tlp, with the hubs' own RTL in place of their model
};

// One direction of a cable or of a bus.
struct LinkKind {
  std::string name;
  double bytes_per_s = 0;       // on the wire after line coding, headers included
  double peer_bytes_per_s = 0;  // for packets from or to a device's memory; 0 if they are as fast as others
  // The most data in one packet on the wire; a larger packet crosses as several.
  std::uint32_t payload_bytes = 0;
  std::uint32_t header_bytes = 0;  // everything else that such a packet puts on the wire
  des::Time latency = 0;           // from the departure of the first byte until it is seen at the other end
  std::uint32_t credits = 0;       // packets that the other end has room for; at least 2 on rings and tori
};

// Returns the rate of a PCIe link: lanes times transfers, less the line coding (8b/10b up to generation 2,
// 128b/130b from 3 on). Returns 0 for a generation or number of lanes that PCIe does not have.
double pcie_bytes_per_s(int generation, int lanes);

// What a memory offers to accesses from outside.
struct MemoryPort {
  des::Time read_latency = 0;    // from the arrival of a request to the departure of the first byte
  double read_bytes_per_s = 0;   // of data
  des::Time request_gap = 0;     // time for which each request occupies the port in addition to its data
  double write_bytes_per_s = 0;  // of data
  des::Time write_latency = 0;   // from the acceptance of a packet until it is visible to a polling reader
  std::uint64_t near_bytes = 0;  // a longer transfer is read at the rate below; 0: no such limit
  double far_read_bytes_per_s = 0;
  bool device = false;  // memory of a GPU: links have a separate rate for it (peer_bytes_per_s)
};

// How a unit forwards packets.
struct RouterKind {
  des::Time hop = 0;        // from the arrival of a head to its departure, on a free output
  des::Time collision = 0;  // time lost when a busy output turns from one input to another
};

// A DMA controller in a NIC, like that of PEACH2: channels that walk chains of descriptors, all reading
// through one port.
struct DmaKind {
  std::uint32_t channels = 0;
  des::Time start = 0;              // from the arrival of the doorbell to the fetch of the first descriptor
  des::Time internal_fetch = 0;     // to fetch a descriptor from the NIC's own memory
  des::Time decode = 0;             // from the arrival of a descriptor to its first read request
  des::Time chain_gap = 0;          // from a descriptor's last request to the fetch of the next one
  des::Time row_gap = 0;            // between the rows of a block-stride descriptor
  std::uint32_t request_bytes = 0;  // most data that one read request asks for
  std::uint32_t packet_bytes = 0;   // most data in an outgoing packet
  std::uint32_t tags = 0;           // requests under way, over all channels
  // From the end of an answer until its tag asks again; if empty, it does so as soon as the answer's head
  // is there.
  std::optional<des::Time> tag_back = {};
  des::Time request_gap = 0;  // least time between two requests
  des::Time turn = 0;         // from the arrival of data to its departure as a write
  des::Time notify = 0;       // from the last write to the write of the flag
};

// The same controller as RTL, if that replaces the model: what the RTL leaves open about it, and what
// surrounds it.
struct RtlKind {
  std::uint32_t bits = 0;           // of the data path: 128 or 256
  des::Time cycle = 0;              // of the clock
  std::uint32_t tags = 0;           // requests under way, over all channels
  std::uint32_t request_bytes = 0;  // most data that one read request asks for, and most in a packet
  std::uint32_t answer_bytes = 0;   // most data in a packet of an answer
  des::Time hard_ip = 0;            // through a port's PCIe block, in either direction
  des::Time time_out = 0;           // from a request until its answer is given up
};

// The APEnet+ card: it cuts messages into packets, which a processor on the card handles one by one.
struct ApeKind {
  std::uint32_t packet_bytes = 0;   // most data in a packet on the torus
  des::Time start = 0;              // from the posting of a put to its first read
  std::uint32_t engines = 0;        // DMA engines of the transmit side, 1 or 2
  des::Time engine_gap = 0;         // dead time of an engine after each packet that it reads
  std::uint32_t request_bytes = 0;  // most data that one read request asks for
  std::uint32_t host_window = 0;    // most bytes requested from host memory and not yet received
  std::uint32_t gpu_window = 0;     // the same from GPU memory
  des::Time gpu_request_gap = 0;    // least time between two requests to a GPU
  des::Time translate = 0;          // to translate the virtual address of a packet, at the receiver
  des::Time translate_gpu = 0;      // the same for a GPU's address, where the window is switched as well
  bool translate_overlaps = false;  // translation runs beside the data (TLB) or before it (processor)
};

enum class Role { memory, bridge, nic };

struct UnitKind {
  std::string name;  // "host", "gpu0", "socket0", "peach2"
  Role role = Role::bridge;
  RouterKind router;                 // of bridges and NICs
  std::optional<MemoryPort> memory;  // of memories
  std::optional<DmaKind> dma;        // of NICs driven like PEACH2
  std::optional<RtlKind> rtl;        // of those with a dma that exist in RTL
  std::optional<ApeKind> ape;        // of NICs driven like APEnet+
};

// A cable or bus between two units of a node. Each direction has its own link kind.
struct Wire {
  std::uint32_t a = 0, b = 0;         // indices into NodeKind::units
  std::uint32_t there = 0, back = 0;  // indices into Description::links: from a to b, from b to a
};

struct NodeKind {
  std::vector<UnitKind> units;
  std::vector<Wire> wires;  // a route inside a node takes the fewest wires; of equals, the one listed first
};

enum class TopologyKind {
  chain,        // size {n}
  ring,         // size {n}
  double_ring,  // size {n, 2}: two rings of n nodes, and a rung between each pair of nodes
  torus,        // size {x}, {x, y} or {x, y, z}; x first in node numbers and in routes
  star,         // size {n}: one switch
  fat_tree,     // size {nodes per leaf, leaves, spines}
};

struct Topology {
  TopologyKind kind = TopologyKind::chain;
  std::vector<std::uint32_t> size;
  // Node order[p] is at place p; if empty, node p is. The places of a double ring are numbered along the
  // first ring, then along the second.
  std::vector<std::uint32_t> order;

  std::uint32_t nodes() const;  // of one instance; UINT32_MAX if there are more than that
};

// Returns the least and the most numbers that the size of a topology may have.
std::pair<std::size_t, std::size_t> dimensions(TopologyKind kind);

// An interconnect connects nodes through a NIC in each. A topology that is smaller than the machine is
// repeated side by side until all nodes are covered; its instances are sub-clusters.
struct Interconnect {
  std::string name;
  std::uint32_t nic = 0;   // index into NodeKind::units
  std::uint32_t link = 0;  // index into Description::links
  Topology topology;
  RouterKind switches;  // of topologies with switches
};

struct Description {
  std::string name;
  std::uint32_t nodes = 0;
  NodeKind node;
  std::vector<LinkKind> links;
  std::vector<Interconnect> interconnects;
};

// Limits: units in a node; interconnects, since a packet names its interconnect, or none inside a node, in
// one byte; places along a dimension of a topology.
constexpr std::size_t most_units = 63, most_interconnects = 255;
constexpr std::uint32_t most_extent = 32767;

// Checks that the parts fit together. Throws Error{invalid_argument} that names what contradicts what: an
// index out of range, a rate of zero, units that no wire connects, a topology whose size does not divide
// the number of nodes. Network's constructor calls it.
void check(const Description& description);

// Returns whether some busy output loses time when it turns to another input.
bool ports_collide(const Description& description);

// find_unit, find_link and find_interconnect return the index of a unit, kind of link or interconnect. They
// throw Error{invalid_argument} that lists the existing names.
std::uint32_t find_unit(const NodeKind& node, std::string_view name);
// Returns the host memory that is the fewest wires away from a unit: that of the socket whose processor
// drives it. Throws Error{invalid_argument} if wires lead to none.
std::uint32_t nearest_host(const NodeKind& node, std::uint32_t unit);
std::uint32_t find_link(const Description& description, std::string_view name);
std::uint32_t find_interconnect(const Description& description, std::string_view name);

std::string_view to_string(TopologyKind kind);
std::string_view to_string(Fidelity fidelity);
// Throws Error{invalid_argument} that lists the existing names. `asker` is the option that named the
// fidelity, such as "--fidelity".
Fidelity find_fidelity(std::string_view name, std::string_view asker);

}  // namespace tca::net
