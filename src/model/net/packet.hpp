// Packets, and the endpoints between which they travel.
#pragma once

#include <cstdint>

#include "model/des/time.hpp"
#include "model/net/routes.hpp"

namespace tca::net {

// A unit of a node: the memory that data comes from or goes to, or a NIC.
struct Endpoint {
  std::uint32_t node = 0;
  std::uint32_t unit = 0;  // index into NodeKind::units

  bool operator==(const Endpoint&) const = default;
};

using PacketId = std::uint32_t;
constexpr PacketId no_packet = UINT32_MAX;

enum class PacketKind : std::uint8_t {
  data,     // written into the memory at its destination
  request,  // for data; answered at its destination
  word,     // written to a NIC's own registers or memory
};

struct Packet {
  des::Time ready;        // when the next link may take it
  des::Time tail;         // when its last byte arrives where its head is
  PacketId next;          // in the list of a link
  std::uint32_t message;  // the message that it belongs to
  std::uint32_t bytes;    // of data; for a request, the bytes requested
  Steps steps;            // left to travel over the interconnect
  std::uint8_t to_unit;
  std::uint8_t nic;           // the unit through which it leaves its node; `passed` once it has
  std::uint8_t interconnect;  // or `inside`
  PacketKind kind;
  std::uint8_t flags;

  std::uint32_t bytes_on_wire() const { return kind == PacketKind::request ? 0 : bytes; }

  static constexpr std::uint8_t passed = 0xff;
  static constexpr std::uint8_t inside = 0xff;  // uses the wires of one node only
  // Flags:
  // - peer: goes from or to a device's memory, on this side of the NIC;
  // - far: belongs to a long read (MemoryPort::near_bytes);
  // - last: the last packet of the answer to a request;
  // - to_peer: goes to a device's memory, and is `peer` once it has passed the NIC;
  // - round: goes round what has failed, and its steps are those of faults/detours.hpp.
  static constexpr std::uint8_t peer = 1, far = 2, last = 4, to_peer = 8, round = 16;
};

}  // namespace tca::net
