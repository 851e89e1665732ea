#include "model/stage.hpp"

#include <algorithm>
#include <utility>

#include "model/rtl/make_hub.hpp"

namespace tca::tool {

DirectWay find_way(const net::Machine& machine) {
  const net::Description& network = machine.network;
  for (std::uint32_t i = 0; i < network.interconnects.size(); ++i) {
    const net::Interconnect& interconnect = network.interconnects[i];
    const net::UnitKind& nic = network.node.units[interconnect.nic];
    if (nic.dma) return {Way::chains, i, interconnect.topology.nodes()};
    if (nic.ape) return {Way::cards, i, interconnect.topology.nodes()};
  }
  return machine.places.size() > 1 ? DirectWay{.way = Way::stores} : DirectWay{};
}

std::vector<std::string> schemes_of(const net::Machine& machine) {
  const bool direct = find_way(machine).way != Way::none;
  std::vector<std::string> schemes;
  if (direct) schemes.emplace_back("direct");
  if (machine.mpi.empty()) return schemes;
  schemes.insert(schemes.end(), {"mpi", "rma"});
  if (direct) schemes.emplace_back("hybrid");
  return schemes;
}

std::uint64_t Chain::bytes() const {
  std::uint64_t sum = 0;
  for (const Put& put : puts) sum += put.rows.total();
  return sum;
}

std::uint64_t Chain::notices() const {
  std::uint64_t count = 0;
  for (const Put& put : puts) count += put.notifies ? 1 : 0;
  return count;
}

Stage::Stage(const net::Machine& machine, Setup setup)
    : machine_(machine),
      setup_(std::move(setup)),
      way_(find_way(machine)),
      network_(simulator_, machine.network, setup_.fidelity),
      ledger_(static_cast<std::uint32_t>(setup_.places.size()), setup_.keeps_spans),
      host_unit_(net::nearest_host(machine.network.node, setup_.places.front().unit)) {
  if (way_.way == Way::chains) hub_ = net::make_hub(network_, way_.interconnect, host_unit_);
  if (way_.way == Way::cards) ape_ = std::make_unique<net::Ape>(network_, way_.interconnect, host_unit_);
  if (way_.way == Way::stores) engines_ = std::make_unique<net::Engines>(network_, host_unit_);
}

// Where there are several ranks in a node, each uses the adapter of its own number.
std::unique_ptr<net::Mpi> Stage::make_mpi(bool in_host) const {
  std::vector<net::Mpi::Rank> all;
  const bool own_rail = machine_.places.size() > 1;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const std::string& place = machine_.network.node.units[memory(rank).unit].name;
    const auto local =
        static_cast<std::uint32_t>(std::ranges::find(machine_.places, place) - machine_.places.begin());
    all.push_back({in_host ? host(rank) : memory(rank), host(rank), own_rail ? local : 0});
  }
  return std::make_unique<net::Mpi>(network_, machine_.host, net::find_mpi(machine_, setup_.library), all);
}

net::Mpi& Stage::mpi() {
  if (!mpi_) mpi_ = make_mpi(false);
  return *mpi_;
}

net::Mpi& Stage::host_mpi() {
  if (!host_mpi_) host_mpi_ = make_mpi(true);
  return *host_mpi_;
}

net::Endpoint Stage::memory(std::uint32_t rank) const {
  return {setup_.places[rank].node, setup_.places[rank].unit};
}

net::Endpoint Stage::host(std::uint32_t rank) const { return {setup_.places[rank].node, host_unit_}; }

bool Stage::reaches(std::uint32_t from, std::uint32_t to) const {
  return way_.way != Way::none && memory(from).node / way_.nodes == memory(to).node / way_.nodes;
}

std::uint32_t Stage::channels() const {
  if (way_.way != Way::chains) return 1;
  const net::Description& network = machine_.network;
  return network.node.units[network.interconnects[way_.interconnect].nic].dma->channels;
}

int Stage::sub_cluster(std::uint32_t rank) const {
  return way_.way == Way::none ? 0 : static_cast<int>(memory(rank).node / way_.nodes);
}

std::uint32_t Stage::distance(std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t here = memory(from).node, there = memory(to).node;
  if (here == there) return 0;
  if (!reaches(from, to)) return network_.nodes();
  return network_.distance(here, there, way_.interconnect);
}

std::unique_ptr<Stage> Stage::idle() const {
  Setup setup = setup_;
  setup.fidelity = net::Fidelity::train;  // packets of a put that is alone come at the same times
  setup.keeps_spans = false;
  return std::make_unique<Stage>(machine_, std::move(setup));
}

