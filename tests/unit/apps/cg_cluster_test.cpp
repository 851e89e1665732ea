// Tests how the blocks of clusters iterate in CG, with threads in place of blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cg/gpu/cluster_blocks.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "cg_host_block.hpp"
#include "tca/grid.hpp"

namespace tca::cg {
namespace {

// The memory of a rank's blocks, and their barrier.
struct HostCluster {
  HostCluster(std::size_t blocks, std::size_t words)
      : shared(blocks, std::vector<double>(words)), barrier(static_cast<std::ptrdiff_t>(blocks)) {}
  std::byte* of(std::size_t block) { return reinterpret_cast<std::byte*>(shared[block].data()); }

  std::vector<std::vector<double>> shared;
  std::barrier<> barrier;
};

class HostClusterBlock : public HostBlock {
 public:
  HostClusterBlock(HostCluster& cluster, Word block)
      : HostBlock(cluster.of(block)), cluster_(cluster), block_(block) {}

  void store(Word block, double* here, double value) const {
    const std::ptrdiff_t place = reinterpret_cast<std::byte*>(here) - cluster_.of(block_);
    *reinterpret_cast<double*>(cluster_.of(block) + place) = value;
  }
  void wait(Word) const { cluster_.barrier.arrive_and_wait(); }
  void meet() const { cluster_.barrier.arrive_and_wait(); }
  Word warp() const { return 0; }
  Word warp_lane() const { return 0; }
  Word warp_lanes() const { return 1; }
  template <Word count>
  void add_up_warp(double (&)[count]) const {}
  bool all_of_warp(bool good) const { return good; }

 private:
  HostCluster& cluster_;
  Word block_;
};

class HostClusters {
 public:
  HostClusters(int ranks, Word blocks, bool merged) {
    const Grid grid(ranks, {ranks, 1});
    for (int rank = 0; rank < ranks; ++rank) {
      all_.push_back(std::make_unique<Rank>(share_of(problem_, grid, rank), blocks, merged, ranks));
      all_.back()->run.rank = static_cast<Word>(rank);
    }
    for (std::size_t rank = 0; rank < all_.size(); ++rank) connect(rank);
  }

  // Has the first so many ranks take so many steps. Returns zeta after the last one.
  double run(Word steps, std::size_t ranks) {
    {
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < ranks; ++rank)
        for (Word block = 0; block < all_[rank]->run.blocks; ++block)
          threads.emplace_back([this, rank, block, steps] { solve(*all_[rank], block, steps); });
    }
    return problem_.shift + 1 / all_[0]->found[steps - 1].xz;
  }
  double run(Word steps) { return run(steps, all_.size()); }

  double found_by(std::size_t rank) const { return all_[rank]->found[0].xz; }
  HostLimits& limits(std::size_t rank) { return all_[rank]->limits; }
  const Problem& problem() const { return problem_; }

 private:
  // A produced put of one rank to another, of which nobody needs more than its packets.
  struct Message {
    explicit Message(Word size)
        : elements(size), packets(std::size_t{2} * device::lots_of(size) * device::elements_per_lot) {}
    device::Produced end(std::size_t partner) {
      return {.packets = packets.data(),
              .elements = elements,
              .buffer = static_cast<Word>(packets.size() / 2),
              .link = static_cast<Word>(partner)};
    }
    Word elements;
    std::vector<device::Packet> packets;
  };

  struct Rank {
    Rank(const Share& of, Word blocks, bool merged, int ranks)
        : share(of),
          tiles(make_tiles(make_matrix(problem_named("s"), of.rows, of.columns), of.columns.size,
                           tiling_by_rows(of.rows.size, blocks))),
          found(15),
          steps(2, std::vector<Word>(device::max_parts)) {
      run.matrix = {tiles.tiling,        tiles.tile.data(),  tiles.slices.data(),
                    tiles.row_of.data(), tiles.value.data(), tiles.column.data()};
      run.n = static_cast<std::uint64_t>(of.columns.size);
      run.found = found.data();
      run.first_row = static_cast<Word>(of.rows.begin);
      run.most_own = tiles.most().own;
      run.merged = merged;
      run.blocks = blocks;
      run.warps = 1;
      run.others = static_cast<Word>(ranks - 1);
      run.elements = static_cast<Word>(of.rows.size);
      run.room = plan_room(tiles.most(), tiles.tiling, merged, 400'000);
      cluster.emplace(blocks, run.room.bytes / sizeof(double) + run.meeting_words());
    }

    Share share;
    Tiles tiles;
    std::vector<Found> found;
    std::vector<std::vector<Word>> steps;
    HostLimits limits;
    std::vector<std::unique_ptr<Message>> messages;  // to this rank
    std::optional<HostCluster> cluster;
    ClusterRun run;
  };

