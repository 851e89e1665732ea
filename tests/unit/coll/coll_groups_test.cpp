// Tests the algorithms for several sub-clusters without a world: plays the schedules of all ranks, round by
// round, for random sub-clusters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "coll/algorithms/algorithms.hpp"
#include "coll/groups.hpp"
#include "seed.hpp"

namespace tca::coll {
namespace {

// An element is a text that tells how it was computed, for example "(a+b)".
using Values = std::vector<std::string>;

struct Memory {
  std::array<Values, 3> buffers;
  bool in_place = false;
  std::int64_t input_first = 0;  // where an input in place begins in the output

  std::string& at(Slice slice, std::int64_t i) {
    const bool shared = in_place && slice.buffer == Buffer::input;
    Values& values = buffers[static_cast<std::size_t>(shared ? Buffer::output : slice.buffer)];
    return values.at(static_cast<std::size_t>(slice.first + i + (shared ? input_first : 0)));
  }
};

struct Machine {
  Problem problem;
  Algorithm algorithm;
  std::vector<Schedule> schedules;
  std::vector<Memory> memory;

  void play() {
    for (int rank = 0; rank < problem.ranks; ++rank) {
      problem.rank = rank;
      schedules.push_back(*algorithm(problem));
      memory[static_cast<std::size_t>(rank)].buffers[2].resize(
          static_cast<std::size_t>(schedules.back().scratch), "nothing");
      ASSERT_EQ(schedules.back().rounds.size(), schedules.front().rounds.size());
    }
    for (std::size_t i = 0; i < schedules.front().rounds.size(); ++i) play(i);
  }

  void play(std::size_t i) {
    std::vector<Memory> sources = memory;
    std::map<int, std::multiset<int>> from;
    for (int rank = 0; rank < problem.ranks; ++rank) {
      for (const Put& put : round(rank, i).puts) {
        ASSERT_NE(put.to, rank);
        from[put.to].insert(rank);
        for (std::int64_t k = 0; k < put.count; ++k) {
          memory[static_cast<std::size_t>(put.to)].at({put.to_buffer, put.to_first}, k) =
              sources[static_cast<std::size_t>(rank)].at({put.from_buffer, put.from_first}, k);
        }
      }
    }
    for (int rank = 0; rank < problem.ranks; ++rank) {
      const std::vector<int>& expected = round(rank, i).expected;
      const std::set<int> senders(from[rank].begin(), from[rank].end());
      EXPECT_EQ(senders, std::set<int>(expected.begin(), expected.end()))
          << "rank " << rank << " round " << i;
      EXPECT_EQ(expected.size(), senders.size()) << "expected twice";
      for (const Combine& copy : round(rank, i).copies) combine(memory[static_cast<std::size_t>(rank)], copy);
      for (const Combine& each : round(rank, i).combines)
        combine(memory[static_cast<std::size_t>(rank)], each);
    }
  }

  const Round& round(int rank, std::size_t i) const {
    return schedules[static_cast<std::size_t>(rank)].rounds[i];
  }

  static void combine(Memory& memory, const Combine& what) {
    for (std::int64_t k = 0; k < what.count; ++k) {
      std::string result = memory.at(what.operands.front(), k);
      if (what.operands.size() > 1) result = "(" + result;
      for (std::size_t i = 1; i < what.operands.size(); ++i) result += memory.at(what.operands[i], k);
      memory.at(what.into, k) = result + (what.operands.size() > 1 ? ")" : "");
    }
  }
};

std::string term(int rank, std::int64_t i) {
  return static_cast<char>('a' + rank) + (i == 0 ? std::string() : std::to_string(i));
}

struct Case {
  std::vector<int> sub_cluster;
  std::int64_t count;
  bool in_place;
  int root;

