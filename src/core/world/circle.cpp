#include "core/world/circle.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "core/world/world_state.hpp"

namespace tca::core {

namespace {

// Ranks, and the partners of each: what a rank knows about its circle.
using Known = std::map<int, std::set<int>>;

base::Blob encode(const Known& known) {
  base::Writer writer;
  for (const auto& [rank, partners] : known) {
    writer.put(rank).put(partners.size());
    for (const int partner : partners) writer.put(partner);
  }
  return writer.blob();
}

void learn(Known& known, const base::Blob& theirs) {
  for (base::Reader reader(theirs); !reader.done();) {
    std::set<int>& partners = known[reader.get<int>()];
    for (auto n = reader.get<std::size_t>(); n > 0; --n) partners.insert(reader.get<int>());
  }
}

// Returns the maximum number of steps from one rank to any other, which every rank that knows all of them
// computes alike; nothing if this rank does not know all.
std::optional<std::size_t> rounds_for(const Known& known) {
  std::set<int> reached{known.begin()->first};
  std::vector<int> frontier(reached.begin(), reached.end());
  std::size_t distance = 0;
  while (true) {
    std::vector<int> next;
    for (const int rank : frontier) {
      const auto found = known.find(rank);
      if (found == known.end()) return std::nullopt;
      for (const int partner : found->second)
        if (reached.insert(partner).second) next.push_back(partner);
    }
    if (next.empty()) return std::min(2 * distance, reached.size() - 1);
    frontier = std::move(next);
    ++distance;
  }
}

}  // namespace

// Every rank exchanges what it knows with its partners, round after round, until all know everything. Pairs
// meet in rank order, so of the pairs that are next, the first can always meet.
Circle& find_circle(WorldState& world, const std::set<int>& partners, std::chrono::milliseconds time_limit,
                    std::string_view what) {
  Known known{{world.rank(), partners}};
  for (std::size_t round = 0;; ++round) {
    const std::optional<std::size_t> rounds = rounds_for(known);
    if (rounds && round >= *rounds) break;
    for (const int partner : partners) {
      control::Control& pair =
          world.circle({std::min(world.rank(), partner), std::max(world.rank(), partner)}).control();
      const TimeLimit limit(pair, time_limit);
      for (const base::Blob& theirs : pair.all_gather(encode(known), what)) learn(known, theirs);
    }
  }
  std::vector<int> ranks;
  for (const auto& [rank, theirs] : known) ranks.push_back(rank);
  return world.circle(ranks);
}

}  // namespace tca::core
