// Small machines to try the network's parts on. Their numbers are round, not anybody's.
#pragma once

#include "net/description.hpp"

namespace tca::test {

// A node as HA-PACS/TCA's: a host and two GPUs on one socket, a third GPU behind QPI, and a PEACH2 board.
net::Description peach_machine(net::Topology topology, std::uint32_t nodes);

// A GPU and a router each, joined as a torus.
net::Description torus_machine(std::uint32_t x, std::uint32_t y, std::uint32_t z);

// A host, a GPU and an APEnet+ card each, joined as a torus of 4x2x2.
net::Description ape_machine();

// Eight GPUs on one switch in each node, and a NIC, joined as a fat tree.
net::Description box_machine(net::Topology topology, std::uint32_t nodes);

// HA-PACS/TCA's sub-cluster: two rings of eight, hosts 1, 3, 5, 7, 15, 13, 11, 9 and 2, 4, ... counted from 0.
net::Topology two_rings();

}  // namespace tca::test
