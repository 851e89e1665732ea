// A machine set up for one run of `tca model`: its network, the transports between its ranks, and the ledger
// of their time. Ranks hold no data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/ledger.hpp"
#include "model/machine/machine.hpp"
#include "model/mpi/mpi_agent.hpp"
#include "model/nic/ape.hpp"
#include "model/nic/engine.hpp"
#include "model/nic/hub.hpp"

namespace tca::tool {

// How a machine's ranks write into each other's memory.
enum class Way {
  none,
  chains,  // a DMA controller walks chains of descriptors, rows among them (PEACH2)
  cards,   // a card takes puts of contiguous bytes (APEnet+)
  stores,  // an engine on the GPU stores into the other GPUs of its box (NVLink)
};

struct DirectWay {
  Way way = Way::none;
  std::uint32_t interconnect = 0;  // number of the interconnect, for chains and cards
  std::uint32_t nodes = 1;         // number of consecutive nodes that it connects
};
DirectWay find_way(const net::Machine& machine);

// Returns those of direct, mpi, rma and hybrid that the machine has, in this order.
std::vector<std::string> schemes_of(const net::Machine& machine);

struct Put {
  std::uint32_t to = 0;  // rank
  net::Rows rows;
  des::Counter* arrived = nullptr;  // counts one up once the target's host can see the data
  bool notifies = false;            // counts the chain's `sent` up, once this put and all before it have left
};

// The puts that a rank starts together. Outlives its starts.
struct Chain {
  Chain(des::Simulator& simulator, std::uint32_t rank) : sent(simulator, {"the own flags of rank", rank}) {}
  std::vector<Put> puts;
  des::Counter sent;
  net::DmaChain dma;  // made of `puts` by the first start

  std::uint64_t bytes() const;
  std::uint64_t notices() const;  // that one start gives
};

class Stage {
 public:
  struct Setup {
    std::vector<net::RankPlace> places;  // one for each rank
    net::Fidelity fidelity = net::Fidelity::train;
    std::string library;  // an MPI library; empty: the machine's default
    bool keeps_spans = false;
  };
  Stage(const net::Machine& machine, Setup setup);

  const net::Machine& machine() const { return machine_; }
  des::Simulator& simulator() { return simulator_; }
  net::Network& network() { return network_; }
  Ledger& ledger() { return ledger_; }
  std::uint32_t ranks() const { return ledger_.ranks(); }
  bool has_mpi() const { return !machine_.mpi.empty(); }
  net::Mpi& mpi();       // moves data between the ranks' own memories
  net::Mpi& host_mpi();  // moves data between buffers of their hosts

  net::Endpoint memory(std::uint32_t rank) const;
  net::Endpoint host(std::uint32_t rank) const;
  // Whether data gets from one rank to the other without MPI, and whether puts of several rows do.
  bool reaches(std::uint32_t from, std::uint32_t to) const;
  bool puts_rows() const { return way_.way != Way::cards; }
  std::uint32_t channels() const;  // on which a rank may start chains at the same time
  // Which ranks reach each other like that: they have the same number.
  int sub_cluster(std::uint32_t rank) const;
  // How far apart two ranks are for a put; the same for all that do not reach each other.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const;
  // Returns another stage like this one, on which nothing has happened.
  std::unique_ptr<Stage> idle() const;

  // Pieces of a rank's program, to be awaited. Each charges its time to the rank.
  des::Task kernel(std::uint32_t rank, std::string_view what, double bytes, double flops);
  des::Task spend(std::uint32_t rank, std::string_view what, des::Time time);
  des::Task start(std::uint32_t rank, std::uint32_t channel, Chain& chain);
  des::Task store(std::uint32_t rank, std::uint32_t to, std::uint32_t bytes, des::Counter& arrived);
  des::Task watch(std::uint32_t rank, const std::vector<des::Counter*>& counters, std::uint64_t value);
  des::Task watch(std::uint32_t rank, des::Counter& counter, std::uint64_t value);
  des::Task finish(std::uint32_t rank, des::Group& messages);

  void end_iteration(std::size_t iteration) { ledger_.end_iteration(iteration, simulator_.now()); }

 private:
  std::unique_ptr<net::Mpi> make_mpi(bool in_host) const;
  void compile(std::uint32_t rank, Chain& chain);
  des::Task follow(std::uint32_t rank, std::uint32_t channel, Chain& chain);
  void start_engine(std::uint32_t rank, Chain& chain);

  const net::Machine& machine_;
  Setup setup_;
  DirectWay way_;
  des::Simulator simulator_;
  mutable net::Network network_;
  Ledger ledger_;
  std::uint32_t host_unit_;
  std::unique_ptr<net::Hub> hub_;
  std::unique_ptr<net::Ape> ape_;
  std::unique_ptr<net::Engines> engines_;
  std::unique_ptr<net::Mpi> mpi_, host_mpi_;
};

}  // namespace tca::tool
