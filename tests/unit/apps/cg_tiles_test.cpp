// Tests what a GPU does in CG: how the matrix is divided into tiles, and, with threads in place of blocks, how
// the blocks of all ranks iterate.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cg/gpu/tile_solver.hpp"
#include "cg/gpu/tiles.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "tca/error.hpp"
#include "tca/grid.hpp"

namespace tca::cg {
namespace {

const Problem& class_s() { return problem_named("S"); }

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
    own += tile.own;
  }
  EXPECT_EQ(own, matrix.rows());
}

TEST(CgTiles, HoldEveryElementOnce) {
  const Matrix matrix = make_matrix(class_s(), {100, 500}, {0, class_s().n});
  for (const Tiling& tiling : {Tiling{1, 1, 1}, {5, 1, 32}, {3, 4, 4}, {500, 2, 8}, {2, 7, 1}})
    expect_whole(matrix, class_s().n, tiling);
}

TEST(CgTiles, FillLittle) {
  const Matrix matrix = make_matrix(class_s(), {0, class_s().n}, {0, class_s().n});
  const Tiles tiles = make_tiles(matrix, class_s().n, {2, 2, 1});
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
      EXPECT_GT(tiling.column_parts, 1U) << name;
      EXPECT_LE(tiling.row_lanes, 4U) << name;
    }
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

// A thread in place of a block.
class HostBlock {
 public:
  explicit HostBlock(std::byte* shared) : operand_(reinterpret_cast<double*>(shared)) {}
  Word lane() const { return 0; }
  Word lanes() const { return 1; }
  void sync() const {}
  template <Word count>
  bool add_up(double (&)[count], bool good) const {
    return good;
  }
  void release(Word) const { std::atomic_thread_fence(std::memory_order_release); }
  void acquire(Word) const { std::atomic_thread_fence(std::memory_order_acquire); }

  void multiply(const Run& run, const Tile& tile, Word, double* out) const {
    const TileArrays& matrix = run.matrix;
    const Word rows = matrix.tiling.slice_rows(), lanes = matrix.tiling.row_lanes;
    for (Word s = tile.first_slice; s < tile.first_slice + tile.slices; ++s)
      for (Word k = 0; k < rows; ++k) {
        const Word row = matrix.row_of[s * rows + k];
        if (row == no_row) continue;
        double sum = 0;
        for (Word step = 0; step < matrix.slices[s].width; ++step)
          for (Word lane = 0; lane < lanes; ++lane) {
            const std::uint64_t at =
                (tile.first_step + matrix.slices[s].first + step) * step_elements + k * lanes + lane;
            sum += matrix.value[at] * operand_[matrix.column[at]];
          }
        out[row] = sum;
      }
  }

 private:
  double* operand_;
};

// Ranks whose blocks are threads, with all that they have between them.
class HostRanks {
 public:
  HostRanks(const Problem& problem, int ranks, Word blocks, const Tiling* forced, bool merged,
            std::size_t room)
      : problem_(problem) {
    const Grid grid(ranks, {ranks, 1});
    const std::int64_t most_rows = share_of(problem, grid, 0).largest;
    const Tiling tiling = forced ? *forced : tiling_for(most_rows, problem.n, blocks);
    for (int rank = 0; rank < ranks; ++rank)
      all_.push_back(std::make_unique<Rank>(problem, share_of(problem, grid, rank), tiling, merged, room));
    for (int rank = 0; rank < ranks; ++rank) connect(static_cast<Word>(rank));
  }

  // Returns what each step has found.
  std::vector<Found> run(Word steps) {
    {
      std::vector<std::jthread> threads;
      for (const auto& rank : all_) {
        rank->run.steps = steps;
        for (Word block = 0; block < rank->run.matrix.tiling.tiles(); ++block)
          threads.emplace_back([&rank = *rank, block] { rank.solve(block); });
      }
    }
    for (const auto& rank : all_) {
      rank->run.sums_before += sums_of(steps, rank->run.merged != 0);
      rank->run.products_before += products_of(steps);
    }
    return {all_[0]->found.begin(), all_[0]->found.begin() + steps};
  }

  std::vector<Found> found_by(std::size_t rank) const { return all_[rank]->found; }
  double zeta(const Found& found) const { return problem_.shift + 1 / found.xz; }

