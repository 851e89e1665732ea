// Tests CG: the matrix against the reference's way of making it, the decompositions, and the published results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "cg/cli/report.hpp"
#include "cg/exchange.hpp"
#include "cg/matrix.hpp"
#include "cg/measure.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "cg/random.hpp"
#include "cg/solver.hpp"
#include "cg/way.hpp"
#include "tca/error.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::cg {
namespace {

const Problem& class_s() { return problem_named("s"); }

// The generator in doubles, split into halves of 23 bits whose products are exact.
class RandomInDoubles {
 public:
  double next() {
    constexpr double r23 = 0x1p-23, t23 = 0x1p23, r46 = 0x1p-46, t46 = 0x1p46, a = 1220703125;
    const double a1 = std::trunc(r23 * a), a2 = a - t23 * a1;
    const double x1 = std::trunc(r23 * x_), x2 = x_ - t23 * x1;
    const double middle = a1 * x2 + a2 * x1;
    const double z = middle - t23 * std::trunc(r23 * middle);
    const double sum = t23 * z + a2 * x2;
    x_ = sum - t46 * std::trunc(r46 * sum);
    return r46 * x_;
  }

 private:
  double x_ = 314159265;
};

TEST(CgRandom, IsTheOneInDoubles) {
  Random random;
  RandomInDoubles in_doubles;
  EXPECT_EQ(Random().next(), 55'909'509'111'989U);  // 314159265 * 5^13 mod 2^46
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(random.fraction(), in_doubles.next()) << i;
}

// An element of the matrix before those of the same place are added up.
struct Element {
  std::int64_t row, column;
  double value;
};

// All elements, listed one vector after the other.
std::vector<Element> listed(const Problem& problem) {
  RandomInDoubles random;
  random.next();
  std::int64_t power = 2;
  while (power < problem.n) power *= 2;
  std::vector<Element> elements;
  double size = 1;
  const double ratio = std::pow(0.1, 1.0 / static_cast<double>(problem.n));
  for (std::int64_t i = 0; i < problem.n; ++i, size *= ratio) {
    std::vector<std::pair<std::int64_t, double>> vector;
    const auto find = [&](std::int64_t row) {
      return std::ranges::find(vector, row, [](const auto& entry) { return entry.first; });
    };
    while (vector.size() < static_cast<std::size_t>(problem.nonzeros)) {
      const double value = random.next();
      const auto row = static_cast<std::int64_t>(static_cast<double>(power) * random.next());
      if (row < problem.n && find(row) == vector.end()) vector.emplace_back(row, value);
    }
    if (const auto own = find(i); own != vector.end()) {
      own->second = 0.5;
    } else {
      vector.emplace_back(i, 0.5);
    }
    for (const auto& [column, of_column] : vector)
      for (const auto& [row, of_row] : vector) elements.push_back({row, column, of_row * (size * of_column)});
  }
  for (std::int64_t i = 0; i < problem.n; ++i) elements.push_back({i, i, 0.1 - problem.shift});
  return elements;
}

using Row = std::vector<std::pair<std::int64_t, double>>;  // columns and values, in order

// The rows of a block, by adding up those of the listed elements that are in it.
std::vector<Row> added_up(const std::vector<Element>& elements, const Range& rows, const Range& columns) {
  std::vector<Row> all(static_cast<std::size_t>(rows.size));
  std::vector<std::map<std::int64_t, std::size_t>> places(all.size());
  for (const auto& [row, column, value] : elements) {
    if (row < rows.begin || row >= rows.begin + rows.size) continue;
    if (column < columns.begin || column >= columns.begin + columns.size) continue;
    const auto r = static_cast<std::size_t>(row - rows.begin);
    const auto [at, is_new] = places[r].try_emplace(column - columns.begin, all[r].size());
    if (is_new) all[r].emplace_back(column - columns.begin, 0.0);
    all[r][at->second].second += value;
  }
  return all;
}

TEST(CgMatrix, IsTheReferencesToTheBit) {
  const Problem& problem = class_s();
  const std::vector<Element> elements = listed(problem);
  for (const auto& [rows, columns] :
       {std::pair{Range{0, 1400}, Range{0, 1400}}, {{700, 350}, {0, 1400}}, {{3, 501}, {700, 350}}}) {
    const Matrix matrix = make_matrix(problem, rows, columns);
    const std::vector<Row> expected = added_up(elements, rows, columns);
    ASSERT_EQ(matrix.rows(), rows.size);
    for (std::size_t row = 0; row < expected.size(); ++row) {
      const auto begin = static_cast<std::size_t>(matrix.row_begin[row]);
      ASSERT_EQ(static_cast<std::size_t>(matrix.row_begin[row + 1]) - begin, expected[row].size()) << row;
      for (std::size_t k = 0; k < expected[row].size(); ++k) {
        ASSERT_EQ(matrix.column[begin + k], expected[row][k].first) << row;
        ASSERT_EQ(matrix.value[begin + k], expected[row][k].second) << row;
      }
    }
  }
}

TEST(CgMatrix, HasThePublishedNumberOfElements) {
  struct Known {
    const char* name;
    std::int64_t nonzeros, shortest, longest;  // of the rows
  };
  for (const auto& [name, nonzeros, shortest, longest] :
       {Known{"S", 78'148, 8, 127}, Known{"W", 508'402, 9, 168}, Known{"A", 1'853'104, 12, 294}}) {
    const Problem& problem = problem_named(name);
    const Matrix matrix = make_matrix(problem, {0, problem.n}, {0, problem.n});
    EXPECT_EQ(matrix.nonzeros(), nonzeros) << name;
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row + 1 < matrix.row_begin.size(); ++row)
      lengths.push_back(matrix.row_begin[row + 1] - matrix.row_begin[row]);
    EXPECT_EQ(std::ranges::min(lengths), shortest) << name;
    EXPECT_EQ(std::ranges::max(lengths), longest) << name;
  }
}

