#include "fabric/sim/channel.hpp"

#include <optional>

namespace tca::sim {

namespace {

// GPUs read and write their memory in sectors of so many bytes (CUDA C++ Programming Guide, device memory accesses).
constexpr std::uint64_t sector_bytes = 32;

std::uint64_t touched(const net::Rows& rows) {
  return rows.count * ((rows.bytes + sector_bytes - 1) / sector_bytes * sector_bytes);
}

des::Time run_kernel(const net::GpuKind& gpu, std::uint64_t bytes) {
  return gpu.launch + net::kernel_time(gpu, static_cast<double>(bytes), 0) + gpu.synchronise;
}

}  // namespace

std::uint64_t Load::bytes() const {
  std::uint64_t all = 0;
  for (const net::Rows& rows : puts) all += rows.total();
  return all;
}

des::Task Channel::copy(const Load& load) const {
  std::uint64_t moved = 0;
  for (const net::Rows& rows : load.puts) moved += 2 * touched(rows);
  if (moved > 0) co_await site_.simulator().sleep(run_kernel(site_.machine.gpu, moved));
  load.sent->add();
  load.arrived->add();
}

des::Task Channel::pack(const Load& load) const {
  std::uint64_t moved = 0;
  for (const net::Rows& rows : load.puts)
    if (rows.count > 1) moved += rows.total() + touched(rows);
  if (moved > 0) co_await site_.simulator().sleep(run_kernel(site_.machine.gpu, moved));
}

std::uint32_t host_unit(const net::Machine& machine) { return net::find_unit(machine.network.node, "host"); }

namespace {

// The link between memories of two ranks of a node and a bridge that joins them, such as NVSwitch.
std::optional<std::uint32_t> peer_link(const net::Machine& machine) {
  if (machine.places.size() < 2) return std::nullopt;
  const net::NodeKind& node = machine.network.node;
  const std::uint32_t first = net::find_unit(node, machine.places[0]);
  const std::uint32_t second = net::find_unit(node, machine.places[1]);
  for (const net::Wire& a : node.wires)
    for (const net::Wire& b : node.wires)
      if (a.a == first && b.a == second && a.b == b.b) return a.there;
  return std::nullopt;
}

}  // namespace

std::vector<std::unique_ptr<Channel>> make_channels(const Site& site) {
  std::vector<std::unique_ptr<Channel>> channels;
  const net::Description& network = site.machine.network;
  if (const auto link = peer_link(site.machine)) channels.push_back(make_nvlink(site, *link));
  for (std::uint32_t i = 0; i < network.interconnects.size(); ++i) {
    const net::UnitKind& nic = network.node.units[network.interconnects[i].nic];
    if (nic.dma) channels.push_back(make_tca(site, i));
    if (nic.ape) channels.push_back(make_ape(site, i));
  }
  if (site.machine.mpi.empty()) return channels;
  for (std::unique_ptr<Channel>& channel : make_mpi(site)) channels.push_back(std::move(channel));
  return channels;
}

}  // namespace tca::sim