 private:
  struct Rank {
    Rank(const Problem& problem, const Share& share, const Tiling& tiling, bool merged, std::size_t bytes)
        : tiles(make_tiles(make_matrix(problem, share.rows, share.columns), problem.n, tiling)),
          published(2 * static_cast<std::size_t>(problem.n)),
          multiplied(tiling.tiles()),
          products(static_cast<std::size_t>(share.rows.size) * tiling.column_parts),
          found(static_cast<std::size_t>(problem.steps)) {
      const Room room = plan_room(tiles.most(), tiling, merged, bytes);
      run.matrix = {tiling,
                    tiles.tile.data(),
                    tiles.slices.data(),
                    tiles.row_of.data(),
                    tiles.value.data(),
                    tiles.column.data()};
      run.limits = {.abort = &never,
                    .gave_up = &gave_up,
                    .waiting = waiting.data(),
                    .limit_ns = 60'000'000'000,
                    .chain = 1,
                    .gone = gone.data(),
                    .ranks = nullptr,
                    .over = &over};
      run.multiplied = multiplied.data();
      run.products = products.data();
      run.spill = spill_of(tiles.most(), room, merged);
      spilled.resize(run.spill * tiling.tiles());
      run.spilled = spilled.data();
      run.n = static_cast<std::uint64_t>(problem.n);
      run.found = found.data();
      run.room = room;
      run.rows = static_cast<Word>(share.rows.size);
      run.first_row = static_cast<Word>(share.rows.begin);
      run.most_own = tiles.most().own;
      run.merged = merged;
    }

    void solve(Word block) {
      std::vector<double> shared(run.room.bytes / sizeof(double) + 1);
      auto* const bytes = reinterpret_cast<std::byte*>(shared.data());
      HostBlock group(bytes);
      TileSolver<HostBlock>(run, TileVectors::of(run, block, bytes), block, group).solve();
    }

    Tiles tiles;
    std::vector<double> published;
    std::vector<device::Packet> sums;
    std::vector<Word> multiplied;
    std::vector<double> products, spilled;
    std::vector<Found> found;
    std::vector<Word> waiting = std::vector<Word>(8), gone = std::vector<Word>(8);
    Word never = 0, gave_up = 0, over = 0;
    Run run;
  };

  void connect(Word rank) {
    Run& run = all_[rank]->run;
    run.published.rank = run.sums.rank = rank;
    run.published.size = run.sums.size = static_cast<Word>(all_.size());
    const std::size_t boxes = std::size_t{2 * most_sums} * run.matrix.tiling.tiles() * all_.size();
    for (std::size_t other = 0; other < all_.size(); ++other) {
      all_[other]->sums.resize(boxes);
      run.published.parts[other] = all_[other]->published.data();
      run.sums.parts[other] = all_[other]->sums.data();
    }
  }

  Problem problem_;
  std::vector<std::unique_ptr<Rank>> all_;
};

constexpr std::size_t plenty = 400'000;

TEST(CgTileSolver, FindsThePublishedResult) {
  for (const bool merged : {false, true}) {
    HostRanks ranks(class_s(), 2, 2, nullptr, merged, plenty);
    const std::vector<Found> found = ranks.run(15);
    EXPECT_NEAR(ranks.zeta(found.back()) / class_s().zeta, 1, 1e-13) << merged;
    EXPECT_LT(std::sqrt(found.back().squares), 1e-14) << merged;
    for (const Found& one : found) EXPECT_GT(one.squares, 0);
  }
}

// Whatever the tiles are, whether vectors have room or not, and in a second run as in the first.
TEST(CgTileSolver, AgreesForAllTilings) {
  constexpr Word steps = 2;
  const double expected = [] {
    HostRanks one(class_s(), 1, 1, nullptr, false, plenty);
    return one.zeta(one.run(steps).back());
  }();
  struct Case {
    int ranks;
    Tiling tiling;
    std::size_t room;
  };
  for (const bool merged : {false, true})
    for (const Case& one : {Case{1, {3, 1, 4}, plenty},
                            {1, {1, 3, 1}, plenty},
                            {2, {2, 2, 2}, plenty},
                            {3, {1, 2, 32}, 6'000},
                            {4, {1, 1, 8}, 12'000}}) {
      HostRanks ranks(class_s(), one.ranks, 0, &one.tiling, merged, one.room);
      for (int run = 0; run < 2; ++run) {
        const std::vector<Found> found = ranks.run(steps);
        EXPECT_NEAR(ranks.zeta(found.back()) / expected, 1, 1e-13)
            << one.ranks << " ranks, " << one.tiling.row_parts << 'x' << one.tiling.column_parts
            << ", merged " << merged << ", run " << run;
      }
      for (int rank = 1; rank < one.ranks; ++rank)
        EXPECT_EQ(ranks.found_by(static_cast<std::size_t>(rank))[0].xz, ranks.found_by(0)[0].xz);
    }
}

}  // namespace
}  // namespace tca::cg