TEST(CgMatrix, ReportsHowFarItHasCome) {
  std::map<std::string, std::int64_t> last;
  make_matrix(class_s(), {0, 1400}, {0, 1400}, [&](const char* what, std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 1400);
    last[what] = done;
  });
  EXPECT_EQ(last.size(), 2U);
}

// Every rank's share, on a grid.
std::vector<Share> shares(const Problem& problem, const Grid& grid) {
  std::vector<Share> all;
  for (int rank = 0; rank < grid.ranks(); ++rank) all.push_back(share_of(problem, grid, rank));
  return all;
}

std::int64_t end(const Range& range) { return range.begin + range.size; }

TEST(CgPartition, OfRowsHasEachRowOnce) {
  for (const int ranks : {1, 2, 3, 7, 16, 53}) {  // of 53, the last one has none
    std::int64_t next = 0;
    for (const Share& share : shares(class_s(), Grid(ranks, {ranks, 1}))) {
      EXPECT_EQ(share.rows.begin, next);
      EXPECT_EQ(share.columns.size, 1400);
      EXPECT_LE(share.rows.size, share.largest);
      next = end(share.rows);
    }
    EXPECT_EQ(next, 1400);
  }
}

TEST(CgPartition, OfBlocksFitsTogether) {
  const Problem& problem = class_s();
  for (const auto& shape :
       std::vector<std::vector<int>>{{1, 2}, {2, 2}, {2, 4}, {4, 4}, {4, 8}, {8, 8}, {8, 16}}) {
    const Grid grid(shape[0] * shape[1], shape);
    const std::vector<Share> all = shares(problem, grid);
    std::int64_t elements = 0;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Share& share = all[rank];
      elements += share.rows.size * share.columns.size;
      EXPECT_LE(share.own.size, share.largest);
      const Share& across = all[static_cast<std::size_t>(share.transposed)];
      EXPECT_EQ(static_cast<std::size_t>(across.transposed), rank);
      EXPECT_EQ(share.rows.begin + share.summed.begin, across.own.begin)
          << grid.describe() << " rank " << rank;
      EXPECT_EQ(share.summed.size, across.own.size) << grid.describe() << " rank " << rank;
      for (std::size_t which = 0; which < share.reductions.size(); ++which) {
        const Reduction& own = share.reductions[which];
        const Reduction& partners = all[static_cast<std::size_t>(own.partner)].reductions[which];
        EXPECT_EQ(static_cast<std::size_t>(partners.partner), rank);
        EXPECT_EQ(partners.received.begin, own.sent.begin);
        EXPECT_EQ(partners.received.size, own.sent.size);
      }
    }
    EXPECT_EQ(elements, problem.n * problem.n);
  }
}

