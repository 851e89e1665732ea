// Tests the puts of a single chain: layouts, element sizes, message sizes, and the pairs of ranks.
#include "suite.hpp"

namespace tca::test {
namespace {

struct Pairing {
  Cells source, target;
};

// Returns every form of layout with itself, with a plain block (gather and scatter), and some with another
// pitch on the other side.
std::vector<Pairing> pairings() {
  const Cells row = block_cells(24), rows = block_stride_cells(4, 6, 10), dots = stride_cells(24, 5);
  const Cells line = subarray_cells({40}, {3}, {24}), face = subarray_cells({9, 7}, {1, 2}, {6, 4}),
              wide = subarray_cells({6, 20}, {0, 3}, {6, 4}), full = subarray_cells({8, 4}, {2, 0}, {6, 4}),
              box = subarray_cells({5, 4, 6}, {1, 1, 2}, {2, 3, 4}),
              other_box = subarray_cells({2, 7, 9}, {0, 3, 5}, {2, 3, 4}),
              hyper = subarray_cells({3, 4, 3, 5}, {1, 1, 0, 2}, {2, 2, 2, 3}),
              other_hyper = subarray_cells({4, 3, 5, 4}, {0, 1, 2, 1}, {2, 2, 2, 3});
  std::vector<Pairing> all;
  for (const Cells& cells : {row, rows, dots, line, face, box, hyper}) all.push_back({cells, cells});
  for (const Cells& cells : {rows, dots, line, face, box, hyper}) {
    all.push_back({cells, row});
    all.push_back({row, cells});
  }
  all.push_back({rows, block_stride_cells(4, 6, 17)});
  all.push_back({dots, stride_cells(24, 2)});
  all.push_back({face, wide});
  all.push_back({full, face});
  all.push_back({box, other_box});
  all.push_back({hyper, other_hyper});
  all.push_back({block_cells(1), stride_cells(1, 9)});
  return all;
}

Plan exchange(const Pairing& pairing) {
  Plan plan{.ranks = 2, .element_bytes = 8};
  plan.puts = {{0, 1, pairing.source, pairing.target, 3, 2}, {1, 0, pairing.target, pairing.source, 1, 5}};
  plan.fit(7);
  return plan;
}

std::vector<Plan> over_routes(const std::vector<std::string>& channels, const std::vector<Plan>& plans) {
  std::vector<Plan> all;
  for (const Plan& plan : plans) {
    for (const std::string& channel : channels) {
      for (const bool guarded : {true, false}) {
        all.push_back(plan);
        all.back().channel = channel;
        all.back().guarded = guarded;
      }
    }
  }
  return all;
}

TEST_P(FabricTest, EveryLayoutOnEverySide) {
  std::vector<Plan> plans;
  for (const Pairing& pairing : pairings()) plans.push_back(exchange(pairing));
  run_plans(2, over_routes(channels(), plans));
}

TEST_P(FabricTest, EveryElementSize) {
  std::vector<Plan> plans;
  for (const std::size_t bytes : plan_element_sizes()) {
    for (const Cells& cells : {block_cells(5), stride_cells(7, 3), block_stride_cells(3, 2, 5)}) {
      plans.push_back(exchange({cells, cells}));
      plans.back().element_bytes = bytes;
    }
  }
  run_plans(2, over_routes(channels(), plans));
}

TEST_P(FabricTest, OneByteToMebibytes) {
  std::vector<Plan> plans;
  for (const std::int64_t bytes : {1, 15, 16, 17, 24, 25, 63, 64, 65, 4096, 50'000, 50'003}) {
    plans.push_back(exchange({block_cells(bytes), block_cells(bytes)}));
    plans.back().element_bytes = 1;
  }
  plans.push_back(exchange({block_cells(3 << 15), block_cells(3 << 15)}));
  plans.back().element_bytes = 32;
  plans.back().steps = 2;
  run_plans(2, over_routes(channels(), plans));
}

// Tests rows and single elements that add up to tens of thousands of bytes (not round numbers), a row that is
// longer than what is moved at once, and several layouts in one message, among them a block.
TEST_P(FabricTest, LayoutsOfManyBytes) {
  std::vector<Plan> plans;
  for (const Cells& cells :
       {stride_cells(5003, 3), block_stride_cells(67, 75, 81), block_stride_cells(3, 2111, 2113),
        subarray_cells({9, 40, 31}, {1, 2, 3}, {7, 37, 27})}) {
    plans.push_back(exchange({cells, cells}));
  }
  Plan several{.ranks = 2, .element_bytes = 8};
  const Cells rows = block_stride_cells(67, 75, 81), dots = stride_cells(999, 2), row = block_cells(700);
  std::int64_t offset = 0;
  for (const Cells& cells : {dots, row, rows, dots}) {
    several.puts.push_back({0, 1, cells, cells, offset, offset + 1});
    several.puts.push_back({1, 0, cells, cells, offset + 2, offset});
    offset += cells.end() + 3;
  }
  several.fit(7);
  plans.push_back(several);
  run_plans(2, over_routes(channels(), plans));
}

// Sizes on both sides of the largest message that shares the signal's cache line, and of its rounding.
TEST_P(FabricTest, EveryShortMessage) {
  std::vector<Plan> plans;
  for (std::int64_t bytes = 1; bytes <= 70; ++bytes) {
    plans.push_back(exchange({block_cells(bytes), block_cells(bytes)}));
    plans.back().element_bytes = 1;
    plans.back().steps = 4;
  }
  run_plans(2, over_routes({channels().back()}, plans));
}

TEST_P(FabricTest, PutsToItself) {
  const Cells rows = block_stride_cells(5, 3, 8);
  Plan plan{.ranks = 2, .element_bytes = 4};
  plan.puts = {{0, 0, stride_cells(10, 2), block_cells(10), 0, 0},
               {0, 0, block_cells(6), stride_cells(6, 3), 2, 12},
               {1, 1, rows, rows, 4, 1}};
  plan.fit(3);
  Plan shared = plan;
  shared.one_window = true;
  run_plans(2, over_routes(channels(), {plan, shared}));
}

TEST_P(FabricTest, AWorldOfOne) {
  Plan plan{.ranks = 1, .element_bytes = 16};
  plan.puts = {{0, 0, block_cells(100), stride_cells(100, 2), 0, 0}};
  plan.fit(1);
  run_plans(1, over_routes(channels(), {plan}));
}

// Returns a plan with one put per edge (from, to). Each target keeps the puts that it gets in separate rows.
Plan pattern(int ranks, const std::vector<std::pair<int, int>>& edges) {
  Plan plan{.ranks = ranks, .element_bytes = 4, .steps = 6};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    plan.puts.push_back({edges[i].first, edges[i].second, stride_cells(9, 2), block_cells(9), row, 11 * row});
  }
  plan.fit(2);
  return plan;
}

TEST_P(FabricTest, OneWay) { run_plans(2, over_routes(channels(), {pattern(2, {{0, 1}})})); }
TEST_P(FabricTest, FanInAndOut) {
  run_plans(
      4, over_routes(channels(), {pattern(4, {{0, 1}, {0, 2}, {0, 3}}), pattern(4, {{1, 0}, {2, 0}, {3, 0}}),
                                  pattern(4, {{0, 1}, {1, 2}, {2, 3}})}));
}
TEST_P(FabricTest, Ring) {
  run_plans(5, over_routes(channels(), {pattern(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}})}));
}
TEST_P(FabricTest, AllToAll) {
  std::vector<std::pair<int, int>> edges;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) edges.emplace_back(from, to);
  }
  run_plans(4, over_routes(channels(), {pattern(4, edges)}));
}

// Puts small and large messages to one partner, some of them strided. Each takes the protocol that suits its
// size.
TEST_P(FabricTest, SeveralPutsToOnePartner) {
  Plan plan{.ranks = 2, .element_bytes = 8, .steps = steps(10)};
  std::int64_t place = 0;
  for (const Cells& cells :
       {block_cells(1), stride_cells(50, 3), block_cells(40'000), block_stride_cells(9, 20, 31),
        block_cells(2), subarray_cells({12, 12, 12}, {1, 1, 1}, {10, 10, 1}), block_cells(700)}) {
    plan.puts.push_back({0, 1, cells, cells, place, place});
    if (cells.at.size() != 700)
      plan.puts.push_back({1, 0, cells, block_cells(std::ssize(cells.at)), 0, place});
    place += cells.end();
  }
  plan.fit(5);
  run_plans(2, over_routes(channels(), {plan}));
}

TEST_P(FabricTest, ZeroSizedWindows) {
  Plan plan = pattern(3, {{0, 2}});
  plan.source_elements[1] = plan.target_elements[1] = 0;
  plan.target_elements[0] = 0;
  plan.source_elements[2] = 0;
  run_plans(3, over_routes(channels(), {plan}));
}

}  // namespace
}  // namespace tca::test
