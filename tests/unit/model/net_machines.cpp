#include "net_machines.hpp"

namespace tca::test {

using namespace net;
using des::from_ns;

namespace {

LinkKind pcie(const char* name, double latency_ns) {
  return {.name = name,
          .bytes_per_s = pcie_bytes_per_s(2, 8),
          .payload_bytes = 256,
          .header_bytes = 24,
          .latency = from_ns(latency_ns),
          .credits = 16};
}

MemoryPort gpu_memory() {
  return {.read_latency = from_ns(500),
          .read_bytes_per_s = 2.8e9,
          .write_bytes_per_s = 3.6e9,
          .write_latency = from_ns(100),
          .device = true};
}

MemoryPort host_memory() {
  return {.read_latency = from_ns(200),
          .read_bytes_per_s = 10e9,
          .write_bytes_per_s = 10e9,
          .write_latency = from_ns(60)};
}

}  // namespace

Description peach_machine(Topology topology, std::uint32_t nodes) {
  Description machine{.name = "peach", .nodes = nodes};
  machine.links = {pcie("gen2", 120), pcie("cable", 150), pcie("qpi", 200)};
  machine.links[2].bytes_per_s = 16e9;
  machine.links[2].peer_bytes_per_s = 0.29e9;
  const RouterKind bridge{.hop = from_ns(50), .collision = from_ns(4)};
  const DmaKind dma{.channels = 4,
                    .start = from_ns(100),
                    .internal_fetch = from_ns(30),
                    .decode = from_ns(40),
                    .chain_gap = from_ns(20),
                    .row_gap = from_ns(8),
                    .request_bytes = 512,
                    .packet_bytes = 256,
                    .tags = 16,
                    .request_gap = from_ns(12),
                    .turn = from_ns(100),
                    .notify = from_ns(20)};
  machine.node.units = {{.name = "host", .role = Role::memory, .memory = host_memory()},
                        {.name = "gpu0", .role = Role::memory, .memory = gpu_memory()},
                        {.name = "gpu1", .role = Role::memory, .memory = gpu_memory()},
                        {.name = "gpu2", .role = Role::memory, .memory = gpu_memory()},
                        {.name = "socket0", .role = Role::bridge, .router = bridge},
                        {.name = "socket1", .role = Role::bridge, .router = bridge},
                        {.name = "peach2",
                         .role = Role::nic,
                         .router = {.hop = from_ns(100), .collision = from_ns(8)},
                         .dma = dma}};
  machine.node.wires = {{0, 4, 0, 0}, {1, 4, 0, 0}, {2, 4, 0, 0}, {3, 5, 0, 0}, {4, 5, 2, 2}, {4, 6, 0, 0}};
  machine.interconnects = {{.name = "tca", .nic = 6, .link = 1, .topology = std::move(topology)}};
  return machine;
}

Description torus_machine(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  Description machine{.name = "torus", .nodes = x * y * z};
  machine.links = {pcie("slot", 100), pcie("cable", 120)};
  machine.links[1].credits = 4;
  const RouterKind router{.hop = from_ns(60)};
  machine.node.units = {{.name = "gpu", .role = Role::memory, .memory = gpu_memory()},
                        {.name = "nic", .role = Role::nic, .router = router}};
  machine.node.wires = {{0, 1, 0, 0}};
  machine.interconnects = {
      {.name = "torus", .nic = 1, .link = 1, .topology = {.kind = TopologyKind::torus, .size = {x, y, z}}}};
  return machine;
}

Description ape_machine() {
  Description machine{.name = "ape", .nodes = 16};
  machine.links = {pcie("slot", 100),
                   {.name = "torus",
                    .bytes_per_s = 3.4e9,
                    .payload_bytes = 4096,
                    .header_bytes = 32,
                    .latency = from_ns(200),
                    .credits = 4}};
  const ApeKind card{.packet_bytes = 4096,
                     .start = from_ns(3000),
                     .engines = 1,
                     .engine_gap = from_ns(900),
                     .request_bytes = 512,
                     .host_window = 4096,
                     .gpu_window = 32768,
                     .gpu_request_gap = from_ns(80),
                     .translate = from_ns(1600),
                     .translate_gpu = from_ns(2000)};
  MemoryPort gpu = gpu_memory();
  gpu.read_bytes_per_s = 1.6e9;
  machine.node.units = {{.name = "host", .role = Role::memory, .memory = host_memory()},
                        {.name = "gpu", .role = Role::memory, .memory = gpu},
                        {.name = "chipset", .role = Role::bridge, .router = {.hop = from_ns(50)}},
                        {.name = "ape", .role = Role::nic, .router = {.hop = from_ns(150)}, .ape = card}};
  machine.node.wires = {{0, 2, 0, 0}, {1, 2, 0, 0}, {2, 3, 0, 0}};
  machine.interconnects = {
      {.name = "torus", .nic = 3, .link = 1, .topology = {.kind = TopologyKind::torus, .size = {4, 2, 2}}}};
  return machine;
}

Description box_machine(Topology topology, std::uint32_t nodes) {
  Description machine{.name = "box", .nodes = nodes};
  machine.links = {{.name = "nvlink",
                    .bytes_per_s = 450e9,
                    .payload_bytes = 256,
                    .header_bytes = 32,
                    .latency = from_ns(150),
                    .credits = 1024},
                   {.name = "ndr",
                    .bytes_per_s = 50e9,
                    .payload_bytes = 4096,
                    .header_bytes = 64,
                    .latency = from_ns(200),
                    .credits = 16}};
  MemoryPort memory = gpu_memory();
  memory.read_bytes_per_s = memory.write_bytes_per_s = 2000e9;
  for (const char* name : {"gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"}) {
    machine.node.units.push_back({.name = name, .role = Role::memory, .memory = memory});
    machine.node.wires.push_back({static_cast<std::uint32_t>(machine.node.units.size() - 1), 8, 0, 0});
  }
  machine.node.units.push_back({.name = "nvswitch", .role = Role::bridge, .router = {.hop = from_ns(100)}});
  machine.node.units.push_back({.name = "hca", .role = Role::nic, .router = {.hop = from_ns(150)}});
  machine.node.wires.push_back({8, 9, 1, 1});
  machine.interconnects = {{.name = "ib",
                            .nic = 9,
                            .link = 1,
                            .topology = std::move(topology),
                            .switches = {.hop = from_ns(130)}}};
  return machine;
}

Topology two_rings() {
  return {.kind = TopologyKind::double_ring,
          .size = {8, 2},
          .order = {0, 2, 4, 6, 14, 12, 10, 8, 1, 3, 5, 7, 15, 13, 11, 9}};
}

}  // namespace tca::test