des::Task Stage::kernel(std::uint32_t rank, std::string_view what, double bytes, double flops) {
  const net::GpuKind& gpu = machine_.gpu;
  const des::Time begin = simulator_.now() + gpu.launch;
  const des::Time end = begin + net::kernel_time(gpu, bytes, flops);
  ledger_.spend(rank, Cost::launches, "launch", begin - gpu.launch, begin);
  ledger_.spend(rank, Cost::kernels, what, begin, end);
  ledger_.spend(rank, Cost::launches, "synchronise", end, end + gpu.synchronise);
  co_await simulator_.sleep_until(end + gpu.synchronise);
}

des::Task Stage::spend(std::uint32_t rank, std::string_view what, des::Time time) {
  ledger_.spend(rank, Cost::host, what, simulator_.now(), simulator_.now() + time);
  co_await simulator_.sleep(time);
}

des::Task Stage::start(std::uint32_t rank, std::uint32_t channel, Chain& chain) {
  const std::size_t posts = way_.way == Way::cards ? chain.puts.size() : 1;
  if (way_.way == Way::chains && chain.dma.descriptors.empty()) compile(rank, chain);
  for (std::size_t post = 0; post < posts; ++post) {
    des::Task posted = spend(rank, "post", machine_.host.post);
    co_await posted;
    if (post == 0) simulator_.spawn(follow(rank, channel, chain), {"the chain of rank", rank});
    if (way_.way != Way::cards) continue;
    const Put& put = chain.puts[post];
    ape_->put({.from = memory(rank),
               .to = memory(put.to),
               .bytes = put.rows.total(),
               .arrived = put.arrived,
               .sent = put.notifies ? &chain.sent : nullptr});
  }
  if (way_.way == Way::chains) hub_->start(memory(rank).node, channel, chain.dma);
  if (way_.way == Way::stores) start_engine(rank, chain);
}

void Stage::compile(std::uint32_t rank, Chain& chain) {
  for (const Put& put : chain.puts)
    chain.dma.descriptors.push_back({.from = memory(rank),
                                     .to = memory(put.to),
                                     .rows = put.rows,
                                     .arrived = put.arrived,
                                     .sent = put.notifies ? &chain.sent : nullptr});
}

// Records in the ledger how long the chain is under way: until its own flags or, if it has none, its last
// arrival have been seen.
des::Task Stage::follow(std::uint32_t rank, std::uint32_t channel, Chain& chain) {
  const des::Time begin = simulator_.now();
  des::Counter& end = chain.notices() > 0 ? chain.sent : *chain.puts.back().arrived;
  const std::uint64_t more = chain.notices() > 0 ? chain.notices() : 1;
  co_await end.reached(end.value() + more);
  ledger_.move(rank, channel, chain.bytes(), begin, simulator_.now());
}

void Stage::start_engine(std::uint32_t rank, Chain& chain) {
  std::vector<net::EnginePut> puts;
  for (const Put& put : chain.puts)
    puts.push_back({.from = memory(rank),
                    .to = memory(put.to),
                    .rows = {put.rows},
                    .arrived = put.arrived,
                    .sent = put.notifies ? &chain.sent : nullptr});
  engines_->start(memory(rank), std::move(puts));
}

des::Task Stage::store(std::uint32_t rank, std::uint32_t to, std::uint32_t bytes, des::Counter& arrived) {
  des::Task posted = spend(rank, "store", machine_.host.post);
  co_await posted;
  if (way_.way == Way::stores) {
    engines_->store(memory(rank), memory(to), bytes, arrived);
    co_return;
  }
  if (way_.way == Way::chains) {
    hub_->store(host(rank).node, host(to), bytes, &arrived);
    co_return;
  }
  network_.send({.from = host(rank),
                 .to = host(to),
                 .interconnect = way_.interconnect,
                 .bytes = bytes,
                 .arrived = &arrived});
}

des::Task Stage::watch(std::uint32_t rank, const std::vector<des::Counter*>& counters, std::uint64_t value) {
  if (counters.empty()) co_return;
  const des::Time begin = simulator_.now();
  for (des::Counter* counter : counters) co_await counter->reached(value);
  ledger_.spend(rank, Cost::puts, "wait", begin, simulator_.now());
  des::Task polled = spend(rank, "poll", machine_.host.poll);
  co_await polled;
}

des::Task Stage::watch(std::uint32_t rank, des::Counter& counter, std::uint64_t value) {
  const std::vector<des::Counter*> one{&counter};
  des::Task watched = watch(rank, one, value);
  co_await watched;
}

des::Task Stage::finish(std::uint32_t rank, des::Group& messages) {
  const des::Time begin = simulator_.now();
  co_await messages.done();
  ledger_.spend(rank, Cost::messages, "MPI", begin, simulator_.now());
}

}  // namespace tca::tool