  int ranks() const { return static_cast<int>(sub_cluster.size()); }
  Problem problem(CollectiveKind kind) const {
    return {kind, 0, ranks(), root, count, in_place, false, sub_cluster};
  }
};

// Fills every rank's input with terms of its own, and its output with rubbish.
std::vector<Memory> memory_for(const Case& test, CollectiveKind kind) {
  std::vector<Memory> all(static_cast<std::size_t>(test.ranks()));
  const bool cut_up = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_to_all;
  const std::int64_t sent = test.count * (cut_up ? test.ranks() : 1);
  const std::int64_t received =
      test.count *
      (kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all ? test.ranks() : 1);
  for (int rank = 0; rank < test.ranks(); ++rank) {
    Memory& memory = all[static_cast<std::size_t>(rank)];
    memory.in_place = test.in_place || kind == CollectiveKind::broadcast;
    memory.input_first = kind == CollectiveKind::all_gather ? rank * test.count : 0;
    memory.buffers[0].resize(static_cast<std::size_t>(sent), "rubbish");
    memory.buffers[1].resize(static_cast<std::size_t>(memory.in_place ? std::max(sent, received) : received),
                             "rubbish");
    for (std::int64_t i = 0; i < sent; ++i) memory.at({Buffer::input, 0}, i) = term(rank, i);
  }
  return all;
}

// Returns the element that a rank's result must have in the end.
using Expected = std::function<std::string(int rank, std::int64_t i)>;

void expect_everywhere(const Case& test, CollectiveKind kind, Algorithm algorithm, const Expected& expected) {
  Machine machine{test.problem(kind), algorithm, {}, memory_for(test, kind)};
  ASSERT_NO_FATAL_FAILURE(machine.play());
  for (int rank = 0; rank < test.ranks(); ++rank) {
    const Values& output = machine.memory[static_cast<std::size_t>(rank)].buffers[1];
    const bool of_block = kind == CollectiveKind::reduce_scatter && test.in_place;
    const std::int64_t first = of_block ? rank * test.count : 0;
    const std::int64_t count = of_block ? test.count : static_cast<std::int64_t>(output.size());
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_EQ(output[static_cast<std::size_t>(first + i)], expected(rank, i))
          << "rank " << rank << ", element " << i;
  }
}

// Returns a sum with brackets around the terms of each sub-cluster, and brackets around all of these.
std::string grouped_sum(const Case& test, std::int64_t i) {
  const Groups groups(test.problem(CollectiveKind::all_reduce));
  std::string sum = "(";
  for (int group = 0; group < groups.count(); ++group) {
    std::string part;
    for (const int rank : groups.members(group)) part += term(rank, i);
    sum += groups.members(group).size() > 1 ? "(" + part + ")" : part;
  }
  return sum + ")";
}

// Returns the sum of all terms in rank order, in one pair of brackets.
std::string plain_sum(const Case& test, std::int64_t i) {
  std::string sum;
  for (int rank = 0; rank < test.ranks(); ++rank) sum += term(rank, i);
  return "(" + sum + ")";
}

void expect_all_right(const Case& test) {
  const auto all = [&](CollectiveKind kind, const Expected& expected) {
    for (const Algorithm algorithm : {hierarchical, hierarchical_binomial, multi_lane, two_level}) {
      if (algorithm(test.problem(kind))) expect_everywhere(test, kind, algorithm, expected);
    }
  };
  const Expected gathered = [&](int, std::int64_t i) {
    return term(static_cast<int>(i / test.count), i % test.count);
  };
  all(CollectiveKind::broadcast, [&](int, std::int64_t i) { return term(test.root, i); });
  all(CollectiveKind::all_gather, gathered);
  all(CollectiveKind::all_reduce, [&](int, std::int64_t i) { return grouped_sum(test, i); });
  all(CollectiveKind::reduce_scatter,
      [&](int rank, std::int64_t i) { return grouped_sum(test, rank * test.count + i); });
  all(CollectiveKind::all_to_all, [&](int rank, std::int64_t i) {
    return term(static_cast<int>(i / test.count), rank * test.count + i % test.count);
  });
  if (!flat_to_leaders(test.problem(CollectiveKind::all_reduce))) return;  // there is only one sub-cluster
  expect_everywhere(test, CollectiveKind::all_gather, flat_to_leaders, gathered);
  expect_everywhere(test, CollectiveKind::all_reduce, flat_to_leaders,
                    [&](int, std::int64_t i) { return plain_sum(test, i); });
}

TEST(CollGroups, EverySubClusterRootAndCount) {
  const test::Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    Case test;
    test.sub_cluster.resize(2 + random() % 11);
    const bool equal = random() % 2 == 0 && test.sub_cluster.size() % 2 == 0;
    const std::size_t groups = equal ? 2 : 1 + random() % 5;
    for (std::size_t rank = 0; rank < test.sub_cluster.size(); ++rank)
      test.sub_cluster[rank] = static_cast<int>(equal ? rank % groups : random() % groups);
    test.count = static_cast<std::int64_t>(1 + random() % 9);
    test.in_place = random() % 2 == 0;
    test.root = static_cast<int>(random() % test.sub_cluster.size());
    expect_all_right(test);
  }
}

void expect_all_heard(const Case& test, Algorithm algorithm) {
  Machine machine{
      test.problem(CollectiveKind::barrier), algorithm, {}, memory_for(test, CollectiveKind::barrier)};
  ASSERT_NO_FATAL_FAILURE(machine.play());
  // The ranks that each rank has heard of, updated round by round.
  std::vector<std::set<int>> heard;
  for (int rank = 0; rank < test.ranks(); ++rank) heard.push_back({rank});
  for (std::size_t i = 0; i < machine.schedules.front().rounds.size(); ++i) {
    const std::vector<std::set<int>> before = heard;
    for (int rank = 0; rank < test.ranks(); ++rank) {
      for (const Put& put : machine.round(rank, i).puts) {
        const std::set<int>& known = before[static_cast<std::size_t>(rank)];
        heard[static_cast<std::size_t>(put.to)].insert(known.begin(), known.end());
      }
    }
  }
  for (const std::set<int>& each : heard) EXPECT_EQ(each.size(), 6u);
}

TEST(CollGroups, NobodyPassesABarrierBeforeAllHaveCome) {
  const Case test{{0, 0, 0, 1, 1, 2}, 0, true, 0};
  for (const Algorithm algorithm : {hierarchical, two_level, flat_to_leaders})
    expect_all_heard(test, algorithm);
}

// Each sub-cluster exchanges one message each way with the other one, however many ranks it has.
TEST(CollGroups, LeadersAloneSpeakAcross) {
  const Case test{{0, 0, 0, 0, 1, 1, 1, 1}, 5, false, 6};
  for (const CollectiveKind kind : {CollectiveKind::barrier, CollectiveKind::broadcast,
                                    CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
    int across = 0;
    Problem problem = test.problem(kind);
    for (problem.rank = 0; problem.rank < problem.ranks; ++problem.rank) {
      const Schedule schedule = *hierarchical(problem);
      for (const Round& round : schedule.rounds) {
        for (const Put& put : round.puts)
          across += test.sub_cluster[static_cast<std::size_t>(put.to)] !=
                    test.sub_cluster[static_cast<std::size_t>(problem.rank)];
      }
    }
    EXPECT_EQ(across, kind == CollectiveKind::broadcast ? 1 : 2) << static_cast<int>(kind);
  }
}

// When the ranks of the sub-clusters alternate, the order of the terms would not be that of the ranks.
TEST(CollGroups, AnOperationThatMayNotCommuteNeedsRanksInOrder) {
  const std::vector<int> turns{0, 1, 0, 1}, rows{0, 0, 1, 1};
  for (const Algorithm algorithm : {hierarchical, multi_lane, two_level}) {
    EXPECT_FALSE(algorithm({CollectiveKind::all_reduce, 0, 4, 0, 1, false, true, turns}));
    EXPECT_TRUE(algorithm({CollectiveKind::all_reduce, 0, 4, 0, 1, false, true, rows}));
  }
  EXPECT_FALSE(multi_lane({CollectiveKind::reduce_scatter, 0, 4, 0, 1, false, true, turns}));
  EXPECT_TRUE(multi_lane({CollectiveKind::reduce_scatter, 0, 4, 0, 1, false, true, rows}));
  EXPECT_TRUE(flat_to_leaders({CollectiveKind::all_reduce, 0, 4, 0, 1, false, true, turns}));
}

TEST(CollGroups, OneSubClusterHasOtherWays) {
  for (const Algorithm algorithm :
       {hierarchical, hierarchical_binomial, multi_lane, two_level, flat_to_leaders})
    EXPECT_FALSE(algorithm({CollectiveKind::all_gather, 0, 4, 0, 1, false, false, {}}));
}

}  // namespace
}  // namespace tca::coll
