// What travels, and between which ends.
#pragma once

#include <cstdint>

#include "des/time.hpp"
#include "net/routes.hpp"

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
  data,     // written into the cells where it ends
  request,  // for data, answered where it ends
  word,     // to a NIC's own registers or memory
};

struct Packet {
  des::Time ready;        // when the next link may have it
  des::Time tail;         // when its last byte is where its head has come to
  PacketId next;          // in the list of a link
  std::uint32_t message;  // whom it belongs to
  std::uint32_t bytes;    // of data; of a request what it asks for
  Steps steps;            // over the interconnect
  std::uint8_t to_unit;
  std::uint8_t nic;           // the unit through which it leaves its node; `passed` from there on
  std::uint8_t interconnect;  // or `inside`
  PacketKind kind;
  std::uint8_t flags;

  std::uint32_t bytes_on_wire() const { return kind == PacketKind::request ? 0 : bytes; }

  static constexpr std::uint8_t passed = 0xff;
  static constexpr std::uint8_t inside = 0xff;  // over the wires of a node alone
  // Flags: of a device's memory, on this side of the NIC; of a long read; the last one of what a request asked for; of a
  // device's memory, once through the NIC.
  static constexpr std::uint8_t peer = 1, far = 2, last = 4, to_peer = 8;
};

}  // namespace tca::net
