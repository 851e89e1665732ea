// Tests what a GPU does in CG: how the matrix is divided into tiles, and, with threads in place of blocks,
// how the blocks of all ranks iterate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cg/gpu/grid_blocks.hpp"
#include "cg/gpu/tiles.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "cg_host_block.hpp"
#include "tca/error.hpp"
#include "tca/grid.hpp"

namespace tca::cg {
namespace {

// Calls act(row, column, value) for each element that is stored, zeros that fill slices included.
template <class Act>
void for_each_stored(const Tiles& tiles, const Act& act) {
  for (const Tile& tile : tiles.tile)
    for (Word s = tile.first_slice; s < tile.first_slice + tile.slices; ++s)
      for (Word k = 0; k < tiles.slices[s].width * step_elements; ++k) {
        const std::uint64_t at = (tile.first_step + tiles.slices[s].first) * step_elements + k;
        const Word row =
            tiles.row_of[s * tiles.tiling.slice_rows() + k % step_elements / tiles.tiling.row_lanes];
        act(tile, row, Word{tiles.column[at]}, tiles.value[at]);
      }
}

void expect_whole(const Matrix& matrix, std::int64_t columns, const Tiling& tiling) {
  const Tiles tiles = make_tiles(matrix, columns, tiling);
  std::map<std::pair<Word, Word>, double> expected, found;
  for (Word row = 0; row < matrix.rows(); ++row)
    for (auto k = static_cast<std::size_t>(matrix.row_begin[row]);
         k < static_cast<std::size_t>(matrix.row_begin[row + 1]); ++k)
      expected[{row, static_cast<Word>(matrix.column[k])}] = matrix.value[k];
  for_each_stored(tiles, [&](const Tile& tile, Word row, Word column, double value) {
    if (value == 0) return;
    ASSERT_LT(row, tile.rows);
    ASSERT_LT(column, tile.columns);
    EXPECT_TRUE(found.emplace(std::pair{tile.row_begin + row, tile.column_begin + column}, value).second);
  });
  EXPECT_EQ(found, expected);
  Word own = 0;
  for (const Tile& tile : tiles.tile) {
    EXPECT_EQ(tile.own_begin, own);
    EXPECT_EQ(tile.sum_begin, own);
    own += tile.own;
  }
  EXPECT_EQ(own, matrix.rows());
}

TEST(CgTiles, DivideElementsThatAreNotRows) {
  const Matrix matrix = make_matrix(problem_named("s"), {0, 500}, {0, 300});
  const Tiles tiles = make_tiles(matrix, 300, {3, 2, 1}, 300);
  Word own = 0, sums = 0;
  for (const Tile& tile : tiles.tile) {
    EXPECT_EQ(tile.own_begin, own);
    EXPECT_EQ(tile.sum_begin, sums);
    own += tile.own;
    sums += tile.sums;
  }
  EXPECT_EQ(own, 300U);
  EXPECT_EQ(sums, 500U);
}

TEST(CgTiles, HoldEveryElementOnce) {
  const Matrix matrix = make_matrix(problem_named("s"), {100, 130}, {0, problem_named("s").n});
  for (const Tiling& tiling : {Tiling{1, 1, 1}, {5, 1, 32}, {3, 4, 4}, {130, 2, 8}, {2, 7, 1}})
    expect_whole(matrix, problem_named("s").n, tiling);
}

TEST(CgTiles, FillLittle) {
  const Matrix matrix = make_matrix(problem_named("s"), {0, problem_named("s").n}, {0, problem_named("s").n});
  const Tiles tiles = make_tiles(matrix, problem_named("s").n, {2, 2, 1});
  EXPECT_LT(static_cast<double>(tiles.value.size()), 1.2 * static_cast<double>(matrix.nonzeros()));
}

TEST(CgTiles, AreChosenBySize) {
  const auto chosen = [](const char* name, int ranks) {
    const std::int64_t n = problem_named(name).n;
    return tiling_for((n + ranks - 1) / ranks, n, 132);
  };
  EXPECT_EQ(chosen("S", 1).column_parts, 1U);
  EXPECT_EQ(chosen("S", 4).tiles(), 22U);  // a row a warp
  EXPECT_EQ(chosen("W", 1).tiles(), 132U);
  for (const char* name : {"A", "B", "C"})
    for (const int ranks : {1, 2, 4}) {
      const Tiling tiling = chosen(name, ranks);
      EXPECT_EQ(tiling.tiles(), 132U) << name;
      EXPECT_EQ(tiling.column_parts > 1, *name != 'A') << name;
      EXPECT_LE(tiling.row_lanes, tiling.column_parts > 1 ? 4U : 32U) << name;
    }
  EXPECT_EQ(tiling_by_rows(1400, 16).row_lanes, 4U);  // a slice a warp
  EXPECT_EQ(tiling_by_rows(700, 16).row_lanes, 8U);
  EXPECT_GE(chosen("D", 1).column_parts, 75U);  // columns of two bytes, in shared memory
}

TEST(CgRoom, GoesFirstToWhatIsUsedMost) {
  const Tiling tiling{12, 11, 1};
  const Tiles::Most most{.rows = 1000, .columns = 4000, .own = 100, .slices = 40, .steps = 600};
  const Room all = plan_room(most, tiling, true, 400'000);
  EXPECT_EQ(all.own, 32'000U);
  EXPECT_EQ(all.kept_steps, 600U);
  EXPECT_EQ(spill_of(most, all, true), 0U);
  const Room some = plan_room(most, tiling, true, 40'000);
  EXPECT_NE(some.own, Room::nowhere);
  EXPECT_EQ(some.residual, Room::nowhere);
  EXPECT_EQ(spill_of(most, some, true), 4000U);
  EXPECT_LE(some.bytes, 40'000U);
  EXPECT_EQ(spill_of(most, plan_room(most, tiling, false, 33'000), false), 500U);
  EXPECT_THROW(plan_room(most, tiling, false, 31'000), Error);
}

// The same of a rank that has a block of the matrix. In place of chains one thread of each rank copies.
class ChainedHostBlock : public HostBlock {
 public:
  static constexpr bool chains = true;
  using Copy = std::function<void(std::size_t turn)>;

  // `all` has all threads of all ranks. `copy`, which only one block of a rank has, is called for two turns
  // of each message.
  ChainedHostBlock(std::byte* shared, std::barrier<>& all, std::size_t messages, const Copy* copy)
      : HostBlock(shared), all_(all), messages_(messages), copy_(copy) {}

  bool barrier(bool good) const {
    all_.arrive_and_wait();
    return good;
  }
  bool exchange(const GridRun&) const {
    for (std::size_t turn = 0; turn < 2 * messages_; ++turn) {
      all_.arrive_and_wait();
      if (copy_) (*copy_)(turn);
    }
    all_.arrive_and_wait();
    return true;
  }

 private:
  std::barrier<>& all_;
  std::size_t messages_;
  const Copy* copy_;
};

// How ranks are made.
struct Setting {
  std::vector<int> shape;  // the grid of ranks
  Tiling tiling;           // of each
  bool merged = false;
  std::size_t room = 400'000;  // bytes of shared memory
};

// Ranks whose blocks are threads, with all that they have between them.
class HostRanks {
 public:
  HostRanks(const Problem& problem, const Setting& setting) : problem_(problem) {
    const int ranks = setting.shape[0] * setting.shape[1];
    const Grid grid(ranks, setting.shape);
    for (int rank = 0; rank < ranks; ++rank)
      all_.push_back(std::make_unique<Rank>(problem, share_of(problem, grid, rank), setting));
    for (std::size_t rank = 0; rank < all_.size(); ++rank) connect(rank);
  }

  // Returns what each step has found.
  std::vector<Found> run(Word steps) {
    {
      std::barrier<> barrier(static_cast<std::ptrdiff_t>(all_.size() * all_[0]->run.matrix.tiling.tiles()));
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < all_.size(); ++rank) {
        all_[rank]->run.steps = steps;
        for (Word block = 0; block < all_[rank]->run.matrix.tiling.tiles(); ++block)
          threads.emplace_back([this, rank, block, &barrier] { solve(rank, block, barrier); });
      }
    }
    for (const auto& rank : all_) {
      rank->run.sums_before += sums_of(steps, rank->run.merged != 0);
      rank->run.products_before += products_of(steps);
    }
    return {all_[0]->found.begin(), all_[0]->found.begin() + steps};
  }

  std::vector<Found> found_by(std::size_t rank) const { return all_[rank]->found; }
  std::size_t size() const { return all_.size(); }
  double zeta(const Found& found) const { return problem_.shift + 1 / found.xz; }

 private:
  struct Rank {
    Rank(const Problem& problem, const Share& of, const Setting& setting)
        : share(of),
          tiles(make_tiles(make_matrix(problem, of.rows, of.columns), of.columns.size, setting.tiling,
                           of.whole_rows ? as_rows : of.own.size)),
          published(2 * static_cast<std::size_t>(of.columns.size)),
          multiplied(setting.tiling.tiles()),
          product(static_cast<std::size_t>(of.rows.size)),
          products(product.size() * setting.tiling.column_parts),
          result(static_cast<std::size_t>(of.own.size)),
          found(static_cast<std::size_t>(problem.steps)) {
      for (const Reduction& reduction : of.reductions)
        received.emplace_back(static_cast<std::size_t>(reduction.received.size));
      const Room room = plan_room(tiles.most(), setting.tiling, setting.merged, setting.room);
      run.matrix = {setting.tiling,      tiles.tile.data(),  tiles.slices.data(),
                    tiles.row_of.data(), tiles.value.data(), tiles.column.data()};
      run.limits = limits.view();
      run.multiplied = multiplied.data();
      run.products = products.data();
      run.product = product.data();
      run.result = result.data();
      run.spill = spill_of(tiles.most(), room, setting.merged);
      spilled.resize(run.spill * setting.tiling.tiles());
      run.spilled = spilled.data();
      run.n = static_cast<std::uint64_t>(of.columns.size);
      run.found = found.data();
      run.room = room;
      run.rows = static_cast<Word>(of.rows.size);
      run.first_row = of.whole_rows ? static_cast<Word>(of.rows.begin) : 0;
      run.most_own = tiles.most().own;
      run.merged = setting.merged;
    }

    Share share;
    Tiles tiles;
    std::vector<double> published;
    std::vector<device::Packet> sums;
    std::vector<device::Packet> multiplied;
    std::vector<double> product, products, result, spilled;
    std::vector<std::vector<double>> received;
    std::vector<Found> found;
    HostLimits limits;
    GridRun run;
  };

  // Sums are those of all ranks, or of a row of the grid.
  void connect(std::size_t rank) {
    GridRun& run = all_[rank]->run;
    const Share& share = all_[rank]->share;
    std::vector<int> among = share.row_of_grid;
    for (std::size_t other = 0; share.whole_rows && other < all_.size(); ++other)
      among.push_back(static_cast<int>(other));
    run.sums.size = static_cast<Word>(among.size());
    run.published.size = share.whole_rows ? run.sums.size : 1;
    run.published.parts[0] = all_[rank]->published.data();
    for (Word other = 0; other < run.sums.size; ++other) {
      Rank& partner = *all_[static_cast<std::size_t>(among[other])];
      partner.sums.resize(std::size_t{2 * most_sums} * run.matrix.tiling.tiles() * among.size());
      run.sums.parts[other] = partner.sums.data();
      if (share.whole_rows) run.published.parts[other] = partner.published.data();
      if (&partner == all_[rank].get()) run.sums.rank = other;
    }
    run.published.rank = share.whole_rows ? run.sums.rank : 0;
  }

  void solve(std::size_t number, Word block, std::barrier<>& barrier) {
    Rank& rank = *all_[number];
    std::vector<double> shared(rank.run.room.bytes / sizeof(double) + 1);
    auto* const bytes = reinterpret_cast<std::byte*>(shared.data());
    const TileVectors vectors = TileVectors::of(rank.run, block, bytes);
    if (rank.share.whole_rows) {
      HostBlock group(bytes);
      GridBlocks<HostBlock> blocks(rank.run, block, group);
      Iteration<GridBlocks<HostBlock>>(rank.run, vectors, blocks).solve();
      return;
    }
    const ChainedHostBlock::Copy copy = [&](std::size_t message) { move(rank, message); };
    ChainedHostBlock group(bytes, barrier, rank.share.reductions.size() + 1, block == 0 ? &copy : nullptr);
    GridBlocks<ChainedHostBlock> blocks(rank.run, block, group);
    Iteration<GridBlocks<ChainedHostBlock>>(rank.run, vectors, blocks).solve();
  }

  // Each message is sent in one turn and added in the next.
  void move(Rank& rank, std::size_t turn) {
    const std::size_t which = turn / 2;
    const auto part = [&](const Range& of) {
      return std::span(rank.product).subspan(at(of.begin), at(of.size));
    };
    if (which == rank.share.reductions.size()) {
      if (turn % 2 == 0)
        std::ranges::copy(part(rank.share.summed), all_[at(rank.share.transposed)]->result.begin());
      return;
    }
    const Reduction& reduction = rank.share.reductions[which];
    if (turn % 2 == 0) {
      std::ranges::copy(part(reduction.sent), all_[at(reduction.partner)]->received[which].begin());
    } else {
      const std::span<double> sums = part(reduction.received);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += rank.received[which][i];
    }
  }
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  Problem problem_;
  std::vector<std::unique_ptr<Rank>> all_;
};

TEST(CgTileSolver, FindsThePublishedResult) {
  for (const bool merged : {false, true}) {
    HostRanks ranks(problem_named("s"), {.shape = {2, 1}, .tiling = {2, 1, 4}, .merged = merged});
    const std::vector<Found> found = ranks.run(15);
    EXPECT_NEAR(ranks.zeta(found.back()) / problem_named("s").zeta, 1, 1e-13) << merged;
    EXPECT_LT(std::sqrt(found.back().squares), 1e-14) << merged;
    for (const Found& one : found) EXPECT_GT(one.squares, 0);
  }
}

// Whatever the tiles are, whether vectors have room or not, on any grid of ranks, and in a second run as in
// the first.
TEST(CgTileSolver, AgreesForAllTilings) {
  constexpr Word steps = 2;
  const double expected = [] {
    HostRanks one(problem_named("s"), {.shape = {1, 1}, .tiling = {1, 1, 1}});
    return one.zeta(one.run(steps).back());
  }();
  const Setting settings[] = {{.shape = {1, 1}, .tiling = {3, 1, 4}},
                              {.shape = {1, 1}, .tiling = {1, 3, 1}},
                              {.shape = {2, 1}, .tiling = {2, 2, 2}},
                              {.shape = {3, 1}, .tiling = {1, 2, 32}, .room = 6'000},
                              {.shape = {4, 1}, .tiling = {1, 1, 8}, .room = 12'000},
                              {.shape = {1, 2}, .tiling = {2, 1, 4}},
                              {.shape = {2, 2}, .tiling = {1, 2, 1}},
                              {.shape = {2, 4}, .tiling = {1, 1, 2}, .room = 9'000}};
  for (const bool merged : {false, true})
    for (Setting setting : settings) {
      setting.merged = merged;
      HostRanks ranks(problem_named("s"), setting);
      const std::string what =
          fmt::format("{}x{} ranks, {}x{} tiles, merged {}", setting.shape[0], setting.shape[1],
                      setting.tiling.row_parts, setting.tiling.column_parts, merged);
      for (int run = 0; run < 2; ++run)
        EXPECT_NEAR(ranks.zeta(ranks.run(steps).back()) / expected, 1, 1e-13) << what << ", run " << run;
      for (std::size_t rank = 1; rank < ranks.size(); ++rank)
        EXPECT_EQ(ranks.found_by(rank)[0].xz, ranks.found_by(0)[0].xz) << what;
    }
}

}  // namespace
}  // namespace tca::cg
