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
      channels_(make_channels({*machine_, network_, places_})) {
  if (channels_.empty())
    base::fail(Errc::invalid_argument, "nothing carries data between the ranks of {}", machine_->name);
  for (const auto& channel : channels_) names_.push_back(channel->name());
}

Model::Model(const std::string& machine, int ranks, net::Fidelity fidelity)
    : machine_(read(machine, ranks)),
      fidelity_(fidelity),
      hardware_(machine_, ranks, fidelity),
      turns_(simulator(), ranks) {}

std::shared_ptr<Gathering> Model::gather(int rank, const base::Blob& mine) {
  if (gathering_ == nullptr) gathering_ = std::make_shared<Gathering>(ranks());
  const std::shared_ptr<Gathering> now = gathering_;
  now->blobs[static_cast<std::size_t>(rank)] = mine;
  // A rank that gave up when it was told of a deadlock may come again.
  now->count += !now->here[static_cast<std::size_t>(rank)];
  now->here[static_cast<std::size_t>(rank)] = true;
  now->latest = std::max(now->latest, turns_.clock(rank));
  if (now->count == ranks()) {
    gathering_ = nullptr;
    for (int other = 0; other < ranks(); ++other) turns_.wake(other);
  }
  return now;
}

std::shared_ptr<Regions> Model::regions(std::uint32_t window) {
  std::shared_ptr<Regions>& known = regions_[window];
  if (known == nullptr) known = std::make_shared<Regions>(ranks());
  const std::shared_ptr<Regions> regions = known;
  if (++regions->taken == ranks()) regions_.erase(window);
  return regions;
}

std::shared_ptr<Part> Model::part(const PartKey& key, std::span<const fabric::Put* const> puts) {
  const auto found = parts_.find(key);
  if (found != parts_.end()) {
    const std::shared_ptr<Part> part = found->second;
    parts_.erase(found);
    return part;
  }
  const auto [chain, from, to, channel] = key;
  auto part = std::make_shared<Part>(simulator(), *hardware_.channels()[channel], immediates(from, to), chain,
                                     from, to, puts);
  parts_[key] = part;
  return part;
}

std::size_t Model::signal_channel(int from, int to) const {
  const auto& channels = hardware_.channels();
  for (std::size_t i = 0; i < channels.size(); ++i)
    if (from == to || channels[i]->reaches(from, to)) return i;
  base::fail(Errc::invalid_argument, "nothing on {} leads from rank {} to rank {}", machine().name, from, to);
}

namespace {

struct Probe {
  Probe(des::Simulator& simulator)
      : sent(simulator, {"a probe's data"}), arrived(simulator, {"a probe's data"}) {}
  Load load;
  des::Counter sent, arrived;
};

des::Task send(Channel& channel, Probe& probe) {
  std::vector<Load*> loads(1, &probe.load);
  des::Task sent = channel.send(std::move(loads), 0);
  co_await sent;
}

}  // namespace

// The probe runs on hardware of its own, so that it does not disturb that of the program. This hardware comes
// to rest after each probe.
double Model::predict_us(std::size_t channel, int from, int to, const base::Shape& shape) {
  Channel& own = *hardware_.channels()[channel];
  const std::uint32_t distance = from == to ? 0 : own.distance(from, to);
  const PutKey key{channel,   distance,    hardware_.place(from).local, hardware_.place(to).local,
                   shape.run, shape.runs()};
  const auto [known, is_new] = predicted_.try_emplace(key, 0);
  if (!is_new || shape.bytes() == 0) return known->second;
  if (idle_ == nullptr) idle_ = std::make_unique<Hardware>(machine_, ranks(), fidelity_);
  des::Simulator& simulator = idle_->simulator();
  Channel& probed = *idle_->channels()[channel];
  Probe probe(simulator);
  probe.load = {.from = from,
                .to = to,
                .puts = {{.bytes = shape.run, .count = shape.runs()}},
                .sent = &probe.sent,
                .arrived = &probe.arrived};
  if (from == to) {
    simulator.spawn(probed.copy(probe.load), {"a probe"});
  } else {
    if (probed.has_receives()) probed.receive(probe.load);
    simulator.spawn(send(probed, probe), {"a probe"});
  }
  const des::Time begin = simulator.now();
  while (probe.arrived.value() == 0 && simulator.step()) continue;
  const des::Time took = simulator.now() - begin;
  simulator.run();
  return known->second = des::to_us(took + probed.notice());
}

}  // namespace tca::sim
