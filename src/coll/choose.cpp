#include "coll/choose.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

namespace {

constexpr std::array<std::pair<std::string_view, Algorithm>, 13> algorithms{{
    {"flat", flat},
    {"recursive_doubling", recursive_doubling},
    {"dissemination", dissemination},
    {"binomial", binomial},
    {"scatter_allgather", scatter_allgather},
    {"reduce_scatter_allgather", reduce_scatter_allgather},
    {"pairwise", pairwise},
    {"ring", ring},
    {"hierarchical", hierarchical},
    {"hierarchical_binomial", hierarchical_binomial},
    {"multi_lane", multi_lane},
    {"two_level", two_level},
    {"flat_to_leaders", flat_to_leaders},
}};

// Former names, and their present ones. They are accepted until 1.0.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> old_names{{
    {"one_shot", "flat"},
    {"split", "scatter_allgather"},
    {"split", "reduce_scatter_allgather"},
    {"leaders", "hierarchical"},
    {"leaders_and_trees", "hierarchical_binomial"},
    {"counterparts", "multi_lane"},
    {"two_shots", "two_level"},
    {"all_to_leaders", "flat_to_leaders"},
}};

// The cost of combining: two streams in and one out, in a core's own caches.
constexpr double combine_ns_per_byte = 0.05;

// With more ranks than cores a round takes as long as the scheduler needs to run every rank. Four ranks on
// two cores pass a barrier in 3 to 5 us, and a core switches from one rank to the next in about 1 us.
constexpr double crowded_us = 4, turn_us = 1;

// Beyond this many bytes, what a single leader puts to all others outgrows the caches on which the table's
// costs are based. With 4 KB from each of eight ranks an allgather by `flat_to_leaders` took 1.4 times as
// long as by `hierarchical`.
constexpr double few_bytes = 8192;

// The fraction of their time that messages of one sub-cluster wait for each other: everything that leaves
// it passes through one network card, or through one MPI. With a core per rank, a broadcast of 64 bytes to
// two sub-clusters of four took 1.4 us with one message between them, and 2.1 us with four at once, in the
// same number of rounds.
constexpr double queued_part = 0.25;

// With more ranks than this, only some of them are examined.
constexpr int all_ranks_up_to = 64;

}  // namespace

bool is_called(std::string_view algorithm, std::string_view name) {
  return algorithm == name ||
         std::find(old_names.begin(), old_names.end(), std::pair(name, algorithm)) != old_names.end();
}

WorldCosts::WorldCosts(const core::WorldState& world, std::size_t bytes)
    : Costs(bytes, world.sub_cluster_of_ranks()), world_(world) {
  const double line_us = 1e-3 * world.fabrics().front()->pricing().cache_line_transfer_ns();
  if (world.control().crowded()) {
    cores = world.control().usable_cores;
    latency_us = std::max(crowded_us, turn_us * world.size() / cores);
  } else if (line_us > 0) {
    latency_us = line_us;
  }
}

// Returns the time of the fastest channel. If there are several fabrics, the first one carries puts within
// a sub-cluster only.
double WorldCosts::put_us(int from, const Put& put) const {
  base::Shape shape;
  shape.run = static_cast<std::uint64_t>(put.count) * element_bytes;
  double best = std::numeric_limits<double>::max();
  for (const auto& fabric : world_.fabrics()) {
    if (crosses(from, put.to) && fabric == world_.fabrics().front() && world_.fabrics().size() > 1) continue;
    for (std::size_t p = 0; p < fabric->protocols().size(); ++p) {
      const auto protocol = static_cast<int>(p);
      std::optional<double> us = fabric->pricing().predict_us(protocol, from, put.to, shape);
      if (!us && fabric->carries(protocol, put.to))
        us = world_.costs().predict_us(*fabric, p, from, put.to, shape, 1);
      best = std::min(best, us.value_or(best));
    }
  }
  // For a fabric that the table does not know, 1 us and 10 GB/s are assumed, so that rounds and bytes both
  // count.
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

// Returns the ranks to examine: all or, if there are too many, the root and those at which a tree or a fold
// is uneven.
std::set<int> sample(const Problem& problem) {
  std::set<int> ranks{0, 1 % problem.ranks, problem.root, problem.ranks - 1};
  for (int rank = 0; rank < problem.ranks && problem.ranks <= all_ranks_up_to; ++rank) ranks.insert(rank);
  return ranks;
}

// The time of everything that the ranks of a sub-cluster send to other sub-clusters at once.
struct Crossing {
  std::map<int, double> us;  // by sub-cluster
  double most_us = 0;        // of one rank

  void add(int sub_cluster, double of_rank_us) {
    us[sub_cluster] += of_rank_us;
    most_us = std::max(most_us, of_rank_us);
  }
  // Returns how long each rank waits for the others.
  double queue_us() const {
    double most = 0;
    for (const auto& [number, sum] : us) most = std::max(most, sum);
    return queued_part * std::max(0.0, most - most_us);
  }
};

// Predicts the time of an algorithm as the sum of its rounds. A round takes as long as its busiest rank. If
// ranks share cores it takes at least as long as the cores need for all ranks, plus a turn of all ranks. In
// the first round that turn is shorter, since ranks that wait for nobody leave it at once.
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
      // A message to another sub-cluster costs half of its time at each end. Within a sub-cluster one end
      // does nearly all the work.
      rounds[i].sender_most = std::max(rounds[i].sender_most, us - crossing / 2);
      rounds[i].crossing.add(costs.sub_cluster[static_cast<std::size_t>(rank)], crossing);
      rounds[i].sum += us;
      rounds[i].waiting += !schedule.rounds[i].expected.empty();
    }
  }
  double us = 0, busiest = 0;
  for (const Load& round : rounds) busiest = std::max(busiest, round.most);
  bool first = true;
  for (const Load& round : rounds) {
    if (round.idle) {
      // This is a round of ranks that were not examined, like most rounds of a ring.
      if (problem.ranks > all_ranks_up_to) us += costs.latency_us + busiest;
      continue;
    }
    const auto sampled = static_cast<double>(ranks.size());
    if (costs.cores == 0) {
      us += costs.latency_us + round.most;
      // A sample of the ranks does not tell how many others send at the same time.
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
  const double blocks = problem.kind == CollectiveKind::all_gather ? problem.ranks : 2;
  return make == flat_to_leaders &&
         blocks * static_cast<double>(problem.count) * static_cast<double>(costs.element_bytes) > few_bytes;
}

}  // namespace

std::vector<Candidate> candidates(const Problem& problem, const Costs& costs) {
  std::vector<Candidate> all;
  for (const auto& [name, make] : algorithms) {
    if (problem.ranks == 1 && make != flat) continue;  // there is nothing to send
    if (make(problem))
      all.push_back({name, make, predict_us(make, problem, costs), is_for_fewer_bytes(make, problem, costs)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.for_fewer_bytes, a.predicted_us) < std::pair(b.for_fewer_bytes, b.predicted_us);
  });
  return all;
}

}  // namespace tca::coll
