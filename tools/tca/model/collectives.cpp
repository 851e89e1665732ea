// Collectives by the library's own algorithms, of which the library's own choice takes the cheapest.
#include <algorithm>
#include <map>
#include <memory>

#include "base/fail.hpp"
#include "coll/choose.hpp"
#include "model/program.hpp"
#include "model/walk.hpp"

namespace tca::tool {

namespace {

// Prices a put by running it alone, on a second stage where nothing else happens, as the fabric `sim` does
// for the route.
class Prices {
 public:
  explicit Prices(Stage& stage) : stage_(stage) {}

  double us(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier) {
    const net::Endpoint source = stage_.memory(from), target = stage_.memory(to);
    const auto [known, is_new] =
        us_.try_emplace(Key{carrier, stage_.distance(from, to), source.unit, target.unit, bytes}, 0);
    if (is_new) known->second = run(from, to, bytes, carrier);
    return known->second;
  }

 private:
  using Key = std::tuple<Carrier, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;

  double run(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Carrier carrier) {
    if (!idle_) idle_ = stage_.idle();
    Steps steps(*idle_);
    steps.put({from, 0}, {to, 0}, {.bytes = bytes}, carrier);
    const des::Time begin = idle_->simulator().now();
    for (const std::uint32_t rank : {from, to})
      idle_->simulator().spawn(steps.run({rank, 0}, 1), {"rank", rank});
    idle_->simulator().run();
    return des::to_us(idle_->simulator().now() - begin);
  }

  Stage& stage_;
  std::unique_ptr<Stage> idle_;
  std::map<Key, double> us_;
};

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

// The hybrid scheme takes for each put what is faster by itself, as the route does.
Walk::Carry carry_by(Scheme scheme, Stage& stage, Prices& prices) {
  if (scheme == Scheme::mpi) return [](auto...) { return Carrier::mpi; };
  if (scheme == Scheme::direct) return [](auto...) { return Carrier::chain; };
  return [&](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    if (!stage.reaches(from, to)) return Carrier::mpi;
    const double direct = prices.us(from, to, bytes, Carrier::chain);
    return direct <= prices.us(from, to, bytes, Carrier::mpi) ? Carrier::chain : Carrier::mpi;
  };
}

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
