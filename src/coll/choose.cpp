#include "coll/choose.hpp"

#include <array>
#include <limits>
#include <set>
#include <thread>
#include <utility>

#include "coll/algorithms.hpp"

namespace tca::coll {

namespace {

constexpr std::array<std::pair<std::string_view, Algorithm>, 11> algorithms{{
    {"one_shot", one_shot},
    {"recursive_doubling", recursive_doubling},
    {"dissemination", dissemination},
    {"binomial", binomial},
    {"split", split},
    {"pairwise", pairwise},
    {"ring", ring},
    {"leaders", leaders},
    {"leaders_and_trees", leaders_and_trees},
    {"counterparts", counterparts},
    {"two_shots", two_shots},
}};

// Two streams in and one out, in a core's own caches.
constexpr double combine_ns_per_byte = 0.05;

// With more ranks than cores a round takes as long as the scheduler needs to bring everyone on: four ranks on two cores
// come past a barrier in 3 to 5 us.
constexpr double crowded_us = 4, unknown_us = 0.1;

// Beyond these many ranks not all of them are looked at.
constexpr int all_ranks_up_to = 64;

}  // namespace

Costs::Costs(const core::WorldState& of, std::size_t bytes)
    : world(of), element_bytes(bytes), sub_cluster(of.sub_cluster_of_ranks()) {
  const double crossing_us = 1e-3 * world.fabrics().front()->crossing_ns();
  const bool crowded = world.control().cores() == base::Cores::crowded;
  if (crowded) cores = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  latency_us = crowded ? crowded_us : crossing_us > 0 ? crossing_us : unknown_us;
}

// Within a sub-cluster the first fabric may carry it; others reach beyond.
double Costs::put_us(int from, const Put& put) const {
  base::Shape shape;
  shape.run = static_cast<std::uint64_t>(put.count) * element_bytes;
  const bool within =
      sub_cluster[static_cast<std::size_t>(from)] == sub_cluster[static_cast<std::size_t>(put.to)];
  double best = std::numeric_limits<double>::max();
  for (const auto& fabric : world.fabrics()) {
    if (!within && fabric == world.fabrics().front() && world.fabrics().size() > 1) continue;
    const route::Distance distance = route::distance(fabric->crossing_ns());
    for (std::size_t p = 0; p < fabric->protocols().size(); ++p)
      best = std::min(best, world.costs().predict_us(*fabric, p, distance, shape).value_or(best));
  }
  // A fabric that the table does not know: a µs and 10 GB/s, so that rounds and bytes both count.
  return best < std::numeric_limits<double>::max() ? best : 1 + 1e-4 * static_cast<double>(shape.run);
}

double Costs::work_us(int rank, const Round& round) const {
  double us = 0;
  for (const Put& put : round.puts) us += put_us(rank, put);
  for (const auto* work : {&round.copies, &round.combines}) {
    for (const Combine& combine : *work)
      us += 1e-3 * combine_ns_per_byte * static_cast<double>(combine.operands.size()) *
            static_cast<double>(combine.count) * static_cast<double>(element_bytes);
  }
  return us;
}

namespace {

// The ranks to look at: the root, and those beside which a tree or a fold is uneven, when there are too many for all.
std::set<int> sample(const Problem& problem) {
  std::set<int> ranks{0, 1 % problem.ranks, problem.root, problem.ranks - 1};
  for (int rank = 0; rank < problem.ranks && problem.ranks <= all_ranks_up_to; ++rank) ranks.insert(rank);
  return ranks;
}

// A round takes as long as its busiest rank, and where ranks share cores at least as long as the cores take for all.
double predict_us(Algorithm make, Problem problem, const Costs& costs) {
  struct Load {
    bool idle = true;
    double most = 0, sum = 0;
  };
  std::vector<Load> rounds;
  const std::set<int> ranks = sample(problem);
  for (const int rank : ranks) {
    problem.rank = rank;
    const Schedule schedule = *make(problem);
    rounds.resize(schedule.rounds.size());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const double us = costs.work_us(rank, schedule.rounds[i]);
      rounds[i].idle &= schedule.rounds[i].idle();
      rounds[i].most = std::max(rounds[i].most, us);
      rounds[i].sum += us;
    }
  }
  double us = 0;
  for (const Load& round : rounds) {
    if (round.idle) continue;
    const double all = round.sum * problem.ranks / static_cast<double>(ranks.size());
    us += costs.latency_us + std::max(round.most, costs.cores > 0 ? all / costs.cores : 0);
  }
  return us;
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const Costs& costs) {
  std::vector<Candidate> all;
  for (const auto& [name, make] : algorithms) {
    if (problem.ranks == 1 && make != one_shot) continue;  // there is nothing to send
    if (make(problem)) all.push_back({name, make, predict_us(make, problem, costs)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.predicted_us < b.predicted_us; });
  return all;
}

}  // namespace tca::coll
