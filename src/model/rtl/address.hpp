// Where things are for a hub: the address map of a sub-cluster, and a hub's registers (rtl/README.md).
#pragma once

#include <cstdint>

namespace tca::rtl {

constexpr std::uint32_t most_nodes = 16;  // in a sub-cluster
constexpr std::uint32_t channels = 4;

enum class Target : std::uint8_t { host = 0, gpu0 = 1, gpu1 = 2, hub = 3 };
constexpr std::uint64_t target_bytes = std::uint64_t{1} << 33;

constexpr std::uint64_t address_of(std::uint32_t node, Target target, std::uint64_t offset) {
  return std::uint64_t{1} << 39 | std::uint64_t{node} << 35 | static_cast<std::uint64_t>(target) << 33 |
         offset;
}
constexpr bool in_window(std::uint64_t address) { return address >> 39 == 1; }
constexpr std::uint32_t node_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> 35) % most_nodes;
}
constexpr Target target_of(std::uint64_t address) { return static_cast<Target>(address >> 33 & 3); }
constexpr std::uint64_t offset_of(std::uint64_t address) { return address % target_bytes; }

// Offsets in the hub's own part.
namespace at {
constexpr std::uint64_t config = 0x010, time_out = 0x014, route = 0x028;
constexpr std::uint64_t chain = 0x00, status = 0x10, done = 0x18;  // of a channel
constexpr std::uint64_t channel(std::uint32_t number) { return 0x100 + std::uint64_t{0x40} * number; }
constexpr std::uint64_t memory = 0x100000;
}  // namespace at
constexpr std::uint32_t memory_bytes = 32768;

// Ports, as the route register numbers them.
namespace port {
constexpr std::uint32_t north = 0, east = 1, west = 2, south = 3, host = 4, count = 5, none = 15;
}

}  // namespace tca::rtl