  void connect(std::size_t number) {
    Rank& own = *all_[number];
    own.run.gather.steps = own.steps[0].data();
    own.run.dot.steps = own.steps[1].data();
    const Word shares = ClusterRun::most_shares(own.run.merged != 0) * own.run.sources();
    for (std::size_t other = 0; other < all_.size(); ++other) {
      if (other == number) continue;
      Rank& partner = *all_[other];
      const auto connect_by = [&](Word elements, ClusterLink::Ends ClusterLink::*ends) {
        partner.messages.push_back(std::make_unique<Message>(elements));
        link(own, other).*
            ends = {.to = {partner.messages.back()->end(other)}, .from = (link(own, other).*ends).from};
        (link(partner, number).*ends).from = {partner.messages.back()->end(number)};
      };
      connect_by(own.run.elements + shares, &ClusterLink::gather);
      connect_by(own.run.sources(), &ClusterLink::dot);
      ClusterLink& to = link(own, other);
      to.first = partner.run.first_row;
      to.elements = partner.run.elements;
    }
  }
  static ClusterLink& link(Rank& of, std::size_t to) {
    const auto own = static_cast<std::int64_t>(of.run.rank);
    return of.run.links[static_cast<std::int64_t>(to) < own ? to : to - 1];
  }

  static void solve(Rank& rank, Word block, Word steps) {
    HostClusterBlock group(*rank.cluster, block);
    ClusterRun run = rank.run;
    run.steps = steps;
    run.gather.limits = run.dot.limits = rank.limits.view();
    ClusterBlocks<HostClusterBlock> blocks(run, rank.cluster->of(block), block, group);
    blocks.begin();
    Iteration<ClusterBlocks<HostClusterBlock>>(run, TileVectors::of(run, block, rank.cluster->of(block)),
                                               blocks)
        .solve();
    blocks.end();
  }

  Problem problem_ = problem_named("s");
  std::vector<std::unique_ptr<Rank>> all_;
};

TEST(CgCluster, FindsThePublishedResult) {
  for (const bool merged : {false, true}) {
    HostClusters ranks(2, 1, merged);
    EXPECT_NEAR(ranks.run(15) / ranks.problem().zeta, 1, 1e-13) << merged;
  }
}

// On any number of ranks, and in a second run as in the first.
TEST(CgCluster, AgreesForAllNumbersOfRanks) {
  constexpr Word steps = 2;
  const double expected = HostClusters(1, 1, false).run(steps);
  for (const bool merged : {false, true})
    for (const auto& [ranks, blocks] : {std::pair{1, 3}, {2, 4}, {3, 1}, {4, 2}}) {
      HostClusters clusters(ranks, static_cast<Word>(blocks), merged);
      const std::string what = fmt::format("{} ranks of {} blocks, merged {}", ranks, blocks, merged);
      for (int run = 0; run < 2; ++run)
        EXPECT_NEAR(clusters.run(steps) / expected, 1, 1e-13) << what << ", run " << run;
      for (std::size_t rank = 1; rank < static_cast<std::size_t>(ranks); ++rank)
        EXPECT_EQ(clusters.found_by(rank), clusters.found_by(0)) << what;
    }
}

// Or its blocks would wait for each other for ever.
TEST(CgCluster, LeavesTogetherWhenARankDoesNotCome) {
  for (const bool merged : {false, true}) {
    HostClusters ranks(2, 3, merged);
    ranks.limits(0).limit_ns = 1'000'000;

    ranks.run(2, 1);

    EXPECT_EQ(ranks.limits(0).gave_up, 1U);
    EXPECT_EQ(ranks.limits(0).waiting[1], 1U);  // in the first step
  }
}

}  // namespace
}  // namespace tca::cg
