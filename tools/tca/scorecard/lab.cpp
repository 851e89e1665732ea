#include "scorecard/lab.hpp"

#include <fmt/format.h>

namespace tca::tool {

namespace {

// Whether a GPU is on the second socket: GPUs 2 and 3 of a node with two sockets are, beside the InfiniBand
// adapter.
bool on_second_socket(const net::Description& machine, std::int64_t gpu) {
  for (const net::UnitKind& unit : machine.node.units)
    if (unit.name == "host1") return gpu >= 2;
  return false;
}

}  // namespace

Lab::Lab(const net::Machine& machine, const RunSettings& settings)
    : machine_(machine), settings_(settings), network_(simulator_, machine.network) {}

net::Peach& Lab::peach() {
  if (!peach_) peach_ = std::make_unique<net::Peach>(network_, network_.interconnect("peach"), host(0).unit);
  return *peach_;
}

net::Mpi& Lab::mpi() {
  if (mpi_) return *mpi_;
  std::vector<net::Mpi::Rank> ranks;
  for (std::uint32_t node = 0; node < machine_.network.nodes; ++node)
    ranks.push_back({settings_.memory == "host" ? host(node) : gpu(node), host(node)});
  mpi_ =
      std::make_unique<net::Mpi>(network_, machine_.host, net::find_mpi(machine_, settings_.library), ranks);
  return *mpi_;
}

net::Endpoint Lab::gpu(std::uint32_t node) const {
  return network_.endpoint(node, fmt::format("gpu{}", settings_.gpu));
}

net::Endpoint Lab::host(std::uint32_t node) const {
  return network_.endpoint(node, on_second_socket(machine_.network, settings_.gpu) ? "host1" : "host");
}

des::Task Lab::run_kernel(double bytes, double flops) {
  const net::GpuKind& gpu = machine_.gpu;
  co_await simulator_.sleep(gpu.launch + net::kernel_time(gpu, bytes, flops) + gpu.synchronise);
}

des::Task Lab::ring(std::uint32_t node, std::uint32_t channel, const net::DmaChain& chain) {
  co_await simulator_.sleep(machine_.host.post);
  peach().start(node, channel, chain);
}

des::Task Lab::watch(des::Counter& counter, std::uint64_t value) {
  co_await counter.reached(value);
  co_await simulator_.sleep(machine_.host.poll);
}

double Lab::run() {
  simulator_.run();
  return des::to_us(simulator_.now());
}

}  // namespace tca::tool
