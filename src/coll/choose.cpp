#include "coll/choose.hpp"

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coll/algorithms.hpp"

namespace tca::coll {

namespace {

constexpr std::array<std::pair<std::string_view, Algorithm>, 12> algorithms{{
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
    {"all_to_leaders", all_to_leaders},
}};

// Two streams in and one out, in a core's own caches.
constexpr double combine_ns_per_byte = 0.05;

// With more ranks than cores a round takes as long as the scheduler needs to bring everyone on: four ranks on two cores
// come past a barrier in 3 to 5 us, and a core passes from one rank to the next in about 1 us.
constexpr double crowded_us = 4, turn_us = 1, unknown_us = 0.1;

// What one leader puts to everybody alone outgrows the caches that the table's costs know: with 4 KB from each of eight ranks
// an allgather by `all_to_leaders` took 1.4 times as long as by `leaders`.
constexpr double few_bytes = 8192;

// What leaves a sub-cluster goes through one network card, or through one MPI: with a core a rank, a broadcast of 64 bytes to two
// sub-clusters of four took 1.4 us with one message between them and 2.1 with four at once, by as many rounds.
constexpr double queued_part = 0.25;

// Beyond these many ranks not all of them are looked at.
constexpr int all_ranks_up_to = 64;

}  // namespace

Costs::Costs(const core::WorldState& of, std::size_t bytes)
    : world(of), element_bytes(bytes), sub_cluster(of.sub_cluster_of_ranks()) {
  const double line_us = 1e-3 * world.fabrics().front()->pricing().crossing_ns();
  const bool crowded = world.control().crowded();
  if (crowded) cores = world.control().usable_cores;
  latency_us = crowded       ? std::max(crowded_us, turn_us * world.size() / cores)
               : line_us > 0 ? line_us
                             : unknown_us;
}

// Within a sub-cluster the first fabric may carry it; others reach beyond.
double Costs::put_us(int from, const Put& put) const {
  base::Shape shape;
  shape.run = static_cast<std::uint64_t>(put.count) * element_bytes;
  double best = std::numeric_limits<double>::max();
  for (const auto& fabric : world.fabrics()) {
    if (crosses(from, put.to) && fabric == world.fabrics().front() && world.fabrics().size() > 1) continue;
    for (std::size_t p = 0; p < fabric->protocols().size(); ++p) {
      const auto protocol = static_cast<int>(p);
      std::optional<double> us = fabric->pricing().predict_us(protocol, from, put.to, shape);
      if (!us && fabric->carries(protocol, put.to))
        us = world.costs().predict_us(*fabric, p, from, put.to, shape, 1);
      best = std::min(best, us.value_or(best));
    }
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

double Costs::crossing_us(int rank, const Round& round) const {
  double us = 0;
  for (const Put& put : round.puts)
    if (crosses(rank, put.to)) us += put_us(rank, put);
  return us;
}

namespace {

// The ranks to look at: the root, and those beside which a tree or a fold is uneven, when there are too many for all.
std::set<int> sample(const Problem& problem) {
  std::set<int> ranks{0, 1 % problem.ranks, problem.root, problem.ranks - 1};
  for (int rank = 0; rank < problem.ranks && problem.ranks <= all_ranks_up_to; ++rank) ranks.insert(rank);
  return ranks;
}

// What the ranks of a sub-cluster send out at once.
struct Crossing {
  std::map<int, double> us;  // by sub-cluster
  double most_us = 0;        // of one rank

  void add(int sub_cluster, double of_rank_us) {
    us[sub_cluster] += of_rank_us;
    most_us = std::max(most_us, of_rank_us);
  }
  // How long each waits for the others.
  double queue_us() const {
    double most = 0;
    for (const auto& [number, sum] : us) most = std::max(most, sum);
    return queued_part * std::max(0.0, most - most_us);
  }
};

// A round takes as long as its busiest rank, and where ranks share cores at least as long as the cores take for all. There a
// round takes a turn of all ranks besides, but less in the first one, which those that wait for nobody leave at once.
double predict_us(Algorithm make, Problem problem, const Costs& costs) {
  struct Load {
    bool idle = true;
    double most = 0, sender_most = 0, sum = 0;
    int waiting = 0;
    Crossing crossing;
  };
  std::vector<Load> rounds;
  const std::set<int> ranks = sample(problem);
  for (const int rank : ranks) {
    problem.rank = rank;
    const Schedule schedule = *make(problem);
    rounds.resize(schedule.rounds.size());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const double us = costs.work_us(rank, schedule.rounds[i]);
      const double crossing = costs.crossing_us(rank, schedule.rounds[i]);
      rounds[i].idle &= schedule.rounds[i].idle();
      rounds[i].most = std::max(rounds[i].most, us);
      // A message costs both its ends as much; within a sub-cluster one end does nearly everything.
      rounds[i].sender_most = std::max(rounds[i].sender_most, us - crossing / 2);
      rounds[i].crossing.add(costs.sub_cluster[static_cast<std::size_t>(rank)], crossing);
      rounds[i].sum += us;
      rounds[i].waiting += !schedule.rounds[i].expected.empty();
    }
  }
  double us = 0;
  bool first = true;
  for (const Load& round : rounds) {
    if (round.idle) continue;
    const auto sampled = static_cast<double>(ranks.size());
    if (costs.cores == 0) {
      us += costs.latency_us + round.most;
      // A few ranks do not tell how many do as they do.
      if (problem.ranks <= all_ranks_up_to) us += round.crossing.queue_us();
    } else {
      us += costs.latency_us * (first ? (1 + round.waiting / sampled) / 2 : 1) +
            std::max(round.sender_most, round.sum / sampled * problem.ranks / costs.cores);
      first = false;
    }
  }
  return us;
}

bool is_for_fewer_bytes(Algorithm make, const Problem& problem, const Costs& costs) {
  const double blocks = problem.kind == Kind::all_gather ? problem.ranks : 2;
  return make == all_to_leaders &&
         blocks * static_cast<double>(problem.count) * static_cast<double>(costs.element_bytes) > few_bytes;
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const Costs& costs) {
  std::vector<Candidate> all;
  for (const auto& [name, make] : algorithms) {
    if (problem.ranks == 1 && make != one_shot) continue;  // there is nothing to send
    if (make(problem))
      all.push_back({name, make, predict_us(make, problem, costs), is_for_fewer_bytes(make, problem, costs)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.for_fewer_bytes, a.predicted_us) < std::pair(b.for_fewer_bytes, b.predicted_us);
  });
  return all;
}

}  // namespace tca::coll
