#include "fabric/sim/channel.hpp"

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

std::vector<std::unique_ptr<Channel>> make_channels(const Site& site) {
  std::vector<std::unique_ptr<Channel>> channels;
  const net::Description& network = site.machine.network;
  if (site.machine.places.size() > 1) channels.push_back(make_nvlink(site));
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
