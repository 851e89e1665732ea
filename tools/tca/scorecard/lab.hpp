// A machine set up for two nodes that communicate: its network, and the MPI library or DMA controllers.
// Programs of more ranks are those of `tca model` (model/program.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/mpi/mpi_agent.hpp"
#include "model/nic/peach.hpp"
#include "scorecard/figures.hpp"

namespace tca::tool {

class Lab {
 public:
  Lab(const net::Machine& machine, const RunSettings& settings);

  const net::Machine& machine() const { return machine_; }
  const RunSettings& settings() const { return settings_; }
  des::Simulator& simulator() { return simulator_; }
  net::Network& network() { return network_; }
  net::Peach& peach();
  net::Mpi& mpi();

  // The GPU that a node computes on, and the memory of the socket on which its program runs.
  net::Endpoint gpu(std::uint32_t node) const;
  net::Endpoint host(std::uint32_t node) const;

  // Pieces of a rank's program, to be awaited.
  des::Task run_kernel(double bytes, double flops);  // launches it and waits for it
  des::Task ring(std::uint32_t node, std::uint32_t channel, const net::DmaChain& chain);  // starts a chain
  des::Task watch(des::Counter& counter, std::uint64_t value);  // until the flag has been seen

  // Runs until nothing is left to do, and returns the time in us.
  double run();

 private:
  const net::Machine& machine_;
  RunSettings settings_;
  des::Simulator simulator_;
  net::Network network_;
  std::unique_ptr<net::Peach> peach_;
  std::unique_ptr<net::Mpi> mpi_;
};

// The runs; each kind has a file of its own. Callers have checked that the settings which a run needs
// (scorecard/runs.hpp) are there.
double run_pingpong(const net::Machine& machine, const RunSettings& settings);
double run_hop(const net::Machine& machine, const RunSettings& settings);
double run_face(const net::Machine& machine, const RunSettings& settings);
double run_inside(const net::Machine& machine, const RunSettings& settings);
double run_bcast(const net::Machine& machine, const RunSettings& settings);
double run_allgather(const net::Machine& machine, const RunSettings& settings);
double run_himeno(const net::Machine& machine, const RunSettings& settings);
double run_qcd_halo(const net::Machine& machine, const RunSettings& settings);
double run_qcd_balance(const net::Machine& machine, const RunSettings& settings);
double run_apenet(const net::Machine& machine, const RunSettings& settings);
double run_apenet_faces(const net::Machine& machine, const RunSettings& settings);
double run_apenet_read(const net::Machine& machine, const RunSettings& settings);
double run_npb_cg(const net::Machine& machine, const RunSettings& settings);
double run_graph500_bfs(const net::Machine& machine, const RunSettings& settings);
double run_kernel_pingpong(const net::Machine& machine, const RunSettings& settings);
double run_kernel_halo(const net::Machine& machine, const RunSettings& settings);
double run_packet_pingpong(const net::Machine& machine, const RunSettings& settings);
double run_packet_halo(const net::Machine& machine, const RunSettings& settings);
double run_packet_allreduce(const net::Machine& machine, const RunSettings& settings);

}  // namespace tca::tool
