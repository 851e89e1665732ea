#include "fabric/sim/model.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace tca::sim {

namespace {

std::vector<Place> places_of(const net::Machine& machine, int ranks) {
  const auto each = static_cast<std::uint32_t>(machine.places.size());
  // One processor of each node drives its NICs.
  const std::uint32_t host = net::nearest_host(machine.network.node, net::place_of_rank(machine, 0).unit);
  std::vector<Place> places;
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(ranks); ++rank) {
    const net::RankPlace at = net::place_of_rank(machine, rank);
    places.push_back({{at.node, at.unit}, {at.node, host}, rank % each});
  }
  return places;
}

std::shared_ptr<const net::Machine> read(const std::string& name, int ranks) {
  auto machine = std::make_shared<net::Machine>(net::read_machine(name));
  net::check_ranks(*machine, static_cast<std::uint64_t>(ranks));
  return machine;
}

}  // namespace

Hardware::Hardware(std::shared_ptr<const net::Machine> machine, int ranks, net::Fidelity fidelity)
    : machine_(std::move(machine)),
      network_(simulator_, machine_->network, fidelity),
      places_(places_of(*machine_, ranks)),
      protocols_(make_protocols({*machine_, network_, places_})) {
  if (protocols_.empty())
    base::fail(Errc::invalid_argument, "nothing carries data between the ranks of {}", machine_->name);
  for (const auto& protocol : protocols_) names_.push_back(protocol->name());
}

Model::Model(const std::string& machine, int ranks, net::Fidelity fidelity, base::Fibers* fibers)
    : machine_(read(machine, ranks)),
      fidelity_(fidelity),
      hardware_(machine_, ranks, fidelity),
      scheduler_(simulator(), ranks, fibers) {}

void Model::expect_faults(std::string_view text, std::string_view asker) {
  faults_ = std::make_shared<Faults>(hardware_.site(), text, asker, scheduler_);
  scheduler_.set_remark([this] {
    const std::string happened = faults_->happened();
    return happened.empty() ? happened : fmt::format("\n  what has failed: {}", happened);
  });
}

// A rank that gave up when it was told of a deadlock may come again.
void Gathering::add(std::size_t number, const base::Blob& mine, des::Time clock) {
  blobs[number] = mine;
  count += !here[number];
  here[number] = true;
  latest = std::max(latest, clock);
}

std::shared_ptr<Gathering> Model::gather(int rank, const base::Blob& mine, const control::Ballot& ballot,
                                         std::span<const int> readers) {
  if (gathering_ == nullptr) gathering_ = std::make_shared<Gathering>(ranks());
  const std::shared_ptr<Gathering> now = gathering_;
  now->ballot.add(ballot);
  if (!now->here[static_cast<std::size_t>(rank)])
    for (const int reader : readers) now->senders[static_cast<std::size_t>(reader)].push_back(rank);
  now->add(static_cast<std::size_t>(rank), mine, scheduler_.clock(rank));
  if (now->is_complete()) {
    gathering_ = nullptr;
    for (int other = 0; other < ranks(); ++other) scheduler_.wake(other);
  }
  return now;
}

std::shared_ptr<Gathering> Model::gather_among(int rank, const control::Subset& subset,
                                               const base::Blob& mine) {
  const std::vector<int>& ranks = subset.ranks;
  const std::pair key(subset.key, subset.exchanges);
  std::shared_ptr<Gathering>& known = gatherings_[key];
  if (known == nullptr) known = std::make_shared<Gathering>(static_cast<int>(ranks.size()));
  const std::shared_ptr<Gathering> now = known;
  now->add(static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin()), mine,
           scheduler_.clock(rank));
  if (now->is_complete()) {
    gatherings_.erase(key);
    for (const int other : ranks) scheduler_.wake(other);
  }
  return now;
}

std::shared_ptr<Regions> Model::regions(const WindowKey& window, std::size_t members) {
  std::shared_ptr<Regions>& known = regions_[window];
  if (known == nullptr) known = std::make_shared<Regions>(ranks());
  const std::shared_ptr<Regions> regions = known;
  if (++regions->taken == members) regions_.erase(window);
  return regions;
}

std::shared_ptr<Flow> Model::flow(const FlowKey& key, std::span<const fabric::Put* const> puts,
                                  const FlowTerms& terms) {
  const auto found = flows_.find(key);
  if (found != flows_.end()) {
    const std::shared_ptr<Flow> flow = found->second;
    flows_.erase(found);
    return flow;
  }
  const auto [chain, from, to, protocol] = key;
  auto flow = std::make_shared<Flow>(simulator(), hardware_.protocols(), protocol, immediates(from, to),
                                     chain, from, to, puts, terms, faults_);
  flows_[key] = flow;
  return flow;
}

std::size_t Model::signal_protocol(int from, int to) const {
  const auto& protocols = hardware_.protocols();
  for (std::size_t i = 0; i < protocols.size(); ++i)
    if (from == to || (protocols[i]->reaches(from, to) && leads(*protocols[i], from, to))) return i;
  if (faults_ != nullptr && faults_->seen() != 0) {
    base::fail(Errc::path_lost, {.rank = from, .missing = {to}},
               "nothing leads from rank {} to rank {} any more: {}", from, to,
               faults_->describe(from, faults_->seen()));
  }
  base::fail(Errc::invalid_argument, "nothing on {} leads from rank {} to rank {}", machine().name, from, to);
}

namespace {

struct Probe {
  Probe(des::Simulator& simulator)
      : sent(simulator, {"a probe's data"}), arrived(simulator, {"a probe's data"}) {}
  Message message;
  des::Counter sent, arrived;
};

des::Task send(Protocol& protocol, Probe& probe) {
  std::vector<Message*> messages(1, &probe.message);
  des::Task sent = protocol.send(std::move(messages), 0);
  co_await sent;
}

}  // namespace

// The probe runs on separate hardware, so that it does not disturb the program's. This hardware becomes
// idle after each probe.
double Model::predict_us(std::size_t protocol, int from, int to, const base::Shape& shape) {
  Protocol& own = *hardware_.protocols()[protocol];
  const std::uint32_t distance = from == to ? 0 : own.distance(from, to);
  const PutKey key{protocol,  distance,    hardware_.place(from).local, hardware_.place(to).local,
                   shape.run, shape.runs()};
  const auto [known, is_new] = predicted_.try_emplace(key, 0);
  if (!is_new || shape.bytes() == 0) return known->second;
  // A put that has the machine to itself takes the same time by trains. Predictions for RTL are the packet
  // model's, and so are routes.
  if (idle_ == nullptr)
    idle_ = std::make_unique<Hardware>(machine_, ranks(),
                                       fidelity_ == net::Fidelity::rtl ? net::Fidelity::train : fidelity_);
  des::Simulator& simulator = idle_->simulator();
  Protocol& probed = *idle_->protocols()[protocol];
  Probe probe(simulator);
  probe.message = {.from = from,
                   .to = to,
                   .puts = {{.bytes = shape.run, .count = shape.runs()}},
                   .sent = &probe.sent,
                   .arrived = &probe.arrived};
  if (from == to && !probed.loops_back()) {
    simulator.spawn(probed.copy(probe.message), {"a probe"});
  } else {
    if (probed.has_receives()) probed.receive(probe.message);
    simulator.spawn(send(probed, probe), {"a probe"});
  }
  const des::Time begin = simulator.now();
  while (probe.arrived.value() == 0 && simulator.step()) continue;
  const des::Time took = simulator.now() - begin;
  simulator.run();
  return known->second = des::to_us(took + probed.notice());
}

}  // namespace tca::sim
