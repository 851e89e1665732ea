#include "fabric/shm/probe.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/quantile.hpp"

namespace tca::shm {

namespace {

constexpr std::uint32_t batches = 5, round_trips = 40;

// Returns false if the partner does not answer: it may have died, or be kept from its core for longer than
// the turns of other processes take.
bool await(const Signal& signal, std::uint32_t value) {
  constexpr int patience = 1 << 24;
  for (int polls = 0; polls < patience; ++polls) {
    // Acquire: pairs with the release of the partner's answer.
    if (base::reached(signal.arrive.load(std::memory_order_acquire), value)) return true;
  }
  return false;
}

// Returns the time of the quickest batch, since anything may delay the others; 0 if none was answered. Both
// ranks stop if one does.
double ping_pong_ns(Signal& in, Signal& out, bool first) {
  double best = 0;
  std::uint32_t value = 0;
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint32_t i = 0; i < round_trips; ++i) {
      ++value;
      if (!first && !await(in, value)) return best;
      out.arrive.store(value, std::memory_order_release);
      if (first && !await(in, value)) return best;
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    const double crossing = took.count() / (2 * round_trips);
    if (batch == 0 || crossing < best) best = crossing;
  }
  return best;
}

bool same(const std::vector<int>& place, int a, int b) {
  return place[static_cast<std::size_t>(a)] == place[static_cast<std::size_t>(b)];
}

// Pairs the ranks of each sub-cluster in order; returns -1 for one that is left over.
int partner_of(int rank, const std::vector<int>& sub_cluster) {
  std::vector<int> members;
  for (int other = 0; other < static_cast<int>(sub_cluster.size()); ++other)
    if (same(sub_cluster, rank, other)) members.push_back(other);
  const auto at = static_cast<std::size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
  return (at ^ 1) < members.size() ? members[at ^ 1] : -1;
}

}  // namespace

double measure_crossing_ns(const Inbox& inbox, control::Control& control, const control::Places& places) {
  const int rank = control.rank(), partner = partner_of(rank, places.sub_cluster);
  double mine = 0;
  if (partner >= 0 && control.cores() == base::Cores::enough)
    mine = ping_pong_ns(inbox.probe(rank), inbox.probe(partner), rank < partner);
  std::vector<double> all;
  for (const double theirs : control.all_gather_value(mine, "start-up (distances)"))
    if (theirs > 0) all.push_back(theirs);
  return base::median(std::move(all));
}

}  // namespace tca::shm
