#include "model_stage.hpp"

#include <utility>

namespace tca::tool {

namespace {

constexpr std::uint32_t word_bytes = 8;  // of a doorbell and of a flag

des::Time time_of(std::uint64_t bytes, double bytes_per_s) {
  return des::from_us(static_cast<double>(bytes) / bytes_per_s * 1e6);
}

// The wires out of a unit are alike.
const net::LinkKind& link_at(const net::Description& machine, std::uint32_t unit) {
  for (const net::Wire& wire : machine.node.wires)
    if (wire.a == unit) return machine.links[wire.there];
  return machine.links.front();
}

// The host memory that the fewest wires lead to: that of the socket whose processor drives the GPU.
std::uint32_t nearest_host(const net::NodeKind& node, std::uint32_t unit) {
  std::vector<bool> seen(node.units.size());
  std::deque<std::uint32_t> edge{unit};
  for (seen[unit] = true; !edge.empty(); edge.pop_front()) {
    const std::uint32_t at = edge.front();
    if (node.units[at].memory && !node.units[at].memory->device) return at;
    for (const net::Wire& wire : node.wires) {
      if (wire.a != at && wire.b != at) continue;
      const std::uint32_t next = wire.a == at ? wire.b : wire.a;
      if (!seen[next]) edge.push_back(next);
      seen[next] = true;
    }
  }
  return net::find_unit(node, "host");
}

}  // namespace

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
      network_(simulator_, machine.network, {.fidelity = setup_.fidelity, .observer = nullptr}),
      ledger_(static_cast<std::uint32_t>(setup_.places.size()), setup_.keeps_spans),
      host_unit_(nearest_host(machine.network.node, setup_.places.front().unit)) {
  if (way_.way == Way::chains) peach_ = std::make_unique<net::Peach>(network_, way_.interconnect, host_unit_);
  if (way_.way == Way::cards) ape_ = std::make_unique<net::Ape>(network_, way_.interconnect, host_unit_);
}

// A rank takes the adapter of its own number, where there are several.
std::unique_ptr<net::Mpi> Stage::make_mpi(bool in_host) const {
  std::vector<net::Mpi::Rank> all;
  const bool own_rail = machine_.places.size() > 1;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const auto local = rank % static_cast<std::uint32_t>(machine_.places.size());
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

std::uint64_t Stage::store_limit() const { return link_at(machine_.network, host_unit_).payload_bytes; }

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

des::Task Stage::copy(std::uint32_t rank, std::uint64_t bytes, bool into_gpu) {
  const net::HostKind& host = machine_.host;
  const double rate = into_gpu ? host.to_gpu_bytes_per_s : host.from_gpu_bytes_per_s;
  return spend(rank, "copy", host.copy_start + time_of(bytes, rate));
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
  if (way_.way == Way::chains) peach_->start(memory(rank).node, channel, chain.dma);
  if (way_.way == Way::stores) simulator_.spawn(store_all(rank, chain), {"the engine of rank", rank});
}

void Stage::compile(std::uint32_t rank, Chain& chain) {
  for (const Put& put : chain.puts)
    chain.dma.descriptors.push_back({.from = memory(rank),
                                     .to = memory(put.to),
                                     .rows = put.rows,
                                     .arrived = put.arrived,
                                     .sent = put.notifies ? &chain.sent : nullptr});
}

// For the ledger: until the own flags, or the last arrival, are there.
des::Task Stage::follow(std::uint32_t rank, std::uint32_t channel, Chain& chain) {
  const des::Time begin = simulator_.now();
  des::Counter& end = chain.notices() > 0 ? chain.sent : *chain.puts.back().arrived;
  const std::uint64_t more = chain.notices() > 0 ? chain.notices() : 1;
  co_await end.reached(end.value() + more);
  ledger_.move(rank, channel, chain.bytes(), begin, simulator_.now());
}

// The engine takes the host's word, and stores to all at the same time; a flag follows the data to each, whose engine
// passes it on to its host.
des::Task Stage::store_all(std::uint32_t rank, Chain& chain) {
  des::Counter rung(simulator_, {"the doorbell of rank", rank});
  word(host(rank), memory(rank), word_bytes, rung);
  co_await rung.reached(1);
  des::Group group(simulator_, {"the stores of rank", rank});
  for (const Put& put : chain.puts) group.spawn(store_one(rank, put), {"a put of rank", rank});
  co_await group.done();
  des::Counter told(simulator_, {"the own flag of rank", rank});
  word(memory(rank), host(rank), word_bytes, told);
  co_await told.reached(1);
  chain.sent.add(chain.notices());
}

des::Task Stage::store_one(std::uint32_t rank, Put put) {
  const net::LinkKind& link = link_at(machine_.network, memory(rank).unit);
  des::Task stored = network_.transfer({.from = memory(rank),
                                        .to = memory(put.to),
                                        .interconnect = net::Transfer::inside,
                                        .rows = put.rows,
                                        .packet_bytes = link.payload_bytes,
                                        .window = link.credits});
  co_await stored;
  des::Counter flag(simulator_, {"the flag of a put of rank", rank});
  word(memory(rank), memory(put.to), word_bytes, flag);
  co_await flag.reached(1);
  if (put.arrived != nullptr) word(memory(put.to), host(put.to), word_bytes, *put.arrived);
}

void Stage::word(net::Endpoint from, net::Endpoint to, std::uint32_t bytes, des::Counter& arrived) {
  network_.send(
      {.from = from, .to = to, .interconnect = net::Transfer::inside, .bytes = bytes, .arrived = &arrived});
}

des::Task Stage::store(std::uint32_t rank, std::uint32_t to, std::uint32_t bytes, des::Counter& arrived) {
  des::Task posted = spend(rank, "store", machine_.host.post);
  co_await posted;
  if (way_.way == Way::stores) {
    simulator_.spawn(relay(rank, to, bytes, arrived), {"the engine of rank", rank});
    co_return;
  }
  network_.send({.from = host(rank),
                 .to = host(to),
                 .interconnect = way_.interconnect,
                 .bytes = bytes,
                 .arrived = &arrived});
}

// By way of the engines of both.
des::Task Stage::relay(std::uint32_t rank, std::uint32_t to, std::uint32_t bytes, des::Counter& arrived) {
  des::Counter here(simulator_, {"a word from rank, to rank", rank, to});
  word(host(rank), memory(rank), bytes, here);
  co_await here.reached(1);
  word(memory(rank), memory(to), bytes, here);
  co_await here.reached(2);
  word(memory(to), host(to), bytes, arrived);
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

des::Task Stage::swap(std::uint32_t rank, net::Mpi& mpi, std::uint32_t to, std::uint32_t from,
                      std::uint64_t bytes) {
  des::Group both(simulator_, {"the messages of rank", rank});
  both.spawn(mpi.send(rank, to, bytes), {"send of rank", rank});
  both.spawn(mpi.receive(from, rank, bytes), {"receive of rank", rank});
  des::Task done = finish(rank, both);
  co_await done;
}

}  // namespace tca::tool
