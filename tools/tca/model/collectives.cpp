// Collectives by the library's own algorithms, of which the library's own choice takes the cheapest.
#include <algorithm>

#include "base/fail.hpp"
#include "coll/choose.hpp"
#include "model/prices.hpp"
#include "model/program.hpp"
#include "model/walk.hpp"

namespace tca::tool {

namespace {

class StageCosts final : public coll::Costs {
 public:
  StageCosts(std::size_t element, std::span<const int> sub_clusters, Prices& prices, const Walk::Carry& carry)
      : Costs(element, sub_clusters), prices_(prices), carry_(carry) {}

  double put_us(int from, const coll::Put& put) const override {
    const auto source = static_cast<std::uint32_t>(from), target = static_cast<std::uint32_t>(put.to);
    const std::uint64_t bytes = put_bytes(put.count, element_bytes);
    return prices_.us(source, target, bytes, carry_(source, target, bytes));
  }

 private:
  Prices& prices_;
  const Walk::Carry& carry_;
};

const coll::Candidate& choose(const std::vector<coll::Candidate>& candidates, const std::string& asked,
                              std::uint32_t ranks) {
  if (asked.empty()) return candidates.front();
  const auto found = std::ranges::find_if(
      candidates, [&](const coll::Candidate& candidate) { return coll::is_called(candidate.name, asked); });
  if (found != candidates.end()) return *found;
  std::vector<std::string_view> names;
  for (const coll::Candidate& candidate : candidates) names.push_back(candidate.name);
  base::fail(Errc::invalid_argument, "--algorithm {}: for {} ranks there are {}", asked, ranks,
             fmt::join(names, ", "));
}

}  // namespace

std::string run_collective(Stage& stage, const Collective& collective) {
  const std::uint64_t element = collective.bytes % sizeof(double) == 0 ? sizeof(double) : 1;
  std::vector<int> sub_clusters;
  for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank) sub_clusters.push_back(stage.sub_cluster(rank));
  const coll::Problem problem{.kind = collective.kind,
                              .rank = 0,
                              .ranks = static_cast<int>(stage.ranks()),
                              .root = 0,
                              .count = static_cast<std::int64_t>(collective.bytes / element),
                              .in_place = true,
                              .own_operation = false,
                              .sub_cluster = sub_clusters};
  Prices prices(stage);
  const Walk::Carry carry = carry_by(collective.scheme, stage, prices);
  const std::vector<coll::Candidate> candidates =
      coll::candidates(problem, StageCosts(element, sub_clusters, prices, carry));
  const coll::Candidate& chosen = choose(candidates, collective.algorithm, stage.ranks());
  Walk walk(stage, chosen.make, problem, element, carry);
  for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank)
    stage.simulator().spawn(walk.play(rank, 1, true), {"rank", rank});
  stage.simulator().run();
  stage.end_iteration(0);
  return std::string(chosen.name);
}

}  // namespace tca::tool
