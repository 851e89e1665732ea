#include "fabric/sim/protocol.hpp"

namespace tca::sim {

namespace {

// GPUs read and write their memory in sectors of this size (CUDA C++ Programming Guide, device memory
// accesses).
constexpr std::uint64_t sector_bytes = 32;

std::uint64_t touched(const net::Rows& rows) {
  return rows.count * ((rows.bytes + sector_bytes - 1) / sector_bytes * sector_bytes);
}

des::Time run_kernel(const net::GpuKind& gpu, std::uint64_t bytes) {
  return gpu.launch + net::kernel_time(gpu, static_cast<double>(bytes), 0) + gpu.synchronise;
}

}  // namespace

std::uint64_t Message::bytes() const {
  std::uint64_t all = 0;
  for (const net::Rows& rows : puts) all += rows.total();
  return all;
}

des::Task Protocol::copy(const Message& message) const {
  std::uint64_t moved = 0;
  for (const net::Rows& rows : message.puts) moved += 2 * touched(rows);
  if (moved > 0) co_await site_.simulator().sleep(run_kernel(site_.machine.gpu, moved));
  message.sent->add();
  message.arrived->add();
}

des::Task Protocol::pack(const Message& message) const {
  std::uint64_t moved = 0;
  for (const net::Rows& rows : message.puts)
    if (rows.count > 1) moved += rows.total() + touched(rows);
  if (moved > 0) co_await site_.simulator().sleep(run_kernel(site_.machine.gpu, moved));
}

bool CardProtocol::reaches(int from, int to) const {
  return site().network.joined(site().place(from).memory.node, site().place(to).memory.node, interconnect_);
}

bool CardProtocol::leads(int from, int to, net::View view) const {
  net::Damage* const damage = site().network.damage();
  if (damage == nullptr || damage->interconnect != interconnect_) return true;
  return damage->detours.leads(site().place(from).memory.node, site().place(to).memory.node, view);
}

std::uint32_t CardProtocol::distance(int from, int to) const {
  return site().network.distance(site().place(from).memory.node, site().place(to).memory.node, interconnect_);
}

std::vector<std::unique_ptr<Protocol>> make_protocols(const Site& site) {
  std::vector<std::unique_ptr<Protocol>> protocols;
  const net::Description& network = site.machine.network;
  if (site.machine.places.size() > 1) protocols.push_back(make_nvlink(site));
  for (std::uint32_t i = 0; i < network.interconnects.size(); ++i) {
    const net::UnitKind& nic = network.node.units[network.interconnects[i].nic];
    if (nic.dma) protocols.push_back(make_tca(site, i));
    if (nic.ape) protocols.push_back(make_ape(site, i));
  }
  if (site.machine.mpi.empty()) return protocols;
  for (std::unique_ptr<Protocol>& protocol : make_mpi(site)) protocols.push_back(std::move(protocol));
  return protocols;
}

}  // namespace tca::sim