TEST(CgPartition, RefusesGridsThatDoNotFit) {
  const auto refusal = [](const std::vector<int>& shape) {
    try {
      const Grid grid(shape[0] * shape[1], shape);
      check_grid(class_s(), grid);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& shape : std::vector<std::vector<int>>{{1, 4}, {2, 1 << 3}, {3, 3}, {3, 6}, {2, 3}, {4, 2}})
    EXPECT_NE(refusal(shape).find("blocks take a power of two of rows"), std::string::npos);
  EXPECT_NE(refusal({1401, 1}).find("class S has 1400 rows, too few for 1401 ranks"), std::string::npos);
  EXPECT_EQ(refusal({1400, 1}), "");
}

// Runs a problem once.
Result solve(const Problem& problem, const std::vector<int>& shape, Order order,
             const WorldOptions& options = {}) {
  Result found;
  const int ranks = shape[0] * shape[1];
  World::run_threads(
      ranks,
      [&](World& world) {
        Solver solver(world, problem, Grid(ranks, shape));
        const auto exchange = direct_exchange(world, solver.share(), solver.vectors());
        const auto way = host_way(world, solver, *exchange, order);
        Way* const only = way.get();
        const auto results = measure(world, problem, solver.share(), {&only, 1}, {.runs = 1});
        if (world.rank() == 0) found = results[0];
      },
      options);
  return found;
}

struct Case {
  std::vector<int> shape;
  Order order;
};

TEST(CgOnThreads, FindsThePublishedResult) {
  const auto cases = {
      Case{{1, 1}, Order::npb}, {{1, 1}, Order::merged}, {{2, 1}, Order::npb}, {{1, 2}, Order::merged}};
  for (const auto& [shape, order] : cases) {
    const Result result = solve(class_s(), shape, order);
    EXPECT_LT((Verification{result.last.zeta, class_s().zeta}.error()), 1e-13) << result.last.zeta;
    EXPECT_LT(result.last.residual, 1e-14);
    EXPECT_EQ(result.samples_us.size(), 15U);
    EXPECT_EQ(result.messages.empty(), shape == (std::vector{1, 1}));
  }
}

// Many ranks take turns on few cores, so they do one step.
TEST(CgOnThreads, AgreesWithOneRankOnEveryDecomposition) {
  Problem problem = class_s();
  problem.steps = 1;
  const double expected = solve(problem, {1, 1}, Order::npb).last.zeta;
  for (const Order order : {Order::npb, Order::merged})
    for (const auto& shape : std::vector<std::vector<int>>{{3, 1}, {8, 1}, {16, 1}, {2, 2}, {2, 4}, {4, 4}}) {
      const Result result = solve(problem, shape, order);
      EXPECT_NEAR(result.last.zeta / expected, 1, 1e-13) << shape[0] << 'x' << shape[1];
      EXPECT_LT(result.last.residual, 1e-12);
    }
}

TEST(CgOnSim, FindsThePublishedResultInVirtualTime) {
  for (const std::vector<int>& shape : {std::vector{4, 1}, std::vector{2, 2}}) {
    const Result result = solve(class_s(), shape, Order::npb, {.fabric = "sim", .machine = "ha-pacs-tca"});
    EXPECT_TRUE((Verification{result.last.zeta, class_s().zeta}.verified())) << result.last.zeta;
    for (const apps::MessageCost& cost : result.messages) {
      EXPECT_GT(cost.us, 0) << cost.name;
      EXPECT_GE(cost.p99_us, cost.us) << cost.name;
      EXPECT_EQ(cost.count, cost.name == name_of(Message::dot) ? 2 : 1) << cost.name;
    }
  }
}

TEST(CgVerification, FindsWrongResults) {
  EXPECT_TRUE((Verification{8.5971775078648, 8.5971775078648}.verified()));
  EXPECT_TRUE((Verification{8.5971775079, 8.5971775078648}.verified()));
  EXPECT_FALSE((Verification{8.597177509, 8.5971775078648}.verified()));
  EXPECT_FALSE((Verification{std::numeric_limits<double>::quiet_NaN(), 8.5971775078648}.verified()));
}

// A matrix that is not the class's leads to another result, which is told from the published one.
TEST(CgVerification, FailsForAnotherMatrix) {
  Problem other = class_s();
  other.nonzeros = 8;
  World::run_threads(1, [&](World& world) {
    Solver solver(world, other, Grid(1, {1, 1}));
    const auto exchange = direct_exchange(world, solver.share(), solver.vectors());
    const auto way = host_way(world, solver, *exchange, Order::npb);
    Way* const only = way.get();
    const Result result = measure(world, other, solver.share(), {&only, 1}, {.runs = 1})[0];
    EXPECT_FALSE((Verification{result.last.zeta, other.zeta}.verified())) << result.last.zeta;
    tool::CgReport report{.problem = other, .results = {result}};
    EXPECT_FALSE(report.verified());
    const std::string said = tool::cg_answer(result, other);
    EXPECT_NE(said.find("WRONG: zeta is "), std::string::npos) << said;
    EXPECT_NE(said.find("the published one is 8.5971775078648"), std::string::npos) << said;
  });
}

}  // namespace
}  // namespace tca::cg
