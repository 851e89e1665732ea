// Small machines for tests of the network's parts. Their numbers are round and not those of any real machine.
#pragma once

#include "model/machine/description.hpp"

namespace tca::test {

// Nodes as HA-PACS/TCA's: a host and two GPUs on one socket, a third GPU behind QPI, and a PEACH2 board.
net::Description peach_machine(net::Topology topology, std::uint32_t nodes);

// Nodes of a GPU and a router, joined as a torus.
net::Description torus_machine(std::uint32_t x, std::uint32_t y, std::uint32_t z);

// Nodes of a host, a GPU and an APEnet+ card, joined as a torus of 4x2x2.
net::Description ape_machine();

// Nodes of a NIC and eight GPUs on one switch, joined by `topology`.
net::Description box_machine(net::Topology topology, std::uint32_t nodes);

// HA-PACS/TCA's sub-cluster: two rings of eight, with hosts 1, 3, 5, 7, 15, 13, 11, 9 and 2, 4, ... counted
// from 0.
net::Topology two_rings();

}  // namespace tca::test
