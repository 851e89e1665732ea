#include "fabric/sim/faults/faults.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/text/ranks.hpp"

namespace tca::sim {

namespace {

using net::Fault;

double seconds(des::Time time) { return des::to_us(time) * 1e-6; }

// The interconnect whose hubs watch each other: that of PEACH2s or of APEnet+ cards.
std::uint32_t watched_interconnect(const net::Machine& machine, std::string_view asker) {
  const net::Description& network = machine.network;
  for (std::uint32_t i = 0; machine.watch && i < network.interconnects.size(); ++i) {
    const net::UnitKind& nic = network.node.units[network.interconnects[i].nic];
    if (nic.dma || nic.ape) return i;
  }
  base::fail(
      Errc::invalid_argument,
      "{}: {} has no hubs that watch each other (PEACH2, PEACH3 or APEnet+, and [watch] in the machine file)",
      asker, machine.name);
}

}  // namespace

Faults::Faults(const Site& site, std::string_view text, std::string_view asker, Scheduler& scheduler)
    : site_(site), scheduler_(scheduler), views_(site.network.nodes()), told_at_(site.network.nodes()) {
  const std::uint32_t interconnect = watched_interconnect(site.machine, asker);
  site_.network.expect_faults(interconnect, net::read_faults(text, asker), asker, *this);
  watch_ = std::make_unique<net::Watch>(site_.network, *site.machine.watch, site.machine.host.poll,
                                        site.place(0).host.unit, *this);
}

std::uint64_t Faults::enter(Concerned& concerned) {
  concerned_[entered_] = &concerned;
  return entered_++;
}

net::View Faults::seen() const {
  net::View all = 0;
  for (const net::View view : views_) all |= view;
  return all;
}

std::optional<std::size_t> Faults::stopped(int rank, int asker) const {
  const std::vector<Fault>& faults = watch_->faults();
  for (std::size_t fault = 0; fault < faults.size(); ++fault)
    if (faults[fault].kind == Fault::Kind::host && faults[fault].node == node_of(rank) && knows(asker, fault))
      return fault;
  return std::nullopt;
}

void Faults::teach(int rank, net::View view) {
  for (std::size_t fault = 0; fault < watch_->faults().size(); ++fault)
    if ((view >> fault & 1) != 0) watch_->learn(node_of(rank), fault);
}

void Faults::lost(const des::Counter& counter, std::size_t fault) {
  const auto found = counters_.find(&counter);
  if (found != counters_.end()) found->second->lose(fault);
}

void Faults::failed(std::size_t fault) {
  happened_ |= net::View{1} << fault;
  const Fault& what = watch_->faults()[fault];
  if (what.kind != Fault::Kind::host) return;
  for (const int rank : ranks_of({what.node})) {
    scheduler_.stop(
        rank, Error(Errc::rank_lost, fmt::format("rank {} stopped with its {}", rank, net::describe(what)),
                    {.rank = rank, .missing = {rank}}));
  }
}

void Faults::told(std::uint32_t node, std::size_t fault) {
  views_[node] |= net::View{1} << fault;
  told_at_[node].emplace(fault, site_.simulator().now());
  // A review may add others, which have nothing to review yet.
  std::vector<Concerned*> all;
  for (const auto& [number, concerned] : concerned_) all.push_back(concerned);
  for (Concerned* const concerned : all) concerned->review();
  for (const int rank : ranks_of({node})) scheduler_.wake(rank);
}

std::vector<int> Faults::ranks_of(const std::vector<std::uint32_t>& nodes) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < scheduler_.ranks(); ++rank)
    if (std::ranges::binary_search(nodes, node_of(rank))) ranks.push_back(rank);
  return ranks;
}

// Returns the ranks that a rank's hub reaches; none if it reaches all of its sub-cluster.
std::vector<int> Faults::side_of(int rank, net::View view) const {
  const net::Detours& detours = site_.network.damage()->detours;
  const std::vector<int> own = ranks_of(detours.reached(node_of(rank), view));
  return own == ranks_of(detours.sub_cluster(node_of(rank))) ? std::vector<int>() : own;
}

std::string Faults::describe(std::size_t fault) const {
  const net::Watch::Notice& notice = watch_->first_notice(fault);
  const std::string what = net::describe(watch_->faults()[fault]);
  if (notice.at == des::never) return what;
  return fmt::format("{} and which node {} noticed at {:.3f} us", what, notice.node, des::to_us(notice.at));
}

std::string Faults::describe(int rank, net::View view) const {
  std::vector<std::string> all;
  for (std::size_t fault = 0; fault < watch_->faults().size(); ++fault)
    if ((view >> fault & 1) != 0) all.push_back(describe(fault));
  std::string text = fmt::format("{}", fmt::join(all, "; "));
  const std::vector<int> side = side_of(rank, view);
  if (side.empty()) return text;
  std::vector<int> others = ranks_of(site_.network.damage()->detours.sub_cluster(node_of(rank)));
  std::erase_if(others, [&](int other) { return std::ranges::binary_search(side, other); });
  return fmt::format("{}; that cuts rank {} off from rank {}", text, base::list_ranks(side),
                     base::list_ranks(others));
}

std::string Faults::happened() const {
  std::vector<std::string> all;
  for (std::size_t fault = 0; fault < watch_->faults().size(); ++fault)
    if ((happened_ >> fault & 1) != 0) all.push_back(describe(fault));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::vector<KnownFault> Faults::known(int rank) const {
  std::vector<std::pair<des::Time, std::size_t>> order;
  for (const auto& [fault, at] : told_at_[node_of(rank)])
    order.emplace_back(watch_->faults()[fault].at, fault);
  std::ranges::sort(order);
  std::vector<KnownFault> known;
  for (const auto& [at, fault] : order) {
    const net::Watch::Notice& notice = watch_->first_notice(fault);
    known.push_back({.name = net::name_of(watch_->faults()[fault]),
                     .failed = seconds(at),
                     .noticed = seconds(notice.at),
                     .noticed_by = static_cast<int>(notice.node),
                     .told = seconds(told_at_[node_of(rank)].at(fault)),
                     .side = side_of(rank, view(rank))});
  }
  return known;
}

}  // namespace tca::sim
